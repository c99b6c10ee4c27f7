package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// Database timeouts of MCP calls. A lookup proceeds without a token that can't be
// checked, so that timeout is shorter.
const (
	tokenCheckTimeout = 2 * time.Second
	listTimeout       = 5 * time.Second
	// Every item queries a registry.
	startOrderTimeout = 15 * time.Second
)

// mcpTokens verifies access tokens for the MCP endpoint.
type mcpTokens struct {
	tokens               *oauth.Service
	good, bad, unchecked prometheus.Counter
}

var _ mcp.Tokens = (*mcpTokens)(nil)

func newMCPTokens(tokens *oauth.Service, metrics *prometheus.Registry) (*mcpTokens, error) {
	checks := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_token_checks_total",
		Help: "Access tokens that came with requests, by outcome: good, bad (unknown, expired or revoked), unchecked (the database did not answer).",
	}, []string{"outcome"})
	return &mcpTokens{
		tokens: tokens,
		good:   checks.WithLabelValues("good"), bad: checks.WithLabelValues("bad"), unchecked: checks.WithLabelValues("unchecked"),
	}, metrics.Register(checks)
}

// Verify returns ErrBadToken only if the database confirms it.
func (t *mcpTokens) Verify(ctx context.Context, bearer string) (mcp.Caller, error) {
	ctx, cancel := context.WithTimeout(ctx, tokenCheckTimeout)
	defer cancel()
	grant, err := t.tokens.Verify(ctx, bearer)
	switch {
	case errors.Is(err, &registrar.Error{Kind: registrar.KindUnauthenticated}):
		t.bad.Inc()
		return mcp.Caller{}, mcp.ErrBadToken
	case err != nil:
		t.unchecked.Inc()
		return mcp.Caller{}, databaseError(err)
	}
	t.good.Inc()
	return mcp.Caller{Account: grant.Customer, TokenID: grant.TokenID, Kind: grant.Kind, MayWrite: grant.MayWrite}, nil
}

// mcpDomains lists a customer's domains for the MCP endpoint.
type mcpDomains struct {
	portfolio *portfolio.Service
	catalog   *catalog.Live
	baseURL   string
}

var _ mcp.Domains = mcpDomains{}

// List returns the caller's own domains.
func (d mcpDomains) List(ctx context.Context, caller mcp.Caller, which mcp.DomainFilter) ([]mcp.Domain, int, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	filter := portfolio.Filter{Part: which.Search, PaidBefore: which.ExpiresBefore}
	held, total, err := d.portfolio.Find(ctx, caller.Actor(), filter, which.Limit, which.Offset)
	if err != nil {
		return nil, 0, databaseError(err)
	}
	domains := make([]mcp.Domain, 0, len(held))
	for _, domain := range held {
		entry := mcp.Domain{
			Domain: domain.Name, TLD: domain.TLD, Status: string(domain.Status), AutoRenew: domain.Renews(),
			ManageURL: d.baseURL + ui.DomainsPath + "/" + domain.ID,
		}
		if !domain.PaidUntil.IsZero() {
			until := domain.PaidUntil.UTC().Format(time.RFC3339)
			entry.ExpiresAt = &until
		}
		if extension, listed := d.catalog.Extension(domain.TLD); listed && extension.Renew > 0 {
			entry.RenewEUR = &extension.Renew
		}
		domains = append(domains, entry)
	}
	return domains, total, nil
}

// mcpOrders prepares orders and reports their state for the MCP endpoint.
type mcpOrders struct {
	orders  *order.Service
	tokens  *oauth.Service
	catalog *catalog.Live
	baseURL string
}

var _ mcp.Orders = mcpOrders{}

// Start prepares an order for the caller's customer.
func (a mcpOrders) Start(ctx context.Context, caller mcp.Caller, items []mcp.Item, dryRun bool) (mcp.Order, error) {
	ctx, cancel := context.WithTimeout(ctx, startOrderTimeout)
	defer cancel()
	req := order.Request{Channel: order.ChannelMCP, DryRun: dryRun}
	var problems mcp.NotPayable
	for _, item := range items {
		name, err := registrar.ParseName(item.Domain, func(tld string) bool { _, listed := a.catalog.Extension(tld); return listed })
		if err != nil {
			problems.Items = append(problems.Items, mcp.ItemProblem{Domain: item.Domain, Reason: err})
			continue
		}
		req.Items = append(req.Items, order.RequestedItem{Name: name, Kind: order.Kind(item.Type), Years: item.Years})
	}
	if len(problems.Items) > 0 {
		if len(req.Items) == 0 {
			return mcp.Order{}, &problems
		}
		req.DryRun = true // creates nothing, but reports the reason for every other item
	}
	var err error
	if req.ByName, err = a.tokens.NameOf(ctx, caller.Actor()); err != nil {
		return mcp.Order{}, databaseError(err)
	}
	view, err := a.orders.Prepare(ctx, caller.Actor(), req)
	var refused *order.ItemsRefused
	var unasked *order.ItemsUnquoted
	var rejected []order.RefusedItem
	switch {
	case errors.As(err, &refused):
		rejected = slices.Concat(refused.Items, refused.Unquoted)
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
		return mcp.Order{}, databaseError(err)
	}
	return a.prepared(view)
}

