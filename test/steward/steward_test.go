package steward

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/steward"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

const ds = "2371 13 2 1F987CC6583E92DF0890718C42A50A6E4C2C6F6F3E0C0DBE9C30BFD40AE8BC1F"

// question asks the simulated DNS.
func (s *stage) question(name string, kind uint16) []string {
	s.t.Helper()
	m := new(dns.Msg)
	m.SetQuestion(name+".", kind)
	answer, _, err := new(dns.Client).ExchangeContext(s.t.Context(), m, s.world.DNS())
	check(s.t, err)
	var texts []string
	for _, rr := range answer.Answer {
		texts = append(texts, strings.TrimPrefix(rr.String(), rr.Header().String()))
	}
	slices.Sort(texts)
	return texts
}

func hosts(domain *ledger.Domain) []string {
	var names []string
	for _, server := range domain.Nameservers {
		names = append(names, server.Host)
	}
	slices.Sort(names)
	return names
}

func TestNameserversChangeAtTheRegistryAndInTheDNS(t *testing.T) {
	t.Parallel()
	for _, tld := range []string{".com", ".org", ".de"} { // host objects without and with contacts, and host attributes
		t.Run(tld, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "umzug"+tld)
			id := s.has(ada, "umzug", tld, holding.StatusActive)
			s.ask(id, steward.Wish{Kind: steward.Nameservers, Nameservers: "NS1.Nordlicht.Example.\n\n  ns2.nordlicht.example\r\n"})
			want := []string{"ns1.nordlicht.example", "ns2.nordlicht.example"}
			if got := hosts(s.at("umzug" + tld)); !slices.Equal(got, want) {
				t.Errorf("the registry has %v", got)
			}
			if got := s.question("umzug"+tld, dns.TypeNS); !slices.Equal(got, []string{"ns1.nordlicht.example.", "ns2.nordlicht.example."}) {
				t.Errorf("the DNS has %v", got)
			}
			// One that stays, and two of its own with their addresses.
			own := "ns1.nordlicht.example\nns1.umzug" + tld + " 192.0.2.10 2001:db8::10\nns2.umzug" + tld + " 192.0.2.11"
			s.ask(id, steward.Wish{Kind: steward.Nameservers, Nameservers: own})
			if got := hosts(s.at("umzug" + tld)); !slices.Equal(got, []string{"ns1.nordlicht.example", "ns1.umzug" + tld, "ns2.umzug" + tld}) {
				t.Errorf("the registry has %v", got)
			}
			// The same names with another address.
			s.ask(id, steward.Wish{Kind: steward.Nameservers, Nameservers: strings.Replace(own, "192.0.2.10", "192.0.2.20", 1)})
			if tld != ".de" { // attributes are the domain's and have no glue of their own in this DNS
				if got := s.question("ns1.umzug"+tld, dns.TypeA); !slices.Equal(got, []string{"192.0.2.20"}) {
					t.Errorf("the glue is %v", got)
				}
			}
			if view := s.view(id); len(view.Record.Nameservers) != 3 || len(view.Changes) != 3 || view.Changes[0].State != steward.StateDone {
				t.Errorf("the holder sees %+v", view)
			}
		})
	}
}

func TestDSRecordsComeAndGo(t *testing.T) {
	t.Parallel()
	s := newStage(t, "signiert.com")
	id := s.has(ada, "signiert", ".com", holding.StatusActive)
	s.ask(id, steward.Wish{Kind: steward.AddDS, DS: "signiert.com. 3600 IN DS " + ds})
	if got := s.question("signiert.com", dns.TypeDS); len(got) != 1 || !strings.HasPrefix(got[0], "2371 13 2 1F98") {
		t.Errorf("the DNS has %v", got)
	}
	s.ask(id, steward.Wish{Kind: steward.AddDS, DS: ds}) // it is there: nothing to do, and no mistake
	s.ask(id, steward.Wish{Kind: steward.AddDS, DS: strings.Replace(ds, "2371", "2372", 1)})
	if got := s.view(id).Record.DS; len(got) != 2 {
		t.Errorf("the holder sees %v", got)
	}
	s.ask(id, steward.Wish{Kind: steward.RemoveDS, DS: ds})
	if got := s.at("signiert.com").Keys; len(got) != 1 || got[0].KeyTag != 2372 {
		t.Errorf("the registry has %v", got)
	}
}

