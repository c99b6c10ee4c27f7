package order_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

var operator = registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}

func (env *testEnv) refunds() *order.Refunds {
	env.t.Helper()
	refunds, err := order.NewRefunds(order.RefundsConfig{Store: env.store, Now: env.now, Wake: env.service.Wake})
	if err != nil {
		env.t.Fatal(err)
	}
	return refunds
}

// createCompletedOrder returns a paid order whose items are provisioned.
func (env *testEnv) createCompletedOrder(labels ...string) order.Order {
	env.t.Helper()
	o, _ := env.createPaidOrder(newRequest(order.Register, labels...))
	for _, item := range o.Items {
		env.store.endItem(item.Name, order.ItemActive, time.Now())
	}
	env.runFor(env.service, 5*time.Second)
	return env.wantState(o.ID, order.Completed)
}

// orderRefund confirms a refund as previewed.
func (env *testEnv) orderRefund(request order.RefundRequested) (order.Refund, error) {
	env.t.Helper()
	preview, err := env.refunds().Preview(env.t.Context(), operator, request)
	if err != nil {
		return order.Refund{}, err
	}
	request.Seen, request.Reason, request.Note = preview.Seen, "goodwill", "Test"
	return env.refunds().Order(env.t.Context(), operator, request)
}

func TestRefunds_RefusedRequestsChangeNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		unpaid, _ := env.createOrder(newRequest(order.Register, "offen"))
		busy, _ := env.createPaidOrder(newRequest(order.Register, "laeuft"))
		done := env.createCompletedOrder("laden", "haus")
		for name, test := range map[string]struct {
			request order.RefundRequested
			want    registrar.Code
		}{
			"unpaid":        {order.RefundRequested{Order: unpaid.ID}, order.OrderNotPaid},
			"in progress":   {order.RefundRequested{Order: busy.ID}, order.OrderInProgress},
			"no order":      {order.RefundRequested{Order: "ord_none"}, order.NoSuchOrder},
			"no item":       {order.RefundRequested{Order: done.ID, Item: "itm_none"}, provision.NoSuchItem},
			"too large":     {order.RefundRequested{Order: done.ID, Amount: done.Totals.Gross + 1}, order.RefundTooLarge},
			"item too much": {order.RefundRequested{Order: done.ID, Item: done.Items[0].ID, Amount: done.Items[0].Gross + 1}, order.RefundTooLarge},
			"negative":      {order.RefundRequested{Order: done.ID, Amount: -1}, order.BadRefund},
		} {
			if _, err := env.orderRefund(test.request); code(err) != test.want {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, request := range []order.RefundRequested{{Reason: "goodwill"}, {Reason: "whim", Note: "x"}, {Reason: "goodwill", Note: "a\x00"}} {
			request.Order = done.ID
			if _, err := env.refunds().Order(t.Context(), operator, request); code(err) != order.BadRefund {
				t.Errorf("%+v: %v", request, err)
			}
		}
		if _, err := env.refunds().Preview(t.Context(), annaInPerson, order.RefundRequested{Order: done.ID}); code(err) != registrar.OperatorsOnly {
			t.Errorf("a customer got %v", err)
		}
		if after := env.get(done.ID); len(after.Refunds) != 0 || after.Version != done.Version {
			t.Errorf("changed to %+v", after)
		}
	})
}

func TestRefunds_DisputedPaymentIsRefusedWithoutCorrection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		o := env.createCompletedOrder("laden")
		env.provider.set(func(p *fakeProvider) {
			p.refuse = func(order.RefundRequest) error { return registrar.Conflict(order.ChargeDisputed) }
		})
		refund, err := env.orderRefund(order.RefundRequested{Order: o.ID})
		if err != nil {
			t.Fatal(err)
		}
		env.runFor(env.service, 5*time.Second)
		o = env.get(o.ID)
		if got := o.Refunds[0]; got.State() != "refused" || got.Failure != order.ChargeDisputed || got.Task != order.TaskRefused || o.Remaining() != o.Totals.Gross || !o.DueAt.IsZero() {
			t.Errorf("%+v, due %s", got, o.DueAt)
		}
		if err := env.refunds().Settle(t.Context(), operator, o.ID, refund.ID, "abgewartet"); err != nil {
			t.Error(err)
		}
		env.provider.set(func(p *fakeProvider) { p.refuse = nil })
		if _, err := env.orderRefund(order.RefundRequested{Order: o.ID}); err != nil {
			t.Error(err)
		}
		env.runFor(env.service, 5*time.Second)
		if o = env.get(o.ID); o.Remaining() != 0 || len(env.provider.refunds) != 1 {
			t.Errorf("%+v", o.Refunds)
		}
	})
}

