package mcp

import (
	"bytes"
	"encoding/json"
)

// Most calls have arguments like {"domain":"example.de"}. The library runs each
// call on a goroutine of its own, whose small stack encoding/json makes grow:
// that alone was a twentieth of a call. So an object of plain strings is read
// here, and everything else is left to encoding/json.

// parsePlainObject reads an object whose keys and values are all plain strings, as
// encoding/json would. It reports false for any other text, right or wrong.
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

// cutPlainString cuts a string that means what it says off the front of text: without
// escapes, and of printable ASCII, so that there is nothing to repair. The
// quotes stay.
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

// trimSpace takes what JSON calls space, and only that, off the front.
func trimSpace(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n") }
