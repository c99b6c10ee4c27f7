package registrar_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestNewID_UniqueAndSortedByTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	var ids []string
	for i := range 1000 {
		ids = append(ids, registrar.NewID("cus_", at.Add(time.Duration(i)*time.Millisecond)))
	}
	if !slices.IsSorted(ids) {
		t.Error("later identifiers do not sort after earlier ones")
	}
	if slices.Sort(ids); len(slices.Compact(ids)) != 1000 {
		t.Error("two identifiers are equal")
	}
	if got := ids[0]; len(got) != len("cus_")+26 || !strings.HasPrefix(got, "cus_") {
		t.Errorf("%q is not a prefix and 26 letters", got)
	}
}

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
			t.Errorf("a wrong character at %d is not noticed", i)
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

func TestRequireRecentSignIn_AcceptsOnlyRecentPerson(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		kind     registrar.ActorKind
		customer string
		at       time.Time
		want     registrar.Kind
	}{
		{registrar.ActorPerson, "cus_1", now, 0},
		{registrar.ActorPerson, "cus_1", now.Add(-registrar.RecentSignIn), 0},
		{registrar.ActorPerson, "cus_1", now.Add(-registrar.RecentSignIn - 1), registrar.KindUnauthenticated},
		{registrar.ActorPerson, "cus_1", now.Add(time.Second), registrar.KindUnauthenticated}, // the clock went back
		{registrar.ActorPerson, "cus_1", time.Time{}, registrar.KindUnauthenticated},
		{registrar.ActorPerson, "", now, registrar.KindForbidden},
		{registrar.ActorToken, "cus_1", now, registrar.KindForbidden},
		{registrar.ActorOperator, "cus_1", now, registrar.KindForbidden},
	} {
		err := registrar.Actor{Kind: c.kind, Customer: c.customer, SignedInAt: c.at}.RequireRecentSignIn(now)
		if (err == nil) != (c.want == 0) || err != nil && registrar.KindOf(err) != c.want {
			t.Errorf("%s %q at %v: %v", c.kind, c.customer, c.at, err)
		}
	}
}
