package store

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
)

func TestUpdateOrder_RacingCallersOneWins(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		o := addOrder(t, db, testOrder(newCustomer(t, db, "anna"), "a.org"))
		var done atomic.Int64
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				ok, err := updateOrder(t, db, o, toPaying(fmt.Sprint("pay_", i)))
				if err != nil {
					t.Error(err)
				}
				if ok {
					done.Add(1)
				}
			})
		}
		all.Wait()
		after := getOrder(t, db, o.ID)
		if done.Load() != 1 || len(after.Payments) != 1 || after.Version != 2 || after.State != order.Paying {
			t.Errorf("%d transitions succeeded; the order is %+v", done.Load(), after)
		}
	})
}

func TestUpdateOrder_SecondCapturedPaymentIsRefused(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		o := addOrder(t, db, testOrder(newCustomer(t, db, "anna"), "a.org"))
		o = mustUpdateOrder(t, db, mustUpdateOrder(t, db, o, toPaying("pay_1")), toPaying("pay_2"))
		o = mustUpdateOrder(t, db, o, toPaid)
		ok, err := updateOrder(t, db, o, func(o *order.Order, _ *order.Transition) { o.Payments[0].State, o.Attempts = order.PaymentCaptured, 7 })
		if err == nil || ok {
			t.Errorf("a second payment was captured: %t, %v", ok, err)
		}
		after := getOrder(t, db, o.ID)
		if after.Payments[0].State != order.PaymentOpen || after.Attempts != 0 || after.Version != o.Version {
			t.Errorf("the change was stored partially: %+v", after)
		}
	})
}

func TestUpdateOrder_SecondRefundOfItemIsRefused(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		o := addOrder(t, db, testOrder(newCustomer(t, db, "anna"), "a.org"))
		o = mustUpdateOrder(t, db, mustUpdateOrder(t, db, o, toPaying("pay_1")), toPaid)
		refund := func(id string) func(*order.Order, *order.Transition) {
			return func(o *order.Order, _ *order.Transition) {
				o.Items[0].State = order.ItemFailed
				o.Refunds = append(o.Refunds, order.Refund{ID: id, Payment: "pay_1", Item: o.Items[0].ID, Amount: 5, CreatedAt: testTime})
			}
		}
		o = mustUpdateOrder(t, db, o, refund("rfd_1"))
		if ok, err := updateOrder(t, db, o, refund("rfd_2")); err == nil || ok {
			t.Errorf("a second refund of one item: %t, %v", ok, err)
		}
		backlog, err := db.CountOrderBacklog(t.Context(), testTime)
		if err != nil || backlog != (OrderBacklog{Refunds: 1, OldestRefund: testTime}) {
			t.Errorf("got %+v, %v", backlog, err)
		}
		o = mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) {
			o.Refunds[0].Provider, o.Refunds[0].MadeAt = "re_1", testTime
		})
		if o.Refunds[0].Provider != "re_1" || !o.Refunds[0].MadeAt.Equal(testTime) {
			t.Errorf("got %+v", o.Refunds)
		}
	})
}

func TestUpdateOrder_StoresAllEffects(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		o := mustUpdateOrder(t, db, addOrder(t, db, testOrder(anna, "a.org", "b.org")), toPaying("pay_1"))
		event := orderEvent(o)
		later, business := testTime.Add(time.Minute), testTime.AddDate(1, 0, 0)
		o = mustUpdateOrder(t, db, o, func(o *order.Order, m *order.Transition) {
			toPaid(o, m)
			o.UpdatedAt, m.At = business, later // a sandbox whose clock was advanced
			o.Items[1].SealedCode, o.Items[1].Kind = "sealed-code", order.Register
			m.Method = &order.PaymentMethod{ProviderCustomer: "cus_1", ID: "pm_1", Label: "Visa"}
			m.AuditEvents = []registrar.AuditEvent{event}
			o.Consent = order.Consent{At: later, Wording: "2026-11-de"}
			m.Mails = []registrar.Mail{{Kind: "order_paid", Customer: anna}, {Kind: "order_paid", Customer: anna}}
		})
		if got := count(t, db, "SELECT count(*) FROM audit_events WHERE object = $1", o.ID); got != 2 {
			t.Errorf("%d audit events", got)
		}
		if o.Consent != (order.Consent{At: later, Wording: "2026-11-de"}) {
			t.Errorf("consent: %+v", o.Consent)
		}
		if got := count(t, db, "SELECT count(*) FROM mails WHERE due_at = $1", later.UnixMicro()); got != 2 {
			t.Errorf("%d mails", got)
		}
		if method, kept, err := db.GetPaymentMethod(ctx, anna); err != nil || !kept || method.ID != "pm_1" {
			t.Errorf("got %+v, %t, %v", method, kept, err)
		}
		lines, err := db.ListDueProvisionItems(ctx, false, later, 5)
		if err != nil || len(lines) != 2 {
			t.Fatalf("%d provision items, %v", len(lines), err)
		}
		for _, line := range lines {
			at := slices.IndexFunc(o.Items, func(item order.Item) bool { return item.ProvisionItem == line.ID })
			if at < 0 {
				t.Fatalf("provision item %+v has no order item", line)
			}
			item := o.Items[at]
			want := provision.Item{
				ID: item.ProvisionItem, Customer: anna, Name: item.Name, TLD: ".org", Kind: provision.Register, Years: 1, Payment: order.PaymentOf(o.ID),
				State: provision.StatePaid, Account: "sandbox", SealedCode: item.SealedCode, RequestedAt: business, DueAt: later, CreatedAt: business, UpdatedAt: business,
			}
			if line != want {
				t.Errorf("got %+v, want %+v", line, want)
			}
		}
	})
}

