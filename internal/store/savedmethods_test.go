package store

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
)

// methodProvider is a payment provider whose pages are finished by the test.
type methodProvider struct {
	opened []string // the ids of setups
	setups map[string]renewal.Setup

	mu        sync.Mutex
	forgotten []string
	failures  int // of the next calls to ForgetMethod
}

func (p *methodProvider) OpenSetupPage(_ context.Context, page renewal.SetupPage) (string, error) {
	p.opened = append(p.opened, page.ID)
	return "https://pay.example/" + page.ID, nil
}

func (p *methodProvider) FetchSetupPage(_ context.Context, session string) (renewal.Setup, error) {
	return p.setups[session], nil
}

func (p *methodProvider) ForgetMethod(_ context.Context, method string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failures > 0 {
		p.failures--
		return registrar.Fault(registrar.FaultTimeout, "pay.example", errors.New("no response"))
	}
	p.forgotten = append(p.forgotten, method)
	return nil
}

// wallet is a customer with a payment provider.
type wallet struct {
	t        *testing.T
	db       *DB
	customer string
	consents *renewal.Consents
	provider *methodProvider
}

func newWallet(t *testing.T, db *DB, name string) *wallet {
	t.Helper()
	w := &wallet{t: t, db: db, customer: newCustomer(t, db, name), provider: &methodProvider{setups: map[string]renewal.Setup{}}}
	var err error
	w.consents, err = renewal.NewConsents(renewal.ConsentConfig{
		Store: db, Provider: w.provider, Now: func() time.Time { return testTime }, Clock: func() time.Time { return testTime },
		Price: func(context.Context, string, order.RenewalTerm) (order.RenewalPrice, error) {
			return order.RenewalPrice{Years: 1, Gross: 1428, RateBasisPoints: 1900}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *wallet) begin(asDefault bool) (setup string, err error) {
	w.t.Helper()
	_, err = w.consents.BeginMethodSetup(w.t.Context(), personActor(w.customer), asDefault, "/done", "/back")
	if err != nil {
		return "", err
	}
	return w.provider.opened[len(w.provider.opened)-1], nil
}

// finish enters a card at the page of a setup: its id, and the same fingerprint for the same
// text before the first dot.
func (w *wallet) finish(setup, id string) (saved bool, err error) {
	w.t.Helper()
	card, _, _ := strings.Cut(id, ".")
	w.provider.setups["cs_"+id] = renewal.Setup{ID: setup, Customer: w.customer, Method: &order.PaymentMethod{
		ProviderCustomer: "cus_1", ID: id, Label: "Visa " + card, Fingerprint: "fp_" + card, Expires: "2027-04",
	}}
	return w.consents.FinishMethodSetup(w.t.Context(), personActor(w.customer), "cs_"+id)
}

func (w *wallet) add(id string, asDefault bool) {
	w.t.Helper()
	setup, err := w.begin(asDefault)
	if err != nil {
		w.t.Fatal(err)
	}
	if saved, err := w.finish(setup, id); err != nil || !saved {
		w.t.Fatalf("%s: saved %t, %v", id, saved, err)
	}
}

// want compares the saved methods; the first one is the default.
func (w *wallet) want(ids ...string) {
	w.t.Helper()
	methods, err := w.consents.Methods(w.t.Context(), personActor(w.customer))
	if err != nil {
		w.t.Fatal(err)
	}
	var got []string
	for i, method := range methods.Saved {
		got = append(got, method.ID)
		if method.Default != (i == 0) {
			w.t.Errorf("%s is the default: %t", method.ID, method.Default)
		}
	}
	charged, _, err := w.db.GetPaymentMethod(w.t.Context(), w.customer)
	if err != nil || !slices.Equal(got, ids) || len(ids) > 0 && charged.ID != ids[0] {
		w.t.Errorf("got %v, charged %q, want %v: %v", got, charged.ID, ids, err)
	}
}

func (w *wallet) wantDetached(ids ...string) {
	w.t.Helper()
	for _, id := range ids {
		if count(w.t, w.db, "SELECT count(*) FROM method_detachments WHERE method = $1", id) != 1 {
			w.t.Errorf("%s is not detached", id)
		}
	}
	if n := count(w.t, w.db, "SELECT count(*) FROM method_detachments"); n != len(ids) {
		w.t.Errorf("%d methods are detached, want %v", n, ids)
	}
}

func (w *wallet) setDefault(id, shown string) error {
	return w.consents.SetDefaultMethod(w.t.Context(), personActor(w.customer), id, shown)
}

func (w *wallet) remove(id, shown, next string) error {
	return w.consents.RemoveMethod(w.t.Context(), personActor(w.customer), id, shown, next)
}

// A late or repeated message about a setup neither replaces a newer method nor restores a
// removed one.
func TestFinishMethodSetup_SavesOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		w := newWallet(t, db, "anna")
		finish := func(setup, method string, want bool) {
			t.Helper()
			saved, err := w.finish(setup, method)
			if want != saved || want != (err == nil) || !want && registrar.CodeOf(err) != renewal.SetupReplaced {
				t.Errorf("%s: saved %t, %v", setup, saved, err)
			}
		}
		finish("set_0", "pm_0", false) // unknown
		first, _ := w.begin(false)
		second, _ := w.begin(false)
		finish(first, "pm_1", false) // replaced by a newer one
		finish(second, "pm_2", true)
		finish(second, "pm_2", true) // the webhook was faster
		w.want("pm_2")
		w.wantDetached("pm_0", "pm_1")
		if n := count(t, db, "SELECT count(*) FROM mails WHERE kind = 'payment_method'"); n != 1 {
			t.Errorf("%d mails", n)
		}
		if err := w.remove("pm_2", "pm_2", ""); err != nil {
			t.Fatal(err)
		}
		finish(second, "pm_2", false)
		w.want()
		w.wantDetached("pm_0", "pm_1", "pm_2")
		_, err := db.BeginMethodSetup(t.Context(), "cus_nobody", "set_3", false, testTime)
		wantCode(t, err, registrar.KindNotFound, registrar.NoSuchCustomer)
	})
}

