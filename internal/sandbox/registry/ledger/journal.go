package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/journal"
)

// change is one line of the journal: the objects after the change, nil for deleted
// ones.
type change struct {
	Serial    uint64              `json:"serial"`
	Domains   map[string]*Domain  `json:"domains,omitempty"`
	Contacts  map[string]*Contact `json:"contacts,omitempty"`
	Hosts     map[string]*Host    `json:"hosts,omitempty"`
	Messages  []*Message          `json:"messages,omitempty"`
	Acked     *acked              `json:"acked,omitempty"`
	Passwords map[string]string   `json:"passwords,omitempty"`
	Funds     map[string]*Funds   `json:"funds,omitempty"`
	Offset    *time.Duration      `json:"offset,omitempty"`
}

// acked is an acknowledged message.
type acked struct {
	Account string `json:"account"`
	ID      uint64 `json:"id"`
}

func (c *change) empty() bool {
	return len(c.Domains)+len(c.Contacts)+len(c.Hosts)+len(c.Messages)+len(c.Passwords)+len(c.Funds) == 0 && c.Acked == nil && c.Offset == nil
}

// lockedJournal is the journal with the lock that keeps a second registry out of
// its folder.
type lockedJournal struct {
	*journal.Journal[change]
	lock *os.File // nil without persistence
}

func openJournal(folder string, sync bool, apply func(*change)) (lockedJournal, error) {
	if folder == "" {
		return lockedJournal{Journal: &journal.Journal[change]{}}, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return lockedJournal{}, fmt.Errorf("ledger: folder: %w", err)
	}
	lock, err := lockFile(filepath.Join(folder, "lock"))
	if err != nil {
		return lockedJournal{}, err
	}
	changes, err := journal.Open(folder, sync, apply)
	if err != nil {
		return lockedJournal{}, errors.Join(fmt.Errorf("ledger: %w", err), lock.Close())
	}
	return lockedJournal{changes, lock}, nil
}

func (k lockedJournal) close() error {
	err := k.Close()
	if k.lock == nil {
		return err
	}
	if lockErr := k.lock.Close(); lockErr != nil && !errors.Is(lockErr, fs.ErrClosed) {
		err = errors.Join(err, lockErr)
	}
	return err
}

// commit persists a command's changes, then makes them visible.
func (l *Ledger) commit(t *tx) error {
	if t.change.empty() {
		return nil
	}
	t.change.Serial = t.serial
	if err := l.journal.Append(&t.change); err != nil {
		return fmt.Errorf("ledger: journal: %w", err)
	}
	l.apply(&t.change)
	return nil
}

// apply applies a change to memory.
func (l *Ledger) apply(c *change) {
	l.serial = max(l.serial, c.Serial)
	for name, domain := range c.Domains {
		l.countReferences(l.domains[name], -1)
		l.countReferences(domain, 1)
		l.domains[name] = domain
		if domain != nil {
			l.dueQueue.add(domain.due(), name)
		}
	}
	for id, contact := range c.Contacts {
		if contact == nil {
			delete(l.contacts, id)
			continue
		}
		l.contacts[id] = contact
	}
	for name, host := range c.Hosts {
		if old := l.hosts[name]; old != nil {
			count(l.hostsBelow, old.Above, -1)
		}
		if host == nil {
			delete(l.hosts, name)
			continue
		}
		count(l.hostsBelow, host.Above, 1)
		l.hosts[name] = host
	}
	for _, message := range c.Messages {
		l.queues[message.Account] = append(l.queues[message.Account], message)
		if beyond := len(l.queues[message.Account]) - maxQueue; beyond > 0 {
			l.queues[message.Account] = l.queues[message.Account][beyond:]
		}
	}
	if c.Acked != nil {
		l.dequeue(*c.Acked)
	}
	for account, password := range c.Passwords {
		l.passwords[account] = password
	}
	for account, funds := range c.Funds {
		l.funds[account] = funds
	}
	if c.Offset != nil {
		l.offset.Store(int64(*c.Offset))
	}
	l.nextDue.Store(l.dueQueue.first())
}

// countReferences counts the references of a domain.
func (l *Ledger) countReferences(domain *Domain, by int) {
	if domain == nil {
		return
	}
	count(l.contactRefs, domain.Registrant, by)
	for _, role := range domain.Contacts {
		count(l.contactRefs, role.ID, by)
	}
	for _, server := range domain.Nameservers {
		if !server.Attribute {
			count(l.hostRefs, server.Host, by)
		}
	}
}

func count(counts map[string]int, key string, by int) {
	if key == "" {
		return
	}
	if counts[key] += by; counts[key] == 0 {
		delete(counts, key)
	}
}

// compact rewrites a long journal.
func (l *Ledger) compact() error {
	if !l.journal.NeedsCompaction() {
		return nil
	}
	if err := l.journal.Compact(l.snapshot()); err != nil {
		return fmt.Errorf("ledger: journal: %w", err)
	}
	return nil
}

// snapshot is the change from an empty ledger to the current state.
func (l *Ledger) snapshot() *change {
	offset := l.Offset()
	all := &change{
		Serial: l.serial, Domains: l.domains, Contacts: l.contacts, Hosts: l.hosts, Passwords: l.passwords, Funds: l.funds, Offset: &offset,
	}
	for _, queue := range l.queues {
		all.Messages = append(all.Messages, queue...)
	}
	return all
}

// lockFile prevents two registries from using one folder. The system releases the
// lock with the process, however it ends.
func lockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("ledger: folder: %w", err)
	}
	if err := tryLock(file); err != nil {
		return nil, errors.Join(fmt.Errorf("another sandbox runs on the folder %s (give this one its own with --data)", filepath.Dir(path)), file.Close())
	}
	return file, nil
}
