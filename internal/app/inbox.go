package app

import (
	"context"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
)

// startInbox opens the operators' inbox of registry messages and registers its metrics.
func (p *App) startInbox(accounts []string) (err error) {
	p.inbox, err = inbox.New(inbox.Config{Store: p.services.DB, Accounts: accounts, Now: p.now})
	if err != nil {
		return err
	}
	newBacklogGauge(p.metrics, "dotkontor_registry_messages_unread",
		"Registry messages that no operator has read, on all nodes; -1 if the database does not respond. It stops counting at 1000.", p.services.DB.CountUnreadRegistryMessages)
	return p.metrics.Register(balanceCollector{p.inbox})
}

var balanceDesc = prometheus.NewDesc("dotkontor_registry_balance",
	"Available credit of a registry account, as queried every hour or in its newest low-balance message. Accounts without either are missing.", []string{"account", "currency"}, nil)

// balanceCollector reads the balances at each scrape. Accounts are configured, so the number of
// series is bounded.
type balanceCollector struct{ inbox *inbox.Service }

func (balanceCollector) Describe(descs chan<- *prometheus.Desc) { descs <- balanceDesc }

func (c balanceCollector) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	balances, err := c.inbox.Balances(ctx)
	if err != nil {
		return
	}
	for _, newest := range balances {
		balance := newest.Details.Balance
		if amount, err := strconv.ParseFloat(balance.Available, 64); err == nil {
			metrics <- prometheus.MustNewConstMetric(balanceDesc, prometheus.GaugeValue, amount, newest.Account, balance.Currency)
		}
	}
}
