package idempotency

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// fingerprint is equal for equal JSON values. Any other body equals only the same
// bytes; the prefix keeps the two apart.
func fingerprint(body []byte) string {
	if plain, ok := canonical(body); ok {
		return "j" + hashText(plain)
	}
	return "b" + hashText(body)
}

// canonical returns the canonical encoding of a JSON value. It is false for ambiguous
// input: invalid JSON, duplicate members, or invalid Unicode.
func canonical(body []byte) ([]byte, bool) {
	if !utf8.Valid(body) {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	plain, err := appendValue(decoder, nil, 0)
	if err != nil {
		return nil, false
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, false
	}
	return plain, true
}

// maxDepth limits the nesting of values.
const maxDepth = 100

var errNotPlain = errors.New("idempotency: ambiguous JSON")

func appendValue(decoder *json.Decoder, dst []byte, depth int) ([]byte, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, errNotPlain
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return appendObject(decoder, dst, depth)
		}
		dst = append(dst, '[')
		for decoder.More() {
			if dst, err = appendValue(decoder, dst, depth+1); err != nil {
				return nil, err
			}
			dst = append(dst, ',')
		}
		_, err = decoder.Token()
		return append(dst, ']'), err
	case string:
		if strings.ContainsRune(token, utf8.RuneError) { // unpaired surrogates all decode to this
			return nil, errNotPlain
		}
		return strconv.AppendQuote(dst, token), nil
	case json.Number:
		return append(dst, canonicalNumber(string(token))...), nil
	case bool:
		return strconv.AppendBool(dst, token), nil
	default:
		return append(dst, "null"...), nil
	}
}

func appendObject(decoder *json.Decoder, dst []byte, depth int) ([]byte, error) {
	members := make(map[string][]byte)
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		if _, twice := members[name]; twice || strings.ContainsRune(name, utf8.RuneError) {
			return nil, errNotPlain
		}
		if members[name], err = appendValue(decoder, nil, depth+1); err != nil {
			return nil, err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	dst = append(dst, '{')
	for _, name := range slices.Sorted(maps.Keys(members)) {
		dst = strconv.AppendQuote(dst, name)
		dst = append(append(append(dst, ':'), members[name]...), ',')
	}
	return append(dst, '}'), nil
}

// canonicalNumber is the same for 1, 1.0 and 10e-1, and exact: the significant digits
// and the exponent.
func canonicalNumber(text string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	sign := ""
	if rest, negative := strings.CutPrefix(mantissa, "-"); negative {
		sign, mantissa = "-", rest
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return "0" // and so is -0
	}
	power := 0
	if exponent != "" {
		var err error
		if power, err = strconv.Atoi(exponent); err != nil || power > 1<<40 || power < -1<<40 {
			return "n" + text // out of any sensible range
		}
	}
	power += len(digits) - len(short) - len(fraction)
	return sign + short + "e" + strconv.Itoa(power)
}
