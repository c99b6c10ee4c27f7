package app

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
	"github.com/dotkontor/dotkontor/internal/web"
)

// startDatabaseWatch probes the database in the background and registers its metrics.
func (p *App) startDatabaseWatch(db *sqldb.DB) error {
	failed := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_database_errors_total",
		Help: "Database errors by class, without constraint violations and canceled calls.",
	}, []string{"class"})
	initCounters(failed, sqldb.ErrorClasses())
	db.CountErrors(func(class string) { failed.WithLabelValues(class).Inc() })
	collectors := []prometheus.Collector{failed}
	for _, trouble := range sqldb.Conditions {
		collectors = append(collectors, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name:        "dotkontor_degraded",
			Help:        "1 while a part of the service is degraded, by part and state.",
			ConstLabels: prometheus.Labels{"part": registrar.PartDatabase, "state": string(trouble)},
		}, func() float64 {
			if db.IsDegraded(trouble) {
				return 1
			}
			return 0
		}))
	}
	for _, collector := range collectors {
		if err := p.metrics.Register(collector); err != nil {
			return err
		}
	}
	p.background = append(p.background, db.WatchHealth)
	return nil
}

// degraded lists the degraded parts of the service.
func (p *App) degraded() []web.Degraded {
	var all []web.Degraded
	for _, d := range p.services.DB.SQL().Degraded() {
		all = append(all, web.Degraded{Part: registrar.PartDatabase, State: string(d.Condition), Since: d.Since})
	}
	// /readyz is public, so accounts are named in metrics and logs only.
	var since time.Time
	for _, client := range p.lookups.Registries.Clients {
		if s := client.PoolStatus(); s.Cause != "" && (since.IsZero() || s.Since.Before(since)) {
			since = s.Since
		}
	}
	if !since.IsZero() {
		all = append(all, web.Degraded{Part: registrar.PartRegistry, State: string(sqldb.Unreachable), Since: since})
	}
	return all
}
