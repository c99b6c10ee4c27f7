package crash_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/test/crash"
)

func TestKill_EveryRenewalFailpointChargesOnce(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	type killCase struct{ failpoint, card, name string }
	var cases []killCase
	for i, failpoint := range renewal.Failpoints() {
		if failpoint != "renewal_settling" { // a paid order settles itself
			cases = append(cases, killCase{failpoint, "", fmt.Sprintf("ruhig-paid-%d", i)})
		}
		cases = append(cases, killCase{failpoint, crash.CardEmpty, fmt.Sprintf("ruhig-declined-%d", i)})
	}
	for _, one := range cases {
		if _, err := shop.AddPaidItem(t.Context(), one.name, ".org"); err != nil {
			t.Fatal(err)
		}
	}
	supervisor := shop.Supervise(t.Context(), crash.KillOnceAt(""))
	if err := shop.WaitProvisioned(t.Context(), waitTimeout); err != nil {
		t.Fatal(err)
	}
	if err := supervisor.Stop(); err != nil {
		t.Fatal(err)
	}
	const announced = registrar.Cents(5000)
	for _, one := range cases {
		name := one.name + ".org"
		before, _, err := shop.DB.DomainByName(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := shop.ChangeCards(t.Context(), one.card); err != nil {
			t.Fatal(err)
		}
		if err := shop.AnnounceRenewal(t.Context(), name, announced); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		supervisor := shop.Supervise(t.Context(), crash.KillOnceAt(one.failpoint))
		ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
		row, err := shop.WaitRenewal(ctx, name, func(row renewal.Renewal) bool {
			return row.State == renewal.Renewed || row.State == renewal.Announced && row.Attempts > 0
		})
		if err == nil && one.card == "" {
			err = crash.RetryUntil(ctx, "the end of the order", func() (bool, error) {
				o, _, err := shop.DB.OrderByID(ctx, row.Order)
				return o.State.Final(), err
			})
		}
		cancel()
		if err != nil {
			t.Fatalf("%s: %v", one, err)
		}
		if err := supervisor.Stop(); err != nil {
			t.Fatalf("%s: %v", one, err)
		}
		if deaths := supervisor.Kills(); deaths != 1 {
			t.Errorf("%s: killed %d times", one, deaths)
		}
		t.Logf("%s: settled after %s", one, time.Since(began).Round(time.Millisecond))
		after, _, err := shop.DB.DomainByName(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		want := before.PaidUntil
		if one.card == "" {
			want = want.AddDate(1, 0, 0)
		} else if row.Attempts != 1 || row.Failure != order.InsufficientFunds {
			t.Errorf("%s: %+v", one, row)
		}
		if !after.PaidUntil.Equal(want) {
			t.Errorf("%s: paid until %s, want %s", one, after.PaidUntil, want)
		}
		money, err := shop.Money(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		charges := 0
		for _, charge := range money.Charges {
			if charge.Status == "succeeded" && charge.Metadata["order"] == row.Order {
				charges++
			}
		}
		if (charges == 1) != (one.card == "") {
			t.Errorf("%s: %d charges", one, charges)
		}
		if err := shop.Reconcile(t.Context()); err != nil {
			t.Fatalf("after %s:\n%v", one, err)
		}
	}
}
