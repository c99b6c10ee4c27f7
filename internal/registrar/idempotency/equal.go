package idempotency

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// fingerprint is equal for equal JSON values. What is no plain JSON is only equal
// to the same bytes; the first letter keeps the two apart.
func fingerprint(body []byte) string {
	if plain, ok := canonical(body); ok {
		return "j" + hashed(plain)
	}
	return "b" + hashed(body)
}

// canonical writes a JSON value in the one way that all its spellings share. It is
// false for what a reader could understand in two ways: broken, with a member
// twice, or with letters that are none.
func canonical(body []byte) ([]byte, bool) {
	if !utf8.Valid(body) {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	plain, err := value(decoder, nil, 0)
	if err != nil {
		return nil, false
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, false
	}
	return plain, true
}

// deepest is how far values may be inside of each other.
const deepest = 100

var errNotPlain = errors.New("not plain JSON")

func value(decoder *json.Decoder, into []byte, depth int) ([]byte, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	if depth > deepest {
		return nil, errNotPlain
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return object(decoder, into, depth)
		}
		return array(decoder, into, depth)
	case string:
		if strings.ContainsRune(token, utf8.RuneError) { // half a letter reads like any other half
			return nil, errNotPlain
		}
		return strconv.AppendQuote(into, token), nil
	case json.Number:
		return append(into, number(string(token))...), nil
	case bool:
		return strconv.AppendBool(into, token), nil
	default:
		return append(into, "null"...), nil
	}
}

func array(decoder *json.Decoder, into []byte, depth int) ([]byte, error) {
	into = append(into, '[')
	for decoder.More() {
		var err error
		if into, err = value(decoder, into, depth+1); err != nil {
			return nil, err
		}
		into = append(into, ',')
	}
	_, err := decoder.Token()
	return append(into, ']'), err
}

func object(decoder *json.Decoder, into []byte, depth int) ([]byte, error) {
	members := make(map[string][]byte)
	var names []string
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		if _, twice := members[name]; twice || strings.ContainsRune(name, utf8.RuneError) {
			return nil, errNotPlain
		}
		if members[name], err = value(decoder, nil, depth+1); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	slices.Sort(names)
	into = append(into, '{')
	for _, name := range names {
		into = strconv.AppendQuote(into, name)
		into = append(append(append(into, ':'), members[name]...), ',')
	}
	return append(into, '}'), nil
}

// number is the same for 1, 1.0 and 10e-1, and exact: the digits without zeros at
// either end, and where the point stands.
func number(text string) string {
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
			return "n" + text // nobody means such a number
		}
	}
	power += len(digits) - len(short) - len(fraction)
	return sign + short + "e" + strconv.Itoa(power)
}
