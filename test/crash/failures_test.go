package crash_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/crash"
	"github.com/dotkontor/dotkontor/test/testkit/dump"
)

// failureCase is a failure between an order and its completion.
type failureCase struct {
	name string
	run  func(t *testing.T, shop *crash.Shop)
}

func TestPayment_EveryFailureBeforeSettlementReconciles(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	supervisor := shop.Supervise(t.Context(), crash.KillOnceAt(""))
	inParallel(t, shop.SignIn)
	for _, one := range slices.Concat(webhookFailures, providerCallFailures, []failureCase{
		{"fifty submit at once", fiftyConcurrentBuyers},
		{"two pay at once", twoConcurrentPayers},
		{"a card is declined", declinedCard},
		{"the price changes", priceChanges},
		{"the name is taken before the payment", nameTakenBefore},
		{"the name is taken during the payment", nameTakenDuring},
		{"a thief reads the database", databaseHoldsNoSecrets},
	}) {
		if !t.Run(one.name, func(t *testing.T) {
			one.run(t, shop)
			inParallel(t, shop.ClearFaults)
			if err := shop.WaitSettled(t.Context(), waitTimeout); err != nil {
				t.Fatal(err)
			}
			if err := shop.Reconcile(t.Context()); err != nil {
				t.Fatal(err)
			}
		}) {
			break // the remaining cases would fail too
		}
	}
	if err := supervisor.Stop(); err != nil {
		t.Error(err)
	}
	if deaths := supervisor.Kills(); deaths != 0 {
		t.Errorf("killed %d times unexpectedly", deaths)
	}
}

// startOrder orders names.
func startOrder(t *testing.T, shop *crash.Shop, names ...string) (p crash.Purchase) {
	t.Helper()
	inParallel(t, func(ctx context.Context) (err error) {
		p, err = shop.StartOrder(ctx, names...)
		return err
	})
	return p
}

// wantFinalState waits until all orders are final and returns one.
func wantFinalState(t *testing.T, shop *crash.Shop, p crash.Purchase, want order.State) order.Order {
	t.Helper()
	if err := shop.WaitSettled(t.Context(), waitTimeout); err != nil {
		t.Fatal(err)
	}
	o, found, err := shop.DB.OrderByID(t.Context(), p.ID)
	if err != nil || !found || o.State != want {
		t.Fatalf("the order is %s, want %s (%t, %v): %+v", o.State, want, found, err, o)
	}
	return o
}

// webhookFailures are failures of the provider's webhooks. The browser does not return
// after payment, so the product learns of it by webhook or polling only.
var webhookFailures = func() (all []failureCase) {
	for _, what := range []string{"lose", "double", "delay", "reorder", "garble"} {
		all = append(all, failureCase{"webhooks: " + what, func(t *testing.T, shop *crash.Shop) {
			inParallel(t, func(ctx context.Context) error {
				return shop.InjectFault(ctx, stripe.Fault{On: "webhook", Do: what})
			})
			inParallel(t,
				func(ctx context.Context) error { return shop.BuyWithoutReturn(ctx, "hook-"+what+".org") },
				func(ctx context.Context) error { return shop.BuyWithoutReturn(ctx, "pendingfail-hook-"+what+".org") },
			)
			if hooks, err := shop.Webhooks(t.Context()); err != nil || what == "lose" && hooks.Lost == 0 {
				t.Errorf("no webhook was lost: %+v, %v", hooks, err)
			}
		}})
	}
	return all
}()

// providerCallFailures are failures of API calls or of the payment page.
var providerCallFailures = func() (all []failureCase) {
	for _, faults := range [][]stripe.Fault{
		{{On: "page.pay", Do: "fail_after", Times: 1}}, // the page fails after the charge
		{{On: "page.pay", Do: "fail_before", Times: 1}},
		{{On: "checkout.create", Do: "fail_after", Times: 4}},
		{{On: "checkout.create", Do: "drop_after", Times: 4}},
		{{On: "checkout.retrieve", Do: "fail_before", Times: 4}},
		{{On: "checkout.retrieve", Do: "lock", Times: 4}},
		{{On: "checkout.expire", Do: "fail_after", Times: 3}},
		{{On: "checkout.expire", Do: "drop_after", Times: 3}},
		{{On: "refund.create", Do: "fail_after", Times: 3}},
		{{On: "refund.create", Do: "drop_after", Times: 3}},
		{{On: "refund.create", Do: "fail_before", Times: 3}, {On: "refund.list", Do: "throttle", Times: 1}},
	} {
		last := faults[len(faults)-1]
		all = append(all, failureCase{last.On + ": " + last.Do, func(t *testing.T, shop *crash.Shop) {
			for _, fault := range faults {
				inParallel(t, func(ctx context.Context) error { return shop.InjectFault(ctx, fault) })
			}
			label := regexp.MustCompile(`[._]`).ReplaceAllString(last.On+"-"+last.Do, "-")
			inParallel(t,
				func(ctx context.Context) error {
					p, err := shop.StartOrder(ctx, label+".org")
					if err != nil {
						return err
					}
					if err := shop.EnsurePaymentPage(ctx, p); err != nil {
						return err
					}
					_ = shop.LeavePaymentPage(ctx, p)
					return shop.Pay(ctx, p, true)
				},
				func(ctx context.Context) error { return shop.BuyWithoutReturn(ctx, "pendingfail-"+label+".org") },
			)
			if err := shop.WaitSettled(t.Context(), waitTimeout); err != nil {
				t.Fatal(err)
			}
			left, err := shop.PendingFaults(t.Context())
			if last.On == "refund.create" { // a webhook may report the refund before the call is repeated
				left = slices.DeleteFunc(left, func(f stripe.Fault) bool { return f.Times < last.Times })
				inParallel(t, shop.ClearFaults)
			}
			if err != nil || len(left) > 0 {
				t.Errorf("no fault occurred: %+v, %v", left, err)
			}
		}})
	}
	return all
}()

