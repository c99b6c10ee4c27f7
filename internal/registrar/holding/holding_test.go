package holding

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// nowhere is a store that must not be asked.
type nowhere struct{ t *testing.T }

func (n nowhere) PageOf(context.Context, string, Filter, int) ([]Domain, error) {
	n.t.Error("the store was asked")
	return nil, nil
}

func (n nowhere) CountOf(context.Context, string) (map[Status]int, error) {
	n.t.Error("the store was asked")
	return nil, nil
}

func (n nowhere) FindDomains(context.Context, string, Filter, int, int) ([]Domain, int, error) {
	n.t.Error("the store was asked")
	return nil, 0, nil
}

func (n nowhere) DomainsOf(context.Context, string) ([]Domain, error) {
	n.t.Error("the store was asked")
	return nil, nil
}

func (n nowhere) AddDomain(context.Context, Domain, registrar.Deed) error {
	n.t.Error("the store was asked")
	return nil
}

func (n nowhere) SetAutoRenew(context.Context, string, string, bool, registrar.Deed) error {
	n.t.Error("the store was asked")
	return nil
}

func TestOnlyAPersonSwitchesRenewalOnAndOff(t *testing.T) {
	t.Parallel()
	service, err := New(Config{Store: nowhere{t}})
	if err != nil {
		t.Fatal(err)
	}
	for actor, want := range map[registrar.Actor]registrar.Kind{
		{Kind: registrar.ActorPerson}:                         registrar.KindUnauthenticated,
		{Kind: registrar.ActorToken, Customer: "cus_1"}:       registrar.KindForbidden,
		{Kind: registrar.ActorApplication, Customer: "cus_1"}: registrar.KindForbidden,
		{Kind: registrar.ActorOperator}:                       registrar.KindUnauthenticated,
	} {
		if err := service.SetAutoRenew(t.Context(), actor, "dom_1", true); registrar.KindOf(err) != want {
			t.Errorf("%+v: %v", actor, err)
		}
	}
}

func TestWhatIsWrongIsRefusedBeforeTheStore(t *testing.T) {
	t.Parallel()
	service, err := New(Config{Store: nowhere{t}})
	if err != nil {
		t.Fatal(err)
	}
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}
	good := Addition{Customer: "cus_1", Name: registrar.NewName("one", ".com"), Status: StatusActive, PaidUntil: time.Unix(1, 0)}
	for name, test := range map[string]struct {
		actor  registrar.Actor
		change func(*Addition)
		want   registrar.Error
	}{
		"a person": {
			registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_1"},
			func(*Addition) {},
			registrar.Error{Kind: registrar.KindForbidden, Code: OperatorsOnly},
		},
		"no name": {
			operator,
			func(a *Addition) { a.Name = registrar.Name{} },
			registrar.Error{Kind: registrar.KindInvalid, Code: registrar.NameEmpty},
		},
		"a made-up state": {
			operator,
			func(a *Addition) { a.Status = "lost" },
			registrar.Error{Kind: registrar.KindInvalid, Code: BadStatus},
		},
		"no date": {
			operator,
			func(a *Addition) { a.PaidUntil = time.Time{} },
			registrar.Error{Kind: registrar.KindInvalid, Code: PaidUntilMissing},
		},
	} {
		addition := good
		test.change(&addition)
		if _, err := service.Add(t.Context(), test.actor, addition); !errors.Is(err, &test.want) {
			t.Errorf("%s: got %v, want %v", name, err, &test.want)
		}
	}
	if _, err := service.List(t.Context(), registrar.Actor{Kind: registrar.ActorPerson}); registrar.KindOf(err) != registrar.KindUnauthenticated {
		t.Errorf("nobody's domains were listed: %v", err)
	}
}

func TestEveryListedStateIsValid(t *testing.T) {
	t.Parallel()
	for _, status := range Statuses() {
		if !status.valid() {
			t.Errorf("%s is not", status)
		}
	}
	if len(Statuses()) != 6 || Status("").valid() {
		t.Error("the contract has six states, and none without a name")
	}
}
