package app

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
)

// outgoingRegistries are the accounts as outgoing transfers need them.
func (r *Registries) outgoingRegistries() []transferaway.NamedRegistry {
	var all []transferaway.NamedRegistry
	for _, account := range r.provisionAccounts() {
		if registry, ok := account.Account.(*epp.Provisioner); ok {
			all = append(all, transferaway.NamedRegistry{Name: account.Name, Serves: account.Serves, Registry: registry})
		}
	}
	return all
}

// startTransfersAway starts following transfers to other registrars and registers their
// metrics.
func (p *App) startTransfersAway(context.Context) (err error) {
	ended := newCounter(p.metrics, "dotkontor_outgoing_transfers_total",
		"Transfers to other registrars that ended, by state (stopped, approved, completed, cancelled, kept).",
		newLabel("state", transferaway.StateStopped, transferaway.StateApproved, transferaway.StateCompleted, transferaway.StateCancelled, transferaway.StateKept))
	p.transfersAway, err = transferaway.New(transferaway.Config{
		Store: p.services.DB, Registries: p.lookups.Registries.outgoingRegistries(), Node: p.node, Now: p.now, Logger: p.logger,
		MailQueued: p.services.mail.Wake,
		HoldsDomain: func(ctx context.Context, customer, domain string) (bool, error) {
			_, found, err := p.services.DB.GetCustomerDomain(ctx, customer, domain)
			return found, err
		},
		Forbids: func(ctx context.Context, domain string) (bool, error) {
			if locked, err := p.admin.Forbids(ctx, domain, admin.Transfer); err != nil || locked {
				return locked, err
			}
			return p.services.DB.IsDomainDisputed(ctx, domain)
		},
		OnEnded: func(state transferaway.State) { ended.WithLabelValues(string(state)).Inc() },
	})
	if err != nil {
		return err
	}
	newBacklogGauge(p.metrics, "dotkontor_outgoing_transfers_open", //nolint:contextcheck // a scrape has no context
		"Transfers to other registrars in progress, on all nodes; -1 if the database does not respond. It stops counting at 1000.", p.services.DB.CountOpenOutgoingTransfers)
	p.inBackground(p.transfersAway.Run)
	return nil
}
