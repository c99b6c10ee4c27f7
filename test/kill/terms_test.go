package kill_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// A renewal and a transfer pass fewer boundaries than a registration, but with
// calls of their own beside them.
func TestAKilledRenewalOrTransferIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	stage := open(t)
	const old = "ruhig-alt"
	if _, err := stage.Order(t.Context(), old, ".org"); err != nil {
		t.Fatal(err)
	}
	server, err := stage.Serve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stage.Finish(t.Context(), patience); err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	before, _, err := stage.DB.DomainByName(t.Context(), old+".org")
	if err != nil {
		t.Fatal(err)
	}
	renewals := 0
	for i, test := range []struct {
		kind     provision.Kind
		tld      string
		boundary string
		ahead    time.Duration // how far the registry's clock goes before the kill
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
		line, err := stage.OrderKind(t.Context(), test.kind, label, test.tld)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if test.ahead > 0 { // the transfer is on its way before the days pass
			server, err := stage.Serve(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			awaitState(t, stage.DB, line.ID, provision.StatePending)
			if err := server.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := stage.Control.Advance(t.Context(), test.ahead); err != nil {
				t.Fatal(err)
			}
		}
		if err := killedAt(t.Context(), stage, test.boundary); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		server, err := stage.Serve(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if test.tld == ".com" {
			awaitState(t, stage.DB, line.ID, provision.StatePending, provision.StateActive)
			if err := stage.Control.Advance(t.Context(), 6*24*time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		if err := finish(t.Context(), stage); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
		if line, _, err = stage.DB.LineByID(t.Context(), line.ID); err != nil || line.State != provision.StateActive {
			t.Fatalf("%s: the line is %s (%s), %v", what, line.State, line.Failure, err)
		}
		if err := stage.Check(t.Context()); err != nil {
			t.Fatalf("after a kill in a %s:\n%v", what, err)
		}
	}
	after, _, err := stage.DB.DomainByName(t.Context(), old+".org")
	if want := before.PaidUntil.AddDate(renewals, 0, 0); err != nil || !after.PaidUntil.Equal(want) || !after.RegistryExpires.Equal(want) {
		t.Errorf("after %d renewals it is paid until %s and registered until %s, want %s, %v", renewals, after.PaidUntil, after.RegistryExpires, want, err)
	}
}

// lineStore finds lines.
type lineStore interface {
	LineByID(ctx context.Context, id string) (provision.Line, bool, error)
}

// awaitState waits until a line is in one of the states.
func awaitState(t *testing.T, db lineStore, id string, states ...provision.State) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		line, _, err := db.LineByID(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(states, line.State) {
			return
		}
	}
	t.Fatalf("the line did not become %v", states)
}
