package main

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/office"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/steward"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/upstream/manners"
	"github.com/dotkontor/dotkontor/internal/web/operator"
)

// keepSetbackWithin bounds the note about work that does not get on.
const keepSetbackWithin = 2 * time.Second

// openOffice is what operators do by hand. It is opened before those whose work it
// hears of.
func (p *product) openOffice() (err error) {
	p.office, err = office.New(office.Config{
		Store: p.people.db, LettersWaiting: p.people.post.wake,
		Secure: func(ctx context.Context, operator registrar.Actor, customer, domain, lock string) error {
			return p.changes.Secure(ctx, operator, customer, domain, lock)
		},
		SecuredFor: func(ctx context.Context, domain, lock string) (secured, underWay bool, err error) {
			return p.changes.SecuredFor(ctx, domain, lock)
		},
		GiveUp: func(ctx context.Context, operator registrar.Actor, change string) error {
			return p.changes.GiveUp(ctx, operator, change)
		},
		Woken: func(kind office.JobKind) {
			switch {
			case kind == office.JobOrder && p.orders != nil:
				p.orders.Wake()
			case kind == office.JobMail:
				p.people.post.wake()
			case kind == office.JobEvent:
				p.wakeTidings()
			default: // their loops look every second
			}
		},
	})
	p.people.post.setBack = setBack(p.office, office.JobMail, p.logger)
	return err
}

// setBack remembers why work of a kind does not get on. The work itself does not
// depend on it.
func setBack(keeper *office.Service, kind office.JobKind, logger *slog.Logger) func(context.Context, string, registrar.Code) {
	return func(ctx context.Context, id string, code registrar.Code) {
		if code == "" {
			code = "unknown"
		}
		storing, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepSetbackWithin)
		defer cancel()
		if err := keeper.KeepSetback(storing, kind, id, code); err != nil {
			logger.WarnContext(ctx, "why something waits can't be stored", "kind", string(kind), "id", id)
		}
	}
}

// barring is what a lock has to forbid to keep a holder from a change.
var barring = map[steward.Kind]office.Block{
	steward.Nameservers: office.Nameservers, steward.AddDS: office.Nameservers, steward.RemoveDS: office.Nameservers,
	steward.Unlock: office.Transfer, steward.AuthCode: office.Transfer, steward.TakeHolder: office.Transfer,
}

// barred says why a holder may not change a domain.
func (p *product) barred(ctx context.Context, domain steward.Domain, kind steward.Kind) (registrar.Code, error) {
	block, some := barring[kind]
	if !some {
		return "", nil
	}
	barred, err := p.office.Bars(ctx, domain.ID, block)
	if err != nil || !barred {
		return "", err
	}
	return steward.Barred, nil
}

// operatorPages is what operators see.
func (p *product) operatorPages(look *lookups, live *catalog.Live) operator.Config {
	return operator.Config{
		Office: p.office, Files: customerFiles{p.people, p.office}, Agents: p.people.agents,
		Prices: priceLists{p.people.db, live}, ConfirmFactor: p.cfg.Catalog.ConfirmFactor,
		Peers: func() []operator.Peer { return p.peers(look) },
	}
}

// priceLists is the price list in the database and in force.
type priceLists struct {
	db   *store.DB
	live *catalog.Live
}

var _ operator.Prices = priceLists{}

// Current is the edition in force on all nodes.
func (l priceLists) Current(ctx context.Context) (catalog.Edition, error) { return l.db.PriceList(ctx) }

// Replace stores the edition after was for all nodes, and uses it here at once.
func (l priceLists) Replace(ctx context.Context, by registrar.Actor, was catalog.Edition, next *catalog.Catalog) error {
	edition, err := l.db.ReplacePriceList(ctx, was, next, priceListEvent(by, next, len(was.List.Diff(next))))
	if err != nil {
		return err
	}
	l.live.Replace(edition.List)
	return nil
}

// customerFiles opens customers' files for operators.
type customerFiles struct {
	people *accounts
	office *office.Service
}

var _ operator.Files = customerFiles{}

// What a file shows of what grows.
const (
	fileOrders = 20
	fileDeeds  = 30
)

