package stripe

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/journal"
)

func TestJournal_TornLastLineIsDropped(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	b, err := openState(folder, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"cus_1", "cus_2"} {
		c := b.begin()
		c.change.Customers = []*customer{{ID: id}}
		if err := c.commit(); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.journal.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, journal.Name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it must be complete
		if b, err = openState(folder, time.Now); err != nil {
			t.Fatal(err)
		}
		if b.customers.get("cus_1") == nil || b.customers.get("cus_2") != nil {
			t.Errorf("%v", b.customers.order)
		}
		if err := b.journal.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, append([]byte("{broken\n"), text...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openState(folder, time.Now); err == nil {
		t.Error("a broken line in the middle was ignored")
	}
}

func TestJournal_CompactionPreservesState(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	b, err := openState(folder, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	c := b.begin()
	c.change = change{
		Sessions: []*session{{ID: "cs_1", Status: "open", ExpiresAt: c.at + 10}, {ID: "cs_2", Status: "complete"}},
		Refunds:  []*refund{{ID: "re_1", Intent: "pi_1"}}, Charges: []*charge{{ID: "ch_1", Amount: 5, Refunded: 3}},
		Keys:   []*storedResponse{{Key: "k", Created: c.at, Status: 200, Body: json.RawMessage(`{}`)}},
		Events: []*event{{ID: "evt_1", Body: json.RawMessage(`{}`)}, {ID: "evt_2", Body: json.RawMessage(`{}`)}}, Settings: &settings{SecretKey: "sk_test_x"},
	}
	if err := c.commit(); err != nil {
		t.Fatal(err)
	}
	c = b.begin()
	c.change.Done = []string{"evt_1"}
	if err := c.commit(); err != nil {
		t.Fatal(err)
	}
	if err := b.journal.Compact(b.snapshot()); err != nil {
		t.Fatal(err)
	}
	before, err := json.Marshal(b.snapshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.journal.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := openState(folder, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer again.journal.Close()
	after, err := json.Marshal(again.snapshot())
	if err != nil || string(after) != string(before) {
		t.Errorf("%s\nbecame\n%s %v", before, after, err)
	}
	if !again.open["cs_1"] || again.open["cs_2"] || again.nextExpiry != b.nextExpiry || len(again.refundsOf["pi_1"]) != 1 || len(again.pendingEvents.order) != 1 {
		t.Errorf("%+v", again)
	}
}
