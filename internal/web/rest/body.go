package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const maxBody = 16 << 10

// readField reads the whole body and returns the one string field of the endpoint. Keys
// must match exactly: a struct would also accept "Domain".
func readField(w http.ResponseWriter, r *http.Request, field string) (string, error) {
	if err := checkContentType(r.Header.Get("Content-Type")); err != nil {
		return "", err
	}
	text, err := readBody(w, r)
	if err != nil {
		return "", err
	}
	if value, ok := plainField(text, field); ok {
		return value, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		if _, wrongType := errors.AsType[*json.UnmarshalTypeError](err); wrongType {
			return "", registrar.Invalid(bodyNoObject)
		}
		return "", registrar.Invalid(bodyBroken)
	}
	raw, present := fields[field]
	switch {
	case fields == nil: // the JSON value null
		return "", registrar.Invalid(bodyNoObject)
	case !present:
		return "", registrar.Invalid(missingField(field))
	case raw[0] != '"':
		return "", registrar.Invalid(wrongTypeField(field))
	}
	var value string
	if err := json.Unmarshal(raw, &value); err != nil {
		return "", registrar.Invalid(wrongTypeField(field))
	}
	return value, nil
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > maxBody {
		return nil, registrar.Invalid(bodyTooLarge)
	}
	var text []byte
	var err error
	if r.ContentLength > 0 {
		text = make([]byte, r.ContentLength)
		_, err = io.ReadFull(r.Body, text)
	} else {
		text, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	}
	if err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return nil, registrar.Invalid(bodyTooLarge)
		}
		return nil, registrar.Invalid(bodyUnreadable)
	}
	if len(text) == 0 {
		return nil, registrar.Invalid(bodyEmpty)
	}
	return text, nil
}

// plainField parses the body that nearly every client sends, {"domain":"a.de"}, without
// the general decoder. It declines anything but plain letters, digits, dots and
// hyphens.
func plainField(text []byte, field string) (string, bool) {
	rest, begins := bytes.CutPrefix(text, []byte(`{"`))
	rest, named := bytes.CutPrefix(rest, []byte(field))
	rest, separated := bytes.CutPrefix(rest, []byte(`":`))
	rest, quoted := bytes.CutPrefix(bytes.TrimPrefix(rest, []byte(" ")), []byte(`"`))
	value, ends := bytes.CutSuffix(rest, []byte(`"}`))
	if !begins || !named || !separated || !quoted || !ends {
		return "", false
	}
	for _, c := range value {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && c != '.' && c != '-' {
			return "", false
		}
	}
	return string(value), true
}

// checkContentType accepts JSON or no Content-Type.
func checkContentType(header string) error {
	if header == "" || header == "application/json" {
		return nil
	}
	if media, _, err := mime.ParseMediaType(header); err != nil || media != "application/json" {
		return registrar.Invalid(contentTypeNotJSON)
	}
	return nil
}

// errorBody is the contract's Error.
type errorBody struct {
	Error  string `json:"error"`
	Domain string `json:"domain,omitempty"`
}