func TestTheTransferLockIsTheRegistrys(t *testing.T) {
	t.Parallel()
	s := newStage(t, "schloss.com")
	id := s.has(ada, "schloss", ".com", holding.StatusActive)
	if !s.view(id).Record.Locked() {
		t.Error("it is not locked at the beginning")
	}
	s.ask(id, steward.Wish{Kind: steward.Unlock})
	if got := s.at("schloss.com").Statuses(); slices.Contains(got, "clientTransferProhibited") || s.view(id).Record.Locked() {
		t.Errorf("the registry has %v", got)
	}
	s.ask(id, steward.Wish{Kind: steward.Lock})
	if !s.view(id).Record.Locked() {
		t.Error("it is not locked again")
	}
}

func TestAnAuthCodeIsShownOnceAndKeptNowhere(t *testing.T) {
	t.Parallel()
	s := newStage(t, "wegzug.com", "wegzug.de")
	for _, tld := range []string{".com", ".de"} {
		id := s.has(ada, "wegzug", tld, holding.StatusActive)
		change, code := s.ask(id, steward.Wish{Kind: steward.AuthCode})
		if len(code) < 8 || s.at("wegzug"+tld).Auth != code {
			t.Errorf("%s: the registry has another code than the one that is shown (%d characters)", tld, len(code))
		}
		if change.SealedCode != "" || s.view(id).Changes[0].SealedCode != "" {
			t.Errorf("%s: the code is still kept", tld)
		}
		_, again := s.ask(id, steward.Wish{Kind: steward.AuthCode})
		if again == code || s.at("wegzug"+tld).Auth != again {
			t.Errorf("%s: the second one is no new one", tld)
		}
	}
	letters, err := s.db.DueLetters(t.Context(), time.Now().Add(time.Hour), 100)
	check(t, err)
	if len(letters) != 4 {
		t.Fatalf("%d letters", len(letters))
	}
	for _, letter := range letters {
		if letter.Kind != registrar.LetterAuthCode || letter.Facts["address"] != "192.0.2.7" || !strings.HasPrefix(letter.Facts["domain"], "wegzug.") {
			t.Errorf("the letter is %s %v", letter.Kind, letter.Facts)
		}
	}
	deeds, err := s.db.DeedsAbout(t.Context(), ada, "wegzug.com", 10)
	check(t, err)
	if len(deeds) != 3 || deeds[0].Action != "auth_code_shown" || deeds[0].Actor.Customer != ada {
		t.Errorf("the audit tells %+v", deeds)
	}
}

// register lets ada have a name with a contact of its own.
func (s *stage) register(label, tld string) string {
	s.t.Helper()
	lines, err := provision.New(provision.Config{
		Store: s.db, Domains: s.db, Seal: s.seal, Node: "lines", Now: s.world.Now, Nameservers: []string{"ns1.nordlicht.example", "ns2.nordlicht.example"},
		Accounts: []provision.NamedAccount{{Name: "sandbox", Serves: func(string) bool { return true }, Account: s.desk}},
	})
	check(s.t, err)
	ctx, stop := context.WithCancel(s.t.Context())
	var running sync.WaitGroup
	running.Go(func() { lines.Run(ctx) })
	defer func() { stop(); running.Wait() }()
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}
	line, err := lines.Order(ctx, operator, provision.Order{
		Customer: ada, Name: registrar.NewName(label, tld), Kind: provision.Register, Payment: "manual:1",
	})
	check(s.t, err)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if line, err = lines.Line(ctx, operator, line.ID); err != nil || line.State.Final() {
			break
		}
	}
	check(s.t, err)
	if line.State != provision.StateActive {
		s.t.Fatalf("the line is %s: %s", line.State, line.Failure)
	}
	return line.Domain
}

