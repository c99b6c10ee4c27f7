package idempotency

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// fingerprint is equal for equal JSON values. Nodes of earlier releases, which also compared bodies
// that are not JSON, begin those of JSON values with j.
func fingerprint(value any) (string, error) {
	plain, err := appendValue(nil, value)
	return "j" + hashText(plain), err
}

// appendValue appends the canonical encoding of a decoded JSON value.
func appendValue(dst []byte, value any) ([]byte, error) {
	switch value := value.(type) {
	case map[string]any:
		return appendObject(dst, value)
	case []any:
		dst = append(dst, '[')
		for _, element := range value {
			var err error
			if dst, err = appendValue(dst, element); err != nil {
				return nil, err
			}
			dst = append(dst, ',')
		}
		return append(dst, ']'), nil
	case string:
		return strconv.AppendQuote(dst, value), nil
	case json.Number:
		return append(dst, canonicalNumber(string(value))...), nil
	case bool:
		return strconv.AppendBool(dst, value), nil
	case nil:
		return append(dst, "null"...), nil
	default:
		return nil, fmt.Errorf("idempotency: a decoded JSON value contains a %T", value)
	}
}

func appendObject(dst []byte, members map[string]any) ([]byte, error) {
	dst = append(dst, '{')
	for _, name := range slices.Sorted(maps.Keys(members)) {
		dst = append(strconv.AppendQuote(dst, name), ':')
		var err error
		if dst, err = appendValue(dst, members[name]); err != nil {
			return nil, err
		}
		dst = append(dst, ',')
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
