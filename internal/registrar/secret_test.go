package registrar_test

import (
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestHashSecret_ChecksKindAndChecksum(t *testing.T) {
	t.Parallel()
	value, hash := registrar.NewSecret(registrar.PersonalToken)
	if got, ok := registrar.HashSecret(registrar.PersonalToken, value); !ok || got != hash {
		t.Fatalf("a fresh secret is not recognised: %v %q %q", ok, got, hash)
	}
	if !strings.HasPrefix(value, "dotkontor_live_") || strings.Contains(string(hash), value) {
		t.Errorf("wrong shape: %d characters", len(value))
	}
	if _, ok := registrar.HashSecret(registrar.AccessToken, value); ok {
		t.Error("a personal token passes as an access token")
	}
	for i := range value {
		other := "a"
		if value[i] == 'a' {
			other = "b"
		}
		if _, ok := registrar.HashSecret(registrar.PersonalToken, value[:i]+other+value[i+1:]); ok {
			t.Errorf("a wrong character at %d is not detected", i)
		}
	}
	for _, wrong := range []string{"", "dotkontor_live_", value[1:], value + "0", value + " ", strings.ToUpper(value)} {
		if _, ok := registrar.HashSecret(registrar.PersonalToken, wrong); ok {
			t.Errorf("%d characters pass as a token", len(wrong))
		}
	}
}

func TestContainsSecret_FindsEveryKind(t *testing.T) {
	t.Parallel()
	for _, kind := range []registrar.SecretKind{
		registrar.PersonalToken, registrar.SessionSecret, registrar.DeviceSecret, registrar.LinkSecret, registrar.AccessToken, registrar.RefreshToken, registrar.ClientSecret, registrar.AuthorizationCodeSecret, registrar.ChallengeSecret,
	} {
		secret, _ := registrar.NewSecret(kind)
		if !registrar.ContainsSecret("key=" + secret) {
			t.Errorf("%s is not recognised", kind)
		}
	}
	for _, harmless := range []string{"", "dotkontor", "utm_source=dotkontor_docs", "live_"} {
		if registrar.ContainsSecret(harmless) {
			t.Errorf("%q is taken for a secret", harmless)
		}
	}
}
