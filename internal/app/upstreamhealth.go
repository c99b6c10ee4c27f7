package app

import (
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/upstream/hostlimit"
	"github.com/dotkontor/dotkontor/internal/web/operator"
)

// upstreamHealth is how somebody outside did lately. The zero value has seen nothing.
type upstreamHealth struct {
	mu                       sync.Mutex
	lastSuccess, lastFailure time.Time
	lastCode                 registrar.Code
	calls                    int
	faults                   int
}

func (l *upstreamHealth) record(ok bool, code registrar.Code) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	if ok {
		l.lastSuccess, l.lastCode = time.Now(), ""
		return
	}
	l.faults++
	l.lastFailure, l.lastCode = time.Now(), code
}

func (l *upstreamHealth) peer(group, name string) operator.Peer {
	l.mu.Lock()
	defer l.mu.Unlock()
	peer := operator.Peer{
		Group: group, Name: name, State: "well", GoodAt: l.lastSuccess, BadAt: l.lastFailure, LastError: l.lastCode, Calls: l.calls, Faults: l.faults,
	}
	switch {
	case l.lastSuccess.IsZero() && l.lastFailure.IsZero():
		peer.State = "unknown"
	case l.lastFailure.After(l.lastSuccess):
		peer.State = "resting"
	}
	return peer
}

// peers are all outside.
func (p *App) peers(look *Lookups) []operator.Peer {
	var all []operator.Peer
	for i, client := range look.Registries.Clients {
		s := client.PoolStatus()
		peer := operator.Peer{
			Group: "account", Name: look.Registries.accounts[i].Name + " (" + s.Host + ")", State: "well",
			Open: s.Open, Most: s.MaxConnections, Busy: s.Waiting, Until: s.RetryAt, LastError: s.Cause,
		}
		if s.Cause != "" {
			peer.State = "resting"
		}
		all = append(all, peer)
	}
	if p.stripe != nil {
		all = append(all, p.stripeHealth.peer("payments", "Stripe"))
	}
	if p.vies != nil {
		all = append(all, hostPeers("vat", p.vies.HostStatuses())...)
	}
	if p.services.mail.runner != nil {
		all = append(all, p.services.mail.health.peer("mail", p.cfg.Mail.Server))
	}
	return append(all, hostPeers("registry", look.hostLimiter.HostStatuses())...)
}

// hostPeers are hosts that a guard watches over.
func hostPeers(group string, standings []hostlimit.HostStatus) []operator.Peer {
	peers := make([]operator.Peer, 0, len(standings))
	for _, s := range standings {
		peer := operator.Peer{
			Group: group, Name: s.Host, State: "well", Until: s.RetryAt, Calls: s.Calls, Faults: s.Faults, Busy: s.InFlight + s.Waiting,
		}
		switch {
		case s.BreakerOpen:
			peer.State = "resting"
		case s.Paused:
			peer.State = "paused"
		}
		peers = append(peers, peer)
	}
	return peers
}
