package provision

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
)

// A poller renews its lease every pollerRenewal and stops if it could not for
// pollerPatience: with the grace of a call in flight, that is before the lease ends.
const (
	pollerLease    = 20 * time.Second
	pollerRenewal  = 5 * time.Second
	pollerPatience = 12 * time.Second
)

// pollMessages fetches the messages of one account while this node holds its lease, until
// ctx ends.
func (s *Service) pollMessages(ctx context.Context, account NamedAccount) {
	logged, loggedBalance := "", "" // the last logged reasons; empty after a success
	for {
		_ = s.withPollerLease(ctx, account.Name, func(ctx context.Context) error { // another node has it, or the database is down
			ticker := time.NewTicker(cmp.Or(account.PollInterval, defaultPollInterval))
			defer ticker.Stop()
			for balanceDue := (time.Time{}); ; {
				_, err := s.poll(ctx, account.Name, nil)
				logged = s.logPollFailure(ctx, account.Name, logged, err)
				balanceDue, err = s.queryBalance(ctx, account.Name, balanceDue)
				loggedBalance = s.logPollFailure(ctx, account.Name, loggedBalance, err)
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-ticker.C:
				}
			}
		})
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollerRenewal):
		}
	}
}

// logPollFailure logs each reason once and returns the last logged one.
func (s *Service) logPollFailure(ctx context.Context, account, logged string, err error) string {
	var cause *registrar.Cause
	switch {
	case err == nil:
		return ""
	case ctx.Err() != nil, errors.As(err, &cause) && cause.Outage: // outages are logged by the connector
	case logged != err.Error()+registrar.CauseOf(err):
		logged = err.Error() + registrar.CauseOf(err)
		s.cfg.Logger.WarnContext(ctx, "registry poll failed", "account", account, registrar.LogFailure(err))
	}
	return logged
}

// withPollerLease runs poll while this node holds the lease of an account; its context ends
// when the lease may be lost. It returns inbox.PolledElsewhere if another node has it.
func (s *Service) withPollerLease(ctx context.Context, account string, poll func(context.Context) error) error {
	claim := func(ctx context.Context) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, pollerRenewal)
		defer cancel()
		now := s.items.Now()
		return s.cfg.Domains.ClaimRegistryPoller(ctx, account, s.cfg.Node, now, now.Add(pollerLease))
	}
	if held, err := claim(ctx); err != nil || !held {
		return cmp.Or(err, error(&registrar.Error{Kind: registrar.KindConflict, Code: inbox.PolledElsewhere}))
	}
	leased, stop := context.WithCancel(ctx)
	renewing := make(chan struct{})
	go func() {
		defer close(renewing)
		defer stop()
		ticker := time.NewTicker(pollerRenewal)
		defer ticker.Stop()
		for renewed := time.Now(); time.Since(renewed) < pollerPatience; {
			select {
			case <-leased.Done():
				return
			case <-ticker.C:
			}
			switch held, err := claim(leased); {
			case err == nil && !held:
				return // another node has it
			case err == nil:
				renewed = time.Now()
			}
		}
	}()
	defer func() {
		stop()
		<-renewing
		release, cancel := s.items.StoreContext(ctx)
		defer cancel()
		_ = s.cfg.Domains.ReleaseRegistryPoller(release, account, s.cfg.Node, s.items.Now()) // otherwise the lease ends by itself
	}()
	return poll(leased)
}

// Poll fetches all queued messages of an account. Each is stored, and the rows it concerns
// made due, before it is acknowledged. onMessage may be nil. It returns inbox.PolledElsewhere if
// another node polls the account.
func (s *Service) Poll(ctx context.Context, account string, onMessage func(inbox.Message)) (taken int, err error) {
	if s.accountByName(account) == nil {
		return 0, &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.NoRegistryAccount}
	}
	err = s.withPollerLease(ctx, account, func(ctx context.Context) (err error) {
		taken, err = s.poll(ctx, account, onMessage)
		return err
	})
	return taken, err
}

func (s *Service) poll(ctx context.Context, account string, onMessage func(inbox.Message)) (taken int, err error) {
	registry := s.accountByName(account)
	for last := ""; ctx.Err() == nil; {
		call, cancel := s.items.CallContext(ctx)
		message, err := registry.NextMessage(call)
		cancel()
		if err != nil || message == nil {
			return taken, err
		}
		if message.ID == last { // acknowledged but still queued: retry at the next poll
			return taken, &registrar.Error{Kind: registrar.KindUpstream, Code: registrar.FaultBroken, Detail: "acknowledged message is still queued"}
		}
		if _, err := s.cfg.Domains.StoreRegistryMessage(ctx, account, *message, s.cfg.Now(), s.items.Now()); err != nil {
			return taken, err
		}
		failpoint.Hit("message_stored")
		s.items.Wake()
		s.domains.Wake()
		if onMessage != nil {
			onMessage(*message)
		}
		call, cancel = s.items.CallContext(ctx)
		err = registry.Acknowledge(call, message.ID)
		cancel()
		if err != nil {
			return taken, err
		}
		failpoint.Hit("message_gone")
		s.cfg.OnMessage(account)
		taken++
		last = message.ID
	}
	return taken, ctx.Err()
}
