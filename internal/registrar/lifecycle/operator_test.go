package lifecycle_test

import (
	"context"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
)

// termStore has one unpaid term.
type termStore struct {
	*memStore
	updated lifecycle.TermTransition
}

func (s *termStore) GetOpenTerm(context.Context, string) (lifecycle.Term, bool, error) {
	return lifecycle.Term{Domain: "dom_1", State: lifecycle.Unpaid}, true, nil
}

func (s *termStore) UpdateTerm(_ context.Context, transition lifecycle.TermTransition) (bool, error) {
	s.updated = transition
	return true, nil
}

func TestLeave_OnlyAuditEventHasBusinessTime(t *testing.T) {
	t.Parallel()
	clock := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	business := clock.AddDate(0, 0, 30)
	store := &termStore{memStore: newMemStore(business)}
	service := newService(t, store, func(cfg *lifecycle.Config) {
		cfg.Now, cfg.Clock = func() time.Time { return business }, func() time.Time { return clock }
	})
	if err := service.Leave(t.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}, "dom_1"); err != nil {
		t.Fatal(err)
	}
	if got := store.updated; !got.At.Equal(clock) || !got.Now.Equal(business) || !got.AuditEvent.At.Equal(business) {
		t.Errorf("stored at %s and %s, audited at %s", got.At, got.Now, got.AuditEvent.At)
	}
}
