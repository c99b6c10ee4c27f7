package vies_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/vies"
)

func start(t *testing.T, opts vies.Options) *vies.Server {
	t.Helper()
	server, err := vies.Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// ask returns the response's status and body.
func ask(ctx context.Context, t *testing.T, server *vies.Server, country, number string) (int, string, error) {
	t.Helper()
	body := `{"countryCode":"` + country + `","vatNumber":"` + number + `"}`
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.Address()+"/check-vat-number", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

func TestCheck_SuffixSelectsAnswer(t *testing.T) {
	t.Parallel()
	server := start(t, vies.Options{})
	for _, test := range []struct {
		country, number string
		status          int
		part            string
	}{
		{"AT", "U12345678", 200, `"valid":true`},
		{"EL", "123456789", 200, `"valid":true`},
		{"XI", "123456789", 200, `"valid":true`},
		{"AT", "U12345200", 200, `"valid":false`},
		{"AT", "U12345201", 400, "INVALID_INPUT"},
		{"AT", "U12345300", 200, "SERVICE_UNAVAILABLE"},
		{"AT", "U12345301", 200, "MS_UNAVAILABLE"},
		{"AT", "U12345302", 200, "TIMEOUT"},
		{"AT", "U12345304", 503, "<html>"},
		{"AT", "U12345500", 200, "GLOBAL_MAX_CONCURRENT_REQ"},
		{"AT", "U12345600", 200, "MS_MAX_CONCURRENT_REQ"},
		{"GR", "123456789", 400, "INVALID_INPUT"},
		{"GB", "123456789", 400, "INVALID_INPUT"},
		{"AT", "", 400, "INVALID_INPUT"},
	} {
		status, text, err := ask(t.Context(), t, server, test.country, test.number)
		if err != nil || status != test.status || !strings.Contains(text, test.part) {
			t.Errorf("%s %s: %d %s %v", test.country, test.number, status, text, err)
		}
		if outage := strings.Contains(test.part, "_"); outage && strings.Contains(text, `"valid"`) {
			t.Errorf("%s %s: an outage contains a validity: %s", test.country, test.number, text)
		}
	}
}

func TestCheck_AnswerRepeatsID(t *testing.T) {
	t.Parallel()
	server := start(t, vies.Options{})
	_, text, err := ask(t.Context(), t, server, "FR", "60815004395")
	var answer struct{ CountryCode, VATNumber, RequestDate string }
	if err != nil || json.Unmarshal([]byte(text), &answer) != nil || answer.CountryCode != "FR" || answer.VATNumber != "60815004395" {
		t.Fatalf("%s %v", text, err)
	}
	if _, err := time.Parse(time.RFC3339, answer.RequestDate); err != nil {
		t.Error(err)
	}
}

func TestCheck_HangEndsWithCaller(t *testing.T) {
	t.Parallel()
	server := start(t, vies.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if status, _, err := ask(ctx, t, server, "AT", "U12345303"); err == nil {
		t.Errorf("it answered %d", status)
	}
}

func TestChaos_CausesOutagesNeverWrongAnswers(t *testing.T) {
	t.Parallel()
	server := start(t, vies.Options{Chaos: 0.5, Seed: 7})
	failed := 0
	for range 200 {
		_, text, err := ask(t.Context(), t, server, "AT", "U12345678")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, `"valid":false`) {
			t.Fatalf("a valid id was called invalid: %s", text)
		}
		if !strings.Contains(text, `"valid":true`) {
			failed++
		}
	}
	if failed < 50 || failed > 150 {
		t.Errorf("%d of 200 were outages", failed)
	}
	if server.Requests() != 200 {
		t.Errorf("%d queries counted", server.Requests())
	}
}

func TestStart_RefusesNonLoopbackAddress(t *testing.T) {
	t.Parallel()
	for _, listen := range []string{"0.0.0.0:0", "[::]:0", ":0", "nonsense"} {
		if server, err := vies.Start(vies.Options{Listen: listen}); err == nil {
			t.Errorf("%s was accepted: %v", listen, server.Close())
		}
	}
}
