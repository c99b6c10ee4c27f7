package provision

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// balanceInterval is how often a registry is asked for the balance of an account.
const balanceInterval = time.Hour

// queryBalance asks for the balance of an account, unless a node has done so within the interval,
// and returns when to ask next, all by the business time: its readers compare the answer with
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
	if due = last.StoredAt.Add(balanceInterval); known && now.Before(due) && !now.Before(last.StoredAt) {
		return due, nil
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
	return now.Add(balanceInterval), s.cfg.Domains.StoreQueriedBalance(ctx, account, balance, now, s.cfg.Now())
}
