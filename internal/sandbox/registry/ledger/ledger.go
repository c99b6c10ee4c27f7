package ledger

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// MaxAdvance limits one move of the clock: every domain is renewed once for
	// each year.
	MaxAdvance = 100 * 366 * day
	// maxQueue limits the queued messages of one account. Beyond it the oldest are
	// dropped, as registries do with unfetched messages.
	maxQueue = 200_000
)

// Account is a registrar.
type Account struct {
	ID       string // 3 to 16 characters
	Password string
	Name     string // as RDAP and WHOIS show it
	NoFunds  bool   // billable commands fail
}

// Options configures a ledger.
type Options struct {
	// Folder holds the journal; empty means no persistence.
	Folder   string
	Table    Table
	Accounts []Account
	Now      func() time.Time // nil = time.Now
	// Seeds are domains that are stored unless the ledger has, or had, their name.
	Seeds []*Domain
	// Contacts are contacts of the registry itself, stored unless they exist.
	Contacts []*Contact
	// PendingFor is how long a create stays pending; 0 means 5 s.
	PendingFor time.Duration
	// Sync makes every command wait for fsync. Without it a command survives the
	// process, but not a power cut.
	Sync   bool
	Logger *slog.Logger
}

// Ledger is the state of the registry. It is safe for concurrent use.
type Ledger struct {
	table      Table
	accounts   map[string]Account
	base       func() time.Time
	pendingFor time.Duration
	logger     *slog.Logger

	offset  atomic.Int64 // of the clock, in nanoseconds
	nextDue atomic.Int64 // next transition, in Unix nanoseconds
	epoch   int64        // start of this process, for server transaction ids
	trids   atomic.Uint64

	mu        sync.RWMutex
	journal   lockedJournal
	serial    uint64
	domains   map[string]*Domain // nil: deleted, whatever the table says
	contacts  map[string]*Contact
	hosts     map[string]*Host
	queues    map[string][]*Message
	passwords map[string]string
	funds     map[string]*Funds // of accounts that are paid in advance
	// contactRefs and hostRefs count the domains that refer to an object,
	// hostsBelow the hosts below a domain.
	contactRefs, hostRefs, hostsBelow map[string]int
	dueQueue                          dueQueue
}

// Open loads the journal and continues it.
func Open(o Options) (*Ledger, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.PendingFor == 0 {
		o.PendingFor = 5 * time.Second
	}
	l := &Ledger{
		table: o.Table, base: o.Now, pendingFor: o.PendingFor, logger: o.Logger, epoch: time.Now().UnixMilli(),
		accounts: map[string]Account{}, domains: map[string]*Domain{}, contacts: map[string]*Contact{}, hosts: map[string]*Host{},
		queues: map[string][]*Message{}, passwords: map[string]string{}, funds: map[string]*Funds{},
		contactRefs: map[string]int{}, hostRefs: map[string]int{}, hostsBelow: map[string]int{},
	}
	l.nextDue.Store(math.MaxInt64)
	for _, account := range o.Accounts {
		if len(account.ID) < 3 || len(account.ID) > 16 || len(account.Password) < 6 {
			return nil, fmt.Errorf("account %q needs an id of 3 to 16 characters and a password of at least 6", account.ID)
		}
		l.accounts[account.ID] = account
		l.passwords[account.ID] = account.Password
	}
	var err error
	if l.journal, err = openJournal(o.Folder, o.Sync, l.apply); err != nil {
		return nil, err
	}
	if err := l.compact(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	for _, contact := range o.Contacts {
		if err := l.seedContact(contact); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	for _, seed := range o.Seeds {
		if err := l.seed(seed); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return l, nil
}

// Seed stores domains that another registry is supposed to have had before.
func (l *Ledger) Seed(domains []*Domain) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, domain := range domains {
		if err := l.seed(domain); err != nil {
			return err
		}
	}
	return nil
}

// seed stores a domain and its hosts unless the name exists.
func (l *Ledger) seed(seed *Domain) error {
	if _, known := l.domains[seed.Name]; known {
		return nil
	}
	t := l.begin(Request{Account: seed.Sponsor}, l.Now())
	domain := seed.clone()
	if domain.ROID == "" {
		domain.ROID = t.roid("D")
	}
	for _, server := range domain.Nameservers {
		if server.Attribute || t.host(server.Host) != nil {
			continue
		}
		t.putHost(&Host{
			Name: server.Host, ROID: t.roid("H"), Sponsor: seed.Sponsor, Creator: seed.Sponsor, Created: seed.Created,
		})
	}
	t.putDomain(domain)
	if err := l.commit(t); err != nil {
		return err
	}
	return nil
}

// seedContact stores a contact unless its id is in use.
func (l *Ledger) seedContact(seed *Contact) error {
	if l.contacts[seed.ID] != nil {
		return nil
	}
	t := l.begin(Request{Account: registrySponsor}, l.Now())
	contact := *seed
	contact.ROID, contact.Sponsor, contact.Creator, contact.Created = t.roid("C"), registrySponsor, registrySponsor, t.now
	t.putContact(&contact)
	return l.commit(t)
}

// Close closes the journal.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.journal.close()
}

// Now is the registry's time.
func (l *Ledger) Now() time.Time {
	return l.base().UTC().Add(time.Duration(l.offset.Load())).Truncate(time.Millisecond)
}

// Offset is how far the clock was advanced.
func (l *Ledger) Offset() time.Duration { return time.Duration(l.offset.Load()) }

// Advance moves the clock forward and executes all transitions due in that time.
// The offset persists.
func (l *Ledger) Advance(by time.Duration) error {
	if by < 0 || by > MaxAdvance {
		return fmt.Errorf("the clock can be advanced by 0 to %d days, never backwards", MaxAdvance/day)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.begin(Request{}, l.Now())
	t.change.Offset = new(time.Duration)
	*t.change.Offset = l.Offset() + by
	if err := l.commit(t); err != nil {
		return err
	}
	return l.processDue(l.Now())
}

// NextTRID returns a new server transaction id.
func (l *Ledger) NextTRID() string {
	return fmt.Sprintf("SIM-%x-%d", l.epoch, l.trids.Add(1))
}

// Authenticate reports whether an account exists and the password is correct.
func (l *Ledger) Authenticate(account, password string) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	kept, exists := l.passwords[account]
	_, open := l.accounts[account]
	return exists && open && kept == password
}

// SetPassword changes the password of an account.
func (l *Ledger) SetPassword(account, password string) error {
	return l.do(Request{Account: account}, func(t *tx) *Refusal {
		t.change.Passwords = map[string]string{account: password}
		return nil
	})
}

// Accounts returns the registrars with their current passwords.
func (l *Ledger) Accounts() []Account {
	l.mu.RLock()
	defer l.mu.RUnlock()
	all := make([]Account, 0, len(l.accounts))
	for id, account := range l.accounts {
		account.Password = l.passwords[id]
		all = append(all, account)
	}
	return all
}

// AccountName returns the name of a registrar, empty for one without an account.
func (l *Ledger) AccountName(id string) string { return l.accounts[id].Name }

// do executes one command: it is in the journal when do returns nil, and has had no
// effect when do returns an error.
func (l *Ledger) do(by Request, command func(*tx) *Refusal) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.Now()
	if err := l.processDue(now); err != nil {
		return err
	}
	t := l.begin(by, now)
	if refusal := command(t); refusal != nil {
		return refusal
	}
	return l.commit(t)
}