func TestUpdateOrder_TakenNameFailsItsItem(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna, bert := newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		addProvisionItem(t, db, bert, "wanted.org", "manual:1")
		if _, err := newPortfolioService(t, db).Add(t.Context(), operatorActor(), portfolio.AddParams{
			Customer: bert, Name: registrar.NewName("held", ".org"), Status: registrar.DomainActive, PaidUntil: testTime.AddDate(1, 0, 0),
		}); err != nil {
			t.Fatal(err)
		}
		o := mustUpdateOrder(t, db, addOrder(t, db, testOrder(anna, "held.org", "free.org", "wanted.org")), toPaying("pay_1"))
		transition := order.Transition{From: o, To: o}
		transition.To.Items, transition.To.Payments = slices.Clone(o.Items), slices.Clone(o.Payments)
		toPaid(&transition.To, &transition)
		if ok, err := db.UpdateOrder(t.Context(), transition); err != nil || !ok {
			t.Fatalf("moved %t, %v", ok, err)
		}
		after := getOrder(t, db, o.ID)
		var states []string
		for i, item := range after.Items {
			states = append(states, string(item.State)+" "+string(item.Failure))
			if item != transition.To.Items[i] {
				t.Errorf("the caller sees %+v, stored: %+v", transition.To.Items[i], item)
			}
			if (item.ProvisionItem == "") != (item.State == order.ItemFailed) {
				t.Errorf("provision item of %+v", item)
			}
		}
		if want := []string{"failed name_held", "provisioning ", "failed name_held"}; !slices.Equal(states, want) {
			t.Errorf("item states %q, want %q", states, want)
		}
		if !after.DueAt.Equal(testTime) || after.Version != o.Version+1 {
			t.Errorf("due %v, version %d: the order is never settled", after.DueAt, after.Version)
		}
	})
}

// finishItem finishes the provision item of an order item, as provisioning does.
func finishItem(t *testing.T, db *DB, item order.Item, failure registrar.Code) {
	t.Helper()
	line, found, err := db.ProvisionItemByID(t.Context(), item.ProvisionItem)
	if err != nil || !found {
		t.Fatalf("found %t, %v", found, err)
	}
	line = mustUpdateItem(t, db, itemTransition(line, func(l *provision.Item, m *provision.Transition) {
		l.State, l.DueAt, l.Domain = provision.StateRequested, testTime.Add(time.Minute), "dom_"+l.Name
		m.AddDomain = &provision.Domain{ID: l.Domain, Customer: l.Customer, Name: l.Name, TLD: l.TLD, Status: "pending", Account: "sandbox", UpdatedAt: testTime}
	}))
	mustUpdateItem(t, db, itemTransition(line, func(l *provision.Item, m *provision.Transition) {
		l.State, l.DueAt, l.Failure, l.UpdatedAt = provision.StateActive, time.Time{}, failure, testTime.Add(time.Hour)
		if failure != "" {
			l.State, l.RefundDue, m.DropDomain = provision.StateFailed, true, true
			return
		}
		m.ActivateDomain = &provision.Domain{ID: l.Domain, Status: "active", PaidUntil: testTime.AddDate(1, 0, 0), UpdatedAt: testTime}
	}))
}

