package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/office"
	"github.com/dotkontor/dotkontor/internal/registrar/steward"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
)

// stewards are the accounts as holders' changes need them.
func (r *registries) stewards() []steward.NamedRegistry {
	var all []steward.NamedRegistry
	for _, desk := range r.desks() {
		if registry, ok := desk.Account.(*epp.Desk); ok {
			all = append(all, steward.NamedRegistry{Name: desk.Name, Serves: desk.Serves, Registry: registry})
		}
	}
	return all
}

// lookAfter carries out what holders want of their domains for as long as the
// product runs.
func (p *product) lookAfter(registries *registries, catalogue *catalog.Live, now func() time.Time) (*steward.Service, error) {
	ended := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_domain_changes_total",
		Help: "Changes of domains that came to an end, by kind (nameservers, ds_add, ds_remove, lock, unlock, auth_code, holder) and state (done, refused).",
	}, []string{"kind", "state"})
	startAtZero(ended, values(steward.Nameservers, steward.AddDS, steward.RemoveDS, steward.Lock, steward.Unlock, steward.AuthCode, steward.TakeHolder, steward.Secure),
		values(steward.StateDone, steward.StateRefused))
	if err := p.metrics.Register(ended); err != nil {
		return nil, err
	}
	changes, err := steward.New(steward.Config{
		Admit: func(actor registrar.Actor) time.Duration { return p.names.Spend(actor, registrar.ForDisplay, 1) },
		Store: p.people.db, Registries: registries.stewards(), Seal: p.people.keys.Seal(), Node: p.node, Now: now, Logger: p.logger,
		LettersWaiting: p.people.post.wake, Barred: p.barred, Admits: p.admits(catalogue), SetBack: setBack(p.office, office.JobChange, p.logger),
		Ended: func(kind steward.Kind, state steward.State) { ended.WithLabelValues(string(kind), string(state)).Inc() },
	})
	if err != nil {
		return nil, err
	}
	p.background = append(p.background, changes.Run)
	return changes, nil
}

// admits checks a registrant against what the price list says that an extension demands.
func (p *product) admits(catalogue *catalog.Live) func(ctx context.Context, customer, tld string, holder steward.Holder) error {
	return func(ctx context.Context, customer, tld string, holder steward.Holder) error {
		verified, err := p.people.db.VerifiedName(ctx, customer)
		if err != nil {
			return databaseFault(err)
		}
		return registrar.CheckHolder(catalogue.Extension, []string{tld}, holder, verified)
	}
}