func TestRefunds_FullRefundAtProviderWhileProvisioningReplacesOurs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		o, _ := env.createPaidOrder(newRequest(order.Register, "laden"))
		intent := o.CapturedPayment().Intent
		env.provider.set(func(p *fakeProvider) {
			p.foreign = []order.ProviderRefund{{ID: "re_hand", Intent: intent, Amount: o.Totals.Gross}}
		})
		for range 2 { // a webhook is repeated
			if err := env.service.HandleEvent(t.Context(), order.Event{Intent: intent, Refunds: true}); err != nil {
				t.Fatal(err)
			}
		}
		env.store.endItem("laden.de", order.ItemFailed, time.Now())
		env.runFor(env.service, 30*time.Second)
		o = env.wantState(o.ID, order.Failed)
		if len(o.Refunds) != 1 || o.Refunds[0].Source != order.ByProvider || o.Items[0].State != order.ItemRefunded || len(env.provider.refunds) != 0 {
			t.Errorf("%+v %+v", o.Refunds, o.Items)
		}
	})
}

func TestRefunds_DeletionNamesTheFee(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		o := env.createCompletedOrder("laden", "haus")
		if _, err := env.orderRefund(order.RefundRequested{Order: o.ID, Item: o.Items[0].ID, Amount: 1, Delete: true}); code(err) != order.DeletionForbidden {
			t.Errorf("a partial refund deletes: %v", err)
		}
		preview, err := env.refunds().Preview(t.Context(), operator, order.RefundRequested{Order: o.ID, Item: o.Items[0].ID})
		if err != nil || len(preview.Deletable) != 1 || preview.Deletable[0].Fee != order.FeeLost || !preview.Deletable[0].HandedOver { // .de has no add grace period
			t.Errorf("%+v, %v", preview.Deletable, err)
		}
	})
}

func TestRefunds_RandomPartsAddUpToInvoice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		dice := rand.New(rand.NewPCG(1, 2))
		env.market.net = 1037 // an odd VAT
		for _, labels := range [][]string{{"eins"}, {"zwei", "drei", "vier"}, {"fuenf", "sechs"}} {
			o := env.createCompletedOrder(labels...)
			for o.Remaining() > 0 {
				request := order.RefundRequested{Order: o.ID}
				if item := o.Items[dice.IntN(len(o.Items))]; dice.IntN(2) == 0 && o.RemainingOf(item.ID) > 0 {
					request.Item = item.ID
					request.Amount = 1 + registrar.Cents(dice.Int64N(int64(min(400, o.RemainingOf(item.ID)))))
				} else {
					request.Amount = 1 + registrar.Cents(dice.Int64N(int64(min(400, o.Remaining()))))
				}
				if _, err := env.orderRefund(request); err != nil {
					t.Fatal(err)
				}
				env.runFor(env.service, 5*time.Second)
				o = env.get(o.ID)
			}
			gross, vat := registrar.Cents(0), registrar.Cents(0)
			for _, refund := range o.Refunds {
				for _, part := range refund.Parts {
					if gross, vat = gross+part.Gross, vat+part.VAT; part.VAT < 0 || part.VAT > part.Gross || !refund.Made() {
						t.Errorf("%+v", refund)
					}
				}
			}
			if gross != o.Totals.Gross || vat != o.Totals.VAT {
				t.Errorf("refunded %s with %s VAT of %s with %s", gross, vat, o.Totals.Gross, o.Totals.VAT)
			}
		}
	})
}

func TestRefundMails_AreKeptWithOrder(t *testing.T) {
	t.Parallel()
	for _, kind := range []registrar.MailKind{registrar.MailOrderRefunded, registrar.MailPaymentRefunded, registrar.MailRefundReturned, registrar.MailRefundSettled} {
		if !kind.IsNotice() {
			t.Errorf("%s is not kept", kind)
		}
	}
}

func TestSettle_PayingAReturnedRefundMailsAmountAndDay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(r *order.Refund)
		mails  int
	}{
		"returned by the bank":     {func(r *order.Refund) { r.Failure, r.Task = order.ReturnedByBank, order.TaskReturned }, 1},
		"refused, nothing was due": {func(r *order.Refund) { r.Provider, r.Failure, r.Task = "", order.ChargeDisputed, order.TaskRefused }, 0},
		"domains reviewed":         {func(r *order.Refund) { r.Task = order.TaskDomains }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				env := newEnv(t)
				o := env.createCompletedOrder("laden")
				refund, err := env.orderRefund(order.RefundRequested{Order: o.ID})
				if err != nil {
					t.Fatal(err)
				}
				env.runFor(env.service, 5*time.Second)
				returned := time.Now().AddDate(0, 0, 2)
				time.Sleep(3 * 24 * time.Hour)
				stored := env.store.orders[o.ID]
				test.change(&stored.Refunds[0])
				stored.Refunds[0].FailedAt = returned
				if err := env.refunds().Settle(t.Context(), operator, o.ID, refund.ID, "überwiesen"); err != nil {
					t.Fatal(err)
				}
				after := env.get(o.ID)
				if got := after.Refunds[0]; !got.SettledAt.Equal(time.Now()) || got.SettledBy != "root" || got.Settlement != "überwiesen" || got.Note != "Test" {
					t.Errorf("settled: %+v", got)
				}
				if paid := !after.PaidOtherwiseAt(after.Refunds[0]).IsZero(); paid != (test.mails > 0) {
					t.Errorf("paid another way: %t", paid)
				}
				var mails []registrar.Mail
				for _, mail := range env.store.mails {
					if mail.Kind == registrar.MailRefundSettled {
						mails = append(mails, mail)
					}
				}
				if len(mails) != test.mails {
					t.Fatalf("%d mails, not %d", len(mails), test.mails)
				}
				for _, mail := range mails {
					if mail.Customer != o.Customer || mail.Data["refund"] != o.Totals.Gross.String() || mail.Data["returned_on"] != returned.In(registrar.Germany()).Format(time.DateOnly) ||
						mail.Data[registrar.MailOccurredAt] != time.Now().UTC().Format(time.RFC3339) {
						t.Errorf("mailed %v", mail)
					}
				}
			})
		})
	}
}

