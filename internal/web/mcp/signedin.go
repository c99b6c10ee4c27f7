package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// The domain services behind these tools come with the customers' accounts.
var errNotServed = errors.New("this part of the service is not there")

// errNoOrders says that no payment provider is set, so there are no orders.
var errNoOrders = &registrar.Error{Kind: registrar.KindUnsupported, Code: order.NotServed}

func (s *Server) listMyDomains(ctx context.Context, state *requestState, _ arguments) (any, error) {
	if s.cfg.Domains == nil {
		return nil, errNotServed
	}
	domains, err := s.cfg.Domains.List(ctx, *state.caller)
	if err != nil {
		return nil, err
	}
	if domains == nil {
		domains = []Domain{}
	}
	return struct {
		Domains []Domain `json:"domains"`
	}{domains}, nil
}

const (
	// maxItems bounds an order; the portal's basket ends there too.
	maxItems = 20
	// maxYears is the longest term that any registry sells.
	maxYears = 10
)

// orderTerms are arguments that would change what an order costs, or for whom it is,
// if start_order read them beside its items. Clients may add arguments of their own to
// every call, so others are ignored there; ignoring one of these would prepare an
// order that the caller did not ask for. They are written in lower case, without
// separators.
var orderTerms = []string{
	"years", "year", "period", "term", "duration", "quantity", "price", "maxprice", "maxpriceeur", "budget", "currency",
	"coupon", "voucher", "discount", "promocode", "holderid", "holder", "registrant", "contact", "customerid", "autorenew",
	"domain", "domains", "type", "premium", "paymentmethod", "dryrun",
}

func refuseUnreadTerms(args arguments) error {
	for _, name := range slices.Sorted(maps.Keys(args)) {
		plain := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
		if name != "dryRun" && slices.Contains(orderTerms, plain) && args.given(name) {
			return wrongArgument("%s is not an argument of start_order. It takes items and dryRun, and the order would not follow anything else.", shortened(name))
		}
	}
	return nil
}

func (s *Server) startOrder(ctx context.Context, state *requestState, args arguments) (any, error) {
	if err := refuseUnreadTerms(args); err != nil {
		return nil, err
	}
	wishes, err := readWishes(args)
	if err != nil {
		return nil, err
	}
	dryRun, err := args.flag("dryRun")
	if err != nil {
		return nil, err
	}
	if s.cfg.Orders == nil {
		return nil, errNoOrders
	}
	return s.cfg.Orders.Start(ctx, *state.caller, wishes, dryRun)
}

func readWishes(args arguments) ([]Wish, error) {
	if !args.given("items") {
		return nil, wrongArgument("The argument items is missing.")
	}
	var items []arguments
	if err := json.Unmarshal(args["items"], &items); err != nil {
		return nil, wrongArgument("The argument items must be a list of objects with domain and type.")
	}
	if len(items) == 0 || len(items) > maxItems {
		return nil, wrongArgument("The argument items must have between 1 and %d entries.", maxItems)
	}
	wishes := make([]Wish, 0, len(items))
	for _, item := range items {
		domain, err := item.text("domain")
		if err != nil {
			return nil, err
		}
		kind, err := item.text("type")
		if err != nil {
			return nil, err
		}
		if kind != "register" && kind != "transfer" {
			return nil, wrongArgument("The type of an item must be register or transfer.")
		}
		if err := item.only("domain", "type", "years"); err != nil {
			return nil, err
		}
		years, err := item.number("years", 0, 1, maxYears)
		if err != nil {
			return nil, err
		}
		wishes = append(wishes, Wish{Domain: domain, Type: kind, Years: years})
	}
	return wishes, nil
}

func (s *Server) getOrderStatus(ctx context.Context, state *requestState, args arguments) (any, error) {
	id, err := args.text("orderId")
	if err != nil {
		return nil, err
	}
	if s.cfg.Orders == nil || !couldBeID(id) {
		return nil, ErrNotFound
	}
	return s.cfg.Orders.Status(ctx, *state.caller, id)
}

// couldBeID says that a text can name something at all. Not every database takes
// every text, and would make an error of ours out of it.
func couldBeID(text string) bool {
	const longest = 64
	return len(text) <= longest && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}
