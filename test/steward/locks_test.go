package steward

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/steward"
)

func TestADisputeForbidsWhatItsOperatorSays(t *testing.T) {
	t.Parallel()
	s := newStage(t, "streit.com")
	id := s.has(ada, "streit", ".com", holding.StatusActive)
	s.config.Barred = func(_ context.Context, domain steward.Domain, kind steward.Kind) (registrar.Code, error) {
		if domain.ID == id && kind == steward.AuthCode {
			return steward.Barred, nil
		}
		return "", nil
	}
	var err error
	s.service, err = steward.New(s.config)
	check(t, err)
	if _, _, err := s.service.Ask(t.Context(), person(ada), id, steward.Wish{Kind: steward.AuthCode}); registrar.CodeOf(err) != steward.Barred {
		t.Errorf("the auth code: %v", err)
	}
	if s.view(id).Closed[steward.AuthCode] != steward.Barred {
		t.Error("the page does not say so")
	}
	s.ask(id, steward.Wish{Kind: steward.Unlock})
}

// deaf does not answer before it is cured.
type deaf struct {
	steward.Registry
	cured *atomic.Bool
}

func (d deaf) Carry(ctx context.Context, task steward.Task) (steward.Result, error) {
	if !d.cured.Load() {
		return steward.Result{}, registrar.Fault(registrar.FaultTimeout, "epp.example", net.ErrClosed)
	}
	return d.Registry.Carry(ctx, task)
}

// A court's order counts for what was asked for before it came, too, as long as the
// registry has not got it.
func TestALockStopsAChangeThatWaitsForTheRegistry(t *testing.T) {
	t.Parallel()
	s := newStage(t, "gericht.com")
	id := s.has(ada, "gericht", ".com", holding.StatusActive)
	var cured, locked atomic.Bool
	s.config.Registries[0].Registry = deaf{s.desk, &cured}
	s.config.Barred = func(_ context.Context, domain steward.Domain, kind steward.Kind) (registrar.Code, error) {
		if locked.Load() && domain.ID == id && kind == steward.Unlock {
			return steward.Barred, nil
		}
		return "", nil
	}
	var err error
	s.service, err = steward.New(s.config)
	check(t, err)
	change, _, err := s.service.Ask(t.Context(), person(ada), id, steward.Wish{Kind: steward.Unlock})
	check(t, err)
	if change.State != steward.StateOpen {
		t.Fatalf("the change is %s", change.State)
	}
	locked.Store(true)
	cured.Store(true)
	s.run()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		changes, err := s.db.ChangesOf(t.Context(), id, 1)
		check(t, err)
		if changes[0].State.Final() {
			change = changes[0]
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the change never ends")
		}
	}
	if change.State != steward.StateRefused || change.Failure != steward.Barred {
		t.Errorf("the change is %s: %s", change.State, change.Failure)
	}
	if !slices.Contains(s.at("gericht.com").Statuses(), "clientTransferProhibited") {
		t.Error("the registry would let it go")
	}
}

// The holder hears that the domain was locked, and not where the operator sits.
func TestAnOperatorHasTheRegistryKeepADomain(t *testing.T) {
	t.Parallel()
	s := newStage(t, "bleibt.com")
	id := s.has(ada, "bleibt", ".com", holding.StatusActive)
	s.ask(id, steward.Wish{Kind: steward.Unlock})
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "cus_root", Address: netip.MustParseAddr("198.51.100.9")}
	if err := s.service.Secure(t.Context(), person(ada), ada, id); registrar.KindOf(err) != registrar.KindForbidden {
		t.Errorf("a holder: %v", err)
	}
	if err := s.service.Secure(t.Context(), operator, eve, id); registrar.CodeOf(err) != steward.NoSuchDomain {
		t.Errorf("somebody else's domain: %v", err)
	}
	check(t, s.service.Secure(t.Context(), operator, ada, id))
	if !slices.Contains(s.at("bleibt.com").Statuses(), "clientTransferProhibited") {
		t.Error("the registry would let it go")
	}
	letters, err := s.db.DueLetters(t.Context(), time.Now().Add(time.Hour), 10)
	check(t, err)
	told := 0
	for _, letter := range letters {
		if letter.Facts["address"] == operator.Address.String() {
			t.Errorf("the letter tells %v", letter.Facts)
		}
		if letter.Facts["change"] == string(steward.Lock) {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d letters tell of it", told)
	}
}

// Each change is a command at the registry, a letter and a row.
func TestADomainIsNotChangedWithoutEnd(t *testing.T) {
	t.Parallel()
	s := newStage(t, "unruhe.com", "ruhe.com")
	id, other := s.has(ada, "unruhe", ".com", holding.StatusActive), s.has(ada, "ruhe", ".com", holding.StatusActive)
	asked := 0
	for ; asked < 100; asked++ {
		kind := []steward.Kind{steward.Unlock, steward.Lock}[asked%2]
		_, _, err := s.service.Ask(t.Context(), person(ada), id, steward.Wish{Kind: kind})
		if registrar.CodeOf(err) == steward.TooMany && registrar.KindOf(err) == registrar.KindRateLimited {
			break
		}
		check(t, err)
	}
	if asked < 20 || asked == 100 {
		t.Errorf("%d changes were taken", asked)
	}
	s.ask(other, steward.Wish{Kind: steward.Unlock})
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "cus_root"}
	check(t, s.service.Secure(t.Context(), operator, ada, id))
}
