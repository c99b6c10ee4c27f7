package store

import (
	"encoding/hex"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
)

var messageOperator = registrar.Actor{Kind: registrar.ActorOperator, Through: "cus_ops"}

func newInbox(t *testing.T, db *DB) *inbox.Service {
	t.Helper()
	service, err := inbox.New(inbox.Config{Store: db, Accounts: []string{"one", "two"}, Now: func() time.Time { return testTime.Add(time.Hour) }})
	if err != nil {
		t.Fatal(err)
	}
	return service
}

// storeMessage stores a message minutes after testTime.
func storeMessage(t *testing.T, db *DB, account string, minutes int, m inbox.Message) {
	t.Helper()
	if added, err := db.StoreRegistryMessage(t.Context(), account, m, testTime.Add(time.Duration(minutes)*time.Minute), testTime.Add(time.Duration(minutes)*time.Minute)); err != nil || !added {
		t.Fatalf("%s: added %t, %v", m.ID, added, err)
	}
}

// listedIDs returns the registry's ids of a page.
func listedIDs(t *testing.T, s *inbox.Service, filter inbox.Filter, unread bool) (ids string) {
	t.Helper()
	messages, _, err := s.List(t.Context(), messageOperator, filter, unread, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		ids += m.ID + " "
	}
	return strings.TrimSpace(ids)
}

func onDomain(id, name string, kind inbox.Kind, details inbox.Details) inbox.Message {
	details.Object = inbox.ObjectDomain
	return inbox.Message{ID: id, Name: name, Kind: kind, Details: details, Text: "text " + id, Queued: testTime}
}

func TestRegistryMessages_LinkedToHeldOrLastHeldDomain(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		service := newInbox(t, db)
		anna, bert := newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		addHeldDomain(t, db, anna, "held.org", registrar.DomainTransferredOut)
		held := addHeldDomain(t, db, bert, "held.org", registrar.DomainActive)
		gone := addHeldDomain(t, db, anna, "gone.org", registrar.DomainTransferredOut)
		transfer := inbox.Details{Transfer: &inbox.Transfer{Status: "pending", RequestedBy: "Rival", RequestedAt: testTime, DecidedAt: testTime.Add(time.Hour)}}
		raw := onDomain("1", "held.org", inbox.KindTransfer, transfer)
		raw.Raw = "<epp/>"
		storeMessage(t, db, "one", 1, raw)
		storeMessage(t, db, "one", 2, onDomain("2", "gone.org", inbox.KindTransfer, inbox.Details{Transfer: &inbox.Transfer{Status: "clientApproved"}}))
		storeMessage(t, db, "one", 3, onDomain("3", "unknown.org", inbox.KindUpdate, inbox.Details{}))
		storeMessage(t, db, "one", 4, onDomain("4", "held.org", inbox.KindUpdate, inbox.Details{}))

		if unread, read := listedIDs(t, service, inbox.Filter{}, true), listedIDs(t, service, inbox.Filter{}, false); unread != "3" || read != "4 2 1" {
			t.Errorf("unread %s, read %s", unread, read)
		}
		want := map[string]inbox.Stored{
			"1": {Domain: held, Customer: bert}, "2": {Domain: gone, Customer: anna}, "3": {Unread: true}, "4": {Domain: held, Customer: bert},
		}
		for _, unread := range []bool{true, false} {
			messages, _, err := service.List(t.Context(), messageOperator, inbox.Filter{}, unread, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, listed := range messages {
				got, err := service.Get(t.Context(), messageOperator, listed.Number)
				w := want[listed.ID]
				if err != nil || got.Domain != w.Domain || got.Customer != w.Customer || got.Unread != w.Unread || got.Text != "text "+listed.ID || listed.Raw != "" {
					t.Errorf("%s: got %+v, %v", listed.ID, got, err)
				}
				if listed.ID == "1" && (got.Raw != "<epp/>" || !reflect.DeepEqual(got.Details, raw.Details)) {
					t.Errorf("got %+v", got)
				}
			}
		}
	})
}

func TestRegistryMessages_RepeatedMessageIsStoredOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		service := newInbox(t, db)
		storeMessage(t, db, "one", 1, inbox.Message{ID: "1", Kind: inbox.KindText})
		storeMessage(t, db, "two", 1, inbox.Message{ID: "1", Kind: inbox.KindText}) // another registry's
		if added, err := db.StoreRegistryMessage(t.Context(), "one", inbox.Message{ID: "1", Kind: inbox.KindText}, testTime.Add(time.Hour), testTime.Add(time.Hour)); err != nil || added {
			t.Errorf("added %t, %v", added, err)
		}
		if count, err := service.CountUnread(t.Context(), messageOperator); err != nil || count != 2 {
			t.Errorf("%d unread, %v", count, err)
		}
	})
}

