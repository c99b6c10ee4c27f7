package office_test

import (
	"context"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/office"
)

// untouched fails by a nil pointer if anything is asked of it.
type untouched struct{ office.Store }

func TestNobodyButOperatorsDoesAnything(t *testing.T) {
	t.Parallel()
	desk, err := office.New(office.Config{Store: untouched{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, actor := range []registrar.Actor{
		{},
		{Kind: registrar.ActorPerson, Customer: "cus_1", Through: "ses_1"},
		{Kind: registrar.ActorToken, Customer: "cus_1", Through: "tok_1"},
		{Kind: registrar.ActorOperator}, // nobody in particular
	} {
		ctx := t.Context()
		_, _, setErr := desk.SetLock(ctx, actor, office.Wish{})
		_, liftErr := desk.LiftLock(ctx, actor, "lck_1")
		_, _, locksErr := desk.Locks(ctx, actor)
		_, workErr := desk.Work(ctx, actor, office.JobOrder, true)
		_, needsErr := desk.Needs(ctx, actor)
		for name, err := range map[string]error{
			"SetLock": setErr, "LiftLock": liftErr, "Locks": locksErr, "Work": workErr, "Needs": needsErr,
			"Secure": desk.Secure(ctx, actor, "lck_1"), "Retry": desk.Retry(ctx, actor, office.JobOrder, "ord_1"),
			"GiveUp": desk.GiveUp(ctx, actor, office.JobChange, "chg_1"),
			"Look":   desk.Look(ctx, actor, "cus_1", ""),
		} {
			if registrar.CodeOf(err) != office.OperatorsOnly {
				t.Errorf("%s by %q: %v", name, actor.Kind, err)
			}
		}
	}
}

func TestALockSaysWhyWhatAndUntilWhen(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	desk, err := office.New(office.Config{Store: untouched{}, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	good := office.Wish{
		Name: "streit.de", Cause: office.UDRP, Reason: "D2026-0815", Blocks: []office.Block{office.Transfer}, ReviewAt: now.Add(time.Hour),
	}
	for want, spoil := range map[registrar.Code]func(*office.Wish){
		office.BadCause:    func(w *office.Wish) { w.Cause = "whim" },
		office.BadReason:   func(w *office.Wish) { w.Reason = " \t" },
		office.BadBlocks:   func(w *office.Wish) { w.Blocks = []office.Block{office.Transfer, "everything"} },
		office.BadDeadline: func(w *office.Wish) { w.ReviewAt = now },
	} {
		wish := good
		spoil(&wish)
		_, _, err := desk.SetLock(t.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}, wish)
		if registrar.CodeOf(err) != want || registrar.KindOf(err) != registrar.KindInvalid {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// waiting is work of every kind, of which each was tried once and has a setback.
type waiting struct{ office.Store }

func (waiting) Work(_ context.Context, kind office.JobKind, _ bool, _ int) ([]office.Job, error) {
	return []office.Job{{Kind: kind, ID: string(kind) + "_1", Attempts: 1}}, nil
}

func (waiting) Setback(context.Context, office.JobKind, string) (office.Setback, bool, error) {
	return office.Setback{Code: "no_registry_account"}, true, nil
}

func (waiting) WaitingRefunds(context.Context, int) ([]office.Refund, error) { return nil, nil }
func (waiting) LocksInForce(context.Context, int) ([]office.Lock, error)     { return nil, nil }

// A change that no registry takes waits for ever, and its holder can do nothing.
func TestEverythingThatAHolderWaitsForAsksForAPerson(t *testing.T) {
	t.Parallel()
	desk, err := office.New(office.Config{Store: waiting{}})
	if err != nil {
		t.Fatal(err)
	}
	needs, err := desk.Needs(t.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "root"})
	if err != nil || len(needs.Orders) != 1 || len(needs.Lines) != 1 || len(needs.Changes) != 1 || needs.Changes[0].ID != "change_1" {
		t.Errorf("got %+v, %v", needs, err)
	}
}

// locked are locks on domains whose names say how their registries keep them.
type locked struct {
	waiting
	locks []office.Lock
}

func (l locked) LocksInForce(context.Context, int) ([]office.Lock, error) { return l.locks, nil }

// The service may stop between a lock and its registry, and an auth code that is out
// opens the domain until somebody goes on.
func TestALockWhoseDomainTheRegistryDoesNotKeepAsksForAPerson(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	lock := func(domain string, block office.Block, review time.Time) office.Lock {
		return office.Lock{ID: "lck_" + domain, Domain: domain, Blocks: []office.Block{block}, ReviewAt: review}
	}
	later := now.Add(time.Hour)
	desk, err := office.New(office.Config{
		Store: locked{locks: []office.Lock{
			lock("open", office.Transfer, later), lock("kept", office.Transfer, later), lock("asked", office.Transfer, later),
			lock("renewal", office.Renewal, later), lock("kept", office.Transfer, now),
		}},
		SecuredFor: func(_ context.Context, domain, _ string) (secured, underWay bool, err error) {
			return domain == "kept", domain == "asked", nil
		},
		Now: func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	needs, err := desk.Needs(t.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "root"})
	if err != nil || len(needs.Locks) != 2 || needs.Locks[0].Domain != "open" || needs.Locks[1].Domain != "kept" || !needs.Locks[1].ReviewAt.Equal(now) {
		t.Errorf("got %+v, %v", needs.Locks, err)
	}
}
