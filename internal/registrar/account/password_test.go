package account

import (
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestCheckPassword_RejectsWeakPasswords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		password string
		want     registrar.Code
	}{
		{"Vier Pferde am Deich", ""},
		{"correct horse battery", ""},
		{"ünïcödé ßécret", ""},
		{"neunzeich", PasswordShort},
		{"", PasswordShort},
		{strings.Repeat("abcdefg ", 16), ""},
		{strings.Repeat("abcdefg ", 16) + "x", PasswordLong},
		{strings.Repeat("x", 5000), PasswordLong},
		{"ada@example.org", PasswordIsEmail},
		{"ADA@Example.org", PasswordIsEmail},
		{"ada1234567890", PasswordIsEmail},
		{"1234567890", PasswordCommon},
		{"aaaaaaaaaaaaa", PasswordCommon},
		{"abababababab", PasswordCommon},
		{"qwertzuiop", PasswordCommon},
		{"Passwort123!", PasswordCommon},
		{"P4ssw0rd2026", PasswordCommon},
		{"password password", ""}, // two words, even if weak
		{"passwortpasswort", PasswordCommon},
		{"with\x00nul and more", PasswordUnusable},
		{"not utf-8 \xff\xfe here", PasswordUnusable},
	} {
		if got := registrar.CodeOf(checkPassword(c.password, "ada@example.org")); got != c.want {
			t.Errorf("%q: got %q, want %q", c.password, got, c.want)
		}
	}
}

func TestParsePHC_RejectsExcessiveCost(t *testing.T) {
	t.Parallel()
	h := newHasher(Config{Cost: cheapCost})
	const rest = "$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	if _, err := parsePHC("$argon2id$v=19$m=65536,t=3,p=1" + rest); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"$argon2id$v=19$m=4294967295,t=3,p=1" + rest, "$argon2id$v=19$m=65536,t=4000000,p=1" + rest,
		"$argon2id$v=19$m=65536,t=3,p=255" + rest, "$argon2id$v=19$m=65536,t=0,p=1" + rest, "$argon2i$v=19$m=65536,t=3,p=1" + rest,
		"$argon2id$v=16$m=65536,t=3,p=1" + rest, "$2a$10$abcdefghijklmnopqrstuv", "x", "$argon2id$v=19$m=65536,t=3,p=1$$",
	} {
		if _, err := parsePHC(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
		if ok, _, err := h.matches(t.Context(), text, "x"); ok || err == nil {
			t.Errorf("%q verified a password", text)
		}
	}
}
