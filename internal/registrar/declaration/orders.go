package declaration

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Ordered is an order that a withdrawal may be about, with what the operator must know
// to decide: whether the consumer has asked for an early beginning.
type Ordered struct {
	ID string
	// PaidAt is zero for an order that nobody has paid.
	PaidAt time.Time
	// ConsentAt is when the consumer expressly asked us to begin before the time to
	// withdraw was over, and Wording names the words. They are zero where nobody did:
	// for businesses, and where an agent has completed the order.
	ConsentAt time.Time
	Wording   string
}

// What is looked for in the words of a declaration, and how much of what is found.
const (
	mostMentions = 4
	mostOrders   = 3
	orderPrefix  = "ord_"
)

// Orders are those that a withdrawal may be about: whose number it mentions, and the
// newest paid ones for each domain that it does. They are for the operator alone;
// whoever declares does not hear whether there are any.
func (s *Service) Orders(ctx context.Context, declared Declaration) ([]Ordered, error) {
	if declared.Kind != Withdrawal {
		return nil, nil
	}
	var all []Ordered
	for _, mention := range mentions(declared.Contract) {
		found, err := s.cfg.Store.OrdersAbout(ctx, mention, mostOrders)
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			if !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	return all, nil
}

// mentions are the numbers of orders and the domains, as A-labels, in what somebody has
// written about their contract.
func mentions(contract string) []string {
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
		if !slices.Contains(found, word) && len(found) < mostMentions {
			found = append(found, word)
		}
	}
	return found
}

// addOrders tells the operator's letter of the orders.
func addOrders(facts map[string]string, orders []Ordered) {
	facts["orders"] = strconv.Itoa(len(orders))
	stamp := func(at time.Time) string {
		if at.IsZero() {
			return ""
		}
		return at.UTC().Format(time.RFC3339)
	}
	for i, one := range orders {
		of := "order" + strconv.Itoa(i+1) + "_"
		facts[of+"id"], facts[of+"wording"] = one.ID, one.Wording
		facts[of+"paid_at"], facts[of+"consent_at"] = stamp(one.PaidAt), stamp(one.ConsentAt)
	}
}
