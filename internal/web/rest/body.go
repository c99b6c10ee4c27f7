package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

const maxBody = 16 << 10

// readField reads the whole body and returns the one string field that the
// endpoint needs. Keys are matched exactly: a struct would also accept "Domain".
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
		var wrongType *json.UnmarshalTypeError
		if errors.As(err, &wrongType) {
			return "", refuse(bodyNoObject)
		}
		return "", refuse(bodyBroken)
	}
	raw, present := fields[field]
	switch {
	case fields == nil: // the JSON value null
		return "", refuse(bodyNoObject)
	case !present:
		return "", refuse(missingField(field))
	case raw[0] != '"':
		return "", refuse(wrongTypeField(field))
	}
	var value string
	if err := json.Unmarshal(raw, &value); err != nil {
		return "", refuse(wrongTypeField(field))
	}
	return value, nil
}

// readBody reads the body to its end, or refuses it.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > maxBody {
		return nil, refuse(bodyTooLarge)
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
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, refuse(bodyTooLarge)
		}
		return nil, refuse(bodyUnreadable)
	}
	if len(text) == 0 {
		return nil, refuse(bodyEmpty)
	}
	return text, nil
}

// plainField reads the body that nearly every client sends, {"domain":"a.de"},
// without the general decoder. Anything beyond plain letters, digits, dots and
// hyphens is left to that.
func plainField(text []byte, field string) (string, bool) {
	rest, ok := bytes.CutPrefix(text, []byte(`{"`))
	if !ok || !bytes.HasPrefix(rest, []byte(field)) {
		return "", false
	}
	rest, ok = bytes.CutPrefix(rest[len(field):], []byte(`":`))
	if !ok {
		return "", false
	}
	rest, ok = bytes.CutPrefix(bytes.TrimPrefix(rest, []byte(" ")), []byte(`"`))
	if !ok {
		return "", false
	}
	value, ok := bytes.CutSuffix(rest, []byte(`"}`))
	if !ok {
		return "", false
	}
	for _, c := range value {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && c != '.' && c != '-' {
			return "", false
		}
	}
	return string(value), true
}

func refuse(code registrar.Code) error {
	return &registrar.Error{Kind: registrar.KindInvalid, Code: code}
}

// checkContentType accepts JSON, and nothing at all as JSON.
func checkContentType(header string) error {
	if header == "" || header == "application/json" {
		return nil
	}
	if media, _, err := mime.ParseMediaType(header); err != nil || media != "application/json" {
		return refuse(contentTypeNotJSON)
	}
	return nil
}

// checkResult is the contract's CheckResult and what we add to it.
type checkResult struct {
	Domain      string           `json:"domain"`
	TLD         string           `json:"tld"`
	Available   *bool            `json:"available"`
	RegisterEUR *registrar.Cents `json:"registerEur,omitempty"`
	RenewEUR    *registrar.Cents `json:"renewEur,omitempty"`
	TransferEUR *registrar.Cents `json:"transferEur,omitempty"`
	evidence
}

// evidence says who decided, when and why. It is more than the contract asks.
type evidence struct {
	CheckedAt string        `json:"checkedAt,omitempty"`
	Source    lookup.Source `json:"source,omitempty"`
	Reason    lookup.Reason `json:"reason,omitempty"`
	Premium   bool          `json:"premium,omitempty"`
}

func evidenceOf(answer lookup.Answer) evidence {
	e := evidence{Source: answer.Source, Reason: answer.Reason, Premium: answer.Premium}
	if !answer.CheckedAt.IsZero() {
		e.CheckedAt = answer.CheckedAt.UTC().Format(time.RFC3339)
	}
	return e
}

// unsupportedBody is the contract's UnsupportedResult.
type unsupportedBody struct {
	Domain    string `json:"domain"`
	TLD       string `json:"tld"`
	Supported bool   `json:"supported"`
}

// searchBody is the contract's SearchResult.
type searchBody struct {
	SLD     string        `json:"sld"`
	Results []searchEntry `json:"results"`
}

type searchEntry struct {
	Domain    string           `json:"domain"`
	TLD       string           `json:"tld"`
	Available *bool            `json:"available"`
	PriceEUR  *registrar.Cents `json:"priceEur"`
	Error     bool             `json:"error,omitempty"`
	evidence
}

// errorBody is the contract's Error.
type errorBody struct {
	Error  string `json:"error"`
	Domain string `json:"domain,omitempty"`
}

func checkBody(answer lookup.Answer) checkResult {
	body := checkResult{
		Domain: answer.Domain, TLD: answer.TLD, Available: available(answer), evidence: evidenceOf(answer),
	}
	if p := answer.Prices; p != nil {
		body.RegisterEUR, body.RenewEUR, body.TransferEUR = &p.Register, &p.Renew, &p.Transfer
	}
	return body
}

func searchBodyOf(w http.ResponseWriter, result lookup.Result) searchBody {
	body := searchBody{SLD: result.Label, Results: make([]searchEntry, 0, len(result.Entries))}
	for _, entry := range result.Entries {
		line := searchEntry{
			Domain: entry.Domain, TLD: entry.TLD, Available: available(entry.Answer), evidence: evidenceOf(entry.Answer),
		}
		switch {
		case entry.Err != nil:
			line.Error = true
			wire.Annotate(w, entry.Err)
		case entry.Prices != nil:
			line.PriceEUR = &entry.Prices.Register
		}
		body.Results = append(body.Results, line)
	}
	return body
}

var yes, no = true, false

// available is the contract's boolean or null.
func available(answer lookup.Answer) *bool {
	switch answer.Availability {
	case lookup.Available:
		return &yes
	case lookup.Taken:
		return &no
	default:
		return nil
	}
}