func TestMethods_FurtherOnesLeaveDefault(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		w := newWallet(t, db, "anna")
		w.add("a", false)
		w.add("b", false)
		w.want("a", "b")
		w.add("c", true)
		w.want("c", "a", "b")
		// The same card is saved once, with its newest id, and stays the default if it was.
		w.add("a.2", false)
		w.want("c", "a.2", "b")
		w.add("c.2", false)
		w.want("c.2", "a.2", "b")
		w.wantDetached("a", "c")
		methods, err := w.consents.Methods(t.Context(), personActor(w.customer))
		if err != nil || methods.Saved[1].Expires != "2027-04" || methods.Saved[1].Expired(time.Date(2027, 4, 30, 0, 0, 0, 0, time.UTC)) ||
			!methods.Saved[1].Expired(time.Date(2027, 5, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("got %+v, %v", methods, err)
		}
	})
}

func TestMethods_AtMostTen(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		w := newWallet(t, db, "anna")
		var ids []string
		for i := range renewal.MaxMethods - 1 {
			ids = append(ids, "m"+strconv.Itoa(i))
			w.add(ids[i], false)
		}
		open, err := w.begin(true)
		if err != nil {
			t.Fatal(err)
		}
		// An order saves the tenth one meanwhile.
		paid := order.PaymentMethod{ProviderCustomer: "cus_1", ID: "paid", Label: "Visa paid", Fingerprint: "fp_paid"}
		if err := db.PutPaymentMethod(t.Context(), w.customer, paid, testTime); err != nil {
			t.Fatal(err)
		}
		saved, err := w.finish(open, "late")
		if wantCode(t, err, registrar.KindConflict, renewal.TooManyMethods); saved {
			t.Error("an eleventh method is saved")
		}
		w.want(append([]string{"paid"}, ids...)...)
		w.wantDetached("late")
		_, err = w.begin(false)
		wantCode(t, err, registrar.KindConflict, renewal.TooManyMethods)
		// The next order's method must be saved: it replaces the default.
		paid = order.PaymentMethod{ProviderCustomer: "cus_1", ID: "next", Label: "Visa next"}
		if err := db.PutPaymentMethod(t.Context(), w.customer, paid, testTime); err != nil {
			t.Fatal(err)
		}
		w.want(append([]string{"next"}, ids...)...)
		w.wantDetached("late", "paid")
	})
}

