package app

import (
	"slices"
	"testing"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func TestSales_DecidedByPaymentsPricesAndAccounts(t *testing.T) {
	t.Parallel()
	list, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	account := config.EPP{
		Name: "gateway", Server: "epp.example:700", User: "gateway", Password: "secret-1", Extensions: []string{"*", "!.gr", "!.ph"}, Connections: 1,
	}
	shop := func(cfg config.Config) order.Sales {
		t.Helper()
		registries, err := OpenRegistries(cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(registries.Close)
		return NewSales(cfg, registries)
	}
	count := func(s order.Sales) (unsold map[registrar.Code][]string) {
		unsold = make(map[registrar.Code][]string)
		for _, ext := range list.All() {
			if sale := s.SaleOf(ext); sale.NoRegistration != "" {
				unsold[sale.NoRegistration] = append(unsold[sale.NoRegistration], ext.TLD)
			}
		}
		return unsold
	}
	var cfg config.Config
	if unsold := count(shop(cfg)); len(unsold[order.NotServed]) != list.Len() {
		t.Errorf("without a payment provider: %v", unsold)
	}
	cfg.Stripe.SecretKey = "sk_test_1"
	if unsold := count(shop(cfg)); len(unsold[registrar.NoRegistryAccount]) != list.Len() {
		t.Errorf("without a registry account: %v", unsold)
	}
	cfg.EPP = []config.EPP{account}
	unsold := count(shop(cfg))
	if got := unsold[registrar.NoRegistryAccount]; !slices.Equal(got, []string{".gr", ".ph"}) {
		t.Errorf("no account for %v", got)
	}
	if got := unsold[provision.NotEligible]; len(got) != 16 || slices.Contains(got, ".eu") || !slices.Contains(got, ".it") {
		t.Errorf("rules that can't be met: %v", got)
	}
	if len(unsold) != 2 {
		t.Errorf("not sold: %v", unsold)
	}
	uk, _ := list.Extension(".co.uk")
	if sale := shop(cfg).SaleOf(uk); sale.NoRegistration != "" || sale.NoTransfer != provision.NoInboundTransfer {
		t.Errorf(".co.uk: %+v", sale)
	}
}
