package order_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func canceledEvents(env *testEnv, id string) (events []registrar.AuditEvent) {
	env.store.mu.Lock()
	defer env.store.mu.Unlock()
	for _, event := range env.store.events {
		if event.Action == order.ActionCanceled && event.Object == id {
			events = append(events, event)
		}
	}
	return events
}

func TestCancel_OpenOrderEndsOnceWithOneAuditEvent(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.market.verify["haus.de"] = true
	for _, label := range []string{"laden", "haus"} { // the second one awaits an identity
		o, secret := env.createOrder(newRequest(order.Register, label))
		for range 2 {
			got, err := env.service.Cancel(t.Context(), annasAgent, o.ID)
			if err != nil || got.State != order.Canceled {
				t.Fatalf("%s: got %s, %v", label, got.State, err)
			}
		}
		events := canceledEvents(env, o.ID)
		if len(events) != 1 || events[0].Actor != annasAgent || events[0].Customer != anna {
			t.Errorf("%s: audit events %+v", label, events)
		}
		if _, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)); code(err) != order.NotOpen {
			t.Errorf("%s: paying it: %v", label, err)
		}
	}
	env.checkInvariants()
}

func TestCancel_NonOpenOrderIsUnchanged(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	expired, _ := env.createOrder(newRequest(order.Register, "garten"))
	env.advance(25 * time.Hour)
	paying, secret := env.createOrder(newRequest(order.Register, "laden"))
	page := env.pay(secret, paying.Totals.Gross)
	paid, _ := env.createPaidOrder(newRequest(order.Register, "haus"))
	for id, want := range map[string]order.State{paying.ID: order.Paying, paid.ID: order.Provisioning, expired.ID: order.Expired} {
		got, err := env.service.Cancel(t.Context(), annasAgent, id)
		if code(err) != order.NotOpen || got.State != want || len(canceledEvents(env, id)) != 0 {
			t.Errorf("%s: got %s, %v", want, got.State, err)
		}
	}
	if !env.provider.pay(page) {
		t.Error("the payment page was closed")
	}
}

func TestCancel_AnotherCustomersOrderIsNotFound(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, _ := env.createOrder(newRequest(order.Register, "laden"))
	for _, actor := range []registrar.Actor{bertInPerson, {Kind: registrar.ActorToken, Customer: bert, Through: "tok_2"}, anonymous} {
		if _, err := env.service.Cancel(t.Context(), actor, o.ID); code(err) != order.NoSuchOrder && code(err) != registrar.SignInFirst {
			t.Errorf("%+v: %v", actor, err)
		}
	}
	env.wantState(o.ID, order.AwaitingPayment)
}

// A payment that starts between the read and the write wins.
func TestCancel_ConcurrentPaymentWins(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, _ := env.createOrder(newRequest(order.Register, "laden"))
	env.store.beforeUpdate = func(stored *order.Order) {
		stored.State = order.Paying
		stored.Version++
	}
	got, err := env.service.Cancel(t.Context(), annasAgent, o.ID)
	if code(err) != order.NotOpen || got.State != order.Paying || len(canceledEvents(env, o.ID)) != 0 {
		t.Errorf("got %s, %v", got.State, err)
	}
}

func TestCancel_RacingWithPaymentsHasOneOutcome(t *testing.T) {
	t.Parallel()
	for range 20 {
		env := newEnv(t)
		o, secret := env.createOrder(newRequest(order.Register, "laden"))
		var cancelErr, payErr error
		var url string
		var both sync.WaitGroup
		both.Go(func() { _, cancelErr = env.service.Cancel(t.Context(), annasAgent, o.ID) })
		both.Go(func() { url, payErr = env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)) })
		both.Wait()
		switch {
		case cancelErr == nil:
			env.wantState(o.ID, order.Canceled)
			if payErr == nil && env.provider.pay(url) {
				t.Error("a canceled order can be paid")
			}
		case code(cancelErr) == order.NotOpen && payErr == nil:
			env.wantState(o.ID, order.Paying)
		default:
			t.Errorf("canceling: %v, paying: %v", cancelErr, payErr)
		}
		env.checkInvariants()
	}
}