func TestRegistryMessages_FilteredByKindAndAccountNewestFirst(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		service := newInbox(t, db)
		for i, m := range []struct {
			account string
			kind    inbox.Kind
		}{{"one", inbox.KindText}, {"two", inbox.KindText}, {"one", inbox.KindMaintenance}, {"two", inbox.KindUnparsed}, {"one", inbox.KindText}} {
			storeMessage(t, db, m.account, i, inbox.Message{ID: string(rune('1' + i)), Kind: m.kind})
		}
		for filter, want := range map[inbox.Filter]string{
			{}:                                     "5 4 3 2 1",
			{Kind: inbox.KindText}:                 "5 2 1",
			{Account: "two"}:                       "4 2",
			{Kind: "x"}:                            "",
			{Account: "tw\x00o"}:                   "",
			{Kind: inbox.KindText, Account: "one"}: "5 1",
		} {
			if got := listedIDs(t, service, filter, true); got != want {
				t.Errorf("%+v: %s", filter, got)
			}
		}
		first, _, err := service.List(t.Context(), messageOperator, inbox.Filter{}, true, "")
		if err != nil {
			t.Fatal(err)
		}
		if next, _, err := service.List(t.Context(), messageOperator, inbox.Filter{}, true, first[2].Number); err != nil || len(next) != 2 || next[0].ID != "2" {
			t.Errorf("after %s: %+v, %v", first[2].ID, next, err)
		}
	})
}

func TestMarkRead_OnceWithAuditEvent(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service := t.Context(), newInbox(t, db)
		storeMessage(t, db, "one", 1, inbox.Message{ID: "1", Kind: inbox.KindText})
		messages, _, err := service.List(ctx, messageOperator, inbox.Filter{}, true, "")
		if err != nil {
			t.Fatal(err)
		}
		number := messages[0].Number
		for _, note := range []string{strings.Repeat("x", inbox.MaxNote+1), "a\x00b"} {
			wantCode(t, service.MarkRead(ctx, messageOperator, number, note), registrar.KindInvalid, inbox.BadNote)
		}
		wantCode(t, service.MarkRead(ctx, messageOperator, "msg_none", ""), registrar.KindNotFound, inbox.NoSuchMessage)
		wantCode(t, service.MarkRead(ctx, messageOperator, "msg\x00", ""), registrar.KindNotFound, inbox.NoSuchMessage)
		var marked atomic.Int64
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				switch err := service.MarkRead(ctx, messageOperator, number, " Registry angerufen "); registrar.CodeOf(err) {
				case "":
					marked.Add(1)
				case inbox.AlreadyRead:
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		got, err := service.Get(ctx, messageOperator, number)
		if err != nil || marked.Load() != 1 || got.Unread || got.ReadBy != "cus_ops" || got.Note != "Registry angerufen" || !got.ReadAt.Equal(testTime.Add(time.Hour)) {
			t.Errorf("marked %d times: %+v, %v", marked.Load(), got, err)
		}
		if n := count(t, db, `SELECT count(*) FROM audit_events WHERE action = $1 AND object = $2`, string(inbox.MarkedRead), number); n != 1 {
			t.Errorf("%d audit events", n)
		}
	})
}

func TestMarkKindRead_LeavesOtherKindsAndNewerMessages(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service := t.Context(), newInbox(t, db)
		storeMessage(t, db, "one", 1, inbox.Message{ID: "1", Kind: inbox.KindText})
		storeMessage(t, db, "two", 2, inbox.Message{ID: "2", Kind: inbox.KindText})
		storeMessage(t, db, "one", 3, inbox.Message{ID: "3", Kind: inbox.KindUnparsed})
		seen, _, err := service.List(ctx, messageOperator, inbox.Filter{Kind: inbox.KindText}, true, "")
		if err != nil {
			t.Fatal(err)
		}
		storeMessage(t, db, "one", 4, inbox.Message{ID: "4", Kind: inbox.KindText}) // arrives while the operator reads
		for _, want := range []int{2, 0} {
			if marked, err := service.MarkKindRead(ctx, messageOperator, inbox.KindText, seen[0].Number); err != nil || marked != want {
				t.Errorf("marked %d, %v", marked, err)
			}
		}
		if unread := listedIDs(t, service, inbox.Filter{}, true); unread != "4 3" {
			t.Errorf("unread: %s", unread)
		}
		if n := count(t, db, `SELECT count(*) FROM audit_events WHERE action = $1 AND object = 'text'`, string(inbox.MarkedAllRead)); n != 1 {
			t.Errorf("%d audit events", n)
		}
		if _, err := service.MarkKindRead(ctx, messageOperator, "x", seen[0].Number); registrar.CodeOf(err) != inbox.NoSuchMessage {
			t.Errorf("an unknown kind: %v", err)
		}
	})
}

