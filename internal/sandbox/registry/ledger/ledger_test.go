package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/journal"
)

// plainTable is a table in which every name is free except taken.com and
// reserved.com.
type plainTable struct{}

func (plainTable) Lookup(name string) (NameEntry, bool) {
	label, zone, found := strings.Cut(name, ".")
	for strings.Contains(zone, ".") {
		var more string
		more, zone, _ = strings.Cut(zone, ".")
		label += "." + more
	}
	if !found || zone != "com" && zone != "de" && zone != "org" {
		return NameEntry{}, false
	}
	place := NameEntry{Zone: "." + zone, Label: label, Policy: PolicyOf("." + zone), Fees: FeeSchedule{Class: StandardClass, Create: 100, Renew: 100, Transfer: 100, Restore: 100}}
	switch label {
	case "taken":
		place.State = Taken
	case "reserved":
		place.State = Reserved
	}
	return place, true
}

func (plainTable) InitialDomain(name string, now time.Time) *Domain {
	return &Domain{Name: name, ROID: "D1-SIM", Sponsor: "beta", Created: now.AddDate(-1, 0, 0), Expires: now.AddDate(0, 6, 0), Auth: "auth-taken"}
}

var epoch = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)

func openTestLedger(t *testing.T, folder string) *Ledger {
	t.Helper()
	l, err := Open(Options{
		Folder: folder, Table: plainTable{}, Now: func() time.Time { return epoch },
		Accounts: []Account{{ID: "alpha", Password: "password"}, {ID: "beta", Password: "password"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// dump returns the complete state as text.
func (l *Ledger) dump(t *testing.T) string {
	t.Helper()
	var messages []*Message
	for _, account := range []string{"alpha", "beta"} {
		messages = append(messages, l.queues[account]...)
	}
	text, err := json.Marshal([]any{
		l.domains, l.contacts, l.hosts, messages, l.passwords, l.contactRefs, l.hostRefs, l.hostsBelow, l.Offset(), l.serial,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// randomCommand executes a random command; most are refused.
func randomCommand(l *Ledger, rng *rand.Rand) error {
	pick := func(from ...string) string { return from[rng.IntN(len(from))] }
	by := Request{Account: pick("alpha", "beta"), TRID: TRID{"client-1", l.NextTRID()}}
	name := pick("one.com", "two.com", "three.de", "four.org", "taken.com", "reserved.com", "pending-five.com", "pendingfail-six.com")
	contact := pick("person-1", "person-2")
	host := pick("ns1.one.com", "ns1.elsewhere.example", "ns2.elsewhere.example")
	auth := pick("secret-1", "auth-taken", "wrong-1")
	var err error
	switch rng.IntN(15) {
	case 0, 1, 2:
		create := DomainCreate{Name: name, Auth: "secret-1"}
		if !strings.HasSuffix(name, ".com") {
			create.Registrant, create.Contacts = contact, []Role{{"admin", contact}, {"tech", contact}, {"billing", contact}}
		}
		if rng.IntN(2) == 0 {
			create.Nameservers = []Nameserver{{Host: host}}
			if strings.HasSuffix(name, ".de") {
				create.Nameservers = append(create.Nameservers, Nameserver{Host: "ns9.elsewhere.example", Attribute: true})
			}
		}
		_, err = l.CreateDomain(by, create)
	case 3:
		_, err = l.CreateContact(by, &Contact{
			ID: contact, Email: "a@b.example", Auth: "secret-1", Voice: Phone{Number: "+49.30123"},
			Postal: []Postal{{Type: "int", Name: "A", Street: []string{"Weg 1"}, City: "Bonn", Code: "53111", Country: "DE"}},
		})
	case 4:
		var addresses []string
		if host == "ns1.one.com" {
			addresses = []string{"192.0.2.1"}
		}
		_, err = l.CreateHost(by, host, addresses)
	case 5:
		_, err = l.DeleteDomain(by, name)
	case 6:
		err = l.DeleteContact(by, contact)
	case 7:
		_, err = l.RequestTransfer(by, DomainTransfer{Name: name, Auth: auth})
	case 8:
		_, err = l.AnswerTransfer(by, name, TransferAnswer(rng.IntN(3)))
	case 9:
		err = l.UpdateDomain(by, DomainUpdate{
			Name: name, Add: DomainEdit{Nameservers: []Nameserver{{Host: host}}, Statuses: []string{"clientHold"}},
		})
	case 10:
		err = l.UpdateDomain(by, DomainUpdate{
			Name: name, Rem: DomainEdit{Nameservers: []Nameserver{{Host: host}}, Statuses: []string{"clientHold"}},
		})
	case 11:
		if message, _ := l.Queue(by.Account); message != nil {
			err = l.Ack(by, message.ID)
		}
	case 12:
		err = l.Advance(time.Duration(rng.IntN(20*24)) * time.Hour)
	case 13:
		var report *RestoreReport
		if rng.IntN(2) == 0 {
			report = &RestoreReport{}
		}
		_, _, err = l.RestoreDomain(by, name, report, nil)
	case 14:
		err = l.DeleteHost(by, host)
	}
	return err
}

// inconsistency returns the first violated invariant.
func (l *Ledger) inconsistency() string {
	contacts, hosts, below := map[string]int{}, map[string]int{}, map[string]int{}
	for name, domain := range l.domains {
		if domain == nil {
			continue
		}
		if !domain.due().After(l.Now()) {
			return fmt.Sprintf("%s was due at %v", name, domain.due())
		}
		if domain.Registrant != "" {
			contacts[domain.Registrant]++
		}
		for _, role := range domain.Contacts {
			contacts[role.ID]++
		}
		for _, server := range domain.Nameservers {
			if server.Attribute {
				continue
			}
			hosts[server.Host]++
			if l.hosts[server.Host] == nil {
				return name + " is delegated to a host that does not exist"
			}
		}
	}
	for id := range contacts {
		if l.contacts[id] == nil {
			return "a domain refers to the contact " + id + ", which does not exist"
		}
	}
	for _, host := range l.hosts {
		if host.Above == "" {
			continue
		}
		below[host.Above]++
		if domain := l.domains[host.Above]; domain == nil || domain.Sponsor != host.Sponsor {
			return host.Name + " is below another registrar's domain"
		}
	}
	for what, pair := range map[string][2]map[string]int{
		"contacts": {contacts, l.contactRefs}, "hosts": {hosts, l.hostRefs}, "below": {below, l.hostsBelow},
	} {
		if fmt.Sprint(pair[0]) != fmt.Sprint(pair[1]) {
			return fmt.Sprintf("%s are counted as %v, but are %v", what, pair[1], pair[0])
		}
	}
	return ""
}

func TestLedger_RandomCommandsStayConsistentWithJournal(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		folder := t.TempDir()
		rng := rand.New(rand.NewPCG(seed, 1))
		l := openTestLedger(t, folder)
		done := 0
		for i := range 600 {
			before := l.dump(t)
			err := randomCommand(l, rng)
			var refusal *Refusal
			switch {
			case err == nil:
				done++
			case !errors.As(err, &refusal):
				t.Fatalf("seed %d, step %d: %v", seed, i, err)
			case l.dump(t) != before:
				t.Fatalf("seed %d, step %d: refused (%v), but something changed", seed, i, err)
			}
			if fault := l.inconsistency(); fault != "" {
				t.Fatalf("seed %d, step %d: %s", seed, i, fault)
			}
		}
		if done < 80 {
			t.Errorf("seed %d: only %d commands succeeded", seed, done)
		}
		want := l.dump(t)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		again := openTestLedger(t, folder)
		if got := again.dump(t); got != want {
			t.Fatalf("seed %d: the journal yields\n%s\nwant\n%s", seed, got, want)
		}
		if err := again.journal.Compact(again.snapshot()); err != nil {
			t.Fatal(err)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		if got := openTestLedger(t, folder).dump(t); got != want {
			t.Fatalf("seed %d: the compacted journal yields\n%s\nwant\n%s", seed, got, want)
		}
	}
}

func TestLedger_JournalFailureRollsBack(t *testing.T) {
	t.Parallel()
	l := openTestLedger(t, t.TempDir())
	by := Request{Account: "alpha"}
	if _, err := l.CreateDomain(by, DomainCreate{Name: "one.com", Auth: "secret-1"}); err != nil {
		t.Fatal(err)
	}
	if err := l.journal.Close(); err != nil {
		t.Fatal(err)
	}
	var refusal *Refusal
	if _, err := l.CreateDomain(by, DomainCreate{Name: "two.com", Auth: "secret-1"}); err == nil || errors.As(err, &refusal) {
		t.Errorf("the command returned %v", err)
	}
	if domain, known := l.Public("two.com"); domain != nil || known {
		t.Error("the domain exists, but is not in the journal")
	}
}

func TestOpen_CorruptJournalIsNotOverwritten(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, journal.Name)
	if err := os.WriteFile(path, []byte("{\"serial\":1}\nnonsense\n{\"serial\":2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := Open(Options{Folder: folder, Table: plainTable{}}); err == nil || !strings.Contains(err.Error(), "line 2") {
		_ = l.Close()
		t.Errorf("it was loaded: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "nonsense") {
		t.Errorf("the file is now %q, %v", text, err)
	}
}

func TestAdvance_ClockNeverGoesBack(t *testing.T) {
	t.Parallel()
	l := openTestLedger(t, "")
	for _, by := range []time.Duration{-1, -time.Hour, MaxAdvance + 1} {
		if err := l.Advance(by); err == nil {
			t.Errorf("the clock moved by %v", by)
		}
	}
	if !l.Now().Equal(epoch) {
		t.Errorf("it is %v", l.Now())
	}
}
