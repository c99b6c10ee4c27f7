package registrar

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func newTestSeal(t *testing.T, keys ...SealKey) *Seal {
	t.Helper()
	seal, err := NewSeal(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return seal
}

func TestSeal_ValueNamesItsKeyAndOpensWithItOnly(t *testing.T) {
	t.Parallel()
	one, two := SealKey{1}, SealKey{2}
	value := newTestSeal(t, one).Seal("purpose", "secret")
	if SealedBy(value) != one.KeyID() || strings.Contains(value, "secret") || len(one.KeyID()) != 16 || one.KeyID() == two.KeyID() {
		t.Errorf("the value is %q, the ids are %s and %s", value, one.KeyID(), two.KeyID())
	}
	for name, seal := range map[string]*Seal{"alone": newTestSeal(t, one), "first": newTestSeal(t, one, two), "second": newTestSeal(t, two, one)} {
		if got, err := seal.Open("purpose", value); err != nil || got != "secret" {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	both := newTestSeal(t, one, two)
	for name, wrong := range map[string]string{
		"another key's id": strings.Replace(value, one.KeyID(), two.KeyID(), 1),
		"an unknown id":    strings.Replace(value, one.KeyID(), "0123456789abcdef", 1),
		"no id":            "s1.." + value[strings.LastIndex(value, ".")+1:],
		"changed":          value[:len(value)-2] + "AA",
		"short":            "s1." + one.KeyID() + ".AAAA",
		"empty":            "",
	} {
		if got, err := both.Open("purpose", wrong); !errors.Is(err, ErrOpenFailed) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	if _, err := both.Open("other", value); !errors.Is(err, ErrOpenFailed) {
		t.Errorf("another purpose: %v", err)
	}
	if _, err := newTestSeal(t, two).Open("purpose", value); !errors.Is(err, ErrOpenFailed) {
		t.Errorf("another key: %v", err)
	}
}

// sealUntagged seals in the format from before key ids.
func sealUntagged(t *testing.T, key SealKey, purpose, secret string) string {
	t.Helper()
	block, err := aes.NewCipher(key[:])
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	nonce := make([]byte, aead.NonceSize())
	return base64.RawURLEncoding.EncodeToString(aead.Seal(nonce, nonce, []byte(secret), []byte(purpose)))
}

func TestSeal_ValueFromBeforeKeyIDsStaysReadable(t *testing.T) {
	t.Parallel()
	one, two := SealKey{1}, SealKey{2}
	value := sealUntagged(t, one, "purpose", "secret")
	for name, seal := range map[string]*Seal{"alone": newTestSeal(t, one), "second": newTestSeal(t, two, one)} {
		if got, err := seal.Open("purpose", value); err != nil || got != "secret" {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		if got := seal.FindKeyID("purpose", value); got != one.KeyID() {
			t.Errorf("%s: opened by %q", name, got)
		}
	}
	if got := newTestSeal(t, two).FindKeyID("purpose", value); got != "" || SealedBy(value) != "" {
		t.Errorf("opened by %q, sealed by %q", got, SealedBy(value))
	}
}

func TestReseal_UsesWriteKeyAndKeepsUnreadableValues(t *testing.T) {
	t.Parallel()
	one, two, three := SealKey{1}, SealKey{2}, SealKey{3}
	seal := newTestSeal(t, one, two)
	tagged, old, foreign := seal.Seal("p", "secret"), sealUntagged(t, one, "p", "secret"), newTestSeal(t, three).Seal("p", "secret")
	if err := seal.SetKeys([]SealKey{one, two}, two.KeyID()); err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{tagged, old} {
		next := seal.Reseal("p", value)
		if got, err := newTestSeal(t, two).Open("p", next); err != nil || got != "secret" || seal.Reseal("p", next) != next {
			t.Errorf("%q became %q: %q, %v", value, next, got, err)
		}
	}
	if seal.Reseal("p", foreign) != foreign || seal.Reseal("other", tagged) != tagged || seal.Reseal("p", "") != "" {
		t.Error("a value that can't be opened was changed")
	}
	if err := seal.SetKeys([]SealKey{one}, two.KeyID()); err == nil || seal.WriteID() != two.KeyID() {
		t.Errorf("sealed with an unknown key: %v", err)
	}
}

func TestOpen_FailureNamesKeyInLogCause(t *testing.T) {
	t.Parallel()
	one, two := SealKey{1}, SealKey{2}
	value := newTestSeal(t, one).Seal("purpose", "secret")
	for name, test := range map[string]struct {
		seal            *Seal
		purpose, sealed string
		cause           string
	}{
		"missing key":   {newTestSeal(t, two), "purpose", value, "keyring: key " + one.KeyID() + " is missing"},
		"other purpose": {newTestSeal(t, one), "other", value, "keyring: a sealed value can't be opened with key " + one.KeyID()},
		"without a key": {newTestSeal(t, two), "purpose", "AAAA", "keyring: a sealed value can't be opened with any configured key"},
		"not sealed":    {newTestSeal(t, one), "purpose", "erika@example.org", "keyring: a sealed value is not well-formed"},
	} {
		_, err := test.seal.Open(test.purpose, test.sealed)
		got := CauseOf(&Error{Kind: KindInternal, Err: fmt.Errorf("read: %w", err)})
		if !errors.Is(err, ErrOpenFailed) || !strings.HasPrefix(got, test.cause) || strings.Contains(got, "erika") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
