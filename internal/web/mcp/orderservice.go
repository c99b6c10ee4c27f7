package mcp

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// OrderService is Orders on top of the order service.
type OrderService struct {
	Orders    *order.Service
	Tokens    *oauth.Service
	Catalog   Catalog
	OrdersURL string // the portal's list of orders
}

// How long calls of tools may take.
const (
	readTimeout = 5 * time.Second
	// A registry is queried for every item.
	startOrderTimeout = 15 * time.Second
)

var _ Orders = OrderService{}

// Start prepares an order for the caller's customer.
func (a OrderService) Start(ctx context.Context, actor registrar.Actor, items []Item, dryRun bool) (Order, error) {
	ctx, cancel := context.WithTimeout(ctx, startOrderTimeout)
	defer cancel()
	req := order.Request{Channel: order.ChannelMCP, DryRun: dryRun}
	var problems NotPayable
	for _, item := range items {
		name, err := registrar.ParseName(item.Domain, func(tld string) bool { _, listed := a.Catalog.Extension(tld); return listed })
		if err != nil {
			problems.Items = append(problems.Items, ItemProblem{Domain: item.Domain, Reason: err})
			continue
		}
		req.Items = append(req.Items, order.RequestedItem{Name: name, Kind: order.Kind(item.Type), Years: item.Years, Holder: item.Holder})
	}
	if len(problems.Items) > 0 {
		if len(req.Items) == 0 {
			return Order{}, &problems
		}
		req.DryRun = true // nothing is made, but each of the other items has its reason, too
	}
	var err error
	if req.ByName, err = a.Tokens.NameOf(ctx, actor); err != nil {
		return Order{}, registrar.DatabaseError(err)
	}
	view, err := a.Orders.Prepare(ctx, actor, req)
	var rejected []order.RefusedItem
	if refused, ok := errors.AsType[*order.ItemsRefused](err); ok {
		rejected = slices.Concat(refused.Items, refused.Unquoted)
	} else if unquoted, ok := errors.AsType[*order.ItemsUnquoted](err); ok {
		rejected = unquoted.Items
	}
	for _, item := range rejected {
		problems.Items = append(problems.Items, ItemProblem{Domain: item.Name, Reason: item.Reason})
	}
	switch {
	case len(problems.Items) > 0:
		return Order{}, &problems
	case err != nil:
		return Order{}, registrar.DatabaseError(err)
	}
	o := view.Order
	answer := Order{OrderID: o.ID, Status: string(o.State), Items: mcpItems(o, false), Totals: httpjson.NewTotals(o.Totals)}
	if o.ID == "" {
		answer.Status, answer.Needs = DryRun, needsOf(view)
		return answer, nil
	}
	answer.Payable, err = a.payable(view)
	return answer, err
}

// payable is what a human needs to pay an order.
func (a OrderService) payable(view order.View) (p Payable, err error) {
	p.Needs, p.ExpiresAt = needsOf(view), view.Order.ExpiresAt.UTC().Format(time.RFC3339)
	if p.PaymentURL, err = a.Orders.PayURL(view.Order); err != nil {
		return Payable{}, err
	}
	p.VerificationURL, err = a.Orders.VerifyURL(view.Order)
	return p, err
}

// needsOf is what the customer must provide: first what concerns the whole order, then
// item by item.
func needsOf(view order.View) []Need {
	var needs []Need
	byItem := make(map[string]bool)
	for _, fields := range view.MissingByItem {
		for _, field := range fields {
			byItem[field] = true
		}
	}
	for _, field := range view.Missing {
		if !byItem[field] {
			needs = append(needs, Need{What: field})
		}
	}
	for _, item := range view.Order.Items {
		for _, field := range view.MissingByItem[item.ID] {
			needs = append(needs, Need{What: field, Domain: item.Name})
		}
	}
	return needs
}