// view lets f read the ledger after all due transitions.
func (l *Ledger) view(f func(now time.Time)) {
	now := l.Now()
	if now.UnixNano() >= l.nextDue.Load() {
		l.mu.Lock()
		if err := l.processDue(now); err != nil {
			// The reader sees the previous state; the next command reports the
			// error.
			l.logger.Error("sandbox registry journal write failed", "error", err)
		}
		l.mu.Unlock()
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	f(now)
}

// tx is a running command: reads see its own writes, other readers don't.
type tx struct {
	l      *Ledger
	by     Request
	now    time.Time
	serial uint64
	change change
}

func (l *Ledger) begin(by Request, now time.Time) *tx {
	return &tx{l: l, by: by, now: now, serial: l.serial}
}

func (t *tx) next() uint64 {
	t.serial++
	return t.serial
}

func (t *tx) roid(kind string) string { return fmt.Sprintf("%s%d-SIM", kind, t.next()) }

// domain returns a domain; one from the table is copied.
func (t *tx) domain(name string, place NameEntry) *Domain {
	if changed, known := t.change.Domains[name]; known {
		return changed
	}
	return t.l.find(name, place, t.now)
}

func (t *tx) contact(id string) *Contact {
	if changed, known := t.change.Contacts[id]; known {
		return changed
	}
	return t.l.contacts[id]
}

func (t *tx) host(name string) *Host {
	if changed, known := t.change.Hosts[name]; known {
		return changed
	}
	return t.l.hosts[name]
}

func (t *tx) putDomain(domain *Domain) { put(&t.change.Domains, domain.Name, domain) }
func (t *tx) dropDomain(name string)   { put(&t.change.Domains, name, nil) }
func (t *tx) putContact(c *Contact)    { put(&t.change.Contacts, c.ID, c) }
func (t *tx) putHost(host *Host)       { put(&t.change.Hosts, host.Name, host) }

func put[T any](objects *map[string]*T, key string, object *T) {
	if *objects == nil {
		*objects = map[string]*T{}
	}
	(*objects)[key] = object
}

// enqueueMessage queues a message for an account; sponsors without one are skipped.
func (t *tx) enqueueMessage(account string, message Message) {
	if _, exists := t.l.accounts[account]; !exists {
		return
	}
	message.ID, message.Account, message.At = t.next(), account, t.now
	t.change.Messages = append(t.change.Messages, &message)
}

// find returns the visible domain of a name, nil if there is none.
func (l *Ledger) find(name string, place NameEntry, now time.Time) *Domain {
	if domain, known := l.domains[name]; known {
		return domain
	}
	switch place.State {
	case Taken:
		return l.table.InitialDomain(name, now)
	case Apex:
		domain := l.table.InitialDomain(name, now)
		domain.Sponsor = registrySponsor
		return domain
	default:
		return nil
	}
}

// isUnpaidLabel and the functions below recognise labels with special behaviour.
func isUnpaidLabel(label string) bool { return strings.HasPrefix(label, "unpaid-") }

func isPendingLabel(label string) bool {
	return strings.HasPrefix(label, "pending-") || isPendingFailLabel(label)
}
func isPendingFailLabel(label string) bool { return strings.HasPrefix(label, "pendingfail-") }
