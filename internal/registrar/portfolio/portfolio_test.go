package portfolio

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// forbiddenStore fails the test on any call.
type forbiddenStore struct{ t *testing.T }

func (n forbiddenStore) ListDomainsPage(context.Context, string, Filter, int) ([]Domain, error) {
	n.t.Error("the store was called")
	return nil, nil
}

func (n forbiddenStore) CountDomainGroups(context.Context, string) ([]Group, error) {
	n.t.Error("the store was called")
	return nil, nil
}

func (n forbiddenStore) CountDomainFilters(context.Context, string, time.Time, string) ([]FilterCount, error) {
	n.t.Error("the store was called")
	return nil, nil
}

func (n forbiddenStore) ListRestrictedDomains(context.Context, string) ([]Domain, error) {
	n.t.Error("the store was called")
	return nil, nil
}

func (n forbiddenStore) SetLabels(context.Context, string, string, string, *string, int, registrar.AuditEvent) error {
	n.t.Error("the store was called")
	return nil
}

func (n forbiddenStore) ListHeldDomains(context.Context, string, []string) (map[string]string, error) {
	n.t.Error("the store was called")
	return nil, nil
}

func (n forbiddenStore) FindDomains(context.Context, string, Filter, int, int) ([]Domain, int, error) {
	n.t.Error("the store was called")
	return nil, 0, nil
}

func (n forbiddenStore) ListCustomerDomains(context.Context, string) ([]Domain, error) {
	n.t.Error("the store was called")
	return nil, nil
}

func (n forbiddenStore) AddDomain(context.Context, Domain, registrar.AuditEvent) error {
	n.t.Error("the store was called")
	return nil
}

func (n forbiddenStore) GetDomain(context.Context, string, string) (Domain, bool, error) {
	n.t.Error("the store was called")
	return Domain{}, false, nil
}

func (n forbiddenStore) ListFormerDomains(context.Context, string, int) ([]Former, error) {
	n.t.Error("the store was called")
	return nil, nil
}

func (n forbiddenStore) ListDomainsUnderWay(context.Context, string, []string) (map[string]UnderWay, error) {
	n.t.Error("the store was called")
	return nil, nil
}

func (n forbiddenStore) ListDomainNotices(context.Context, string, string, int) ([]Notice, error) {
	n.t.Error("the store was called")
	return nil, nil
}

func (n forbiddenStore) ListReceipts(context.Context, string, []string, int) ([]Notice, error) {
	n.t.Error("the store was called")
	return nil, nil
}

func TestGet_RequiresCustomer(t *testing.T) {
	t.Parallel()
	service := New(forbiddenStore{t}, time.Now)
	for _, actor := range []registrar.Actor{{Kind: registrar.ActorPerson}, {Kind: registrar.ActorOperator, Through: "root"}} {
		if _, err := service.Get(t.Context(), actor, "dom_1"); registrar.KindOf(err) != registrar.KindUnauthenticated {
			t.Errorf("%+v reads a domain: %v", actor, err)
		}
		if _, err := service.Notices(t.Context(), actor, Domain{ID: "dom_1"}, "dcl_1"); registrar.KindOf(err) != registrar.KindUnauthenticated {
			t.Errorf("%+v reads notices: %v", actor, err)
		}
		if _, err := service.GetFormer(t.Context(), actor, "dom_1"); registrar.KindOf(err) != registrar.KindUnauthenticated {
			t.Errorf("%+v reads a former domain: %v", actor, err)
		}
	}
}

func TestStates_RestrictionsStandAmongStatusesByUrgency(t *testing.T) {
	t.Parallel()
	states := States()
	for _, status := range registrar.DomainStatuses() {
		if !slices.Contains(states, State(status)) {
			t.Errorf("%s is no state", status)
		}
	}
	for _, restriction := range []State{Suspended, Held, Disputed} {
		if slices.Index(states, restriction) > slices.Index(states, State(registrar.DomainActive)) {
			t.Errorf("%s is less urgent than active", restriction)
		}
		if got := (Domain{Status: registrar.DomainActive, Restriction: restriction}).State(); got != restriction {
			t.Errorf("a %s domain is %s", restriction, got)
		}
	}
}

func TestRenews_OnlyWithConsent(t *testing.T) {
	t.Parallel()
	for choice, want := range map[registrar.TermEndChoice]bool{
		registrar.TermEndUndecided: false, registrar.TermEndExpire: false, registrar.TermEndRenew: true,
	} {
		if (Domain{AtTermEnd: choice}).Renews() != want {
			t.Errorf("%q: Renews is not %t", choice, want)
		}
	}
}

func TestNotice_ConcernsListedDomainsOrWholeOrder(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		"Bestellung: ord_1\n\nhaus.de\n  Registrierung nicht möglich:\n":                          true,
		"Bestellung: ord_1\n\nbücher.de (xn--bcher-kva.de): 7,00 €\nhaus.de: 3,00 € von 7,00 €\n": true,
		"Bestellung: ord_1\n\nkaffeehaus.de: 7,00 €\n\nSie behalten haus.de.\n":                   false,
		"Bestellung: ord_1\n\nhaus.de.com\n":                                                      false,
		"Wir erstatten 7,00 € am\n16.11.2026.\n\nhttps://kontor.example/portal\n":                 true,
	} {
		for _, kind := range []registrar.MailKind{registrar.MailOrderDelayed, registrar.MailItemFailed, registrar.MailOrderRefunded, registrar.MailRefundReturned, registrar.MailRefundSettled} {
			if got := (Notice{Kind: kind, Body: body}).Concerns("haus.de"); got != want {
				t.Errorf("%s: %t of %q", kind, got, body)
			}
		}
	}
	if !(Notice{Kind: registrar.MailRefundReturned, Body: "bücher.de (xn--bcher-kva.de): 7,00 €"}).Concerns("xn--bcher-kva.de") {
		t.Error("an IDN is not found")
	}
}

func TestAdd_InvalidInputSkipsStore(t *testing.T) {
	t.Parallel()
	service := New(forbiddenStore{t}, time.Now)
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}
	good := AddParams{Customer: "cus_1", Name: registrar.NewName("one", ".com"), Status: registrar.DomainActive, PaidUntil: time.Unix(1, 0)}
	for name, test := range map[string]struct {
		actor  registrar.Actor
		change func(*AddParams)
		want   registrar.Error
	}{
		"a person": {
			registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_1"},
			func(*AddParams) {},
			registrar.Error{Kind: registrar.KindForbidden, Code: registrar.OperatorsOnly},
		},
		"no name": {
			operator,
			func(a *AddParams) { a.Name = registrar.Name{} },
			registrar.Error{Kind: registrar.KindInvalid, Code: registrar.NameEmpty},
		},
		"a made-up state": {
			operator,
			func(a *AddParams) { a.Status = "lost" },
			registrar.Error{Kind: registrar.KindInvalid, Code: BadStatus},
		},
		"no date": {
			operator,
			func(a *AddParams) { a.PaidUntil = time.Time{} },
			registrar.Error{Kind: registrar.KindInvalid, Code: PaidUntilMissing},
		},
	} {
		params := good
		test.change(&params)
		if _, err := service.Add(t.Context(), test.actor, params); !errors.Is(err, &test.want) {
			t.Errorf("%s: got %v, want %v", name, err, &test.want)
		}
	}
	if _, err := service.List(t.Context(), registrar.Actor{Kind: registrar.ActorPerson}); registrar.KindOf(err) != registrar.KindUnauthenticated {
		t.Errorf("domains were listed without an account: %v", err)
	}
}
