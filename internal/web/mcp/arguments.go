package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// arguments are the arguments of a tool call. Names must match exactly. Unknown ones
// are ignored, as the REST interface ignores unknown fields: some clients add their own
// to every call.
type arguments map[string]json.RawMessage

func readArguments(raw []byte) (arguments, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if !isObject(raw) {
		return nil, newArgumentError("arguments must be a JSON object.")
	}
	args := make(arguments, 1)
	s := scanner{text: raw}
	err := s.object(func(key []byte) error {
		value, err := s.value()
		args[string(key)] = value
		return err
	})
	return args, err
}

// has reports whether an argument is present; null counts as absent.
func (a arguments) has(name string) bool {
	raw, ok := a[name]
	return ok && string(raw) != "null"
}

// text returns a required string.
func (a arguments) text(name string) (string, error) {
	if !a.has(name) {
		return "", newArgumentError("The argument %s is missing.", name)
	}
	return a.optionalText(name)
}

func (a arguments) optionalText(name string) (string, error) {
	if !a.has(name) {
		return "", nil
	}
	value, isText := stringOf(a[name])
	if !isText {
		return "", newArgumentError("The argument %s must be a string.", name)
	}
	return value, nil
}

// number returns an integer in a range. 10.0 is one, as in JSON Schema.
func (a arguments) number(name string, fallback, low, high int) (int, error) {
	if !a.has(name) {
		return fallback, nil
	}
	var value float64
	if err := json.Unmarshal(a[name], &value); err != nil || value != math.Trunc(value) {
		return 0, newArgumentError("The argument %s must be a whole number.", name)
	}
	if value < float64(low) || value > float64(high) {
		return 0, newArgumentError("The argument %s must be between %d and %d.", name, low, high)
	}
	return int(value), nil
}

// timestamp parses a date (its start in UTC) or a time; zero if absent.
func (a arguments) timestamp(name string) (time.Time, error) {
	text, err := a.optionalText(name)
	if err != nil || text == "" {
		return time.Time{}, err
	}
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		at, err = time.Parse(time.RFC3339, text)
	}
	// Times are stored in microseconds, which bounds the years.
	if err != nil || at.Year() < 1970 || at.Year() > 9999 {
		return time.Time{}, newArgumentError("The argument %s must be a date like 2027-01-31 or a time in RFC 3339.", name)
	}
	return at, nil
}

// flag parses a boolean; false if absent.
func (a arguments) flag(name string) (bool, error) {
	if !a.has(name) {
		return false, nil
	}
	var value bool
	if err := json.Unmarshal(a[name], &value); err != nil {
		return false, newArgumentError("The argument %s must be true or false.", name)
	}
	return value, nil
}

// allowOnly rejects arguments that are not listed, for objects in which an ignored
// property could change what the caller pays.
func (a arguments) allowOnly(names ...string) error {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if !slices.Contains(names, name) && a.has(name) {
			return newArgumentError("%s is not a property of an item. An item has %s; other properties are not supported.",
				quoteShort(name), strings.Join(names, ", "))
		}
	}
	return nil
}

// quoteShort quotes a name chosen by the client, shortened.
func quoteShort(name string) string { return fmt.Sprintf("%.40q", name) }