func fiftyConcurrentBuyers(t *testing.T, shop *crash.Shop) {
	const many = 50
	var ids, pages [many]string
	fifty := func(do func(ctx context.Context, i int) error) {
		t.Helper()
		var all []func(context.Context) error
		for i := range many {
			all = append(all, func(ctx context.Context) error { return do(ctx, i) })
		}
		inParallel(t, all...)
	}
	var p crash.Purchase
	fifty(func(ctx context.Context, i int) error {
		made, err := shop.StartOrder(ctx, "fuenfzigmal.org")
		if ids[i] = made.ID; i == 0 {
			p = made
		}
		return err
	})
	fifty(func(ctx context.Context, i int) (err error) {
		pages[i], err = shop.OpenPaymentPage(ctx, p)
		return err
	})
	if different := len(slices.Compact(slices.Sorted(slices.Values(ids[:])))); different != 1 {
		t.Errorf("the order was created %d times", different)
	}
	if different := slices.Compact(slices.Sorted(slices.Values(pages[:]))); len(different) != 1 || different[0] == "" {
		t.Errorf("payment pages: %q", different)
	}
	fifty(func(ctx context.Context, i int) error {
		next, err := shop.PayByCard(ctx, pages[i], crash.CardGood)
		if err == nil && next != "" {
			err = shop.GetPage(ctx, next)
		}
		return err
	})
	if o := wantFinalState(t, shop, p, order.Completed); len(o.Payments) != 1 || len(o.Refunds) != 0 {
		t.Errorf("got %+v", o)
	}
}

// twoConcurrentPayers has two browsers pay one order. Each opens a payment page, goes back
// if the other one is faster, and pays on the page that is open.
func twoConcurrentPayers(t *testing.T, shop *crash.Shop) {
	for i := range 3 {
		p := startOrder(t, shop, fmt.Sprintf("zwei-zahlen-%d.org", i))
		var pages []string
		for range 2 { // the first page is abandoned, and its URL remembered
			inParallel(t, func(ctx context.Context) error {
				page, err := shop.OpenPaymentPage(ctx, p)
				pages = append(pages, page)
				return err
			})
			if len(pages) == 1 {
				inParallel(t, func(ctx context.Context) error { return shop.LeavePaymentPage(ctx, p) })
			}
		}
		var all []func(context.Context) error
		for _, page := range pages {
			all = append(all, func(ctx context.Context) error {
				if next, err := shop.PayByCard(ctx, page, crash.CardGood); err == nil && next != "" {
					return shop.GetPage(ctx, next)
				}
				return nil // the page is closed
			})
		}
		all = append(all, func(ctx context.Context) error { return shop.LeavePaymentPage(ctx, p) })
		inParallel(t, all...)
		inParallel(t, func(ctx context.Context) error { return shop.Pay(ctx, p, true) })
		wantFinalState(t, shop, p, order.Completed)
	}
}

func declinedCard(t *testing.T, shop *crash.Shop) {
	p := startOrder(t, shop, "abgelehnt.org")
	inParallel(t, func(ctx context.Context) error {
		page, err := shop.OpenPaymentPage(ctx, p)
		if err != nil {
			return err
		}
		next, err := shop.PayByCard(ctx, page, crash.CardDeclined)
		if next != "" {
			t.Errorf("a declined card leads to %s", next)
		}
		return err
	})
	if o, _, err := shop.DB.OrderByID(t.Context(), p.ID); err != nil || o.State != order.Paying {
		t.Errorf("the order is %s, %v", o.State, err)
	}
	inParallel(t, func(ctx context.Context) error { return shop.Pay(ctx, p, true) })
	wantFinalState(t, shop, p, order.Completed)
}

