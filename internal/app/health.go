package app

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
	"github.com/dotkontor/dotkontor/internal/upstream/hostlimit"
	"github.com/dotkontor/dotkontor/internal/web"
	"github.com/dotkontor/dotkontor/internal/web/operator"
)

// upstreamHealth records the recent calls to an upstream, by the business time. The zero value is ready to use.
type upstreamHealth struct {
	mu                       sync.Mutex
	lastSuccess, lastFailure time.Time
	lastCode                 registrar.Code
	calls                    int
	faults                   int
}

func (l *upstreamHealth) record(ok bool, code registrar.Code, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	if ok {
		l.lastSuccess, l.lastCode = at, ""
		return
	}
	l.faults++
	l.lastFailure, l.lastCode = at, code
}

func (l *upstreamHealth) upstream(group, name string) operator.Upstream {
	l.mu.Lock()
	defer l.mu.Unlock()
	upstream := operator.Upstream{
		Group: group, Name: name, State: operator.UpstreamHealthy, GoodAt: l.lastSuccess, BadAt: l.lastFailure, LastError: l.lastCode, Calls: l.calls, Faults: l.faults,
	}
	switch {
	case l.lastSuccess.IsZero() && l.lastFailure.IsZero():
		upstream.State = operator.UpstreamUnknown
	case l.lastFailure.After(l.lastSuccess):
		upstream.State = operator.UpstreamFailing
	}
	return upstream
}

// upstreams returns the health of all upstreams, with the business times at which paused ones are
// called again.
func (p *App) upstreams() []operator.Upstream {
	all := p.readUpstreams()
	for i := range all {
		all[i].Until = p.admin.BusinessTime(all[i].Until)
	}
	return all
}

func (p *App) readUpstreams() []operator.Upstream {
	var all []operator.Upstream
	for i, client := range p.lookups.Registries.Clients {
		s := client.PoolStatus()
		upstream := operator.Upstream{
			Group: "account", Name: p.lookups.Registries.accounts[i].Name + " (" + s.Host + ")", State: operator.UpstreamHealthy,
			Open: s.Open, Most: s.MaxConnections, Busy: s.Waiting, Until: s.RetryAt, LastError: s.Cause,
		}
		if s.Cause != "" {
			upstream.State = operator.UpstreamFailing
		}
		all = append(all, upstream)
	}
	if p.stripe != nil {
		all = append(all, p.stripeHealth.upstream("payments", "Stripe"))
	}
	if p.vies != nil {
		all = append(all, hostUpstreams("vat", p.vies.HostStatuses())...)
	}
	if p.services.mail != nil {
		all = append(all, p.mailHealth.upstream("mail", p.cfg.Mail.Server))
	}
	return append(all, hostUpstreams("registry", p.lookups.hostLimiter.HostStatuses())...)
}

func hostUpstreams(group string, statuses []hostlimit.HostStatus) []operator.Upstream {
	upstreams := make([]operator.Upstream, 0, len(statuses))
	for _, s := range statuses {
		upstream := operator.Upstream{
			Group: group, Name: s.Host, State: operator.UpstreamHealthy, Until: s.RetryAt, Calls: s.Calls, Faults: s.Faults, Busy: s.InFlight + s.Waiting,
		}
		switch {
		case s.BreakerOpen:
			upstream.State = operator.UpstreamFailing
		case s.Paused:
			upstream.State = operator.UpstreamPaused
		}
		upstreams = append(upstreams, upstream)
	}
	return upstreams
}

// startDatabaseWatch probes the database in the background and registers its metrics.
func (p *App) startDatabaseWatch(db *sqldb.DB) {
	failed := newCounter(p.metrics, "dotkontor_database_errors_total",
		"Database errors by class, without constraint violations and canceled calls.", newLabel("class", sqldb.ErrorClasses()...))
	db.CountErrors(func(class string) { failed.WithLabelValues(class).Inc() })
	newCounterFunc(p.metrics, "dotkontor_database_statements_total", "Statements sent to the database, without begin and commit.", db.Statements)
	newCounterFunc(p.metrics, "dotkontor_database_commits_total", "Transactions committed; on SQLite, changes that wait together share one.", db.Commits)
	for _, trouble := range sqldb.Conditions {
		metrics := prometheus.WrapRegistererWith(prometheus.Labels{"part": registrar.PartDatabase, "state": string(trouble)}, p.metrics)
		newGauge(metrics, "dotkontor_degraded", "1 while a part of the service is degraded, by part and state.", func() float64 {
			if db.IsDegraded(trouble) {
				return 1
			}
			return 0
		})
	}
	p.inBackground(db.WatchHealth)
}

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
	if shared := p.services.shared; shared != nil {
		if s := shared.Status(); !s.Online {
			all = append(all, web.Degraded{Part: registrar.PartShared, State: string(sqldb.Unreachable), Since: s.Since})
		}
	}
	return append(all, p.degradedTerms()...)
}
