package app

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

type anyDomain struct{}

func (anyDomain) GetCustomerDomain(context.Context, string, string) (domainchange.Domain, bool, error) {
	return domainchange.Domain{}, true, nil
}

func TestTermMailPrices_HaveCustomersVAT(t *testing.T) {
	t.Parallel()
	shipped, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	live := catalog.NewLive(shipped)
	de, _ := live.Extension(".com")
	rates := map[string]int{"german": 1900, "british": 0}
	vatRate := func(_ context.Context, customer string, _ time.Time) (int, error) {
		rate, known := rates[customer]
		if !known {
			return 0, errors.New("the database does not respond")
		}
		return rate, nil
	}
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	renewal, restore := renewalPrice(live, anyDomain{}, vatRate), restorePrice(live, anyDomain{}, vatRate)
	for customer, rate := range rates {
		want := lifecycle.RenewalPrice{Gross: billing.Gross(order.NetPrice(de, order.Renew, de.Term()), rate), Years: de.Term(), RateBasisPoints: rate}
		if got := renewal(t.Context(), lifecycle.Domain{Customer: customer, TLD: ".com"}, now); got != want {
			t.Errorf("%s: %+v, want %+v", customer, got, want)
		}
		net := order.NetPrice(de, order.Restore, de.Term())
		if got, ok := restore(t.Context(), lifecycle.Term{Customer: customer, TLD: ".com", End: now}, now); !ok || got != billing.Gross(net, rate) {
			t.Errorf("%s: restored for %d, want %d", customer, got, billing.Gross(net, rate))
		}
	}
	if got := renewal(t.Context(), lifecycle.Domain{Customer: "unknown", TLD: ".com"}, now); got.Gross != 0 {
		t.Errorf("a price at an unknown rate: %+v", got)
	}
}
