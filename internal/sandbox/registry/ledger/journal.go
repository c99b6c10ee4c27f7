package ledger

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	journalName = "journal.jsonl"
	// compactBeyond is how long a journal may be before the next start writes it
	// anew.
	compactBeyond = 8 << 20
)

// change is one line of the journal: the objects as they are afterwards, nil for
// those that are gone.
type change struct {
	Serial    uint64              `json:"serial"`
	Domains   map[string]*Domain  `json:"domains,omitempty"`
	Contacts  map[string]*Contact `json:"contacts,omitempty"`
	Hosts     map[string]*Host    `json:"hosts,omitempty"`
	Messages  []*Message          `json:"messages,omitempty"`
	Acked     *acked              `json:"acked,omitempty"`
	Passwords map[string]string   `json:"passwords,omitempty"`
	Offset    *time.Duration      `json:"offset,omitempty"`
}

// acked is a message that was fetched.
type acked struct {
	Account string `json:"account"`
	ID      uint64 `json:"id"`
}

func (c *change) empty() bool {
	return len(c.Domains)+len(c.Contacts)+len(c.Hosts)+len(c.Messages)+len(c.Passwords) == 0 && c.Acked == nil && c.Offset == nil
}

// journal is the file to which every change is added before it is answered. A
// line is written by one call, so that a process that is killed leaves at most
// one torn line at the end, of a command that nobody was answered.
type journal struct {
	file *os.File // nil: nothing is kept
	lock *os.File
	sync bool
	size int64
	// torn is set when a write failed half-way and could not be taken back.
	torn error
}

// openJournal reads the journal of a folder, hands every change to apply and cuts
// a torn line off.
func openJournal(folder string, sync bool, apply func(*change)) (*journal, error) {
	if folder == "" {
		return &journal{}, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("the registry's folder: %w", err)
	}
	lock, err := lockFile(filepath.Join(folder, "lock"))
	if err != nil {
		return nil, err
	}
	j := &journal{lock: lock, sync: sync}
	j.file, err = os.OpenFile(filepath.Join(folder, journalName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the registry's journal: %w", err), j.close())
	}
	if err := j.replay(apply); err != nil {
		return nil, errors.Join(fmt.Errorf("the registry's journal %s: %w", j.file.Name(), err), j.close())
	}
	return j, nil
}

func (j *journal) replay(apply func(*change)) error {
	lines := bufio.NewReaderSize(j.file, 1<<16)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break // what is left has no line end, so nobody was answered
		}
		if err != nil {
			return err
		}
		c := &change{}
		if err := json.Unmarshal(line, c); err != nil {
			return fmt.Errorf("line %d can't be read (move the file away to begin anew): %w", number, err)
		}
		apply(c)
		j.size += int64(len(line))
	}
	if err := j.file.Truncate(j.size); err != nil {
		return err
	}
	_, err := j.file.Seek(j.size, io.SeekStart)
	return err
}

// add writes one change. When it returns nil the change outlives the process.
func (j *journal) add(c *change) error {
	if j.file == nil {
		return nil
	}
	if j.torn != nil {
		return j.torn
	}
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		// Half a line must not stand before the next one.
		if _, seekErr := j.file.Seek(j.size, io.SeekStart); seekErr != nil || j.file.Truncate(j.size) != nil {
			j.torn = err
		}
		return err
	}
	j.size += int64(len(line)) + 1
	if j.sync {
		return j.file.Sync()
	}
	return nil
}

// replace writes the journal anew, with one change that says everything.
func (j *journal) replace(c *change) error {
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	path := j.file.Name()
	draft, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if _, err = draft.Write(line); err == nil {
		err = draft.Sync()
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return errors.Join(err, draft.Close())
	}
	// The file has its old name for itself, which is only for messages.
	old := j.file
	j.file, j.size = draft, int64(len(line))
	return old.Close()
}

func (j *journal) close() error {
	if j == nil {
		return nil
	}
	var err error
	for _, file := range []*os.File{j.file, j.lock} {
		if file == nil {
			continue
		}
		if closeErr := file.Close(); closeErr != nil && !errors.Is(closeErr, fs.ErrClosed) {
			err = errors.Join(err, closeErr)
		}
	}
	return err
}

// commit makes a command's changes last, then visible.
func (l *Ledger) commit(t *tx) error {
	if t.change.empty() {
		return nil
	}
	t.change.Serial = t.serial
	if err := l.journal.add(&t.change); err != nil {
		return fmt.Errorf("the registry's journal: %w", err)
	}
	l.apply(&t.change)
	return nil
}

// apply puts a change into memory.
func (l *Ledger) apply(c *change) {
	l.serial = max(l.serial, c.Serial)
	for name, domain := range c.Domains {
		l.refer(l.domains[name], -1)
		l.refer(domain, 1)
		l.domains[name] = domain
		if domain != nil {
			l.agenda.add(domain.due(), name)
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
			count(l.below, old.Above, -1)
		}
		if host == nil {
			delete(l.hosts, name)
			continue
		}
		count(l.below, host.Above, 1)
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
	if c.Offset != nil {
		l.offset.Store(int64(*c.Offset))
	}
	l.nextDue.Store(l.agenda.first())
}

// refer counts what a domain refers to.
func (l *Ledger) refer(domain *Domain, by int) {
	if domain == nil {
		return
	}
	count(l.contactUse, domain.Registrant, by)
	for _, role := range domain.Contacts {
		count(l.contactUse, role.ID, by)
	}
	for _, server := range domain.Nameservers {
		if !server.Attribute {
			count(l.hostUse, server.Host, by)
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

// compact writes a long journal anew.
func (l *Ledger) compact() error {
	if l.journal.file == nil || l.journal.size < compactBeyond {
		return nil
	}
	if err := l.journal.replace(l.everything()); err != nil {
		return fmt.Errorf("the registry's journal: %w", err)
	}
	return nil
}

// everything is the change that leads from nothing to here.
func (l *Ledger) everything() *change {
	offset := l.Offset()
	all := &change{
		Serial: l.serial, Domains: l.domains, Contacts: l.contacts, Hosts: l.hosts, Passwords: l.passwords, Offset: &offset,
	}
	for _, queue := range l.queues {
		all.Messages = append(all.Messages, queue...)
	}
	return all
}

// lockFile keeps two registries from writing into one folder. The system takes
// the lock away with the process, however it ends.
func lockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the registry's folder: %w", err)
	}
	if err := tryLock(file); err != nil {
		return nil, errors.Join(fmt.Errorf("another sandbox runs on the folder %s (give this one its own with --data)", filepath.Dir(path)), file.Close())
	}
	return file, nil
}
