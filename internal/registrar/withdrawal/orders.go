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

// RelatedOrder is an order that a withdrawal may concern, with what the operator needs to
// decide: whether the consumer consented to an early start.
type RelatedOrder struct {
	ID string
	// PaidAt is zero for an unpaid order.
	PaidAt time.Time
	// ConsentAt is when the consumer expressly asked us to begin before the withdrawal
	// period was over, and ConsentVersion the version of the text. Both are zero without
	// consent: for businesses, and for orders completed by an agent.
	ConsentAt      time.Time
	ConsentVersion string
}

// Limits of the search in a notice's text.
const (
	maxMentions = 4
	maxOrders   = 3
	orderPrefix = "ord_"
)

// ListRelatedOrders returns the orders that a withdrawal may concern: those whose number
// it mentions, and the newest paid ones for each domain it mentions. They are for the
// operator only; the sender must not learn whether there are any.
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

// parseMentions extracts order numbers and domains, as A-labels, from a contract description.
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

// addOrderData adds the orders to the operator's mail.
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