// Find is the account that an address, an id, a domain or an order names.
func (f customerFiles) Find(ctx context.Context, by registrar.Actor, text string) (string, error) {
	none := &registrar.Error{Kind: registrar.KindNotFound, Code: office.NoSuchCustomer}
	text = strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(text, "cus_"):
		_, found, err := f.people.db.ReadCustomers().AccountByID(ctx, text)
		if err == nil && !found {
			err = none
		}
		return text, err
	case strings.HasPrefix(text, "ord_"):
		o, found, err := f.people.db.OrderByID(ctx, text)
		if err == nil && !found {
			err = none
		}
		return o.Customer, err
	case strings.Contains(text, "@"):
		account, err := f.people.customers.Find(ctx, by, text)
		return account.ID, err
	}
	name, err := idna.Lookup.ToASCII(strings.TrimSuffix(strings.ToLower(text), "."))
	if err != nil {
		return "", none
	}
	held, found, err := f.people.db.HeldDomain(ctx, name)
	if err == nil && !found {
		err = none
	}
	return held.Customer, err
}

// Open writes into the file that it is opened, and opens it.
func (f customerFiles) Open(ctx context.Context, by registrar.Actor, id string) (operator.File, error) {
	read := f.people.db.ReadCustomers()
	account, found, err := read.AccountByID(ctx, id)
	if err == nil && !found {
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: office.NoSuchCustomer}
	}
	if err != nil {
		return operator.File{}, err
	}
	if err := f.office.Look(ctx, by, account.ID, ""); err != nil {
		return operator.File{}, err
	}
	file := operator.File{Account: account.Customer}
	if file.Registrant, file.Told, err = read.RegistrantOf(ctx, account.ID); err != nil {
		return operator.File{}, err
	}
	if file.Domains, err = f.people.db.DomainsOf(ctx, account.ID); err != nil {
		return operator.File{}, err
	}
	if file.Orders, err = f.people.db.OrdersOf(ctx, account.ID, "", fileOrders); err != nil {
		return operator.File{}, err
	}
	file.Deeds, err = f.people.db.DeedsOf(ctx, account.ID, "", fileDeeds)
	return file, err
}

// Order writes into its customer's file that it is looked at, and returns it.
func (f customerFiles) Order(ctx context.Context, by registrar.Actor, id string) (order.Order, error) {
	o, found, err := f.people.db.OrderByID(ctx, id)
	if err == nil && !found {
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchOrder}
	}
	if err != nil {
		return order.Order{}, err
	}
	return o, f.office.Look(ctx, by, o.Customer, o.ID)
}

// lastSeen is how somebody outside did lately. The zero value has seen nothing.
type lastSeen struct {
	mu        sync.Mutex
	good, bad time.Time
	why       registrar.Code
	calls     int
	faults    int
}

func (l *lastSeen) note(good bool, why registrar.Code) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	if good {
		l.good, l.why = time.Now(), ""
		return
	}
	l.faults++
	l.bad, l.why = time.Now(), why
}

func (l *lastSeen) peer(group, name string) operator.Peer {
	l.mu.Lock()
	defer l.mu.Unlock()
	peer := operator.Peer{
		Group: group, Name: name, State: "well", GoodAt: l.good, BadAt: l.bad, Why: l.why, Calls: l.calls, Faults: l.faults,
	}
	switch {
	case l.good.IsZero() && l.bad.IsZero():
		peer.State = "unknown"
	case l.bad.After(l.good):
		peer.State = "resting"
	}
	return peer
}

// peers are all outside.
func (p *product) peers(look *lookups) []operator.Peer {
	var all []operator.Peer
	for i, client := range look.registries.clients {
		s := client.Standing()
		peer := operator.Peer{
			Group: "account", Name: look.registries.accounts[i].Name + " (" + s.Host + ")", State: "well",
			Open: s.Open, Most: s.Most, Busy: s.Waiting, Until: s.Until, Why: s.Why,
		}
		if s.Why != "" {
			peer.State = "resting"
		}
		all = append(all, peer)
	}
	if p.provider != nil {
		all = append(all, p.paymentsSeen.peer("payments", "Stripe"))
	}
	if p.vies != nil {
		all = append(all, guarded("vat", p.vies.Standings())...)
	}
	if p.people.post.runner != nil {
		all = append(all, p.people.post.seen.peer("mail", p.cfg.Mail.Server))
	}
	return append(all, guarded("registry", look.guard.Standings())...)
}

// guarded are hosts that a guard watches over.
func guarded(group string, standings []manners.Standing) []operator.Peer {
	peers := make([]operator.Peer, 0, len(standings))
	for _, s := range standings {
		peer := operator.Peer{
			Group: group, Name: s.Host, State: "well", Until: s.Until, Calls: s.Calls, Faults: s.Faults, Busy: s.UnderWay + s.Waiting,
		}
		switch {
		case s.Resting:
			peer.State = "resting"
		case s.Paused:
			peer.State = "paused"
		}
		peers = append(peers, peer)
	}
	return peers
}
