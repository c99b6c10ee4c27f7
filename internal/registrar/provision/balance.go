package provision

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// balanceInterval is how often a registry is asked for the balance of an account, lowInterval how
	// often while it is low: the warning ends soon after a deposit.
	balanceInterval = time.Hour
	lowInterval     = 5 * time.Minute
)

// queryBalance asks for the balance of an account, unless a node has done so within the interval,
// and returns when to look again, all by the business time: its readers compare the answer with
// bookings. The caller holds the lease of the account.
func (s *Service) queryBalance(ctx context.Context, account string, due time.Time) (next time.Time, err error) {
	now := s.cfg.Now()
	if now.Before(due) {
		return due, nil
	}
	last, known, err := s.cfg.Domains.QueriedBalance(ctx, account)
	if err != nil {
		return now, err
	}
	newest, reported, err := s.cfg.Domains.NewestBalance(ctx, account) // a message may say that it is low
	if err != nil {
		return now, err
	}
	interval := balanceInterval
	if reported && newest.Details.Balance != nil && newest.Details.Balance.IsLow() {
		interval = lowInterval
	}
	if due = last.StoredAt.Add(interval); known && now.Before(due) && !now.Before(last.StoredAt) {
		return now.Add(min(lowInterval, due.Sub(now))), nil
	}
	call, cancel := s.items.CallContext(ctx)
	defer cancel()
	balance, err := s.accountByName(account).Balance(call)
	switch {
	case err != nil && registrar.IsTransient(err):
		return now, err // at the next poll
	case registrar.KindOf(err) == registrar.KindUnsupported:
		return now.Add(balanceInterval), nil
	case err != nil:
		return now.Add(balanceInterval), err
	}
	return now.Add(lowInterval), s.cfg.Domains.StoreQueriedBalance(ctx, account, balance, now, s.cfg.Now())
}
