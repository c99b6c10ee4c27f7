package order_test

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func TestSales_OnlyTransfersMayBeFree(t *testing.T) {
	t.Parallel()
	priced, free := registrar.Extension{TLD: ".de", Register: 1000, Renew: 1200, Transfer: 900}, registrar.Extension{TLD: ".de"}
	shop := order.Sales{Payments: true, Accounts: provision.Accounts{{Serves: func(string) bool { return true }, Account: sellsAll{}}}}
	for _, tc := range []struct {
		extension registrar.Extension
		kind      order.Kind
		net       registrar.Cents
		refusal   registrar.Code
	}{
		{priced, order.Register, 2200, ""}, // the second year at the renewal price
		{priced, order.Renew, 2400, ""},
		{priced, order.Transfer, 900, ""},
		{free, order.Register, 0, order.NoPrice},
		{free, order.Renew, 0, order.NoPrice},
		{free, order.Transfer, 0, ""},
	} {
		if net := order.NetPrice(tc.extension, tc.kind, 2); net != tc.net {
			t.Errorf("%s at %v: %v", tc.kind, tc.extension.Register, net)
		}
		if err := shop.Refusal(tc.extension, tc.kind); registrar.CodeOf(err) != tc.refusal {
			t.Errorf("%s at %v: %v", tc.kind, tc.extension.Register, err)
		}
	}
}

func TestNetPrice_FurtherYearsCostTheRenewalPrice(t *testing.T) {
	t.Parallel()
	one, two := registrar.Extension{TLD: ".com", Register: 500, Renew: 1500}, registrar.Extension{TLD: ".ai", Register: 7000, Renew: 8000, MinYears: 2}
	for _, test := range []struct {
		extension registrar.Extension
		years     int
		want      registrar.Cents
	}{{one, 1, 500}, {one, 2, 2000}, {one, 10, 14000}, {two, 2, 14000}, {two, 3, 22000}} {
		if got := order.NetPrice(test.extension, order.Register, test.years); got != test.want {
			t.Errorf("%s for %d years: %v, want %v", test.extension.TLD, test.years, got, test.want)
		}
	}
}

// sellsAll sells everything.
type sellsAll struct{ provision.Account }

func (sellsAll) Rules(string) provision.Rules { return provision.Rules{TransferYears: 1} }

func (sellsAll) CheckSupported(provision.Kind, string, string, int) error { return nil }
