package declaration

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// shelf counts what it is given.
type shelf struct {
	Store
	kept int
}

func (s *shelf) AddDeclaration(context.Context, Declaration, []registrar.Letter) error {
	s.kept++
	return nil
}

func declares(t *testing.T, service *Service, from string, declared Declaration) error {
	t.Helper()
	actor := registrar.Actor{Kind: registrar.ActorPerson, Address: netip.MustParseAddr(from)}
	_, err := service.Declare(t.Context(), actor, declared)
	return err
}

// Whoever has one IPv6 address has 2^64 of them.
func TestANetworkHasOneBudgetHoweverManyAddressesItHas(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	kept := &shelf{}
	service, err := New(Config{Store: kept, Tries: func(key string) time.Duration {
		if seen[key] {
			return time.Minute
		}
		seen[key] = true
		return 0
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, from := range []string{"2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"} {
		err := declares(t, service, from, Declaration{Kind: Withdrawal, Name: "E", Email: string(rune('a'+i)) + "@example.de", Contract: "x"})
		if limited := registrar.CodeOf(err) == TooMany; limited != (i == 1) {
			t.Errorf("%s: %v", from, err)
		}
	}
	if kept.kept != 2 {
		t.Errorf("%d were kept", kept.kept)
	}
}

func TestEveryFieldIsOneLine(t *testing.T) {
	t.Parallel()
	service, err := New(Config{Store: &shelf{}})
	if err != nil {
		t.Fatal(err)
	}
	whole := Declaration{
		Kind: Termination, Name: "E", Email: "e@example.de", Contract: "x", Ground: Extraordinary, Reason: "Erstens. Zweitens.",
	}
	if err := declares(t, service, "192.0.2.1", whole); err != nil {
		t.Error(err)
	}
	for field, set := range map[string]func(*Declaration, string){
		FieldName: func(d *Declaration, s string) { d.Name = s }, FieldContract: func(d *Declaration, s string) { d.Contract = s },
		FieldReason: func(d *Declaration, s string) { d.Reason = s },
	} {
		one := whole
		set(&one, "x\n\nSie haben gewonnen: https://example.com")
		var wrong *FieldError
		if err := declares(t, service, "192.0.2.1", one); !errors.As(err, &wrong) || wrong.Fields[field] != Form {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestTheWordsOfAContractNameOrdersAndDomains(t *testing.T) {
	t.Parallel()
	for contract, want := range map[string][]string{
		"kaffee.de":                        {"kaffee.de"},
		"Domain Müller.de, bestellt 1.11.": {"xn--mller-kva.de"},
		"https://www.kaffee.de/":           {"kaffee.de"},
		"Bestellung ORD_01ABC (kaffee.de)": {"ord_01abc", "kaffee.de"},
		"kaffee.de KAFFEE.DE.":             {"kaffee.de"},
		"mein Vertrag von neulich":         nil,
		"a.de b.de c.de d.de e.de f.de":    {"a.de", "b.de", "c.de", "d.de"},
		"..  ord_":                         {"ord_"},
	} {
		if got := mentions(contract); !slices.Equal(got, want) {
			t.Errorf("%q mentions %q, want %q", contract, got, want)
		}
	}
}

// books know one order for a domain.
type books struct {
	Store
	letters []registrar.Letter
	asked   []string
}

func (b *books) AddDeclaration(_ context.Context, _ Declaration, letters []registrar.Letter) error {
	b.letters = letters
	return nil
}

func (b *books) OrdersAbout(_ context.Context, mention string, _ int) ([]Ordered, error) {
	b.asked = append(b.asked, mention)
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	return []Ordered{{ID: "ord_1", PaidAt: at, ConsentAt: at, Wording: "2026-11-de"}}, nil
}

func TestOnlyTheOperatorHearsOfTheOrderAndItsConsent(t *testing.T) {
	t.Parallel()
	store := &books{}
	service, err := New(Config{Store: store, Operator: "post@kontor.example"})
	if err != nil {
		t.Fatal(err)
	}
	withdrawal := Declaration{Kind: Withdrawal, Name: "E", Email: "e@example.de", Contract: "ord_1 kaffee.de"}
	if err := declares(t, service, "192.0.2.1", withdrawal); err != nil || len(store.letters) != 2 {
		t.Fatalf("%d letters, %v", len(store.letters), err)
	}
	for _, letter := range store.letters {
		// Both words mean the same order, which is told once.
		told := letter.Facts["orders"] == "1" && letter.Facts["order1_id"] == "ord_1" && letter.Facts["order1_consent_at"] == "2026-11-15T12:00:00Z"
		if operators := letter.To == "post@kontor.example"; told != operators || !operators && letter.Facts["orders"] != "" {
			t.Errorf("%s reads %v", letter.To, letter.Facts)
		}
	}
	// A termination has nothing to do with it.
	store.asked = nil
	if err := declares(t, service, "192.0.2.1", Declaration{Kind: Termination, Name: "E", Email: "e@example.de", Contract: "kaffee.de", Ground: Ordinary}); err != nil {
		t.Fatal(err)
	}
	if len(store.asked) > 0 {
		t.Errorf("a termination asked for %v", store.asked)
	}
}
