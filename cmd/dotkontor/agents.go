package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

// How long an agent waits for the database. A lookup whose token can't be
// checked goes on without it, so that wait is the shorter one.
const (
	checkTokenWithin  = 2 * time.Second
	listDomainsWithin = 5 * time.Second
	// A registry is asked for every item.
	startOrderWithin = 15 * time.Second
)

// agentTokens tells the MCP endpoint whose a token is.
type agentTokens struct {
	access *access.Service
	// Each check is counted in one of these.
	good, bad, unchecked prometheus.Counter
}

var _ mcp.Tokens = (*agentTokens)(nil)

func newAgentTokens(tokens *access.Service, metrics *prometheus.Registry) (*agentTokens, error) {
	checks := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_token_checks_total",
		Help: "Access tokens that came with requests, by outcome: good, bad (unknown, expired or revoked), unchecked (the database did not answer).",
	}, []string{"outcome"})
	return &agentTokens{
		access: tokens,
		good:   checks.WithLabelValues("good"), bad: checks.WithLabelValues("bad"), unchecked: checks.WithLabelValues("unchecked"),
	}, metrics.Register(checks)
}

// Verify says ErrBadToken only where it is certain.
func (t *agentTokens) Verify(ctx context.Context, bearer string) (mcp.Caller, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTokenWithin)
	defer cancel()
	grant, err := t.access.Verify(ctx, bearer)
	switch {
	case errors.Is(err, &registrar.Error{Kind: registrar.KindUnauthenticated}):
		t.bad.Inc()
		return mcp.Caller{}, mcp.ErrBadToken
	case err != nil:
		t.unchecked.Inc()
		return mcp.Caller{}, databaseFault(err)
	}
	t.good.Inc()
	return mcp.Caller{Account: grant.Customer, TokenID: grant.TokenID, Kind: grant.Kind, MayWrite: grant.MayWrite}, nil
}

// agentDomains tells the MCP endpoint what a customer holds.
type agentDomains struct {
	holdings  *holding.Service
	catalogue *catalog.Live
	baseURL   string
}

var _ mcp.Domains = agentDomains{}

// List returns the caller's own domains.
func (d agentDomains) List(ctx context.Context, who mcp.Caller, which mcp.DomainFilter) ([]mcp.Domain, int, error) {
	ctx, cancel := context.WithTimeout(ctx, listDomainsWithin)
	defer cancel()
	filter := holding.Filter{Part: which.Search, PaidBefore: which.ExpiresBefore}
	held, total, err := d.holdings.Find(ctx, who.Actor(), filter, which.Limit, which.Offset)
	if err != nil {
		return nil, 0, databaseFault(err)
	}
	domains := make([]mcp.Domain, 0, len(held))
	for _, domain := range held {
		entry := mcp.Domain{
			Domain: domain.Name, TLD: domain.TLD, Status: string(domain.Status), AutoRenew: domain.Renews(),
			ManageURL: d.baseURL + page.DomainsPath + "/" + domain.ID,
		}
		if !domain.PaidUntil.IsZero() {
			until := domain.PaidUntil.UTC().Format(time.RFC3339)
			entry.ExpiresAt = &until
		}
		if extension, listed := d.catalogue.Extension(domain.TLD); listed && extension.Renew > 0 {
			entry.RenewEUR = &extension.Renew
		}
		domains = append(domains, entry)
	}
	return domains, total, nil
}

// agentOrders lets the MCP endpoint prepare orders and say how they stand.
type agentOrders struct {
	orders    *order.Service
	access    *access.Service
	catalogue *catalog.Live
	baseURL   string
}

var _ mcp.Orders = agentOrders{}