func TestFinishOrderItem_MakesOrderDue(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		for _, method := range []string{"", "pm_1"} {
			name := "x" + method
			name = strings.ReplaceAll(name, "_", "")
			o := testOrder(anna, name+"good.org", name+"bad.org")
			o.Items[0].RenewalYears, o.Items[0].RenewalGross = 1, 1428
			o = mustUpdateOrder(t, db, mustUpdateOrder(t, db, addOrder(t, db, o), toPaying("pay_"+name)), func(o *order.Order, m *order.Transition) {
				toPaid(o, m)
				o.Renewal = order.RenewalConsent{Wording: renewal.ConsentWording("de"), At: testTime, Session: "ses_1", Address: "192.0.2.1"}
				m.Method = &order.PaymentMethod{ProviderCustomer: "cus_1", ID: method, Label: "Visa"}
			})
			finishItem(t, db, o.Items[0], "")
			half := getOrder(t, db, o.ID)
			if half.Items[0].State != order.ItemActive || half.Items[1].State != order.ItemProvisioning || !half.DueAt.Equal(testTime.Add(time.Hour)) {
				t.Errorf("got %+v", half)
			}
			finishItem(t, db, o.Items[1], "taken")
			after := getOrder(t, db, o.ID)
			if after.Items[1].State != order.ItemFailed || after.Items[1].Failure != "taken" {
				t.Errorf("got %+v", after.Items)
			}
			// A transition of an outdated version must not postpone the order.
			ok, err := updateOrder(t, db, half, func(o *order.Order, _ *order.Transition) { o.DueAt = time.Time{} })
			if err != nil || ok {
				t.Errorf("moved %t, %v", ok, err)
			}
			renews := count(t, db, "SELECT count(*) FROM domains WHERE name = $1 AND at_term_end = 'renew'", name+"good.org") == 1
			consents := count(t, db, `SELECT count(*) FROM renewal_consents WHERE name = $1 AND gross = 1428 AND years = 1 AND through = 'ses_1'
				AND address = '192.0.2.1' AND method = 'Visa' AND charge_at = $2 AND ended_at = 0`, name+"good.org", micros(testTime.AddDate(1, 0, -14)))
			mails := count(t, db, "SELECT count(*) FROM mails WHERE kind = 'renewal_on'")
			if renews != (method != "") || (consents == 1) != renews || (mails == 1) != renews {
				t.Errorf("with payment method %q: renews %t, %d consents, %d mails", method, renews, consents, mails)
			}
		}
	})
}

func TestFinishOrderItem_ConsentsOfAnOrderShareOneMail(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		o := testOrder(anna, "eins.org", "zwei.org", "drei.org")
		for i := range o.Items {
			o.Items[i].RenewalYears, o.Items[i].RenewalGross = 1, 1428
		}
		o = mustUpdateOrder(t, db, mustUpdateOrder(t, db, addOrder(t, db, o), toPaying("pay_1")), func(o *order.Order, m *order.Transition) {
			toPaid(o, m)
			o.Renewal = order.RenewalConsent{Wording: renewal.ConsentWording("de"), At: testTime, Session: "ses_1"}
			m.Method = &order.PaymentMethod{ProviderCustomer: "cus_1", ID: "pm_1", Label: "Visa"}
		})
		for _, item := range o.Items {
			finishItem(t, db, item, "")
		}
		if mails := count(t, db, "SELECT count(*) FROM mails WHERE kind = 'renewal_on' AND data LIKE '%item3_domain_id%'"); mails != 1 {
			t.Errorf("%d mails name all three domains", mails)
		}
		if mails := count(t, db, "SELECT count(*) FROM mails WHERE kind = 'renewal_on'"); mails != 1 {
			t.Errorf("%d mails", mails)
		}
	})
}

func TestFinishOrderItem_IgnoresManualItems(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		o := mustUpdateOrder(t, db, mustUpdateOrder(t, db, addOrder(t, db, testOrder(anna, "a.org")), toPaying("pay_1")), toPaid)
		line := addProvisionItem(t, db, anna, "b.org", "manual:"+o.ID)
		finishItem(t, db, order.Item{ProvisionItem: line.ID}, "")
		if after := getOrder(t, db, o.ID); after.Version != o.Version || !after.DueAt.IsZero() {
			t.Errorf("got %+v", after)
		}
	})
}

