package bulk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
)

// fakes holds domains by id and records what is done; methods that it does not have must not be
// called.
type fakes struct {
	Store
	owners  map[string]string         // of a domain
	refuse  map[string]registrar.Code // changes of a domain
	queued  []string
	renewed []string
	stored  []Action
}

type heldDomains struct {
	portfolio.Store
	*fakes
}

func (h heldDomains) GetDomain(_ context.Context, customer, id string) (portfolio.Domain, bool, error) {
	return portfolio.Domain{ID: id, Name: id + ".com", TLD: ".com", Status: registrar.DomainActive}, h.owners[id] == customer, nil
}

func (f *fakes) QueueChange(_ context.Context, _ registrar.Actor, id string, request domainchange.ChangeRequest, _ string) (domainchange.Change, error) {
	if code := f.refuse[id]; code != "" {
		kind := registrar.KindConflict
		if code == "bad_nameserver" {
			kind = registrar.KindInvalid
		}
		return domainchange.Change{}, &registrar.Error{Kind: kind, Code: code}
	}
	f.queued = append(f.queued, id+" "+string(request.Kind))
	return domainchange.Change{ID: "chg_" + id}, nil
}

func (f *fakes) AddRenewals(_ context.Context, _ registrar.Actor, items []order.RequestedItem) (order.Order, []order.RefusedItem, error) {
	for _, item := range items {
		f.renewed = append(f.renewed, item.Name.ASCII())
	}
	return order.Order{ID: "ord_1"}, nil, nil
}

func (f *fakes) AddBulkAction(_ context.Context, action Action) error {
	f.stored = append(f.stored, action)
	return nil
}

var clock = time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)

func newService(t *testing.T) (*Service, *fakes) {
	t.Helper()
	f := &fakes{owners: map[string]string{"a": "cus_1", "b": "cus_1", "fremd": "cus_2"}, refuse: map[string]registrar.Code{}}
	now := func() time.Time { return clock }
	service, err := New(Config{Store: f, Portfolio: portfolio.New(heldDomains{fakes: f}, now), Changes: f, Orders: f, Now: now, Clock: now})
	if err != nil {
		t.Fatal(err)
	}
	return service, f
}

func person(signedIn time.Time) registrar.Actor {
	return registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_1", Through: "ses_1", SignedInAt: signedIn}
}

func TestRun_RefusedAsAWholeDoesNothing(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range MaxDomains + 1 {
		many = append(many, fmt.Sprint("d", i))
	}
	old := person(clock.AddDate(0, 0, -2))
	for name, test := range map[string]struct {
		actor   registrar.Actor
		request Request
	}{
		"a token":                     {registrar.Actor{Kind: registrar.ActorToken, Customer: "cus_1"}, Request{Kind: Lock, Domains: []string{"a"}}},
		"nothing selected":            {person(clock), Request{Kind: Lock}},
		"too many":                    {person(clock), Request{Kind: Lock, Domains: many}},
		"unlock after an old sign-in": {old, Request{Kind: Unlock, Domains: []string{"a"}}},
		"nameservers after one":       {old, Request{Kind: Nameservers, Domains: []string{"a"}, Nameservers: "ns1.x.example\nns2.x.example"}},
		"an unknown kind":             {person(clock), Request{Kind: "sell", Domains: []string{"a"}}},
	} {
		service, f := newService(t)
		if _, err := service.Run(t.Context(), test.actor, test.request); err == nil || len(f.queued)+len(f.stored) != 0 {
			t.Errorf("%s: %v, queued %v", name, err, f.queued)
		}
	}
}

func TestRun_EachDomainHasItsOwnResult(t *testing.T) {
	t.Parallel()
	service, f := newService(t)
	f.refuse["b"] = domainchange.ChangeInProgress
	action, err := service.Run(t.Context(), person(clock.AddDate(0, 0, -2)), Request{Kind: Lock, Domains: []string{"b", "a", "fremd", "a"}})
	if err != nil || len(f.stored) != 1 || len(action.Results) != 3 {
		t.Fatalf("%+v, %v", action, err)
	}
	codes := make(map[string]registrar.Code)
	for _, result := range action.Results {
		codes[result.Domain] = result.Code
	}
	if codes["a"] != "" || codes["b"] != domainchange.ChangeInProgress || codes["fremd"] != registrar.NoSuchDomain {
		t.Errorf("%v", codes)
	}
	if !slices.Equal(f.queued, []string{"a lock"}) {
		t.Errorf("queued: %v", f.queued)
	}
}

func TestRun_NameserversWrongForAllAreAnError(t *testing.T) {
	t.Parallel()
	service, f := newService(t)
	f.refuse["a"], f.refuse["b"] = "bad_nameserver", "bad_nameserver"
	_, err := service.Run(t.Context(), person(clock), Request{Kind: Nameservers, Domains: []string{"a", "b"}, Nameservers: "ns1.x.example"})
	if registrar.CodeOf(err) != "bad_nameserver" || len(f.stored) != 0 {
		t.Errorf("%v, %d stored", err, len(f.stored))
	}
}

func TestRun_InvalidNameserverLineChangesNothing(t *testing.T) {
	t.Parallel()
	service, f := newService(t)
	f.refuse["b"] = domainchange.ChangeInProgress // such a refusal must not hide the invalid line
	for text, want := range map[string]int{"ns1.x.example\nkein name": 2, "ns1.x.example\n\nns1.x.example": 3} {
		_, err := service.Run(t.Context(), person(clock), Request{Kind: Nameservers, Domains: []string{"a", "b"}, Nameservers: text})
		if line, ok := errors.AsType[*domainchange.InputLine](err); !ok || line.Number != want || len(f.queued)+len(f.stored) != 0 {
			t.Errorf("%q: %v, queued %v", text, err, f.queued)
		}
	}
}

func TestRun_RenewsOnlyOwnDomainsInOneOrder(t *testing.T) {
	t.Parallel()
	service, f := newService(t)
	action, err := service.Run(t.Context(), person(clock), Request{Kind: Renew, Domains: []string{"a", "b", "fremd"}})
	if err != nil || action.Order != "ord_1" || !slices.Equal(f.renewed, []string{"a.com", "b.com"}) {
		t.Errorf("%+v, renewed %v, %v", action, f.renewed, err)
	}
}
