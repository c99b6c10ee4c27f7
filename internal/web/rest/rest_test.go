package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

// echoLookups returns its input, so that tests see what arrived.
type echoLookups struct{}

func (echoLookups) Check(_ context.Context, domain string) (lookup.Answer, error) {
	return lookup.Answer{Domain: domain, TLD: ".de", Availability: lookup.Taken}, nil
}

func (echoLookups) Search(_ context.Context, query string) (lookup.Result, error) {
	return lookup.Result{Label: query}, nil
}

type unlimitedBudget struct{}

func (unlimitedBudget) Spend(netip.Addr) (ratelimit.Decision, []ratelimit.Window) {
	return ratelimit.Decision{Allowed: true}, nil
}

func newHandler() *Handler {
	return New(echoLookups{}, unlimitedBudget{}, func(*http.Request) netip.Addr { return netip.Addr{} })
}

func post(serve http.HandlerFunc, contentType string, body []byte) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(body)))
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	recorder := httptest.NewRecorder()
	serve(recorder, request)
	return recorder
}

func TestCheck_BadBodyIs400WithReason(t *testing.T) {
	for body, want := range map[string]registrar.Code{
		"":                            bodyEmpty,
		"{":                           bodyBroken,
		`{"domain":"a.de"} x`:         bodyBroken,
		`{"domain":"a.de"}{}`:         bodyBroken,
		"\ufeff{\"domain\":\"a.de\"}": bodyBroken,
		"[]":                          bodyNoObject,
		`"a.de"`:                      bodyNoObject,
		"null":                        bodyNoObject,
		"{}":                          missingField("domain"),
		`{"Domain":"a.de"}`:           missingField("domain"),
		`{"domain":null}`:             wrongTypeField("domain"),
		`{"domain":7}`:                wrongTypeField("domain"),
		`{"domain":["a.de"]}`:         wrongTypeField("domain"),
		`{"domain":"` + strings.Repeat("a", maxBody) + `"}`: bodyTooLarge,
	} {
		answer := post(newHandler().Check, "application/json", []byte(body))
		var got errorBody
		if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if answer.Code != http.StatusBadRequest || got.Error != messages[want] || got.Domain != "" {
			t.Errorf("%.40q: got %d %+v, want the message of %s", body, answer.Code, got, want)
		}
	}
}

func TestCheck_AcceptedContentTypes(t *testing.T) {
	for contentType, want := range map[string]int{
		"": 200, "application/json": 200, "application/json; charset=utf-8": 200, "APPLICATION/JSON": 200,
		"text/plain": 400, "application/x-www-form-urlencoded": 400, "application/jsonp": 400, "nonsense;;": 400,
	} {
		if got := post(newHandler().Check, contentType, []byte(`{"domain":"a.de"}`)).Code; got != want {
			t.Errorf("Content-Type %q: %d, want %d", contentType, got, want)
		}
	}
}

func TestCheck_UnknownFieldsAreIgnored(t *testing.T) {
	answer := post(newHandler().Check, "", []byte(`{"x":{"domain":1},"domain":"a.de","y":[1]}`))
	if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `"domain":"a.de"`) {
		t.Errorf("got %d %s", answer.Code, answer.Body)
	}
}

func TestMessage_EveryCodeHasText(t *testing.T) {
	for _, code := range []registrar.Code{
		registrar.NameEmpty, registrar.NameNoExtension, registrar.NameIsExtension, registrar.NameSubdomain,
		registrar.NameEmptyLabel, registrar.NameLabelTooLong, registrar.NameTooLong, registrar.NameHyphenEdge,
		registrar.NameHyphens34, registrar.NamePunycode, registrar.NameUnderscore, registrar.NameAddress,
		registrar.NameURL, registrar.NamePort, registrar.NameEmail, registrar.NameControl, registrar.NameSpace,
		registrar.NameCharacter, registrar.NameNotASCII,
		registrar.FaultTimeout, registrar.FaultRefused, registrar.FaultThrottled, registrar.FaultBroken, registrar.FaultBusy,
		contentTypeNotJSON, bodyTooLarge, bodyUnreadable, bodyEmpty, bodyBroken, bodyNoObject, NoSuchPath, NoSuchMethod,
		missingField("domain"), missingField("query"), wrongTypeField("domain"), wrongTypeField("query"),
	} {
		if text := message(&registrar.Error{Kind: registrar.KindInvalid, Code: code}); text == messageInternal || text == "" {
			t.Errorf("%s has no message", code)
		}
	}
}

func TestRateLimitMessage_SaysHowLongToWait(t *testing.T) {
	for wait, want := range map[int64]string{1: "in einer Sekunde", 42: "in 42 Sekunden", 3601: "in 61 Minuten"} {
		if got := rateLimitMessage(wait); !strings.Contains(got, want) {
			t.Errorf("%d seconds: %s", wait, got)
		}
	}
}

// FuzzCheckBody and FuzzSearchBody check that any body gets 200 or 400 with a JSON
// response, and that a 200 used the field as encoding/json decodes it.
func FuzzCheckBody(f *testing.F)  { fuzzBody(f, "domain", newHandler().Check) }
func FuzzSearchBody(f *testing.F) { fuzzBody(f, "query", newHandler().Search) }

func fuzzBody(f *testing.F, field string, serve http.HandlerFunc) {
	for _, seed := range []string{
		`{"` + field + `":"a.de"}`, `{"` + field + `":"\u00fc.de"}`, `{"` + field + `":"\ud800"}`, "{", "null", "[]", "",
		`{"` + field + `":"a","` + field + `":7}`, "\ufeff{}", `{"a":{"b":[[[[]]]]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		answer := post(serve, "application/json", body)
		if answer.Code != http.StatusOK && answer.Code != http.StatusBadRequest {
			t.Fatalf("%q: status %d", body, answer.Code)
		}
		if !json.Valid(answer.Body.Bytes()) || !utf8.Valid(answer.Body.Bytes()) {
			t.Fatalf("%q: the response is not JSON: %q", body, answer.Body)
		}
		if answer.Code == http.StatusOK {
			var fields map[string]any
			if err := json.Unmarshal(body, &fields); err != nil {
				t.Fatalf("%q was accepted: %v", body, err)
			}
			if _, ok := fields[field].(string); !ok {
				t.Fatalf("%q was accepted without %s", body, field)
			}
		}
	})
}
