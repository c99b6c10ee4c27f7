package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxDepth      = 24  // limits nesting; the protocol's requests are six levels deep
	maxTextLength = 500 // limits every stored text
)

var errDuplicate = errors.New("acp: duplicate key")

// parse parses a body that is one JSON object. Duplicate keys are rejected, also if
// they differ only in case: two parsers of such a body could see two orders. An empty
// body is an empty object.
func parse(body []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return map[string]any{}, nil
	}
	broken := func(message string) error { return newInvalid(codeBody, message, "") }
	if !utf8.Valid(body) {
		return nil, broken("The body is not UTF-8.")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	value, err := readValue(decoder, 0)
	switch {
	case errors.Is(err, errDuplicate):
		return nil, newInvalid(codeDuplicate, "A key occurs twice in one object of the body.", "")
	case err != nil:
		return nil, broken("The body is not valid JSON, or nested too deeply.")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, broken("The body has data after the JSON object.")
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, broken("The body must be a JSON object.")
	}
	return fields, nil
}

func readValue(decoder *json.Decoder, depth int) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	opening, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if depth == maxDepth {
		return nil, errors.New("acp: nested too deeply")
	}
	if opening == '[' {
		list := []any{}
		for decoder.More() {
			value, err := readValue(decoder, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err := decoder.Token()
		return list, err
	}
	fields, folded := map[string]any{}, map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		key, ok := token.(string)
		if !ok {
			return nil, errors.New("acp: key is not a string")
		}
		lower := strings.ToLower(key)
		if folded[lower] {
			return nil, errDuplicate
		}
		folded[lower] = true
		if fields[key], err = readValue(decoder, depth+1); err != nil {
			return nil, err
		}
	}
	_, err = decoder.Token()
	return fields, err
}

// readState is one request while it is read. The first error is kept, and nothing that
// is read afterwards counts.
type readState struct {
	strict  bool // rejects unknown fields, and null as a value
	problem *problem
}

func (f *readState) fail(code, message, param string) {
	if f.problem == nil {
		f.problem = newInvalid(code, message, param)
	}
}

// object is one JSON object of a request with its JSONPath.
type object struct {
	form   *readState
	path   string
	fields map[string]any
}

// allowOnly lists all fields that the object may have.
func (o object) allowOnly(keys ...string) object {
	if !o.form.strict {
		return o
	}
	return o.allowExactly("This version of the protocol does not have this field.", keys...)
}

// allowExactly is allowOnly for shapes that ignore unknown fields elsewhere: ignoring
// one here could change the order.
func (o object) allowExactly(message string, keys ...string) object {
	for _, key := range slices.Sorted(maps.Keys(o.fields)) { // the same error for the same body
		if !slices.Contains(keys, key) {
			o.form.fail(codeUnknownField, message, o.pathTo(key))
		}
	}
	return o
}

// require lists the fields that must be present.
func (o object) require(keys ...string) object {
	if o.fields == nil {
		return o
	}
	for _, key := range keys {
		if _, present := o.value(key); !present {
			o.form.fail(codeMissingField, "A required field is missing.", o.pathTo(key))
		}
	}
	return o
}

// pathTo returns the JSONPath of a field. A key that is no plain word is quoted.
func (o object) pathTo(key string) string {
	short := key[:min(len(key), 64)]
	if strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return o.path + "[" + strconv.QuoteToASCII(short) + "]"
	}
	return o.path + "." + short
}

// value returns a field that is present. In shapes that are not strict null counts as
// absent.
func (o object) value(key string) (any, bool) {
	value, present := o.fields[key]
	if present && value == nil && !o.form.strict {
		return nil, false
	}
	return value, present
}

func (o object) wrongType(key, want string) {
	o.form.fail(codeInvalidField, "This field must be "+want+".", o.pathTo(key))
}

// text returns a string field; empty if absent.
func (o object) text(key string) string {
	value, present := o.value(key)
	if !present {
		return ""
	}
	text, ok := value.(string)
	switch {
	case !ok:
		o.wrongType(key, "a text")
	case utf8.RuneCountInString(text) > maxTextLength:
		o.form.fail(codeInvalidField, fmt.Sprintf("This text is longer than %d characters.", maxTextLength), o.pathTo(key))
	case strings.ContainsFunc(text, unicode.IsControl):
		o.form.fail(codeInvalidField, "This text contains a control character.", o.pathTo(key))
	}
	return text
}

// requireValue is for a field that can have only one value, if present. An empty text
// is another value: a request that names no provider must not be taken for one that
// names ours.
func (o object) requireValue(key, only, code, message string) {
	if _, present := o.value(key); present && o.text(key) != only {
		o.form.fail(code, message, o.pathTo(key))
	}
}

// object returns an object field; its fields are nil if absent.
func (o object) object(key string) (object, bool) {
	value, present := o.value(key)
	inner := object{form: o.form, path: o.pathTo(key)}
	if !present {
		return inner, false
	}
	fields, ok := value.(map[string]any)
	if !ok {
		o.wrongType(key, "an object")
		return inner, false
	}
	inner.fields = fields
	return inner, true
}

// objects returns a field with a list of objects; nil if absent.
func (o object) objects(key string) []object {
	value, present := o.value(key)
	if !present {
		return nil
	}
	list, ok := value.([]any)
	if !ok {
		o.wrongType(key, "a list")
		return nil
	}
	inner := make([]object, 0, len(list))
	for i, entry := range list {
		path := o.pathTo(key) + "[" + strconv.Itoa(i) + "]"
		fields, ok := entry.(map[string]any)
		if !ok {
			o.form.fail(codeInvalidField, "This entry must be an object.", path)
			return nil
		}
		inner = append(inner, object{form: o.form, path: path, fields: fields})
	}
	return inner
}

// isOne reports whether a field is the number 1, in any notation.
func (o object) isOne(key string) (isOne, present bool) {
	value, present := o.value(key)
	if !present {
		return false, false
	}
	number, ok := value.(json.Number)
	if !ok {
		o.wrongType(key, "a number")
		return false, true
	}
	amount, err := number.Float64()
	if err != nil || amount <= 0 {
		o.wrongType(key, "a number above 0")
		return false, true
	}
	return amount == 1, true
}