// Start prepares an order for the caller's customer.
func (a agentOrders) Start(ctx context.Context, who mcp.Caller, items []mcp.Wish, dryRun bool) (mcp.Order, error) {
	ctx, cancel := context.WithTimeout(ctx, startOrderWithin)
	defer cancel()
	req := order.Request{Channel: order.ThroughMCP, DryRun: dryRun}
	var problems mcp.NotPayable
	for _, item := range items {
		name, err := registrar.ParseName(item.Domain, func(tld string) bool { _, listed := a.catalogue.Extension(tld); return listed })
		if err != nil {
			problems.Items = append(problems.Items, mcp.ItemProblem{Domain: item.Domain, Reason: err})
			continue
		}
		req.Items = append(req.Items, order.Wanted{Name: name, Kind: order.Kind(item.Type), Years: item.Years})
	}
	if len(problems.Items) > 0 {
		if len(req.Items) == 0 {
			return mcp.Order{}, &problems
		}
		req.DryRun = true // nothing is made, but each of the other items has its reason, too
	}
	var err error
	if req.ByName, err = a.access.NameOf(ctx, who.Actor()); err != nil {
		return mcp.Order{}, databaseFault(err)
	}
	view, err := a.orders.Prepare(ctx, who.Actor(), req)
	var refused *order.ItemsRefused
	var unasked *order.ItemsUnasked
	var rejected []order.RefusedItem
	switch {
	case errors.As(err, &refused):
		rejected = slices.Concat(refused.Items, refused.Unasked)
	case errors.As(err, &unasked):
		rejected = unasked.Items
	}
	for _, item := range rejected {
		problems.Items = append(problems.Items, mcp.ItemProblem{Domain: item.Name, Reason: item.Reason})
	}
	switch {
	case len(problems.Items) > 0:
		return mcp.Order{}, &problems
	case err != nil:
		return mcp.Order{}, databaseFault(err)
	}
	return a.prepared(view)
}

// prepared is an order as agents read it.
func (a agentOrders) prepared(view order.View) (mcp.Order, error) {
	o := view.Order
	answer := mcp.Order{
		OrderID: o.ID, Status: string(o.State), Items: agentItems(o, false),
		Totals: mcp.Totals{
			NetEUR: o.Totals.Net, VATEUR: o.Totals.VAT, GrossEUR: o.Totals.Gross, VATRate: float64(o.Totals.RateBasisPoints) / 100,
		},
		Needs: needsOf(view),
	}
	if o.ID == "" {
		answer.Status = mcp.DryRun
		return answer, nil
	}
	var err error
	if answer.PaymentURL, err = a.orders.PayURL(o); err != nil {
		return mcp.Order{}, err
	}
	if answer.VerificationURL, err = a.orders.VerifyURL(o); err != nil {
		return mcp.Order{}, err
	}
	answer.ExpiresAt = o.ExpiresAt.UTC().Format(time.RFC3339)
	return answer, nil
}

// needsOf is what the customer must provide: first what concerns the whole order, then
// item by item.
func needsOf(view order.View) []mcp.Need {
	var needs []mcp.Need
	byItem := make(map[string]bool)
	for _, words := range view.Needs {
		for _, word := range words {
			byItem[word] = true
		}
	}
	for _, word := range view.Missing {
		if !byItem[word] {
			needs = append(needs, mcp.Need{What: word})
		}
	}
	for _, item := range view.Order.Items {
		for _, word := range view.Needs[item.ID] {
			needs = append(needs, mcp.Need{What: word, Domain: item.Name})
		}
	}
	return needs
}

func agentItems(o order.Order, withStatus bool) []mcp.OrderItem {
	items := make([]mcp.OrderItem, len(o.Items))
	for i, item := range o.Items {
		items[i] = mcp.OrderItem{Domain: item.Name, Type: string(item.Kind), Years: item.Years, NetEUR: item.Net}
		if withStatus {
			items[i].Status, items[i].FailedBy, items[i].Refund = string(item.State), item.Failure, refundOf(o, item)
		}
	}
	return items
}