func TestRefundMails_LastOfSeveralRefundsSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		o := env.createCompletedOrder("laden")
		for _, amount := range []registrar.Cents{100, 0} {
			if _, err := env.orderRefund(order.RefundRequested{Order: o.ID, Amount: amount}); err != nil {
				t.Fatal(err)
			}
			env.runFor(env.service, 5*time.Second)
		}
		var last []string
		for _, mail := range env.store.mails {
			if mail.Kind == registrar.MailOrderRefunded {
				last = append(last, mail.Data["part1_last"])
			}
		}
		if len(last) != 2 || last[0] != "" || last[1] != "true" {
			t.Errorf("the mails say %q", last)
		}
	})
}

func TestRefunds_EachDomainOfOrderRefundedAtProviderIsDecided(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		o := env.createCompletedOrder("laden", "haus")
		intent := o.CapturedPayment().Intent
		env.provider.set(func(p *fakeProvider) {
			p.foreign = []order.ProviderRefund{{ID: "re_hand", Intent: intent, Amount: o.Totals.Gross}}
		})
		if err := env.service.HandleEvent(t.Context(), order.Event{Intent: intent, Refunds: true}); err != nil {
			t.Fatal(err)
		}
		refund := env.get(o.ID).Refunds[0].ID
		undecided := func() (names []string) {
			domains, err := env.refunds().UndecidedDomains(t.Context(), operator, env.get(o.ID))
			if err != nil {
				t.Fatal(err)
			}
			for _, domain := range domains {
				if domain.Deletable == nil {
					t.Errorf("%s can't be deleted", domain.Item.Name)
				}
				names = append(names, domain.Item.Name)
			}
			return names
		}
		if names := undecided(); !slices.Equal(names, []string{"laden.de", "haus.de"}) {
			t.Errorf("undecided: %q", names)
		}
		first, second := o.Items[0].ID, o.Items[1].ID
		if err := env.refunds().DeleteDomain(t.Context(), annaInPerson, o.ID, refund, first); code(err) != registrar.OperatorsOnly {
			t.Errorf("a customer got %v", err)
		}
		if err := env.refunds().KeepDomain(t.Context(), operator, o.ID, refund, second, " "); code(err) != order.BadRefund {
			t.Errorf("without a reason: %v", err)
		}
		if err := env.refunds().DeleteDomain(t.Context(), operator, o.ID, refund, first); err != nil {
			t.Fatal(err)
		}
		if err := env.refunds().KeepDomain(t.Context(), operator, o.ID, refund, first, "doch nicht"); code(err) != order.NothingToDecide {
			t.Errorf("decided twice: %v", err)
		}
		if names := undecided(); !slices.Equal(names, []string{"haus.de"}) || env.get(o.ID).Refunds[0].Task != order.TaskDomains {
			t.Errorf("undecided: %q, %+v", names, env.get(o.ID).Refunds)
		}
		if err := env.refunds().KeepDomain(t.Context(), operator, o.ID, refund, second, "zahlt per Rechnung"); err != nil {
			t.Fatal(err)
		}
		got := env.get(o.ID).Refunds[0]
		if got.Task != order.TaskNone || got.Parts[0].Domain != "dom_laden.de" || got.Parts[0].Kept != "" || got.Parts[1].Domain != "" || got.Parts[1].Kept != "zahlt per Rechnung" {
			t.Errorf("stored %+v", got)
		}
		events := env.store.events[len(env.store.events)-2:]
		if events[0].Action != lifecycle.ActionDeletionSet || events[0].Object != "laden.de" || events[1].Action != order.ActionDomainKept || events[1].Object != "haus.de" || events[1].Actor.Through != "root" {
			t.Errorf("audited %+v", events)
		}
	})
}
