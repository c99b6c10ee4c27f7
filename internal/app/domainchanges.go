package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
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

func (p *App) startDomainChanges(context.Context) error {
	ended := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_domain_changes_total",
		Help: "Finished domain changes, by kind (nameservers, ds_add, ds_remove, lock, unlock, auth_code, holder, secure) and state (done, refused).",
	}, []string{"kind", "state"})
	initCounters(ended, labelValues(domainchange.Nameservers, domainchange.AddDS, domainchange.RemoveDS, domainchange.Lock, domainchange.Unlock, domainchange.AuthCode, domainchange.UpdateRegistrant, domainchange.Secure),
		labelValues(domainchange.StatusDone, domainchange.StatusRefused))
	if err := p.metrics.Register(ended); err != nil {
		return err
	}
	var err error
	p.changes, err = domainchange.New(domainchange.Config{
		RateLimit: func(actor registrar.Actor) time.Duration { return p.limits.names.Spend(actor, registrar.ForDisplay, 1) },
		Store:     p.services.DB, Registries: p.lookups.Registries.changeRegistries(), Seal: p.services.keys.Seal(), Node: p.node, Now: p.now, Logger: p.logger,
		MailQueued: p.services.mail.wake, CheckRestrictions: p.changeRefusal, CheckEligibility: p.checkRegistrant, RecordError: jobErrorRecorder(p.admin, admin.JobChange, p.logger),
		OnChangeEnded: func(kind domainchange.ChangeKind, state domainchange.ChangeStatus) {
			ended.WithLabelValues(string(kind), string(state)).Inc()
		},
	})
	if err != nil {
		return err
	}
	p.background = append(p.background, p.changes.Run)
	return nil
}

// checkRegistrant checks a registrant against the requirements of an extension.
func (p *App) checkRegistrant(ctx context.Context, customer, tld string, registrant registrar.Registrant) error {
	verified, err := p.services.DB.VerifiedName(ctx, customer)
	if err != nil {
		return registrar.DatabaseError(err)
	}
	return registrar.CheckRegistrant(p.live.Extension, []string{tld}, registrant, verified)
}
