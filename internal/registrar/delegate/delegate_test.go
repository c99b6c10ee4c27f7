package delegate

import (
	"context"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
)

// memStore records what is revoked; methods that it does not have must not be called.
type memStore struct {
	Store
	revoked []string
	event   registrar.AuditEvent
}

func (m *memStore) RevokeDelegates(_ context.Context, customer string, event registrar.AuditEvent) (int, error) {
	m.revoked, m.event = append(m.revoked, customer), event
	return 3, nil
}

func newService(t *testing.T, store Store) *Service {
	t.Helper()
	service, err := New(Config{
		Store: store, Tokens: &oauth.Service{}, Applications: &oauth.AuthorizationServer{}, Agents: &agent.Service{},
		Now: func() time.Time { return time.Unix(1_800_000_000, 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return service
}

func TestStopAll_OnlyThePersonStopsTheirOwn(t *testing.T) {
	t.Parallel()
	store := &memStore{}
	service := newService(t, store)
	for _, kind := range []registrar.ActorKind{registrar.ActorToken, registrar.ActorApplication, registrar.ActorAgent} {
		actor := registrar.Actor{Kind: kind, Customer: "cus_1", Through: "x"}
		if _, err := service.StopAll(t.Context(), actor); err == nil {
			t.Errorf("%s stops all", kind)
		}
		if _, err := service.List(t.Context(), actor); err == nil {
			t.Errorf("%s lists all", kind)
		}
	}
	if len(store.revoked) != 0 {
		t.Fatalf("revoked: %v", store.revoked)
	}
	person := registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_1", Through: "ses_1"}
	stopped, err := service.StopAll(t.Context(), person)
	if err != nil || stopped != 3 || len(store.revoked) != 1 || store.revoked[0] != "cus_1" {
		t.Errorf("stopped %d of %v, %v", stopped, store.revoked, err)
	}
	if store.event.Actor != person || store.event.Customer != "cus_1" || store.event.At.IsZero() {
		t.Errorf("the event is %+v", store.event)
	}
}
