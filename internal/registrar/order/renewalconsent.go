package order

import (
	"context"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

// A person who pays an order may agree to automatic renewal of its domains. The order keeps
// what they were shown; the consent itself (package renewal) is stored when a domain becomes
// active, if a payment method was saved. Agents can't agree.

// RenewalConsent is the agreement to automatic renewal that an order was paid with.
type RenewalConsent struct {
	Wording          string // see package renewal; empty if there is no agreement
	At               time.Time
	Session, Address string
}

// TermPrice is the price of one more term.
type TermPrice struct {
	Years int
	Gross registrar.Cents
}

// ItemRenewalPrices returns the current prices of automatic renewal of an order's items, by
// item id, at the order's VAT rate: those of the list, and for a premium name what the registry
// stated when the order was last quoted. A premium name for which it stated none is left out: its
// customer can turn automatic renewal on later, at the price of that day.
func (s *Service) ItemRenewalPrices(o Order) map[string]TermPrice {
	prices := make(map[string]TermPrice, len(o.Items))
	for _, item := range o.Items {
		extension, listed := s.cfg.Extension(item.TLD)
		if !listed || extension.Renew <= 0 {
			continue
		}
		years := extension.Term()
		net := NetPrice(extension, Renew, years)
		if !item.PremiumFee.IsZero() {
			net = item.PremiumRenewal
		}
		if net > 0 {
			prices[item.ID] = TermPrice{Years: years, Gross: billing.Gross(net, o.Totals.RateBasisPoints)}
		}
	}
	return prices
}

// FormatRenewalPrices is what a page submits of the prices that it showed: the cents of
// each item in the order's sequence, 0 for one that is not renewed.
func FormatRenewalPrices(o Order, prices map[string]TermPrice) string {
	cents := make([]string, len(o.Items))
	for i, item := range o.Items {
		cents[i] = strconv.FormatInt(int64(prices[item.ID].Gross), 10)
	}
	return strings.Join(cents, ",")
}

// agreeToRenewal stores in the order whether its payer agrees to automatic renewal. It
// returns RenewalChanged if they were shown something else, and withdrawal.NoticeOpen if that is
// because a notice has arrived.
func (s *Service) agreeToRenewal(ctx context.Context, actor registrar.Actor, o *Order, confirmation Confirmation) error {
	o.dropRenewal()
	if !confirmation.AutoRenew {
		return nil
	}
	notices, err := s.openNotices(ctx, *o)
	if err != nil {
		return err
	}
	all := s.ItemRenewalPrices(*o)
	prices := withoutNotices(all, notices)
	switch {
	case s.cfg.IsRenewalWording == nil || !s.cfg.IsRenewalWording(confirmation.RenewalWording) || len(all) == 0:
		return fail(registrar.KindConflict, RenewalChanged)
	case len(prices) > 0 && confirmation.RenewalPrices == FormatRenewalPrices(*o, prices):
	case showedBeforeNotices(confirmation.RenewalPrices, *o, all, notices):
		return fail(registrar.KindConflict, withdrawal.NoticeOpen)
	default:
		return fail(registrar.KindConflict, RenewalChanged)
	}
	o.AutoRenew = true
	o.Renewal = RenewalConsent{Wording: confirmation.RenewalWording, At: s.now(), Session: actor.Through}
	if actor.Address.IsValid() {
		o.Renewal.Address = actor.Address.String()
	}
	for i := range o.Items {
		price := prices[o.Items[i].ID]
		o.Items[i].RenewalYears, o.Items[i].RenewalGross = price.Years, price.Gross
	}
	return nil
}

// openNotices returns the kinds of the open notices about the contracts of the domains that an order
// renews or restores, by item id.
func (s *Service) openNotices(ctx context.Context, o Order) (map[string][]withdrawal.Kind, error) {
	var domains []string
	for _, item := range o.Items {
		if item.Kind.ForHeldDomain() && item.Domain != "" {
			domains = append(domains, item.Domain)
		}
	}
	if len(domains) == 0 {
		return nil, nil
	}
	notices, err := s.cfg.OpenNotices(ctx, o.Customer, domains)
	if err != nil {
		return nil, err
	}
	byItem := make(map[string][]withdrawal.Kind)
	for _, item := range o.Items {
		if kinds := notices[item.Domain]; len(kinds) > 0 && item.Kind.ForHeldDomain() {
			byItem[item.ID] = kinds
		}
	}
	return byItem, nil
}

// withoutNotices leaves out the items whose domains can't renew automatically because of a notice.
func withoutNotices(prices map[string]TermPrice, notices map[string][]withdrawal.Kind) map[string]TermPrice {
	prices = maps.Clone(prices)
	maps.DeleteFunc(prices, func(item string, _ TermPrice) bool { return len(notices[item]) > 0 })
	return prices
}

// showedBeforeNotices reports whether a page showed the current prices before some of the notices
// arrived: an item with a notice has its price or was not offered.
func showedBeforeNotices(shown string, o Order, prices map[string]TermPrice, notices map[string][]withdrawal.Kind) bool {
	cents := strings.Split(shown, ",")
	if len(cents) != len(o.Items) || len(notices) == 0 {
		return false
	}
	for i, item := range o.Items {
		unoffered := len(notices[item.ID]) > 0 && cents[i] == "0"
		if !unoffered && cents[i] != strconv.FormatInt(int64(prices[item.ID].Gross), 10) {
			return false
		}
	}
	return true
}

// dropRenewal removes the agreement: whoever pays next gives their own.
func (o *Order) dropRenewal() {
	o.AutoRenew, o.Renewal = false, RenewalConsent{}
	for i := range o.Items {
		o.Items[i].RenewalYears, o.Items[i].RenewalGross = 0, 0
	}
}

// sameRenewal reports whether the payment in flight has the same agreement.
func (c Confirmation) sameRenewal(o Order) bool {
	if !c.AutoRenew || !o.AutoRenew {
		return c.AutoRenew == o.AutoRenew
	}
	prices := make(map[string]TermPrice, len(o.Items))
	for _, item := range o.Items {
		prices[item.ID] = TermPrice{Gross: item.RenewalGross}
	}
	return c.RenewalWording == o.Renewal.Wording && c.RenewalPrices == FormatRenewalPrices(o, prices)
}

// RenewalPrice returns what a customer pays for the next term of a domain, with their VAT; see
// RenewalPrices.
func (s *Service) RenewalPrice(ctx context.Context, customer string, term RenewalTerm) (RenewalPrice, error) {
	prices, err := s.RenewalPrices(ctx, customer, []RenewalTerm{term})
	if err != nil {
		return RenewalPrice{}, err
	}
	return prices[term], prices[term].Err
}
