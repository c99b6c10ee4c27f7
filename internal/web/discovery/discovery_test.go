package discovery

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestDocumentsCarryTheBaseAddressAndARevalidator(t *testing.T) {
	documents, err := New(Facts{BaseURL: "https://domains.example", LookupPerMinute: 31, LookupPer6Hours: 301})
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	documents.OpenAPI(answer, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	var got struct {
		OpenAPI string
		Info    struct{ Version string }
		Servers []struct{ URL string }
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.OpenAPI != "3.1.0" || got.Info.Version != "1.0.0" || got.Servers[0].URL != "https://domains.example" {
		t.Errorf("got %+v", got)
	}
	if body := answer.Body.String(); !strings.Contains(body, "31 requests per minute and 301 requests per 6 hours") {
		t.Error("the limits are not told")
	}
	etag := answer.Header().Get("ETag")
	for header, want := range map[string]int{etag: 304, "W/" + etag: 304, `"x", ` + etag: 304, "*": 304, `"x"`: 200, "": 200} {
		request := httptest.NewRequest(http.MethodGet, "/openapi.json", nil)
		request.Header.Set("If-None-Match", header)
		answer := httptest.NewRecorder()
		documents.OpenAPI(answer, request)
		if answer.Code != want {
			t.Errorf("If-None-Match %s: %d, want %d", header, answer.Code, want)
		}
	}
}

func TestABaseAddressCanNotBreakTheDocument(t *testing.T) {
	documents, err := New(Facts{BaseURL: `https://x.example/"},{"evil`})
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(documents.openAPI.body) {
		t.Errorf("the document is no longer JSON")
	}
}
