package oauth

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestUnavailable_AnswersInOAuthErrorForm(t *testing.T) {
	t.Parallel()
	answer := httptest.NewRecorder()
	unavailable(answer, httptest.NewRequest(http.MethodPost, "/", nil))
	var body map[string]string
	if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	if answer.Code != http.StatusServiceUnavailable || body["error"] != "temporarily_unavailable" || body["error_description"] == "" {
		t.Errorf("got %d %v", answer.Code, body)
	}
	if answer.Header().Get("Retry-After") != "3600" || answer.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", answer.Header())
	}
}
