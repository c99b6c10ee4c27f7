package registry

import (
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

func TestTableIsLargeAndWellFormed(t *testing.T) {
	t.Parallel()
	w, err := newWorld(manyZones())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for words, least := range map[string]int{
		alwaysTakenLabels: 25, knownLabels: 100, undelegatedLabels: 2, icannReservedLabels: 5, openlyReservedLabels: 2, premiumLabels: 4,
	} {
		labels := strings.Fields(words)
		if len(labels) < least {
			t.Errorf("%d labels, want %d: %s", len(labels), least, words)
		}
		for _, label := range labels {
			if seen[label] {
				t.Errorf("%s is in the table twice", label)
			}
			seen[label] = true
			if !ledger.WellFormed(label) || misbehaviourOf(label) != misbehaveNot {
				t.Errorf("%s can't be a label of the table", label)
			}
			if strings.HasPrefix(label, "xn--") && toUnicode(label) == label {
				t.Errorf("%s is not an A-label", label)
			}
		}
	}
	count := 0
	for _, zone := range w.zones {
		for label := range seen {
			if s := w.stateOf(label, zone); s == stateTaken || s == stateUndelegated {
				count++
			}
		}
	}
	if count < 5000 {
		t.Errorf("only %d names are taken", count)
	}
}

func TestReservations_FollowZoneType(t *testing.T) {
	t.Parallel()
	w, err := newWorld(someZones)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]nameState{
		"nic.com": stateReserved, "x.dev": stateReserved, "0.xn--p1acf": stateReserved, "example.academy": stateReserved,
		"nic.de": stateFree, "x.de": stateFree, "nic.co.uk": stateFree, "www.com.de": stateFree,
		"reserved.co.uk": stateOpenlyReserved, "reserviert.com": stateOpenlyReserved,
		"premium-x.de": statePremium, "hotel24.co.uk": statePremium, "premium.de": stateFree,
		"hotel.de": stateTaken, "hotel.ch": stateFree, "com.de": stateTaken, "co.uk": stateTaken, "ohne-dns.gr": stateUndelegated,
	} {
		label, zone, found := w.split(name)
		if got := w.stateOf(label, zone); !found || got != want {
			t.Errorf("%s has state %d, want %d", name, got, want)
		}
	}
}

func TestRecords_AreNeverExpired(t *testing.T) {
	t.Parallel()
	for _, now := range []time.Time{
		time.Date(1990, 2, 28, 0, 0, 0, 0, time.UTC),
		time.Date(2024, 2, 29, 23, 59, 59, 0, time.UTC),
		time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC),
		time.Date(2080, 12, 31, 0, 0, 0, 0, time.UTC),
	} {
		for label := range strings.FieldsSeq(alwaysTakenLabels + knownLabels) {
			rec := recordOf(label+".com", stateTaken, now)
			if !rec.created.Before(now) || rec.changed.After(now) || !rec.expires.After(now) || rec.expires.Sub(now) > 367*24*time.Hour {
				t.Errorf("%s at %v: created %v, changed %v, expires %v", label, now, rec.created, rec.changed, rec.expires)
			}
			if again := recordOf(label+".com", stateTaken, now.AddDate(5, 0, 0)); now.Year() > 2020 && !again.created.Equal(rec.created) {
				t.Errorf("%s was created on %v, and later on %v", label, rec.created, again.created)
			}
		}
	}
}

func TestContacts_EveryPersonalFieldHasCanary(t *testing.T) {
	t.Parallel()
	for _, person := range contacts {
		for _, field := range []string{
			person.handle, person.person, person.company, person.street, person.postal, person.city, person.phone, person.email,
		} {
			found := false
			for _, canary := range Canaries {
				found = found || strings.Contains(field, canary)
			}
			if !found {
				t.Errorf("%q of the %s has no canary", field, person.role)
			}
		}
	}
}
