package registry

import (
	"path/filepath"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/epp"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// Accounts of every sandbox.
const (
	// ProductAccount is the account that the product logs in with.
	ProductAccount = "dotkontor"
	// ProductName is its registrar's name.
	ProductName = "dotkontor Sandbox"
	// TechContact is a contact of the registry that every registrar may name as the tech
	// contact of .eu domains, whose contacts have one role each.
	TechContact    = "sandbox-tech"
	otherAccount   = "andere"
	noFundsAccount = "pleite"
)

// Account is a registrar that may log in over EPP.
type Account = ledger.Account

// DefaultAccounts are the default registrars: the product's, another one to
// transfer from and to, and one without funds.
func DefaultAccounts() []Account {
	return []Account{
		{ID: ProductAccount, Password: "kontor-geheim", Name: ProductName},
		{ID: otherAccount, Password: "andere-geheim", Name: worldRegistrars[0].name},
		{ID: noFundsAccount, Password: "pleite-geheim", Name: worldRegistrars[2].name, NoFunds: true},
	}
}

// openLedger loads the state of an earlier run, or starts with the options.
func (r *Registry) openLedger() error {
	accounts := r.opts.Accounts
	if len(accounts) == 0 {
		accounts = DefaultAccounts()
	}
	seeds, err := r.world.seeds(r.opts.Seeds, r.opts.Now())
	if err != nil {
		return err
	}
	r.ledger, err = ledger.Open(ledger.Options{
		Folder: r.folder(), Table: table{r.world}, Accounts: accounts, Now: r.opts.Now, Seeds: seeds,
		Contacts: []*ledger.Contact{{
			ID: TechContact, Email: "tech@registry.sandbox.example", Voice: ledger.Phone{Number: "+49.30123456"},
			Postal: []ledger.Postal{{Type: "loc", Name: "Technik", Org: "Sandbox Registry", Street: []string{"Ring 1"}, City: "Berlin", Code: "10115", Country: "DE"}},
			Typed:  &ledger.ContactType{Registry: ledger.EURid, Type: "tech", Lang: "de"},
		}},
		PendingFor: r.opts.PendingFor, Sync: r.opts.Sync, Logger: r.opts.Logger,
	})
	return err
}

// folder is the registry's data folder, empty without persistence.
func (r *Registry) folder() string {
	if r.opts.Data == "" {
		return ""
	}
	return filepath.Join(r.opts.Data, "registry")
}

// openEPP starts the EPP server.
func (r *Registry) openEPP() error {
	identity, err := epp.NewIdentity(r.folder())
	if err != nil {
		return err
	}
	address := r.opts.EPPListen
	if address == "" {
		address = "127.0.0.1:0"
	}
	listener, err := r.servers.listen(address)
	if err != nil {
		return err
	}
	r.epp, r.identity = listener.Addr().String(), identity
	rng := r.faultRNGFor("epp")
	timings := epp.DefaultTimeouts()
	timings.Hang, timings.Slow = r.timings.hang, r.timings.slowMax
	server := epp.New(epp.Options{
		Ledger: r.ledger, Certificate: identity.Certificate, Sessions: r.opts.Sessions, Latency: r.opts.Latency, Greeting: r.opts.Greeting, Timeouts: timings,
		NextFault: func() epp.Fault { return eppFault(rng.next()) }, Logger: r.opts.Logger, Tap: r.opts.Tap, TapReceived: r.opts.TapReceived,
	})
	r.servers.run(func() {
		listener.serve(func(peer *trackedConn) { server.Serve(r.servers.ctx, peer, peer.reset) })
	})
	return nil
}

// eppFault maps a fault to EPP.
func eppFault(m injectedFault) epp.Fault {
	switch m.fault {
	case faultSlow:
		return epp.Fault{Kind: epp.Slow, Delay: m.delay}
	case faultBroken:
		return epp.Fault{Kind: epp.Fails}
	case faultThrottled:
		return epp.Fault{Kind: epp.Closes}
	case faultDropped:
		if m.variant%2 == 0 {
			return epp.Fault{Kind: epp.DropsBefore}
		}
		return epp.Fault{Kind: epp.DropsAfter}
	default:
		return epp.Fault{}
	}
}

// EPP is the address of the EPP server, which uses TLS.
func (r *Registry) EPP() string { return r.epp }

// EPPCA is the CA certificate of the EPP server as PEM.
func (r *Registry) EPPCA() []byte { return r.identity.CA }

// EPPCAFile is the file in the data folder with EPPCA, empty without a data folder.
func (r *Registry) EPPCAFile() string { return r.identity.CAFile }

// Accounts returns the registrars with their current passwords.
func (r *Registry) Accounts() []Account { return r.ledger.Accounts() }

// Account returns one registrar; ok is false if there is none with that id.
func (r *Registry) Account(id string) (account Account, ok bool) {
	for _, account := range r.ledger.Accounts() {
		if account.ID == id {
			return account, true
		}
	}
	return Account{}, false
}

// Sponsored returns the domains, contacts and hosts that an account sponsors.
func (r *Registry) Sponsored(account string) ledger.Sponsored { return r.ledger.Sponsored(account) }

// Now is the sandbox time: Options.Now plus the clock's advance.
func (r *Registry) Now() time.Time { return r.ledger.Now() }

// clockStep is how far the clock moves at once if a service follows it: its daily jobs run
// every day, and one that is further behind stops for safety.
const clockStep = 12 * time.Hour

// FollowClock makes Advance move in steps and call settle after each of them. settle
// returns when the service has done what was due.
func (r *Registry) FollowClock(settle func()) { r.settle.Store(&settle) }

// Advance moves the sandbox clock forward. Everything due in that time has happened
// when it returns.
func (r *Registry) Advance(by time.Duration) error {
	settle := r.settle.Load()
	if settle == nil || by < 0 || by > ledger.MaxAdvance {
		return r.ledger.Advance(by)
	}
	for end := r.ledger.Offset() + by; r.ledger.Offset() < end; (*settle)() {
		if err := r.ledger.Advance(min(clockStep, end-r.ledger.Offset())); err != nil {
			return err
		}
	}
	return nil
}