func mcpItems(o order.Order, withStatus bool) []OrderItem {
	items := make([]OrderItem, len(o.Items))
	for i, item := range o.Items {
		items[i] = OrderItem{Domain: item.Name, Type: string(item.Kind), Years: item.Years, NetEUR: item.Net}
		if withStatus {
			items[i].Status, items[i].Failure, items[i].Refund = string(item.State), newItemIssue(item.Failure), refundOf(o, item)
		}
	}
	return items
}

// refundOf is the refund of an item; nil if there is none. The money of a failed
// item is owed before its refund has a record.
func refundOf(o order.Order, item order.Item) *Refund {
	if item.State != order.ItemFailed && item.State != order.ItemRefunded || item.Gross == 0 || o.PaidAt.IsZero() {
		return nil
	}
	refund := &Refund{Status: "pending", AmountEUR: item.Gross}
	for _, one := range o.Refunds {
		if one.Item == item.ID {
			refund.AmountEUR = one.Amount
			if one.Provider != "" {
				refund.Status = "refunded"
			}
		}
	}
	return refund
}

// Status returns the state of an order of the caller's customer.
func (a OrderService) Status(ctx context.Context, actor registrar.Actor, id string) (OrderStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	o, err := a.Orders.Get(ctx, actor, id)
	if err != nil {
		return OrderStatus{}, orderError(err)
	}
	return a.status(ctx, o)
}

// Page is some of the orders of the caller's customer.
func (a OrderService) Page(ctx context.Context, actor registrar.Actor, status string, limit, offset int) ([]OrderStatus, int, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	orders, total, err := a.Orders.Page(ctx, actor, order.State(status), limit, offset)
	if err != nil {
		return nil, 0, orderError(err)
	}
	list := make([]OrderStatus, len(orders))
	for i, o := range orders {
		if list[i], err = a.status(ctx, o); err != nil {
			return nil, 0, err
		}
	}
	return list, total, nil
}

// Cancel ends an order of the caller's customer that is not paid.
func (a OrderService) Cancel(ctx context.Context, actor registrar.Actor, id string) (OrderStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	o, err := a.Orders.Cancel(ctx, actor, id)
	switch {
	case registrar.CodeOf(err) == order.NotOpen:
		refused := &NotCancelable{Status: string(o.State), URL: a.OrdersURL + "/" + o.ID}
		if o.State.Open() {
			if refused.URL, err = a.Orders.PayURL(o); err != nil {
				return OrderStatus{}, err
			}
		}
		return OrderStatus{}, refused
	case err != nil:
		return OrderStatus{}, orderError(err)
	}
	return a.status(ctx, o)
}

func (a OrderService) status(ctx context.Context, o order.Order) (OrderStatus, error) {
	status := OrderStatus{
		OrderID: o.ID, Status: string(o.State), CreatedAt: o.CreatedAt.UTC().Format(time.RFC3339),
		AmountEUR: o.Totals.Gross, Items: mcpItems(o, true),
	}
	if a.Orders.IsDelayed(o) {
		status.Message = delayedMessage(o)
	}
	if !o.State.Open() {
		return status, nil
	}
	view, err := a.Orders.Outstanding(ctx, o)
	if err != nil {
		return OrderStatus{}, orderError(err)
	}
	status.Payable, err = a.payable(view)
	return status, err
}

// delayedMessage says what applies to an order that takes longer than usual, whatever the cause.
func delayedMessage(o order.Order) string {
	if o.Totals.Gross == 0 {
		return "This is taking longer than usual and is still being processed; nothing was charged. The user has nothing to do. Check again later."
	}
	return "This is taking longer than usual and is still being processed. The order was paid at " + o.PaidAt.UTC().Format(time.RFC3339) +
		"; items that can't be completed are refunded in full. The user has nothing to do and must not pay again. Check again later."
}

// orderError is an error of the order service in the endpoint's terms.
func orderError(err error) error {
	if registrar.CodeOf(err) == order.NoSuchOrder {
		return ErrNotFound
	}
	return registrar.DatabaseError(err)
}