func TestTheHoldersPresentDataReplaceTheContact(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	id := s.register("inhaber", ".org")
	before := s.at("inhaber.org")
	change, _ := s.ask(id, steward.Wish{Kind: steward.TakeHolder})
	after := s.at("inhaber.org")
	if after.Registrant == before.Registrant || after.Registrant != change.Handle || len(after.Contacts) != len(before.Contacts) {
		t.Errorf("the registry has %s and %v", after.Registrant, after.Contacts)
	}
	for _, role := range after.Contacts {
		if role.ID != change.Handle {
			t.Errorf("the %s contact is still %s", role.Type, role.ID)
		}
	}
	holdings := s.world.Holdings(registry.ProductAccount)
	if len(holdings.Contacts) != 1 || len(holdings.Unused) != 0 {
		t.Errorf("%d contacts, %v unused", len(holdings.Contacts), holdings.Unused)
	}
	if got, _, err := s.db.DomainOf(t.Context(), ada, id); err != nil || got.Handle != change.Handle {
		t.Errorf("we know %q, %v", got.Handle, err)
	}
}

// moves changes the country of ada's registrant by whatever way.
func (s *stage) moves(country string) {
	s.t.Helper()
	check(s.t, s.db.ChangeCustomers(s.t.Context(), func(tx customer.Tx) error {
		registrant, _, err := tx.RegistrantOf(s.t.Context(), ada)
		if err != nil {
			return err
		}
		registrant.Country = country
		return tx.PutRegistrant(s.t.Context(), ada, registrant)
	}))
}

func TestHolderChange_ExtensionRefusesTheRegistrant(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	id := s.register("inhaber", ".org")
	before := s.at("inhaber.org")
	var while func()
	s.config.Admits = func(_ context.Context, _, tld string, holder steward.Holder) error {
		err := registrar.Extension{TLD: tld, Requires: "eu_presence"}.CheckHolder(holder, "")
		if while != nil {
			while()
		}
		return err
	}
	var err error
	s.service, err = steward.New(s.config)
	check(t, err)
	s.moves("US")
	if _, _, err := s.service.Ask(t.Context(), person(ada), id, steward.Wish{Kind: steward.TakeHolder}); registrar.CodeOf(err) != "requires_eu_presence" {
		t.Fatalf("from the US: %v", err)
	}
	view, err := s.service.View(t.Context(), person(ada), id)
	check(t, err)
	if view.Closed[steward.TakeHolder] != "requires_eu_presence" || len(view.Changes) != 0 {
		t.Errorf("closed for %q, %d changes", view.Closed[steward.TakeHolder], len(view.Changes))
	}
	// Who moves between the check and the command is refused as well: what is sent is checked.
	s.moves("DE")
	while = sync.OnceFunc(func() { s.moves("US") })
	change, _, err := s.service.Ask(t.Context(), person(ada), id, steward.Wish{Kind: steward.TakeHolder})
	check(t, err)
	if change.State != steward.StateRefused || change.Failure != "requires_eu_presence" {
		t.Errorf("the change is %s: %s", change.State, change.Failure)
	}
	if after := s.at("inhaber.org"); after.Registrant != before.Registrant || len(s.world.Holdings(registry.ProductAccount).Contacts) != 1 {
		t.Errorf("the registry has %s", after.Registrant)
	}
	s.moves("AT")
	s.ask(id, steward.Wish{Kind: steward.TakeHolder})
}

func TestADomainThatCameWithoutAContactGetsOne(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mitgebracht.io")
	id := s.has(ada, "mitgebracht", ".io", holding.StatusActive)
	change, _ := s.ask(id, steward.Wish{Kind: steward.TakeHolder})
	if got := s.at("mitgebracht.io"); got.Registrant != change.Handle || len(got.Contacts) != 3 {
		t.Errorf("the registry has %s and %v", got.Registrant, got.Contacts)
	}
}

// The words for a domain's state are those of package holding.
func TestEveryStateIsKnown(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, status := range holding.Statuses() {
		id := s.has(ada, "wort-"+strings.ReplaceAll(string(status), "_", "-"), ".com", status)
		view, err := s.service.View(t.Context(), person(ada), id)
		check(t, err)
		if _, closed := view.Closed[steward.Nameservers]; closed == (status == holding.StatusActive) {
			t.Errorf("%s is closed: %t", status, closed)
		}
	}
}

func TestALostAnswerIsAskedFor(t *testing.T) {
	t.Parallel()
	s := newStage(t, "lostanswer-eins.com", "once-dropped-zwei.com")
	for _, label := range []string{"lostanswer-eins", "once-dropped-zwei"} {
		id := s.has(ada, label, ".com", holding.StatusActive)
		s.ask(id, steward.Wish{Kind: steward.Unlock})
		s.ask(id, steward.Wish{Kind: steward.Nameservers, Nameservers: "ns1.nordlicht.example\nns2.nordlicht.example"})
		if got := hosts(s.at(label + ".com")); !slices.Equal(got, []string{"ns1.nordlicht.example", "ns2.nordlicht.example"}) {
			t.Errorf("%s has %v", label, got)
		}
	}
}