func TestSetDefaultMethod_SwapsOnlyWhatWasShown(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		w, other := newWallet(t, db, "anna"), newWallet(t, db, "bert")
		for _, id := range []string{"a", "b", "c"} {
			w.add(id, false)
		}
		other.add("x", false)
		domain := addDomain(t, db, w.customer, "alt", registrar.DomainActive, testTime.AddDate(0, 0, 40))
		if err := agree(t, w.consents, w.customer, domain); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"x", "", "unknown"} {
			wantCode(t, w.setDefault(id, "a"), registrar.KindNotFound, renewal.NoSuchMethod)
			wantCode(t, w.remove(id, "a", "b"), registrar.KindNotFound, renewal.NoSuchMethod)
		}
		execStatement(t, db, "DELETE FROM mails")
		if err := w.setDefault("b", "a"); err != nil {
			t.Fatal(err)
		}
		w.want("b", "a", "c")
		// Another tab still shows a.
		wantCode(t, w.setDefault("c", "a"), registrar.KindConflict, renewal.MethodsChanged)
		wantCode(t, w.remove("b", "a", ""), registrar.KindConflict, renewal.MethodsChanged)
		if err := w.setDefault("b", "b"); err != nil { // it is already
			t.Error(err)
		}
		w.want("b", "a", "c")
		other.want("x")
		if count(t, db, "SELECT count(*) FROM audit_events WHERE action = 'payment_method_default' AND object = 'Visa b'") != 1 ||
			count(t, db, "SELECT count(*) FROM mails WHERE kind = 'payment_method' AND data LIKE '%\"change\":\"default\"%'") != 1 ||
			count(t, db, "SELECT count(*) FROM mails") != 1 {
			t.Error("the change has not one event and one mail")
		}
		// The consent and the announced charge stay.
		if n := count(t, db, "SELECT count(*) FROM domains, renewals, renewal_consents WHERE at_term_end = 'renew' AND state = 'announced' AND ended_at = 0"); n != 1 {
			t.Error("the change ended the automatic renewal")
		}
		execStatement(t, db, "UPDATE renewals SET state = 'charging'")
		wantCode(t, w.setDefault("c", "b"), registrar.KindConflict, renewal.InProgress)
		wantCode(t, w.remove("a", "b", ""), registrar.KindConflict, renewal.InProgress)
		w.want("b", "a", "c")
	})
}

func TestSetDefaultMethod_OneOfTwoTabsWins(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		w := newWallet(t, db, "anna")
		for _, id := range []string{"a", "b", "c"} {
			w.add(id, false)
		}
		results := make(chan error, 2)
		for _, id := range []string{"b", "c"} {
			go func() { results <- w.setDefault(id, "a") }()
		}
		lost := 0
		for range 2 {
			if err := <-results; err != nil {
				wantCode(t, err, registrar.KindConflict, renewal.MethodsChanged)
				lost++
			}
		}
		if n := count(t, db, "SELECT count(*) FROM saved_methods"); lost != 1 || n != 3 {
			t.Errorf("%d lost, %d methods", lost, n)
		}
	})
}

func TestRemoveMethod_DefaultNeedsSuccessor(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		w := newWallet(t, db, "anna")
		for _, id := range []string{"a", "b", "c"} {
			w.add(id, false)
		}
		domain := addDomain(t, db, w.customer, "alt", registrar.DomainActive, testTime.AddDate(0, 0, 40))
		if err := agree(t, w.consents, w.customer, domain); err != nil {
			t.Fatal(err)
		}
		wantCode(t, w.remove("a", "a", ""), registrar.KindConflict, renewal.ChooseDefault)
		wantCode(t, w.remove("a", "a", "a"), registrar.KindConflict, renewal.ChooseDefault)
		wantCode(t, w.remove("a", "a", "x"), registrar.KindNotFound, renewal.NoSuchMethod)
		w.want("a", "b", "c")
		w.wantDetached()
		if err := w.remove("a", "a", "c"); err != nil {
			t.Fatal(err)
		}
		w.want("c", "b")
		if err := w.remove("b", "c", ""); err != nil {
			t.Fatal(err)
		}
		w.want("c")
		w.wantDetached("a", "b")
		renewing := "SELECT count(*) FROM domains, renewals WHERE at_term_end = 'renew' AND state = 'announced'"
		if count(t, db, renewing) != 1 {
			t.Error("a card that had a successor ended the automatic renewal")
		}
		if err := w.remove("c", "c", ""); err != nil {
			t.Fatal(err)
		}
		w.want()
		if count(t, db, renewing) != 0 || count(t, db, "SELECT count(*) FROM renewal_consents WHERE end_reason = 'no_method'") != 1 {
			t.Error("the domain renews without a method")
		}
	})
}

