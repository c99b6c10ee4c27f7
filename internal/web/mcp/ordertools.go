package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// errNoOrders is returned if no payment provider is configured.
var errNoOrders = registrar.Unsupported(order.NotServed)

const (
	maxItems = 20 // limits an order, as in the portal's basket
	maxYears = 10 // the longest term that a registry sells
)

// orderTerms are arguments that would change the price or the customer of an order if
// start_order read them. Clients may add arguments of their own to every call, so
// unknown ones are ignored; ignoring one of these would prepare an order that the
// caller did not request. They are in lower case without separators.
var orderTerms = []string{
	"years", "year", "period", "term", "duration", "quantity", "price", "maxprice", "maxpriceeur", "budget", "currency",
	"coupon", "voucher", "discount", "promocode", "holderid", "holder", "registrant", "contact", "customerid", "autorenew",
	"domain", "domains", "type", "premium", "paymentmethod", "dryrun",
}

func rejectOrderTerms(args arguments) error {
	for _, name := range slices.Sorted(maps.Keys(args)) {
		plain := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
		if name != "dryRun" && slices.Contains(orderTerms, plain) && args.has(name) {
			return newArgumentError("%s is not an argument of start_order. It takes items and dryRun; other arguments are not supported.", quoteShort(name))
		}
	}
	return nil
}

func (s *Server) startOrder(ctx context.Context, state *requestState, args arguments) (any, error) {
	if err := rejectOrderTerms(args); err != nil {
		return nil, err
	}
	items, err := readItems(args)
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
	o, err := s.cfg.Orders.Start(ctx, *state.caller, items, dryRun)
	if err != nil {
		return nil, err
	}
	o.Requirements = s.requirements(o.Needs, o.PaymentURL, o.VerificationURL)
	return o, nil
}

func readItems(args arguments) ([]Item, error) {
	if !args.has("items") {
		return nil, newArgumentError("The argument items is missing.")
	}
	var entries []arguments
	if err := json.Unmarshal(args["items"], &entries); err != nil {
		return nil, newArgumentError("The argument items must be a list of objects with domain and type.")
	}
	if len(entries) == 0 || len(entries) > maxItems {
		return nil, newArgumentError("The argument items must have between 1 and %d entries.", maxItems)
	}
	items := make([]Item, 0, len(entries))
	for _, item := range entries {
		domain, err := item.text("domain")
		if err != nil {
			return nil, err
		}
		kind, err := item.text("type")
		if err != nil {
			return nil, err
		}
		if kind != "register" && kind != "transfer" && kind != "renew" {
			return nil, newArgumentError("The type of an item must be register, transfer or renew.")
		}
		if err := item.allowOnly("domain", "type", "years", "holderId"); err != nil {
			return nil, err
		}
		years, err := item.number("years", 0, 1, maxYears)
		if err != nil {
			return nil, err
		}
		holder, err := item.optionalText("holderId")
		if err != nil {
			return nil, err
		}
		if item.has("holderId") && (kind == "renew" || !validID(holder)) {
			return nil, newArgumentError("holderId is an id from list_holders, and only of an item with the type register or transfer.")
		}
		items = append(items, Item{Domain: domain, Type: kind, Years: years, Holder: holder})
	}
	return items, nil
}

func (s *Server) getOrderStatus(ctx context.Context, state *requestState, args arguments) (any, error) {
	return s.orderByID(ctx, state, args, Orders.Status)
}

func (s *Server) cancelOrder(ctx context.Context, state *requestState, args arguments) (any, error) {
	return s.orderByID(ctx, state, args, Orders.Cancel)
}

// orderByID calls a method of Orders for the order named by the arguments.
func (s *Server) orderByID(
	ctx context.Context, state *requestState, args arguments, method func(Orders, context.Context, registrar.Actor, string) (OrderStatus, error),
) (any, error) {
	id, err := args.text("orderId")
	if err != nil {
		return nil, err
	}
	if s.cfg.Orders == nil || !validID(id) {
		return nil, ErrNotFound
	}
	o, err := method(s.cfg.Orders, ctx, *state.caller, id)
	if err != nil {
		return nil, err
	}
	o.Requirements = s.requirements(o.Needs, o.PaymentURL, o.VerificationURL)
	return o, nil
}

func (s *Server) listOrders(ctx context.Context, state *requestState, args arguments) (any, error) {
	status, err := args.optionalText("status")
	if err != nil {
		return nil, err
	}
	if status != "" && !slices.Contains(order.States(), order.State(status)) {
		return nil, newArgumentError("The argument status must be one of those in the input schema; leave it out for all orders.")
	}
	limit, offset, err := paging(args, defaultOrders, maxOrders)
	if err != nil {
		return nil, err
	}
	orders, total := []OrderStatus{}, 0
	if s.cfg.Orders != nil {
		if orders, total, err = s.cfg.Orders.Page(ctx, *state.caller, status, limit, offset); err != nil {
			return nil, err
		}
	}
	for i, o := range orders {
		orders[i].Requirements = s.requirements(o.Needs, o.PaymentURL, o.VerificationURL)
	}
	return struct {
		Orders []OrderStatus `json:"orders"`
		page
	}{orders, page{total, limit, offset}}, nil
}
