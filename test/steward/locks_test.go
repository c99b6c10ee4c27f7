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
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
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
	if err := s.service.Secure(t.Context(), person(ada), ada, id, "lck_1"); registrar.KindOf(err) != registrar.KindForbidden {
		t.Errorf("a holder: %v", err)
	}
	if err := s.service.Secure(t.Context(), operator, eve, id, "lck_1"); registrar.CodeOf(err) != steward.NoSuchDomain {
		t.Errorf("somebody else's domain: %v", err)
	}
	check(t, s.service.Secure(t.Context(), operator, ada, id, "lck_1"))
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
		if letter.Facts["change"] == string(steward.Secure) {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d letters tell of it", told)
	}
}

// operator is who acts for a court.
var operator = registrar.Actor{Kind: registrar.ActorOperator, Through: "cus_root"}

// The registry of .de has no transfer lock and moves a domain at once: there the code is
// all that keeps it.
func TestAnAuthCodeThatIsOutIsWorthlessOnceADomainIsSecured(t *testing.T) {
	t.Parallel()
	for _, tld := range []string{".com", ".de"} {
		t.Run(tld, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "beute"+tld, "frei"+tld)
			id, free := s.has(ada, "beute", tld, holding.StatusActive), s.has(ada, "frei", tld, holding.StatusActive)
			other := s.loggedIn("andere")
			codes := make(map[string]string)
			for name, domain := range map[string]string{"beute" + tld: id, "frei" + tld: free} {
				if s.view(domain).Powers.Lock {
					s.ask(domain, steward.Wish{Kind: steward.Unlock})
				}
				_, codes[name] = s.ask(domain, steward.Wish{Kind: steward.AuthCode})
			}
			request := func(name string) error {
				_, err := other.TransferDomain(t.Context(), epp.TransferDomain{Op: epp.TransferRequest, Name: name, AuthInfo: codes[name]})
				return err
			}
			check(t, s.service.Secure(t.Context(), operator, ada, id, "lck_1"))
			if err := request("beute" + tld); err == nil {
				t.Error("another registrar takes the domain with the old code")
			}
			// Even without the lock the old code opens nothing.
			if s.view(id).Powers.Lock {
				s.ask(id, steward.Wish{Kind: steward.Unlock})
			}
			if err := request("beute" + tld); epp.ResultCode(err) != epp.CodeAuthInfo {
				t.Errorf("the old code is answered with %v", err)
			}
			if err := request("frei" + tld); err != nil { // what the test asks for works
				t.Errorf("a domain that nobody has secured does not leave: %v", err)
			}
			change := s.view(id).Changes
			secured := slices.IndexFunc(change, func(c steward.Change) bool { return c.Kind == steward.Secure })
			if secured < 0 || change[secured].SealedCode != "" || change[secured].Actor.Kind != registrar.ActorOperator {
				t.Errorf("the holder sees %+v", change)
			}
			deeds, err := s.db.DeedsAbout(t.Context(), ada, "beute"+tld, 10)
			check(t, err)
			if !slices.ContainsFunc(deeds, func(d registrar.Deed) bool {
				return d.Action == "domain_secured" && d.Actor.Kind == registrar.ActorOperator
			}) {
				t.Errorf("the audit tells %+v", deeds)
			}
		})
	}
}

func TestAHolderCannotAskForWhatIsAnOperators(t *testing.T) {
	t.Parallel()
	s := newStage(t, "meins.com")
	id := s.has(ada, "meins", ".com", holding.StatusActive)
	if _, _, err := s.service.Ask(t.Context(), person(ada), id, steward.Wish{Kind: steward.Secure}); registrar.CodeOf(err) != steward.NoSuchChange {
		t.Errorf("got %v", err)
	}
	if changes := s.view(id).Changes; len(changes) != 0 {
		t.Errorf("it was written down: %+v", changes)
	}
}

