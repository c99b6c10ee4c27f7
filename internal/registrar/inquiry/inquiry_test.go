package inquiry

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// memStore stores what a test submits; methods that it does not have must not be called.
type memStore struct {
	Store
	added []Inquiry
	mails []registrar.Mail
}

func (m *memStore) AddInquiry(_ context.Context, inquiry Inquiry, mails []registrar.Mail, _ time.Time) (Inquiry, bool, error) {
	if at := slices.IndexFunc(m.added, func(other Inquiry) bool { return other.Digest == inquiry.Digest }); at >= 0 {
		return m.added[at], false, nil
	}
	m.added, m.mails = append(m.added, inquiry), append(m.mails, mails...)
	return inquiry, true, nil
}

func valid() Inquiry {
	return Inquiry{Name: "Erika", Email: "erika@example.org", Topic: Topics()[0], Message: "Hallo", Language: "de"}
}

func newService(t *testing.T, cfg Config) (*Service, *memStore) {
	t.Helper()
	store := &memStore{}
	cfg.Store = store
	service, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return service, store
}

func TestSubmit_NarrowLimitsProtectTheTotal(t *testing.T) {
	t.Parallel()
	guest := registrar.Actor{Kind: registrar.ActorPerson, Address: netip.MustParseAddr("192.0.2.7")}
	customer := guest
	customer.Customer = "cus_1"
	for name, test := range map[string]struct {
		actor   registrar.Actor
		full    string // the limit that is used up
		spent   []string
		refused bool
	}{
		"free":                       {guest, "", []string{"network 192.0.2.7", "mail erika@example.org", "192.0.2.0/24", "total"}, false},
		"network":                    {guest, "network 192.0.2.7", []string{"network 192.0.2.7"}, true},
		"mail address":               {guest, "mail erika@example.org", []string{"network 192.0.2.7", "mail erika@example.org"}, true},
		"neighbourhood":              {guest, "192.0.2.0/24", []string{"network 192.0.2.7", "mail erika@example.org", "192.0.2.0/24"}, true},
		"total":                      {guest, "total", []string{"network 192.0.2.7", "mail erika@example.org", "192.0.2.0/24", "total"}, true},
		"customers have their own":   {customer, "total", []string{"network 192.0.2.7", "mail erika@example.org"}, false},
		"customers are limited, too": {customer, "network 192.0.2.7", []string{"network 192.0.2.7"}, true},
	} {
		var spent []string
		limit := func(key string) time.Duration {
			spent = append(spent, key)
			if key == test.full {
				return time.Minute
			}
			return 0
		}
		service, store := newService(t, Config{RateLimit: limit, NeighbourhoodLimit: limit, TotalLimit: func() time.Duration { return limit("total") }})
		_, err := service.Submit(t.Context(), test.actor, valid())
		if (registrar.CodeOf(err) == TooMany) != test.refused || !slices.Equal(spent, test.spent) || (len(store.added) == 0) != test.refused {
			t.Errorf("%s: %v, counted %q, %d stored", name, err, spent, len(store.added))
		}
	}
}

func TestSubmit_InvalidFieldsCostNothingAndAreAllNamed(t *testing.T) {
	t.Parallel()
	service, store := newService(t, Config{RateLimit: func(string) time.Duration { t.Error("a limit was spent"); return 0 }})
	_, err := service.Submit(t.Context(), registrar.Actor{}, Inquiry{Email: "Erika <erika@example.org>", About: strings.Repeat("x", MaxText+1), Message: "a\x00b", Topic: "unknown"})
	var wrong *FieldError
	if !errors.As(err, &wrong) || len(store.added) != 0 {
		t.Fatalf("%v, %d stored", err, len(store.added))
	}
	for field, want := range map[string]registrar.Code{FieldName: Missing, FieldEmail: Malformed, FieldAbout: TooLong, FieldMessage: Malformed, FieldTopic: Missing} {
		if wrong.Fields[field] != want {
			t.Errorf("%s: %s", field, wrong.Fields[field])
		}
	}
}

func TestSubmit_RepetitionOnTheSameDayIsOneInquiry(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	service, store := newService(t, Config{OperatorEmail: "post@kontor.example", Now: func() time.Time { return now }})
	first, err := service.Submit(t.Context(), registrar.Actor{}, valid())
	if err != nil || len(store.mails) != 2 {
		t.Fatalf("%d mails, %v", len(store.mails), err)
	}
	if again, err := service.Submit(t.Context(), registrar.Actor{}, valid()); err != nil || again.ID != first.ID || len(store.mails) != 2 {
		t.Errorf("repeated: %s after %s, %d mails, %v", again.ID, first.ID, len(store.mails), err)
	}
	now = now.AddDate(0, 0, 1)
	if next, err := service.Submit(t.Context(), registrar.Actor{}, valid()); err != nil || next.ID == first.ID {
		t.Errorf("the next day: %s, %v", next.ID, err)
	}
}

func TestListOpen_OnlyForOperators(t *testing.T) {
	t.Parallel()
	service, _ := newService(t, Config{})
	if _, _, err := service.ListOpen(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_1"}, ""); registrar.KindOf(err) != registrar.KindForbidden && registrar.KindOf(err) != registrar.KindUnauthenticated {
		t.Errorf("a customer: %v", err)
	}
}

func TestSubmit_MailsNameTheBusinessTime(t *testing.T) {
	t.Parallel()
	moved := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	service, store := newService(t, Config{Now: func() time.Time { return moved }, OperatorEmail: "ops@example.org"})
	if _, err := service.Submit(t.Context(), registrar.Actor{Kind: registrar.ActorPerson}, valid()); err != nil || len(store.mails) != 2 {
		t.Fatalf("%d mails, %v", len(store.mails), err)
	}
	for _, mail := range store.mails {
		if got := mail.Data[registrar.MailOccurredAt]; got != "2027-03-01T09:00:00Z" {
			t.Errorf("%s is about %q", mail.Kind, got)
		}
	}
}