// prepared converts an order for agents.
func (a mcpOrders) prepared(view order.View) (mcp.Order, error) {
	o := view.Order
	answer := mcp.Order{
		OrderID: o.ID, Status: string(o.State), Items: mcpItems(o, false),
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

// needsOf returns what the customer must provide: first for the whole order, then item
// by item.
func needsOf(view order.View) []mcp.Need {
	var needs []mcp.Need
	byItem := make(map[string]bool)
	for _, fields := range view.MissingByItem {
		for _, field := range fields {
			byItem[field] = true
		}
	}
	for _, field := range view.Missing {
		if !byItem[field] {
			needs = append(needs, mcp.Need{What: field})
		}
	}
	for _, item := range view.Order.Items {
		for _, field := range view.MissingByItem[item.ID] {
			needs = append(needs, mcp.Need{What: field, Domain: item.Name})
		}
	}
	return needs
}

func mcpItems(o order.Order, withStatus bool) []mcp.OrderItem {
	items := make([]mcp.OrderItem, len(o.Items))
	for i, item := range o.Items {
		items[i] = mcp.OrderItem{Domain: item.Name, Type: string(item.Kind), Years: item.Years, NetEUR: item.Net}
		if withStatus {
			items[i].Status, items[i].FailureCode, items[i].Refund = string(item.State), item.Failure, refundOf(o, item)
		}
	}
	return items
}

// refundOf returns the refund of an item, or nil. A failed item's refund is due before
// it has a record.
func refundOf(o order.Order, item order.Item) *mcp.Refund {
	if item.State != order.ItemFailed && item.State != order.ItemRefunded || item.Gross == 0 || o.PaidAt.IsZero() {
		return nil
	}
	refund := &mcp.Refund{Status: mcp.RefundPending, AmountEUR: item.Gross}
	for _, one := range o.Refunds {
		if one.Item == item.ID {
			refund.AmountEUR = one.Amount
			if one.Provider != "" {
				refund.Status = mcp.RefundCompleted
			}
		}
	}
	return refund
}

// Status returns the state of an order of the caller's customer.
func (a mcpOrders) Status(ctx context.Context, caller mcp.Caller, id string) (mcp.OrderStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	o, err := a.orders.Get(ctx, caller.Actor(), id)
	if err != nil {
		return mcp.OrderStatus{}, mcpOrderError(err)
	}
	return a.status(ctx, o)
}

// Page returns a page of orders of the caller's customer.
func (a mcpOrders) Page(ctx context.Context, caller mcp.Caller, status string, limit, offset int) ([]mcp.OrderStatus, int, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	orders, total, err := a.orders.Page(ctx, caller.Actor(), order.State(status), limit, offset)
	if err != nil {
		return nil, 0, mcpOrderError(err)
	}
	list := make([]mcp.OrderStatus, len(orders))
	for i, o := range orders {
		if list[i], err = a.status(ctx, o); err != nil {
			return nil, 0, err
		}
	}
	return list, total, nil
}

// Cancel cancels an unpaid order of the caller's customer.
func (a mcpOrders) Cancel(ctx context.Context, caller mcp.Caller, id string) (mcp.OrderStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	o, err := a.orders.Cancel(ctx, caller.Actor(), id)
	switch {
	case registrar.CodeOf(err) == order.NotOpen:
		refused := &mcp.NotCancelable{Status: string(o.State), URL: a.baseURL + ui.OrdersPath + "/" + o.ID}
		if o.State.Open() {
			if refused.URL, err = a.orders.PayURL(o); err != nil {
				return mcp.OrderStatus{}, err
			}
		}
		return mcp.OrderStatus{}, refused
	case err != nil:
		return mcp.OrderStatus{}, mcpOrderError(err)
	}
	return a.status(ctx, o)
}

// status converts a created order for agents.
func (a mcpOrders) status(ctx context.Context, o order.Order) (mcp.OrderStatus, error) {
	status := mcp.OrderStatus{
		OrderID: o.ID, Status: string(o.State), CreatedAt: o.CreatedAt.UTC().Format(time.RFC3339),
		AmountEUR: o.Totals.Gross, Items: mcpItems(o, true),
	}
	if !o.State.Open() {
		return status, nil
	}
	view, err := a.orders.Outstanding(ctx, o)
	if err != nil {
		return mcp.OrderStatus{}, mcpOrderError(err)
	}
	status.Needs, status.ExpiresAt = needsOf(view), o.ExpiresAt.UTC().Format(time.RFC3339)
	if status.PaymentURL, err = a.orders.PayURL(o); err != nil {
		return mcp.OrderStatus{}, err
	}
	status.VerificationURL, err = a.orders.VerifyURL(o)
	return status, err
}

// mcpOrderError maps an error of the order service to the endpoint's errors.
func mcpOrderError(err error) error {
	if registrar.CodeOf(err) == order.NoSuchOrder {
		return mcp.ErrNotFound
	}
	return databaseError(err)
}

// databaseError wraps a driver's error, so that its text does not reach the log.
func databaseError(err error) error {
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
