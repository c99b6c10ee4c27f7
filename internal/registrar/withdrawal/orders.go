package withdrawal

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// RelatedOrder is an order that a withdrawal may be about, with what the operator must know
// to decide: whether the consumer has asked for an early beginning.
type RelatedOrder struct {
	ID string
	// PaidAt is zero for an order that nobody has paid.
	PaidAt time.Time
	// ConsentAt is when the consumer expressly asked us to begin before the time to
	// withdraw was over, and Wording names the words. They are zero where nobody did:
	// for businesses, and where an agent has completed the order.
	ConsentAt      time.Time
	ConsentVersion string
}

// What is looked for in the words of a declaration, and how much of what is found.
const (
	maxMentions = 4
	maxOrders   = 3
	orderPrefix = "ord_"
)

// ListRelatedOrders are those that a withdrawal may be about: whose number it mentions, and the
// newest paid ones for each domain that it does. They are for the operator alone;
// whoever declares does not hear whether there are any.
func (s *Service) ListRelatedOrders(ctx context.Context, notice Notice) ([]RelatedOrder, error) {
	if notice.Kind != Withdrawal {
		return nil, nil
	}
	var all []RelatedOrder
	for _, mention := range parseMentions(notice.Contract) {
		found, err := s.cfg.Store.ListRelatedOrders(ctx, mention, maxOrders)
		if err != nil {
			return nil, err
		}
		for _, order := range found {
			if !slices.Contains(all, order) {
				all = append(all, order)
			}
		}
	}
	return all, nil
}

// parseMentions are the numbers of orders and the domains, as A-labels, in what somebody has
// written about their contract.
func parseMentions(contract string) []string {
	var found []string
	for _, word := range strings.FieldsFunc(contract, func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}) {
		word = strings.TrimPrefix(strings.Trim(strings.ToLower(word), "."), "www.")
		if !strings.HasPrefix(word, orderPrefix) {
			host, err := registrar.ParseHost(word)
			if err != nil || !strings.Contains(host, ".") {
				continue
			}
			word = host
		}
		if !slices.Contains(found, word) && len(found) < maxMentions {
			found = append(found, word)
		}
	}
	return found
}

// addOrderData tells the operator's letter of the orders.
func addOrderData(data map[string]string, orders []RelatedOrder) {
	data["orders"] = strconv.Itoa(len(orders))
	stamp := func(at time.Time) string {
		if at.IsZero() {
			return ""
		}
		return at.UTC().Format(time.RFC3339)
	}
	for i, order := range orders {
		of := "order" + strconv.Itoa(i+1) + "_"
		data[of+"id"], data[of+"wording"] = order.ID, order.ConsentVersion
		data[of+"paid_at"], data[of+"consent_at"] = stamp(order.PaidAt), stamp(order.ConsentAt)
	}
}
