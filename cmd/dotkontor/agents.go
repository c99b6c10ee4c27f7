package main

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
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
type agentDomains struct{ holdings *holding.Service }

var _ mcp.Domains = agentDomains{}

// List returns the caller's own domains.
func (d agentDomains) List(ctx context.Context, who mcp.Caller) ([]mcp.Domain, error) {
	ctx, cancel := context.WithTimeout(ctx, listDomainsWithin)
	defer cancel()
	held, err := d.holdings.List(ctx, who.Actor())
	if err != nil {
		return nil, databaseFault(err)
	}
	domains := make([]mcp.Domain, 0, len(held))
	for _, domain := range held {
		entry := mcp.Domain{Domain: domain.Name, TLD: domain.TLD, Status: string(domain.Status), AutoRenew: domain.Renews()}
		if !domain.PaidUntil.IsZero() {
			until := domain.PaidUntil.UTC().Format(time.RFC3339)
			entry.ExpiresAt = &until
		}
		domains = append(domains, entry)
	}
	return domains, nil
}

// agentOrders lets the MCP endpoint prepare orders and say how they stand.
type agentOrders struct {
	orders    *order.Service
	access    *access.Service
	catalogue *catalog.Live
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
	o, err := a.orders.Start(ctx, who.Actor(), req)
	var refused *order.ItemsRefused
	switch {
	case errors.As(err, &refused):
		for _, item := range refused.Items {
			problems.Items = append(problems.Items, mcp.ItemProblem{Domain: item.Name, Reason: item.Reason})
		}
		return mcp.Order{}, &problems
	case len(problems.Items) > 0:
		return mcp.Order{}, &problems
	case err != nil:
		return mcp.Order{}, databaseFault(err)
	}
	return a.prepared(o)
}

// prepared is an order as agents read it.
func (a agentOrders) prepared(o order.Order) (mcp.Order, error) {
	answer := mcp.Order{
		OrderID: o.ID, Status: string(o.State), Items: agentItems(o, false),
		Totals: mcp.Totals{
			NetEUR: o.Totals.Net, VATEUR: o.Totals.VAT, GrossEUR: o.Totals.Gross, VATRate: float64(o.Totals.RateBasisPoints) / 100,
		},
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

func agentItems(o order.Order, withStatus bool) []mcp.OrderItem {
	items := make([]mcp.OrderItem, len(o.Items))
	for i, item := range o.Items {
		items[i] = mcp.OrderItem{Domain: item.Name, Type: string(item.Kind), Years: item.Years, NetEUR: item.Net}
		if withStatus {
			items[i].Status = string(item.State)
		}
	}
	return items
}

// Status is how an order of the caller's customer stands.
func (a agentOrders) Status(ctx context.Context, who mcp.Caller, id string) (mcp.OrderStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, listDomainsWithin)
	defer cancel()
	o, err := a.orders.Get(ctx, who.Actor(), id)
	switch {
	case registrar.CodeOf(err) == order.NoSuchOrder:
		return mcp.OrderStatus{}, mcp.ErrNotFound
	case err != nil:
		return mcp.OrderStatus{}, databaseFault(err)
	}
	return mcp.OrderStatus{
		OrderID: o.ID, Status: string(o.State), CreatedAt: o.CreatedAt.UTC().Format(time.RFC3339),
		AmountEUR: o.Totals.Gross, Items: agentItems(o, true),
	}, nil
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
