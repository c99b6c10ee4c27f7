package registry

import (
	"path/filepath"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/epp"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// The accounts that every world has.
const (
	// ProductAccount is the one that the product logs in with.
	ProductAccount = "dotkontor"
	otherAccount   = "andere"
	noFundsAccount = "pleite"
	productName    = "dotkontor Sandbox"
)

// Account is a registrar that may log in over EPP.
type Account = ledger.Account

// DefaultAccounts are the registrars of a world that is not told otherwise: the
// product's, another one to transfer from and to, and one that can't pay.
func DefaultAccounts() []Account {
	return []Account{
		{ID: ProductAccount, Password: "kontor-geheim", Name: productName},
		{ID: otherAccount, Password: "andere-geheim", Name: worldRegistrars[0].name},
		{ID: noFundsAccount, Password: "pleite-geheim", Name: worldRegistrars[2].name, NoFunds: true},
	}
}

// openLedger reads the state of an earlier start, or begins with what the
// options say.
func (r *Registry) openLedger() error {
	accounts := r.opts.Accounts
	if len(accounts) == 0 {
		accounts = DefaultAccounts()
	}
	var seeds []*ledger.Domain
	for _, held := range r.opts.Seeds {
		seed, err := r.world.seed(held, r.opts.Now().UTC().Truncate(time.Second))
		if err != nil {
			return err
		}
		seeds = append(seeds, seed)
	}
	var err error
	r.ledger, err = ledger.Open(ledger.Options{
		Folder: r.folder(), Table: table{r.world}, Accounts: accounts, Now: r.opts.Now, Seeds: seeds,
		PendingFor: r.opts.PendingFor, Sync: r.opts.Sync, Logger: r.opts.Logger,
	})
	return err
}

// folder is where the registry keeps its own things, empty if nowhere.
func (r *Registry) folder() string {
	if r.opts.Data == "" {
		return ""
	}
	return filepath.Join(r.opts.Data, "registry")
}

// openEPP starts the registrars' entrance.
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
		NextFault: func() epp.Fault { return eppFault(rng.next()) }, Logger: r.opts.Logger, Tap: r.opts.Tap,
	})
	r.servers.run(func() {
		listener.serve(func(peer *trackedConn) { server.Serve(r.servers.ctx, peer, peer.reset) })
	})
	return nil
}

// eppFault says what a fault means in EPP.
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

// EPP is the address of the EPP server, which speaks TLS.
func (r *Registry) EPP() string { return r.epp }

// EPPCA is the certificate, as PEM, of the authority that vouches for the EPP
// server; EPPCAFile is the file in the data folder that holds it, empty without
// a data folder.
func (r *Registry) EPPCA() []byte { return r.identity.CA }

// EPPCAFile is the file with EPPCA.
func (r *Registry) EPPCAFile() string { return r.identity.CAFile }

// Accounts are the registrars with the passwords in force.
func (r *Registry) Accounts() []Account { return r.ledger.Accounts() }

// Account is one registrar; ok is false if there is none of that id.
func (r *Registry) Account(id string) (account Account, ok bool) {
	for _, account := range r.ledger.Accounts() {
		if account.ID == id {
			return account, true
		}
	}
	return Account{}, false
}

// Sponsored are the domains, contacts and hosts that an account sponsors.
func (r *Registry) Sponsored(account string) ledger.Sponsored { return r.ledger.Sponsored(account) }

// Now is the world's time: Options.Now and how far the clock was advanced.
func (r *Registry) Now() time.Time { return r.ledger.Now() }

// Advance moves the world's clock on, never back. Everything that falls due on
// the way has happened when it returns.
func (r *Registry) Advance(by time.Duration) error { return r.ledger.Advance(by) }