// A default that an earlier program saved has no row of its own.
func TestMethods_DefaultOfEarlierProgramIsKept(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		w := newWallet(t, db, "anna")
		execStatement(t, db, "INSERT INTO payment_methods (customer_id, provider_customer, method, label, updated_at) VALUES ($1, 'cus_1', 'old', 'Visa old', 1)", w.customer)
		w.want("old")
		w.add("new", false)
		w.want("old", "new")
		if err := w.setDefault("new", "old"); err != nil {
			t.Fatal(err)
		}
		w.want("new", "old")
	})
}

// A method that pays an order before it was detached is saved again.
func TestPutPaymentMethod_CancelsDetachment(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		w := newWallet(t, db, "anna")
		w.add("a", false)
		w.add("b", false)
		if err := w.remove("b", "a", ""); err != nil {
			t.Fatal(err)
		}
		w.wantDetached("b")
		if err := db.PutPaymentMethod(t.Context(), w.customer, order.PaymentMethod{ProviderCustomer: "cus_1", ID: "b", Label: "Visa b", Fingerprint: "fp_b"}, testTime); err != nil {
			t.Fatal(err)
		}
		w.want("b", "a")
		w.wantDetached()
	})
}

func TestCloseAccount_DetachesEveryMethod(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		w, other := newWallet(t, db, "anna"), newWallet(t, db, "bert")
		w.add("a", false)
		w.add("b", false)
		open, err := w.begin(false)
		if err != nil {
			t.Fatal(err)
		}
		other.add("x", false)
		if err := db.UpdateCustomers(t.Context(), func(tx account.Tx) error {
			closed, err := tx.CloseAccount(t.Context(), w.customer, "closed", testTime)
			if err == nil && !closed {
				err = errors.New("not closed")
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		w.wantDetached("a", "b")
		// A card that is entered afterwards is not saved.
		w.provider.setups["cs_c"] = renewal.Setup{ID: open, Customer: w.customer, Method: &order.PaymentMethod{ProviderCustomer: "cus_1", ID: "c", Label: "Visa c"}}
		if saved, err := w.consents.FinishMethodSetup(t.Context(), registrar.Actor{}, "cs_c"); err != nil || saved {
			t.Errorf("saved %t, %v", saved, err)
		}
		w.wantDetached("a", "b", "c")
		for _, table := range []string{"saved_methods", "payment_methods"} {
			if n := count(t, db, "SELECT count(*) FROM "+table+" WHERE customer_id = $1", w.customer); n != 0 {
				t.Errorf("%d rows of %s", n, table)
			}
		}
		other.want("x")
	})
}

// The intent is stored with the removal, so a process that dies or a provider that fails delays
// the detachment, and nothing loses it.
func TestDetacher_RetriesUntilProviderHasDetached(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		w := newWallet(t, db, "anna")
		w.add("a", false)
		w.add("b", false)
		if err := w.remove("b", "a", ""); err != nil {
			t.Fatal(err)
		}
		// A node that died holds the lease.
		if claimed, err := db.ClaimDueDetachments(t.Context(), testTime, testTime.Add(time.Minute), 10); err != nil || len(claimed) != 1 || claimed[0].Method != "b" {
			t.Fatalf("claimed %+v, %v", claimed, err)
		}
		if claimed, err := db.ClaimDueDetachments(t.Context(), testTime, testTime.Add(time.Minute), 10); err != nil || len(claimed) != 0 {
			t.Fatalf("claimed twice: %+v, %v", claimed, err)
		}
		failed := renewal.Detachment{Method: "b", DueAt: testTime.Add(time.Minute), Attempts: 1}
		if err := db.PostponeDetachment(t.Context(), failed, testTime.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if retrying, err := db.CountRetryingDetachments(t.Context()); err != nil || retrying != 1 {
			t.Errorf("%d are retried, %v", retrying, err)
		}
		w.provider.failures = 2
		var mu sync.Mutex
		now := testTime.Add(time.Minute)
		detacher, err := renewal.NewDetacher(renewal.DetacherConfig{Store: db, Provider: w.provider, Now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(time.Minute) // backoffs are over soon
			return now
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { detacher.Run(ctx) })
		for deadline := time.Now().Add(20 * time.Second); count(t, db, "SELECT count(*) FROM method_detachments") > 0; {
			if time.Now().After(deadline) {
				t.Fatal("not detached")
			}
			detacher.Wake()
			time.Sleep(20 * time.Millisecond)
		}
		stop()
		running.Wait()
		if w.provider.failures != 0 || !slices.Equal(w.provider.forgotten, []string{"b"}) {
			t.Errorf("%d failures left, detached %v", w.provider.failures, w.provider.forgotten)
		}
		w.want("a")
	})
}