func TestPage_NewestFirstByStateWithTotal(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	var ids []string
	for _, label := range []string{"a-eins", "a-zwei", "a-drei"} {
		o, _ := env.createOrder(newRequest(order.Register, label))
		ids = append(ids, o.ID)
		env.advance(time.Second) // ids follow the clock
	}
	slices.Reverse(ids)
	if _, err := env.service.Cancel(t.Context(), annasAgent, ids[1]); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		state         order.State
		limit, offset int
		want          []string
		total         int
	}{
		{"", 10, 0, ids, 3},
		{"", 1, 1, ids[1:2], 3},
		{"", 10, 3, nil, 3},
		{order.Canceled, 10, 0, ids[1:2], 1},
		{order.AwaitingPayment, 1, 1, ids[2:], 2},
	} {
		page, total, err := env.service.Page(t.Context(), annasAgent, test.state, test.limit, test.offset)
		var got []string
		for _, o := range page {
			got = append(got, o.ID)
		}
		if err != nil || total != test.total || !slices.Equal(got, test.want) {
			t.Errorf("%q %d+%d: got %v of %d, %v", test.state, test.offset, test.limit, got, total, err)
		}
	}
	if page, total, err := env.service.Page(t.Context(), bertInPerson, "", 10, 0); err != nil || len(page) != 0 || total != 0 {
		t.Errorf("Bert sees %v of %d, %v", page, total, err)
	}
	if _, _, err := env.service.Page(t.Context(), anonymous, "", 10, 0); registrar.KindOf(err) != registrar.KindUnauthenticated {
		t.Errorf("anonymous: %v", err)
	}
}

// The worker may not have expired an overdue order when a page is read.
func TestPage_FilterSeesOrdersThatHaveExpired(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.createOrder(newRequest(order.Register, "laden"))
	env.advance(25 * time.Hour)
	for state, want := range map[order.State]int{order.AwaitingPayment: 0, order.Expired: 1} {
		if page, total, err := env.service.Page(t.Context(), annasAgent, state, 10, 0); err != nil || len(page) != want || total != want {
			t.Errorf("%s: %d of %d, %v", state, len(page), total, err)
		}
	}
}

func TestPrepare_ReportsMissingData(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.market.missing["haus.de"] = []string{"eu_presence"}
	view, err := env.service.Prepare(t.Context(), registrar.Actor{Kind: registrar.ActorToken, Customer: bert, Through: "tok_2"},
		order.Request{Channel: order.ChannelMCP, Items: []order.RequestedItem{
			{Name: registrar.NewName("laden", ".de"), Kind: order.Transfer}, {Name: registrar.NewName("haus", ".de"), Kind: order.Register},
		}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(view.Missing, []string{order.MissingRegistrant, order.MissingCode, "eu_presence"}) ||
		!slices.Equal(view.MissingByItem[view.Order.Items[0].ID], []string{order.MissingCode}) {
		t.Errorf("got %v, %v", view.Missing, view.MissingByItem)
	}
	known, err := env.service.Outstanding(t.Context(), view.Order)
	if err != nil || !slices.Equal(known.Missing, []string{order.MissingRegistrant, order.MissingCode}) {
		t.Errorf("Outstanding: %v, %v", known.Missing, err)
	}
	// The same items return the same order with the same missing data.
	again, err := env.service.Prepare(t.Context(), registrar.Actor{Kind: registrar.ActorToken, Customer: bert, Through: "tok_2"},
		order.Request{Channel: order.ChannelMCP, Items: []order.RequestedItem{
			{Name: registrar.NewName("haus", ".de"), Kind: order.Register}, {Name: registrar.NewName("laden", ".de"), Kind: order.Transfer},
		}})
	if err != nil || again.Order.ID != view.Order.ID || !slices.Equal(again.Missing, view.Missing) {
		t.Errorf("again: %+v, %v", again, err)
	}
}
