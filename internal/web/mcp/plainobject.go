package mcp

import (
	"bytes"
	"encoding/json"
)

// Most calls have arguments like {"domain":"example.de"}. The SDK runs each call on its
// own goroutine, whose small stack grows in encoding/json: that alone was a twentieth
// of a call. So an object of plain strings is parsed here, and everything else by
// encoding/json.

// parsePlainObject parses an object whose keys and values are all plain strings, as
// encoding/json would. It returns false for any other text, valid or not.
func parsePlainObject(raw []byte) (arguments, bool) {
	rest, ok := cutByte(raw, '{')
	if !ok {
		return nil, false
	}
	args := make(arguments, 1)
	for {
		var key, value []byte
		if key, rest, ok = cutPlainString(rest); !ok {
			return nil, false
		}
		if rest, ok = cutByte(rest, ':'); !ok {
			return nil, false
		}
		if value, rest, ok = cutPlainString(rest); !ok {
			return nil, false
		}
		args[string(key[1:len(key)-1])] = json.RawMessage(value)
		if after, more := cutByte(rest, ','); more {
			rest = after
			continue
		}
		rest, ok = cutByte(rest, '}')
		return args, ok && len(trimSpace(rest)) == 0
	}
}

// cutPlainString cuts a string without escapes, of printable ASCII, off the front of
// text. The quotes are kept.
func cutPlainString(text []byte) (plain, rest []byte, ok bool) {
	text = trimSpace(text)
	if len(text) == 0 || text[0] != '"' {
		return nil, nil, false
	}
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return text[: i+1 : i+1], text[i+1:], true
		case c < ' ', c > '~', c == '\\':
			return nil, nil, false
		}
	}
	return nil, nil, false
}

func cutByte(text []byte, want byte) (rest []byte, ok bool) {
	text = trimSpace(text)
	if len(text) == 0 || text[0] != want {
		return nil, false
	}
	return text[1:], true
}

// trimSpace removes leading JSON whitespace.
func trimSpace(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n") }
