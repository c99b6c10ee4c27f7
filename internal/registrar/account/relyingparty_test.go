package account

import (
	"slices"
	"testing"
)

func TestPasskeyOrigins_DerivedFromBaseURL(t *testing.T) {
	t.Parallel()
	for base, want := range map[string][]string{
		"https://kontor.example":      {"https://kontor.example"},
		"https://Kontor.example:443/": {"https://kontor.example"},
		"https://kontor.example:8443": {"https://kontor.example:8443"},
		"http://127.0.0.1:8080":       {"http://localhost:8080"},
		"http://[::1]:8080":           {"http://localhost:8080"},
		"http://localhost:8080":       {"http://localhost:8080"},
		"http://kontor.example":       nil,
		"https://192.0.2.1":           nil,
		"":                            nil,
	} {
		got := PasskeyOrigins(base)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", base, got, want)
		}
		if _, err := newRelyingParties(got); err != nil {
			t.Errorf("%s: %v", base, err)
		}
	}
}