// priceChanges raises the list price between order and payment: the charge equals the
// price on the page.
func priceChanges(t *testing.T, shop *crash.Shop) {
	p := startOrder(t, shop, "wird-teurer.org")
	before, _, err := shop.DB.OrderByID(t.Context(), p.ID)
	if err != nil {
		t.Fatal(err)
	}
	raisePrice(t, shop, ".org")
	inParallel(t, func(ctx context.Context) error {
		// Nodes reload the price list within seconds; until then the old price is valid.
		return crash.RetryUntil(ctx, "another price", func() (bool, error) {
			if err := shop.GetPage(ctx, p.PaymentURL); err != nil {
				return false, err
			}
			o, _, err := shop.DB.OrderByID(ctx, p.ID)
			return o.Totals.Gross > before.Totals.Gross, err
		})
	})
	if page, err := shop.SubmitPayment(t.Context(), p, before); err == nil {
		t.Errorf("the old price was charged: %q", page)
	}
	inParallel(t, func(ctx context.Context) error { return shop.Pay(ctx, p, true) })
	o := wantFinalState(t, shop, p, order.Completed)
	if len(o.Payments) != 1 || o.Payments[0].Amount != o.Totals.Gross || o.Totals.Gross <= before.Totals.Gross {
		t.Errorf("got %+v", o)
	}
}

// raisePrice raises the price of an extension.
func raisePrice(t *testing.T, shop *crash.Shop, tld string) {
	t.Helper()
	list := filepath.Join(t.TempDir(), "list.csv")
	text, err := exec.CommandContext(t.Context(), shop.Binary, "catalog", "export", "--data", shop.Folder).Output()
	if err != nil {
		t.Fatal(err)
	}
	old := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(tld) + `,[0-9.]+,`)
	if !old.Match(text) {
		t.Fatalf("no price of %s in\n%.500s", tld, text)
	}
	if err := os.WriteFile(list, old.ReplaceAll(text, []byte(tld+",99.90,")), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.CommandContext(t.Context(), shop.Binary, "catalog", "import", "--yes", "--data", shop.Folder, list).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

func nameTakenBefore(t *testing.T, shop *crash.Shop) {
	p := startOrder(t, shop, "weg-vorher.org")
	if _, err := shop.AddPaidItem(t.Context(), "weg-vorher", ".org"); err != nil {
		t.Fatal(err)
	}
	if err := shop.WaitProvisioned(t.Context(), waitTimeout); err != nil {
		t.Fatal(err)
	}
	if page, err := shop.OpenPaymentPage(t.Context(), p); err == nil && page != "" {
		t.Errorf("a taken name can be paid at %s", page)
	}
	inParallel(t, func(ctx context.Context) error { return shop.Decline(ctx, p) })
	if o := wantFinalState(t, shop, p, order.Canceled); len(o.Payments) != 0 {
		t.Errorf("got %+v", o.Payments)
	}
}

func nameTakenDuring(t *testing.T, shop *crash.Shop) {
	p := startOrder(t, shop, "weg-dabei.org", "noch-da.org")
	var page string
	inParallel(t, func(ctx context.Context) (err error) {
		page, err = shop.OpenPaymentPage(ctx, p)
		return err
	})
	if _, err := shop.AddPaidItem(t.Context(), "weg-dabei", ".org"); err != nil {
		t.Fatal(err)
	}
	inParallel(t, func(ctx context.Context) error {
		_, err := shop.PayByCard(ctx, page, crash.CardGood)
		return err
	})
	o := wantFinalState(t, shop, p, order.PartiallyCompleted)
	if len(o.Refunds) != 1 || o.Refunds[0].Provider == "" || o.Refunds[0].Amount != o.Items[0].Gross {
		t.Errorf("got %+v", o)
	}
}

// databaseHoldsNoSecrets searches every row for the secrets of an order: link tokens and
// the auth code of a transfer.
func databaseHoldsNoSecrets(t *testing.T, shop *crash.Shop) {
	const name, code = "transfer-kaffeefahrt.de", "auth-transfer-kaffeefahrt"
	var p crash.Purchase
	inParallel(t, func(ctx context.Context) (err error) {
		p, err = shop.StartTransferOrder(ctx, name)
		return err
	})
	inParallel(t, func(ctx context.Context) error { return shop.EnterAuthCode(ctx, p, code) })
	look := func(when string) {
		t.Helper()
		all := dump.Database(t, store.Options{Data: shop.Folder})
		if !strings.Contains(all, name) || !strings.Contains(all, p.ID) {
			t.Fatal("the order is not in the dump")
		}
		for what, secret := range map[string]string{"link": p.PaymentURL[strings.LastIndexByte(p.PaymentURL, '/')+1:], "auth code": code} {
			if len(secret) < 10 || strings.Contains(all, secret) {
				t.Errorf("the %s is in the database %s", what, when)
			}
		}
	}
	look("before the payment")
	inParallel(t, func(ctx context.Context) error { return shop.Pay(ctx, p, true) })
	wantFinalState(t, shop, p, order.Completed)
	look("after the payment")
}
