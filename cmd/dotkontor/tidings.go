package main

import (
	"context"
	"net/url"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/office"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/tidings"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/upstream/agenthook"
	"github.com/dotkontor/dotkontor/internal/web/acp/orderdoc"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

// tellAgents tells agents what becomes of their orders, for as long as the product
// runs. Only a service on loopback, such as a sandbox, calls addresses there.
func (p *product) tellAgents() error {
	base, err := url.Parse(p.cfg.BaseURL)
	if err != nil {
		return err
	}
	sender := agenthook.New(agenthook.Options{UserAgent: "dotkontor/" + version, Loopback: isLoopback(base.Hostname())})
	p.closers = append(p.closers, sender.Close)
	told := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_agent_messages_total",
		Help: "Attempts to tell an agent what becomes of an order, by outcome: sent, failed (and tried again, unless given up too), given_up.",
	}, []string{"outcome"})
	startAtZero(told, values(tidings.Sent, tidings.Failed, tidings.GivenUp))
	if err := p.metrics.Register(told); err != nil {
		return err
	}
	p.tidings, err = tidings.New(tidings.Config{
		Store: p.people.db, Agents: agentHooks{p.people.agents}, Orders: agentNews{p.people.db, p.cfg.BaseURL + page.OrdersPath + "/"}, Sender: sender,
		Logger: p.logger, SetBack: setBack(p.office, office.JobEvent, p.logger), Counted: func(outcome tidings.Outcome) { told.WithLabelValues(string(outcome)).Inc() },
	})
	if err != nil {
		return err
	}
	p.background = append(p.background, p.tidings.Run)
	return nil
}

// wakeTidings says that an order has changed. It never waits.
func (p *product) wakeTidings() {
	if p.tidings != nil { // it is set before anything runs
		p.tidings.Wake()
	}
}

// agentHooks knows where agents want to hear.
type agentHooks struct{ agents *agent.Service }

var _ tidings.Agents = agentHooks{}

// Hook is false if the agent is gone or wants to hear nothing.
func (h agentHooks) Hook(ctx context.Context, id string) (tidings.Hook, bool, error) {
	hook, err := h.agents.Webhook(ctx, id)
	return tidings.Hook{URL: hook.URL, Secret: hook.Secret, Version: hook.Version}, err == nil && hook.URL != "", err
}

// agentNews writes messages about orders.
type agentNews struct {
	db *store.DB
	// permalinks is the address below which people read their orders.
	permalinks string
}

var _ tidings.Orders = agentNews{}

// Event is the message about an order as it is now.
func (n agentNews) Event(ctx context.Context, id, version string, first bool) ([]byte, error) {
	o, found, err := n.db.OrderByID(ctx, id)
	if err == nil && !found {
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchOrder}
	}
	if err != nil {
		return nil, err
	}
	return orderdoc.Event(version, first, o, n.permalinks+o.ID)
}
