package provision_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

var giveUpOperator = registrar.Actor{Kind: registrar.ActorOperator, Through: "ops"}

func TestGiveUp_NeverWhatTheRegistryMayHaveExecuted(t *testing.T) {
	t.Parallel()
	denied := func() (provision.Outcome, error) { return provision.Outcome{}, refused(registrar.RegistryDenied) }
	for name, test := range map[string]struct {
		state   provision.State
		kind    provision.Kind
		change  func(*provision.Item)
		outcome func() (provision.Outcome, error)
		want    registrar.Code // empty: given up
	}{
		"nothing requested yet": {state: provision.StateHosts},
		"nothing at registry":   {state: provision.StateRequested, outcome: denied},
		"transfer ended":        {state: provision.StatePending, kind: provision.Transfer, outcome: denied},
		"transfer rejected": {
			state: provision.StatePending, kind: provision.Transfer, outcome: func() (provision.Outcome, error) { return provision.Outcome{}, refused(registrar.TransferRejected) },
		},
		"registered": {state: provision.StateRequested, outcome: func() (provision.Outcome, error) { return provision.Outcome{}, nil }, want: provision.Executed},
		"transfer pending": {
			state: provision.StatePending, kind: provision.Transfer, outcome: func() (provision.Outcome, error) { return provision.Outcome{Pending: true}, nil }, want: provision.Executed,
		},
		"registry unreachable": {state: provision.StateRequested, outcome: func() (provision.Outcome, error) { return provision.Outcome{}, unreachable() }, want: provision.Unverifiable},
		"restore sent":         {state: provision.StateRequested, kind: provision.Restore, want: provision.Unverifiable},
		"account gone":         {state: provision.StateRequested, change: func(i *provision.Item) { i.Account = "einst" }, want: provision.Unverifiable},
		"account gone, unsent": {state: provision.StatePaid, change: func(i *provision.Item) { i.Account = "einst" }},
		"being processed":      {state: provision.StateHosts, change: func(i *provision.Item) { i.Node = "other" }, want: provision.NotStuck},
		"just sent":            {state: provision.StateRequested, change: func(i *provision.Item) { i.UpdatedAt = time.Now() }, want: provision.JustSent},
		"just paid":            {state: provision.StateHosts, change: func(i *provision.Item) { i.CreatedAt = time.Now().Add(time.Second - provision.GiveUpAfter) }, want: provision.JustPaid},
		"not tried yet":        {state: provision.StatePaid, change: func(i *provision.Item) { i.Attempts = 0 }, want: provision.NotStuck},
		"active":               {state: provision.StateActive, want: provision.ItemEnded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				env := newEnv(t, &fakeRegistry{rules: allRules, outcome: test.outcome})
				item := env.createItem(t, "haengt", ".org")
				item.State, item.Handle, item.Domain, item.Attempts = test.state, "DK1", "dom_1", 3
				item.DueAt, item.UpdatedAt, item.CreatedAt = time.Now().Add(time.Hour), time.Now().Add(-time.Hour), time.Now().Add(-time.Hour)
				if test.kind != "" {
					item.Kind = test.kind
				}
				if test.change != nil {
					test.change(&item)
				}
				env.store.items[item.ID] = item
				env.store.domains["dom_1"] = provision.Domain{ID: "dom_1", Name: "haengt.org", Status: "pending"}
				if err := env.GiveUp(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_ada"}, item.ID); err == nil {
					t.Fatal("a customer may give up")
				}
				if err := env.GiveUp(t.Context(), giveUpOperator, item.ID); registrar.CodeOf(err) != test.want || (err == nil) != (test.want == "") {
					t.Fatalf("got %v, want %q", err, test.want)
				}
				if after := env.store.onlyItem(t); test.want != "" {
					if after.RefundDue || after.State != test.state {
						t.Errorf("not given up, but %+v", after)
					}
					return
				}
				runFor(t, time.Minute, env.Service)
				after := env.store.onlyItem(t)
				if after.State != provision.StateFailed || !after.RefundDue || after.Failure != provision.GivenUp {
					t.Errorf("given up: %+v", after)
				}
				if _, held := env.store.domains["dom_1"]; held {
					t.Error("the domain is still pending")
				}
				audited := false
				for _, event := range env.store.events {
					audited = audited || event.Action == provision.ActionGivenUp && event.Actor.Through == "ops" && event.Customer == item.Customer
				}
				if !audited {
					t.Errorf("audit: %+v", env.store.events)
				}
			})
		})
	}
}
