package declaration

import (
	"context"
	"errors"
	"net/netip"
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