func TestUpdateOrder_RenewalRequiresOwnDomain(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, bert := t.Context(), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		ids := make(map[string]string)
		for name, customer := range map[string]string{"mine": anna, "his": bert} {
			domain, err := newPortfolioService(t, db).Add(ctx, operatorActor(), portfolio.AddParams{
				Customer: customer, Name: registrar.NewName(name, ".org"), Status: registrar.DomainActive, PaidUntil: testTime.AddDate(1, 0, 0),
			})
			if err != nil {
				t.Fatal(err)
			}
			ids[name] = domain.ID
		}
		o := testOrder(anna, "mine.org", "his.org")
		for i, name := range []string{"mine", "his"} {
			o.Items[i].Kind, o.Items[i].Domain = order.Renew, ids[name]
		}
		o = mustUpdateOrder(t, db, mustUpdateOrder(t, db, addOrder(t, db, o), toPaying("pay_1")), toPaid)
		if o.Items[0].State != order.ItemProvisioning || o.Items[1].State != order.ItemFailed || o.Items[1].Failure != registrar.NameHeld {
			t.Errorf("got %+v", o.Items)
		}
		line, found, err := db.ProvisionItemByID(ctx, o.Items[0].ProvisionItem)
		if err != nil || !found || line.Domain != ids["mine"] || line.Kind != "renew" || line.Name != "mine.org" {
			t.Errorf("got %+v, %t, %v", line, found, err)
		}
		if paid, found, err := db.PaidForItem(ctx, line.ID); err != nil || !found || paid != o.Items[0].Gross || paid == 0 {
			t.Errorf("%v was paid for the item, %t, %v", paid, found, err)
		}
		if _, found, err := db.PaidForItem(ctx, "prv_none"); err != nil || found {
			t.Errorf("an unknown item was paid: %t, %v", found, err)
		}
		domains, err := newPortfolioService(t, db).List(ctx, personActor(anna))
		if err != nil || len(domains) != 1 || domains[0].Name != "mine.org" {
			t.Errorf("anna holds %+v, %v", domains, err)
		}
	})
}

func TestClaimNode_ReleasesItsOwnOrders(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		for i, node := range []string{"here", "there", ""} {
			o := addOrder(t, db, testOrder(anna, fmt.Sprint(i, ".org")))
			mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) { o.Node, o.DueAt = node, testTime.Add(time.Hour) })
		}
		if released, err := db.ClaimNode(ctx, "here", testTime); err != nil || released.Orders != 1 {
			t.Errorf("released %+v, %v", released, err)
		}
		due, err := db.ListDueOrders(ctx, testTime, 5)
		if err != nil || len(due) != 1 || due[0].Items[0].Name != "0.org" || due[0].Node != "" {
			t.Errorf("due: %+v, %v", due, err)
		}
		backlog, err := db.CountOrderBacklog(ctx, testTime.Add(time.Second))
		if err != nil || backlog != (OrderBacklog{Due: 1, OldestDue: testTime}) {
			t.Errorf("got %+v, %v", backlog, err)
		}
	})
}

func TestUpdateOrder_OverlappingNamesDoNotDeadlock(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		customers := []string{newCustomer(t, db, "anna"), newCustomer(t, db, "bert")}
		for round := range 5 {
			names := make([]string, 20)
			for i := range names {
				names[i] = fmt.Sprintf("r%d-%02d.org", round, i)
			}
			orders := make([]order.Order, 2)
			for i, customer := range customers {
				orders[i] = mustUpdateOrder(t, db, addOrder(t, db, testOrder(customer, names...)), toPaying(fmt.Sprint("pay_", round, "_", i)))
				slices.Reverse(names)
			}
			var all sync.WaitGroup
			for _, o := range orders {
				all.Go(func() {
					if ok, err := updateOrder(t, db, o, toPaid); err != nil || !ok {
						t.Errorf("moved %t, %v", ok, err)
					}
				})
			}
			all.Wait()
			got := 0
			for _, o := range orders {
				for _, item := range getOrder(t, db, o.ID).Items {
					if item.ProvisionItem != "" {
						got++
					}
				}
			}
			if got != len(names) {
				t.Errorf("%d of %d names have a provision item", got, len(names))
			}
		}
	})
}

func TestUpdateProvisionItem_OrderItemGetsTermOfNewDomain(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna, end := newCustomer(t, db, "anna"), testTime.AddDate(1, 0, 0)
		o := addPaidOrder(t, db, anna, "neu.org")
		items, err := db.ListProvisionItemsAfter(t.Context(), "", 10)
		if err != nil || len(items) != 1 {
			t.Fatalf("%v, %v", items, err)
		}
		taken := mustUpdateItem(t, db, itemTransition(items[0], func(l *provision.Item, m *provision.Transition) {
			l.State, l.DueAt, l.Node, l.Domain = provision.StateRequested, testTime.Add(time.Minute), "here", "dom_neu"
			m.AddDomain = &provision.Domain{ID: l.Domain, Customer: anna, Name: l.Name, TLD: l.TLD, Status: "pending", Account: "sandbox", UpdatedAt: testTime}
		}))
		mustUpdateItem(t, db, itemTransition(taken, func(l *provision.Item, m *provision.Transition) {
			l.State, l.DueAt, l.Node = provision.StateActive, time.Time{}, ""
			m.ActivateDomain = &provision.Domain{ID: l.Domain, Status: "active", PaidUntil: end, UpdatedAt: testTime}
		}))
		if item := getOrder(t, db, o.ID).Items[0]; item.State != order.ItemActive || !item.PaidUntil.Equal(end) {
			t.Errorf("%+v", item)
		}
	})
}