// refundOf is what goes back for an item; nil if nothing does. The money of a failed
// item is owed before its refund has a record.
func refundOf(o order.Order, item order.Item) *mcp.Refund {
	if item.State != order.ItemFailed && item.State != order.ItemRefunded || item.Gross == 0 || o.PaidAt.IsZero() {
		return nil
	}
	refund := &mcp.Refund{Status: mcp.RefundPending, AmountEUR: item.Gross}
	for _, one := range o.Refunds {
		if one.Item == item.ID {
			refund.AmountEUR = one.Amount
			if one.Provider != "" {
				refund.Status = mcp.RefundMade
			}
		}
	}
	return refund
}

// Status is how an order of the caller's customer stands.
func (a agentOrders) Status(ctx context.Context, who mcp.Caller, id string) (mcp.OrderStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, listDomainsWithin)
	defer cancel()
	o, err := a.orders.Get(ctx, who.Actor(), id)
	if err != nil {
		return mcp.OrderStatus{}, orderFault(err)
	}
	return a.status(ctx, o)
}

// Page is some of the orders of the caller's customer.
func (a agentOrders) Page(ctx context.Context, who mcp.Caller, status string, limit, offset int) ([]mcp.OrderStatus, int, error) {
	ctx, cancel := context.WithTimeout(ctx, listDomainsWithin)
	defer cancel()
	orders, total, err := a.orders.Page(ctx, who.Actor(), order.State(status), limit, offset)
	if err != nil {
		return nil, 0, orderFault(err)
	}
	list := make([]mcp.OrderStatus, len(orders))
	for i, o := range orders {
		if list[i], err = a.status(ctx, o); err != nil {
			return nil, 0, err
		}
	}
	return list, total, nil
}

// Cancel ends an order of the caller's customer that is not paid.
func (a agentOrders) Cancel(ctx context.Context, who mcp.Caller, id string) (mcp.OrderStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, listDomainsWithin)
	defer cancel()
	o, err := a.orders.Cancel(ctx, who.Actor(), id)
	switch {
	case registrar.CodeOf(err) == order.NotOpen:
		refused := &mcp.NotCancelable{Status: string(o.State), URL: a.baseURL + page.OrdersPath + "/" + o.ID}
		if o.State.Open() {
			if refused.URL, err = a.orders.PayURL(o); err != nil {
				return mcp.OrderStatus{}, err
			}
		}
		return mcp.OrderStatus{}, refused
	case err != nil:
		return mcp.OrderStatus{}, orderFault(err)
	}
	return a.status(ctx, o)
}

// status is an order as agents read it after it was made.
func (a agentOrders) status(ctx context.Context, o order.Order) (mcp.OrderStatus, error) {
	status := mcp.OrderStatus{
		OrderID: o.ID, Status: string(o.State), CreatedAt: o.CreatedAt.UTC().Format(time.RFC3339),
		AmountEUR: o.Totals.Gross, Items: agentItems(o, true),
	}
	if !o.State.Open() {
		return status, nil
	}
	view, err := a.orders.Outstanding(ctx, o)
	if err != nil {
		return mcp.OrderStatus{}, orderFault(err)
	}
	status.Needs, status.ExpiresAt = needsOf(view), o.ExpiresAt.UTC().Format(time.RFC3339)
	if status.PaymentURL, err = a.orders.PayURL(o); err != nil {
		return mcp.OrderStatus{}, err
	}
	status.VerificationURL, err = a.orders.VerifyURL(o)
	return status, err
}

// orderFault is an error of the order service in the endpoint's terms.
func orderFault(err error) error {
	if registrar.CodeOf(err) == order.NoSuchOrder {
		return mcp.ErrNotFound
	}
	return databaseFault(err)
}

// databaseFault gives a foreign error our form, so that the log has a reason
// without words that a driver chose.
func databaseFault(err error) error {
	var ours *registrar.Error
	if errors.As(err, &ours) {
		return err
	}
	code := registrar.Code("database")
	if errors.Is(err, context.DeadlineExceeded) {
		code = "database_timeout"
	}
	return &registrar.Error{Kind: registrar.KindInternal, Code: code, Err: err}
}