// silent is a registry that does not answer until it is told to.
type silent struct {
	steward.Registry
	mu   sync.Mutex
	back bool
}

func (s *silent) answers() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.back }
func (s *silent) Carry(ctx context.Context, task steward.Task) (steward.Result, error) {
	if !s.answers() {
		return steward.Result{}, registrar.Fault(registrar.FaultRefused, "epp.example", errors.New("refused"))
	}
	return s.Registry.Carry(ctx, task)
}

func TestAChangeGoesOnWhenTheRegistryIsBack(t *testing.T) {
	t.Parallel()
	s := newStage(t, "geduld.com")
	id := s.has(ada, "geduld", ".com", holding.StatusActive)
	quiet := &silent{Registry: s.desk}
	s.config.Registries[0].Registry = quiet
	var err error
	s.service, err = steward.New(s.config)
	check(t, err)
	change, _, err := s.service.Ask(t.Context(), person(ada), id, steward.Wish{Kind: steward.Unlock})
	check(t, err)
	if change.State != steward.StateOpen || s.view(id).Open == nil {
		t.Fatalf("it is %s", change.State)
	}
	_, _, err = s.service.Ask(t.Context(), person(ada), id, steward.Wish{Kind: steward.AuthCode})
	if registrar.CodeOf(err) != steward.UnderWay {
		t.Errorf("a second one beside it: %v", err)
	}
	quiet.mu.Lock()
	quiet.back = true
	quiet.mu.Unlock()
	s.run()
	for end := time.Now().Add(patience); s.view(id).Open != nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it is still open")
		}
	}
	if slices.Contains(s.at("geduld.com").Statuses(), "clientTransferProhibited") {
		t.Error("it is still locked")
	}
}

func TestWhatTheRegistryRefusesIsToldAndEnds(t *testing.T) {
	t.Parallel()
	s := newStage(t, "fremd.com")
	id := s.has(ada, "fremd", ".com", holding.StatusActive)
	// The name of the host is below a domain of another registrar here.
	change, _, err := s.service.Ask(t.Context(), person(ada), id, steward.Wish{Kind: steward.Nameservers, Nameservers: "ns1.gibtesnicht-a.com\nns2.gibtesnicht-a.com"})
	check(t, err)
	if change.State != steward.StateRefused || change.Failure == "" || !change.DueAt.IsZero() {
		t.Errorf("it is %+v", change)
	}
	if got := hosts(s.at("fremd.com")); len(got) != 2 || got[0] != held {
		t.Errorf("the registry has %v", got)
	}
	if view := s.view(id); view.Open != nil || len(view.Changes) != 1 {
		t.Errorf("the holder sees %+v", view)
	}
}

func TestOnlyAHolderWhoHasJustSignedInChangesADomain(t *testing.T) {
	t.Parallel()
	s := newStage(t, "meine.com")
	id := s.has(ada, "meine", ".com", holding.StatusActive)
	old := person(ada)
	old.SignedInAt = time.Now().Add(-registrar.RecentSignIn - time.Minute)
	token := person(ada)
	token.Kind = registrar.ActorToken
	for _, kind := range steward.Kinds() {
		wish := steward.Wish{Kind: kind, Nameservers: "ns1.nordlicht.example\nns2.nordlicht.example", DS: ds}
		for name, c := range map[string]struct {
			actor registrar.Actor
			want  error
		}{
			"another customer": {person(eve), &registrar.Error{Kind: registrar.KindNotFound, Code: steward.NoSuchDomain}},
			"a stranger":       {registrar.Actor{Kind: registrar.ActorPerson, Address: netip.MustParseAddr("192.0.2.9")}, &registrar.Error{Kind: registrar.KindUnauthenticated}},
			"a token":          {token, &registrar.Error{Kind: registrar.KindForbidden}},
			"an old sign-in":   {old, &registrar.Error{Code: registrar.SignInAgain}},
		} {
			if kind == steward.Lock && name == "an old sign-in" {
				continue // locking is always welcome
			}
			if _, _, err := s.service.Ask(t.Context(), c.actor, id, wish); !errors.Is(err, c.want) {
				t.Errorf("%s by %s: %v", kind, name, err)
			}
		}
	}
	if _, err := s.service.View(t.Context(), person(eve), id); registrar.CodeOf(err) != steward.NoSuchDomain {
		t.Errorf("another customer sees it: %v", err)
	}
	if got := s.at("meine.com"); got.Auth != "auth-meine" || hosts(got)[0] != held {
		t.Errorf("the registry has %+v", got)
	}
}