func TestLowBalances_NewestOfEachAccountUntilRead(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service := t.Context(), newInbox(t, db)
		balance := func(id, available string) inbox.Message {
			return inbox.Message{ID: id, Kind: inbox.KindBalance, Details: inbox.Details{Balance: &inbox.Balance{Available: available, Currency: "EUR"}}}
		}
		storeMessage(t, db, "one", 1, balance("1", "90.00"))
		storeMessage(t, db, "one", 2, balance("2", "40.00"))
		storeMessage(t, db, "two", 3, balance("3", "7.00"))
		low, err := service.LowBalances(ctx, messageOperator)
		if err != nil || len(low) != 2 || low[0].Details.Balance.Available != "40.00" || low[1].Account != "two" {
			t.Fatalf("got %+v, %v", low, err)
		}
		if err := service.MarkRead(ctx, messageOperator, low[0].Number, ""); err != nil {
			t.Fatal(err)
		}
		if low, err = service.LowBalances(ctx, messageOperator); err != nil || len(low) != 1 || low[0].Account != "two" {
			t.Errorf("after reading: %+v, %v", low, err)
		}
		if all, err := service.Balances(ctx); err != nil || len(all) != 2 || all[0].ID != "2" {
			t.Errorf("balances: %+v, %v", all, err)
		}
	})
}

func TestBalances_CurrencyIsThatOfNewestBooking(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		storeMessage(t, db, "one", 1, inbox.Message{ID: "1", Kind: inbox.KindBalance, Details: inbox.Details{Balance: &inbox.Balance{Available: "90.00"}}})
		for hours, currency := range []string{"", "EUR", "USD"} {
			if currency != "" {
				entry := cost.Funds{Account: "one", Kind: cost.Opening, Amount: registrar.Money{Amount: 10_000, Currency: currency}, At: testTime.Add(time.Duration(hours) * time.Hour)}
				if err := cost.AddFunds(t.Context(), db, operatorActor(), entry, testTime.AddDate(0, 0, 1)); err != nil {
					t.Fatal(err)
				}
			}
			all, err := newInbox(t, db).Balances(t.Context())
			if err != nil || len(all) != 1 || all[0].Details.Balance.Currency != currency {
				t.Errorf("want %q: %+v, %v", currency, all, err)
			}
		}
	})
}

func TestClaimRegistryPoller_OneNodeUntilLeaseEndsOrIsReleased(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		claim := func(node string, at time.Time) bool {
			t.Helper()
			claimed, err := db.ClaimRegistryPoller(ctx, "one", node, at, at.Add(20*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			return claimed
		}
		var winners atomic.Int64
		var all sync.WaitGroup
		for _, node := range []string{"a", "b", "c", "d"} {
			all.Go(func() {
				if claimed, err := db.ClaimRegistryPoller(ctx, "two", node, testTime, testTime.Add(time.Minute)); err != nil {
					t.Error(err)
				} else if claimed {
					winners.Add(1)
				}
			})
		}
		all.Wait()
		if winners.Load() != 1 {
			t.Errorf("%d nodes hold the lease", winners.Load())
		}
		if !claim("here", testTime) || claim("there", testTime.Add(19*time.Second)) || !claim("here", testTime.Add(19*time.Second)) || claim("there", testTime.Add(38*time.Second)) {
			t.Error("a renewed lease was taken over or not renewed")
		}
		if !claim("there", testTime.Add(40*time.Second)) || claim("here", testTime.Add(41*time.Second)) {
			t.Error("an ended lease was not taken over")
		}
		if err := db.ReleaseRegistryPoller(ctx, "one", "here", testTime.Add(41*time.Second)); err != nil || claim("here", testTime.Add(41*time.Second)) {
			t.Errorf("a node released the other's lease: %v", err)
		}
		if err := db.ReleaseRegistryPoller(ctx, "one", "there", testTime.Add(42*time.Second)); err != nil || !claim("here", testTime.Add(42*time.Second)) {
			t.Errorf("a released lease is not free: %v", err)
		}
	})
}

// A message that can't be stored is never acknowledged, and blocks the queue behind it.
func TestRegistryMessage_OverlongIDIsStoredOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		random := rand.NewChaCha8([32]byte{22}) // an index may compress a repetition
		long := make([]byte, 10_000)
		_, _ = random.Read(long)
		message := inbox.Message{ID: hex.EncodeToString(long), Kind: inbox.KindText, Text: "long"}
		storeMessage(t, db, "one", 1, message)
		if again, err := db.StoreRegistryMessage(t.Context(), "one", message, testTime, testTime); err != nil || again {
			t.Errorf("repeated: added %t, %v", again, err)
		}
		message.ID += "0"
		storeMessage(t, db, "one", 2, message)
	})
}