// A holder's change that is under way must not keep a court's order from the registry.
func TestSecuringWaitsForAChangeThatIsUnderWay(t *testing.T) {
	t.Parallel()
	s := newStage(t, "eilig.com")
	id := s.has(ada, "eilig", ".com", holding.StatusActive)
	var cured atomic.Bool
	s.config.Registries[0].Registry = deaf{s.desk, &cured}
	var err error
	s.service, err = steward.New(s.config)
	check(t, err)
	_, _, err = s.service.Ask(t.Context(), person(ada), id, steward.Wish{Kind: steward.Unlock})
	check(t, err)
	cured.Store(true)
	s.run()
	check(t, s.service.Secure(t.Context(), operator, ada, id, "lck_1"))
	if !slices.Contains(s.at("eilig.com").Statuses(), "clientTransferProhibited") {
		t.Error("the registry would let it go")
	}
}

func TestOnlyAChangeThatNobodyCanCarryOutIsGivenUp(t *testing.T) {
	t.Parallel()
	s := newStage(t, "liegt.com")
	id := s.has(ada, "liegt", ".com", holding.StatusActive)
	var cured atomic.Bool
	s.config.Registries[0].Registry = deaf{s.desk, &cured}
	s.config.Patience = time.Second
	var err error
	s.service, err = steward.New(s.config)
	check(t, err)
	change, _, err := s.service.Ask(t.Context(), person(ada), id, steward.Wish{Kind: steward.AuthCode})
	check(t, err)
	if err := s.service.GiveUp(t.Context(), person(ada), change.ID); registrar.KindOf(err) != registrar.KindForbidden {
		t.Errorf("by its holder: %v", err)
	}
	if err := s.service.GiveUp(t.Context(), operator, change.ID); registrar.CodeOf(err) != steward.Hopeful {
		t.Errorf("while an account serves it: %v", err)
	}
	if s.view(id).Stuck {
		t.Error("the holder reads that it is stuck")
	}
	// The account goes, and with it the last one that served the extension.
	s.config.Registries = nil
	waits := make(chan registrar.Code, 100)
	s.config.SetBack = func(_ context.Context, _ string, code registrar.Code) { waits <- code }
	s.service, err = steward.New(s.config)
	check(t, err)
	if view := s.view(id); !view.Stuck || view.Open == nil {
		t.Errorf("the holder sees %+v", view)
	}
	s.run()
	select {
	case code := <-waits:
		if code != steward.NoAccount {
			t.Errorf("operators read %s", code)
		}
	case <-time.After(patience):
		t.Fatal("nobody finds out that it waits")
	}
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) { // the loop may have it in hand
		if err = s.service.GiveUp(t.Context(), operator, change.ID); err == nil || time.Now().After(end) {
			break
		}
	}
	check(t, err)
	view := s.view(id)
	if view.Open != nil || view.Changes[0].State != steward.StateRefused || view.Changes[0].Failure != steward.GivenUp || view.Changes[0].SealedCode != "" {
		t.Errorf("the holder sees %+v", view.Changes)
	}
	deeds, err := s.db.DeedsAbout(t.Context(), ada, "liegt.com", 10)
	check(t, err)
	if len(deeds) == 0 || deeds[0].Action != steward.ActionGivenUp || deeds[0].Actor.Kind != registrar.ActorOperator {
		t.Errorf("the audit tells %+v", deeds)
	}
	for name, id := range map[string]string{"a second time": change.ID, "one that there is not": "chg_none"} {
		if err := s.service.GiveUp(t.Context(), operator, id); err == nil {
			t.Errorf("%s: it was given up", name)
		}
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
	check(t, s.service.Secure(t.Context(), operator, ada, id, "lck_1"))
}

// A lock that is set stands; that its operator closes the browser must not leave the
// domain open.
func TestADomainIsSecuredAlsoForAnOperatorWhoHasGone(t *testing.T) {
	t.Parallel()
	s := newStage(t, "weg.com")
	id := s.has(ada, "weg", ".com", holding.StatusActive)
	s.ask(id, steward.Wish{Kind: steward.Unlock})
	gone, leave := context.WithCancel(t.Context())
	leave()
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "cus_root"}
	check(t, s.service.Secure(gone, operator, ada, id, "lck_1"))
	if secured, _, err := s.service.SecuredFor(t.Context(), id, "lck_1"); err != nil || !secured {
		t.Errorf("secured %t, %v", secured, err)
	}
	if !slices.Contains(s.at("weg.com").Statuses(), "clientTransferProhibited") {
		t.Error("the registry would let it go")
	}
}