func TestEachStateSaysWhyNothingCanBeChanged(t *testing.T) {
	t.Parallel()
	s := newStage(t, "zustand-active.com", "zustand-expired.com")
	for status, want := range map[holding.Status]registrar.Code{
		holding.StatusActive: "", holding.StatusExpired: steward.IsExpired, holding.StatusPending: steward.IsPending,
		holding.StatusRedemption: steward.IsRedemption, holding.StatusTransit: steward.IsTransit, holding.StatusTransferredOut: steward.IsElsewhere,
	} {
		id := s.has(ada, "zustand-"+strings.ReplaceAll(string(status), "_", "-"), ".com", status)
		_, _, err := s.service.Ask(t.Context(), person(ada), id, steward.Wish{Kind: steward.Nameservers, Nameservers: "ns1.nordlicht.example\nns2.nordlicht.example"})
		if registrar.CodeOf(err) != want || s.view(id).Closed[steward.Nameservers] != want {
			t.Errorf("%s: %v, and the page says %q", status, err, s.view(id).Closed[steward.Nameservers])
		}
		_, _, err = s.service.Ask(t.Context(), person(ada), id, steward.Wish{Kind: steward.AuthCode})
		if leaves := status == holding.StatusActive || status == holding.StatusExpired; leaves != (err == nil) {
			t.Errorf("%s: the auth code: %v", status, err)
		}
	}
}

func TestAnUnreachableRegistryLeavesTheLastWordStanding(t *testing.T) {
	t.Parallel()
	s := newStage(t, "zuletzt.com")
	id := s.has(ada, "zuletzt", ".com", holding.StatusActive)
	if view := s.view(id); !view.Known || view.Silent {
		t.Fatalf("the holder sees %+v", view)
	}
	later := time.Now().Add(time.Hour)
	s.config.Clock = func() time.Time { return later }
	s.config.Registries[0].Registry = gone{s.desk}
	var err error
	s.service, err = steward.New(s.config)
	check(t, err)
	if view := s.view(id); !view.Known || !view.Silent || len(view.Record.Nameservers) != 2 {
		t.Errorf("the holder sees %+v", view)
	}
}

type gone struct{ steward.Registry }

func (gone) Look(context.Context, string) (steward.Record, error) {
	return steward.Record{}, registrar.Fault(registrar.FaultTimeout, "epp.example", net.ErrClosed)
}

// counted counts how often a registry is asked about a domain.
type counted struct {
	steward.Registry
	looks *atomic.Int64
}

func (c counted) Look(ctx context.Context, name string) (steward.Record, error) {
	c.looks.Add(1)
	return c.Registry.Look(ctx, name)
}

func TestView_FailingRegistryIsNotAskedByEveryPageView(t *testing.T) {
	t.Parallel()
	s := newStage(t, "neuladen.com")
	id := s.has(ada, "neuladen", ".com", holding.StatusActive)
	var looks atomic.Int64
	var mu sync.Mutex
	now := time.Now()
	s.config.Clock = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	wait := time.Duration(0)
	s.config.Admit = func(registrar.Actor) time.Duration { return wait }
	s.config.Registries[0].Registry = counted{gone{s.desk}, &looks}
	var err error
	s.service, err = steward.New(s.config)
	check(t, err)
	reload := func(want int64) {
		t.Helper()
		for range 20 {
			if view := s.view(id); view.Known || !view.Silent {
				t.Errorf("the holder sees %+v", view)
			}
		}
		if got := looks.Load(); got != want {
			t.Errorf("the registry was asked %d times, want %d", got, want)
		}
	}
	reload(1)
	mu.Lock()
	now = now.Add(10 * time.Second)
	mu.Unlock()
	wait = time.Minute // the holder has looked at too much
	reload(1)
	wait = 0
	reload(2)
}
