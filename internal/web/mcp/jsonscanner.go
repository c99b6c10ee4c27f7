package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Bounds of a message besides its size. Real calls nest a handful of levels deep.
const (
	maxDepth = 32
	maxKeys  = 128 // of one object; each key is compared with those before it
)

var (
	errNotJSON      = errors.New("the body is not one JSON text in UTF-8")
	errDuplicateKey = errors.New("a key occurs twice in one object")
	errTooDeep      = errors.New("the message is nested more than 32 levels deep")
	errTooManyKeys  = errors.New("an object has more than 128 keys")
)

// scanner reads JSON as RFC 8259 defines it, but accepts no duplicate keys, about which
// parsers disagree. It moves over each byte once and copies nothing.
type scanner struct {
	text  []byte
	at    int
	depth int
}

// peek returns the first byte of the next token, or 0 at the end.
func (s *scanner) peek() byte {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// take skips a punctuation mark if it is next.
func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

// value skips one value and returns its text.
func (s *scanner) value() ([]byte, error) {
	c := s.peek()
	start := s.at
	var err error
	switch c {
	case '{':
		err = s.object(nil)
	case '[':
		err = s.array()
	case '"':
		err = s.quoted()
	case 't':
		err = s.literal("true")
	case 'f':
		err = s.literal("false")
	case 'n':
		err = s.literal("null")
	default:
		err = s.number()
	}
	return s.text[start:s.at:s.at], err
}

// object reads an object and calls field for each key, before its value; field
// consumes the value. Without field, the values are skipped.
func (s *scanner) object(field func(key []byte) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	var space [8][]byte
	keys := space[:0]
	for !s.take('}') {
		if len(keys) > 0 && !s.take(',') || s.peek() != '"' {
			return errNotJSON
		}
		start := s.at
		if err := s.quoted(); err != nil {
			return err
		}
		key := unquote(s.text[start:s.at])
		for _, earlier := range keys {
			if bytes.Equal(earlier, key) {
				return errDuplicateKey
			}
		}
		if len(keys) == maxKeys {
			return errTooManyKeys
		}
		keys = append(keys, key)
		if !s.take(':') {
			return errNotJSON
		}
		var err error
		if field == nil {
			_, err = s.value()
		} else {
			err = field(key)
		}
		if err != nil {
			return err
		}
	}
	s.depth--
	return nil
}

func (s *scanner) array() error {
	if err := s.enter(); err != nil {
		return err
	}
	for first := true; !s.take(']'); first = false {
		if !first && !s.take(',') {
			return errNotJSON
		}
		if _, err := s.value(); err != nil {
			return err
		}
	}
	s.depth--
	return nil
}

// enter skips the opening bracket of an object or array.
func (s *scanner) enter() error {
	if s.depth++; s.depth > maxDepth {
		return errTooDeep
	}
	s.at++
	return nil
}

func (s *scanner) literal(word string) error {
	if !bytes.HasPrefix(s.text[s.at:], []byte(word)) {
		return errNotJSON
	}
	s.at += len(word)
	return nil
}

// quoted skips a string.
func (s *scanner) quoted() error {
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return nil
		case c < ' ':
			return errNotJSON
		case c == '\\':
			if s.at++; s.at == len(s.text) {
				return errNotJSON
			}
			switch s.text[s.at] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				for range 4 {
					if s.at++; s.at == len(s.text) || !isHex(s.text[s.at]) {
						return errNotJSON
					}
				}
			default:
				return errNotJSON
			}
		}
	}
	return errNotJSON
}

// number skips a number: -0.5e+3, but neither 01 nor 1. nor +1.
func (s *scanner) number() error {
	if s.at < len(s.text) && s.text[s.at] == '-' {
		s.at++
	}
	if s.at < len(s.text) && s.text[s.at] == '0' {
		s.at++
	} else if s.digits() == 0 {
		return errNotJSON
	}
	if s.at < len(s.text) && s.text[s.at] == '.' {
		s.at++
		if s.digits() == 0 {
			return errNotJSON
		}
	}
	if s.at < len(s.text) && s.text[s.at]|0x20 == 'e' {
		s.at++
		if s.at < len(s.text) && (s.text[s.at] == '+' || s.text[s.at] == '-') {
			s.at++
		}
		if s.digits() == 0 {
			return errNotJSON
		}
	}
	return nil
}

func (s *scanner) digits() (n int) {
	for ; s.at < len(s.text) && isDigit(s.text[s.at]); s.at++ {
		n++
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// unquote returns the content of a valid JSON string. Only escapes need a copy.
func unquote(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return nil // does not happen: the scanner has read it
	}
	return []byte(text)
}

// stringOf returns the string that raw holds; false if it is another value or absent.
func stringOf(raw []byte) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return string(unquote(raw)), true
}

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }
