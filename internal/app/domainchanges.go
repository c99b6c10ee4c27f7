package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/bulk"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
)

// changeRegistries are the accounts as holders' changes need them.
func (r *Registries) changeRegistries() []domainchange.NamedRegistry {
	var all []domainchange.NamedRegistry
	for _, account := range r.provisionAccounts() {
		if registry, ok := account.Account.(*epp.Provisioner); ok {
			all = append(all, domainchange.NamedRegistry{Name: account.Name, Serves: account.Serves, Registry: registry})
		}
	}
	return all
}

func (p *App) startDomainChanges(context.Context) (err error) {
	ended := newCounter(p.metrics, "dotkontor_domain_changes_total",
		"Finished domain changes, by kind (nameservers, ds_add, ds_remove, lock, unlock, auth_code, holder, secure, hold, release) and state (done, refused, canceled).",
		newLabel("kind", domainchange.Nameservers, domainchange.AddDS, domainchange.RemoveDS, domainchange.Lock, domainchange.Unlock,
			domainchange.AuthCode, domainchange.UpdateRegistrant, domainchange.Secure, domainchange.Hold, domainchange.Release),
		newLabel("state", domainchange.StatusDone, domainchange.StatusRefused, domainchange.StatusCanceled))
	p.changes, err = domainchange.New(domainchange.Config{
		RateLimit: func(actor registrar.Actor) time.Duration { return p.limits.names.Spend(actor, registrar.ForDisplay, 1) },
		Store:     p.services.DB, Registries: p.lookups.Registries.changeRegistries(), Seal: p.services.keys.Seal(), Node: p.node, Now: p.now, Logger: p.logger,
		MailQueued: p.services.mail.Wake, CheckRestrictions: p.changeRefusal, HeldOtherwise: p.services.DB.IsHeldOtherwise, Holder: p.services.Holders.Registrant, CheckEligibility: p.checkRegistrant, RecordError: p.recordJobError(admin.JobChange),
		Sync: func(ctx context.Context, name string) error { return p.provisioning.SyncName(ctx, name) }, // set before anything runs
		OnChangeEnded: func(kind domainchange.ChangeKind, state domainchange.ChangeStatus) {
			ended.WithLabelValues(string(kind), string(state)).Inc()
		},
	})
	p.inBackground(p.changes.Run)
	return err
}

// bulkActions returns the service that changes many domains at once.
func (p *App) bulkActions() (*bulk.Service, error) {
	cfg := bulk.Config{Store: p.services.DB, Portfolio: p.services.Portfolio, Changes: p.changes, Now: p.now}
	if p.orders != nil {
		cfg.Orders, cfg.Consents = p.orders, p.consents
	}
	return bulk.New(cfg)
}

// checkRegistrant checks a registrant against the requirements of an extension and of its
// registry.
func (p *App) checkRegistrant(ctx context.Context, customer, tld string, registrant registrar.Registrant) error {
	verified, err := p.services.DB.VerifiedName(ctx, customer)
	if err != nil {
		return registrar.DatabaseError(err)
	}
	if err := registrar.CheckRegistrant(p.live.Extension, []string{tld}, registrant, verified); err != nil {
		return err
	}
	return p.lookups.Registries.checkRegistrant(tld, registrant)
}

// NewProvisioning returns a service for commands, which store and query items but don't execute them.
func NewProvisioning(cfg config.Config, services *Services, registries *Registries) (*provision.Service, error) {
	return provision.New(provisionConfig(cfg, services, registries, NewNodeName(), time.Now, slog.New(slog.DiscardHandler)))
}

func provisionConfig(
	cfg config.Config, services *Services, registries *Registries, node string, now func() time.Time, logger *slog.Logger,
) provision.Config {
	return provision.Config{
		Store: services.DB, Domains: services.DB, Accounts: registries.provisionAccounts(), Seal: services.keys.Seal(), Node: node,
		Nameservers: cfg.Registration.Nameservers, Concurrency: cfg.Registration.MaxConcurrent,
		CacheTTL: time.Duration(cfg.Orders.ReuseQuotes), MaxCached: cfg.Orders.MaxQuotes,
		Now: now, Logger: logger,
	}
}

// startProvisioning starts the execution of paid items and registers its metrics. Codes
// are constants and accounts are configured, so the number of series is bounded.
func (p *App) startProvisioning(context.Context) (err error) {
	settings := provisionConfig(p.cfg, p.services, p.lookups.Registries, p.node, p.now, p.logger)
	settings.Costs = p.costs
	var accounts []string
	for _, account := range settings.Accounts {
		accounts = append(accounts, account.Name)
	}
	ended := newCounter(p.metrics, "dotkontor_order_items_finished_total",
		"Paid order items that reached a final state, by kind (register, transfer, renew) and state (active, or failed and to be refunded).",
		newLabel("kind", provision.Register, provision.Transfer, provision.Renew, provision.Restore), newLabel("state", provision.StateActive, provision.StateFailed))
	waiting := newCounter(p.metrics, "dotkontor_order_items_waiting_total",
		"How often a paid order item had to wait, by reason. registry_billing means that a registry account has insufficient funds.",
		newLabel("code", append(faultCodes, provision.Billing)...))
	drifted := newCounter(p.metrics, "dotkontor_registry_drift_total",
		"Differences found between domains in the database and at their registry, by what differs.",
		newLabel("what", provision.DriftMissing, provision.DriftElsewhere, provision.DriftRedemption, provision.DriftShort, provision.DriftHandle))
	messages := newCounter(p.metrics, "dotkontor_registry_messages_total",
		"Registry messages stored and acknowledged, by account.", newLabel("account", accounts...))
	if err := p.startInbox(accounts); err != nil { //nolint:contextcheck // a scrape has no context
		return err
	}
	settings.RecordError = p.recordJobError(admin.JobItem)
	settings.OnItemEnded = func(kind provision.Kind, state provision.State) {
		ended.WithLabelValues(string(kind), string(state)).Inc()
		if p.orders != nil { // set before anything runs
			p.orders.Wake()
		}
	}
	settings.OnLockStored = func() { p.changes.Wake() } // set before anything runs
	settings.OnRetry = func(code registrar.Code) { waiting.WithLabelValues(string(code)).Inc() }
	settings.OnDrift = func(what provision.Drift) { drifted.WithLabelValues(string(what)).Inc() }
	settings.OnMessage = func(account string) {
		messages.WithLabelValues(account).Inc()
		p.transfersAway.Wake() // set before anything runs
	}
	p.provisioning, err = provision.New(settings)
	p.inBackground(p.provisioning.Run)
	return err
}
