package crash_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// Renewals and transfers pass fewer failpoints than registrations, but have calls of
// their own.
func TestKill_RenewalOrTransferIsExecutedOnce(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	const old = "ruhig-alt"
	if _, err := env.AddPaidItem(t.Context(), old, ".org"); err != nil {
		t.Fatal(err)
	}
	server, err := env.Serve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := env.WaitProvisioned(t.Context(), waitTimeout); err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	before, _, err := env.DB.DomainByName(t.Context(), old+".org")
	if err != nil {
		t.Fatal(err)
	}
	renewals := 0
	for i, test := range []struct {
		kind     provision.Kind
		tld      string
		boundary string
		ahead    time.Duration // how far the registry's clock advances before the kill
	}{
		{kind: provision.Renew, boundary: "requested"},
		{kind: provision.Renew, boundary: "answered"},
		{kind: provision.Transfer, tld: ".de", boundary: "taken"},
		{kind: provision.Transfer, tld: ".de", boundary: "requested"},
		{kind: provision.Transfer, tld: ".de", boundary: "answered"},
		{kind: provision.Transfer, tld: ".com", boundary: "answered"},
		{kind: provision.Transfer, tld: ".com", boundary: "pending"},
		{kind: provision.Transfer, tld: ".com", boundary: "decided", ahead: 6 * 24 * time.Hour},
	} {
		label := old
		if test.kind == provision.Renew {
			test.tld = ".org"
			renewals++
		} else {
			label = fmt.Sprintf("transfer-%d", i)
		}
		what := fmt.Sprintf("%s of %s at %s", test.kind, test.tld, test.boundary)
		line, err := env.AddPaidItemOfKind(t.Context(), test.kind, label, test.tld)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if test.ahead > 0 { // the transfer is requested before the clock advances
			server, err := env.Serve(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			waitForState(t, env.DB, line.ID, provision.StatePending)
			if err := server.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := env.Control.Advance(t.Context(), test.ahead); err != nil {
				t.Fatal(err)
			}
		}
		if err := runUntilKilledAt(t.Context(), env, test.boundary); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		server, err := env.Serve(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if test.tld == ".com" {
			waitForState(t, env.DB, line.ID, provision.StatePending, provision.StateActive)
			if err := env.Control.Advance(t.Context(), 6*24*time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		if err := waitProvisioned(t.Context(), env); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
		if line, _, err = env.DB.ProvisionItemByID(t.Context(), line.ID); err != nil || line.State != provision.StateActive {
			t.Fatalf("%s: the item is %s (%s), %v", what, line.State, line.Failure, err)
		}
		if err := env.Reconcile(t.Context()); err != nil {
			t.Fatalf("after a kill in a %s:\n%v", what, err)
		}
	}
	after, _, err := env.DB.DomainByName(t.Context(), old+".org")
	if want := before.PaidUntil.AddDate(renewals, 0, 0); err != nil || !after.PaidUntil.Equal(want) || !after.RegistryExpires.Equal(want) {
		t.Errorf("after %d renewals it is paid until %s and registered until %s, want %s, %v", renewals, after.PaidUntil, after.RegistryExpires, want, err)
	}
}

// itemStore reads items.
type itemStore interface {
	ProvisionItemByID(ctx context.Context, id string) (provision.Item, bool, error)
}

// waitForState waits until an item is in one of the states.
func waitForState(t *testing.T, db itemStore, id string, states ...provision.State) {
	t.Helper()
	testkit.Eventually(t, fmt.Sprintf("item in one of %v", states), func() bool {
		line, _, err := db.ProvisionItemByID(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Contains(states, line.State)
	})
}
