package crash

import (
	"context"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

// CardEmpty is a card without sufficient funds.
const CardEmpty = "4000000000009995"

// AnnounceRenewal stores the consent to renew a registered domain automatically, and the
// announcement of its charge, which is due now.
func (s *Shop) AnnounceRenewal(ctx context.Context, name string, gross registrar.Cents) error {
	domain, found, err := s.DB.DomainByName(ctx, name)
	if err != nil || !found {
		return fmt.Errorf("crash: domain %s: %t, %w", name, found, err)
	}
	now := time.Now()
	return s.DB.SQL().Write(ctx, func(tx sqldb.DBTX) error {
		if _, err := tx.ExecContext(ctx, "UPDATE domains SET at_term_end = 'renew' WHERE id = $1", domain.ID); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO renewal_consents (id, domain_id, customer_id, name, wording, years, gross, charge_at, method, through, address, given_at)
			VALUES ($1, $2, $3, $4, 'test', 1, $5, 0, 'Visa •••• 4242', 'ses_1', '', $6)`,
			registrar.NewID("con_", now), domain.ID, domain.Customer, name, int64(gross), now.UnixMicro()); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO renewals (domain_id, term_end, customer_id, name, tld, state, years, gross, announced_at, charge_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, 'announced', 1, $6, $7, $8, $8)`,
			domain.ID, domain.PaidUntil.UnixMicro(), domain.Customer, name, domain.TLD, int64(gross), now.Add(-30*24*time.Hour).UnixMicro(), now.Add(-time.Minute).UnixMicro())
		return err
	})
}

// Renewal returns the first renewal of a domain.
func (s *Shop) Renewal(ctx context.Context, name string) (renewal.Renewal, error) {
	for row, err := range s.DB.ReconciliationRenewals(ctx) {
		if err != nil || row.Name == name {
			return row, err
		}
	}
	return renewal.Renewal{}, fmt.Errorf("crash: no renewal of %s", name)
}

// WaitRenewal waits until the renewal of a domain satisfies a condition.
func (s *Shop) WaitRenewal(ctx context.Context, name string, done func(renewal.Renewal) bool) (row renewal.Renewal, err error) {
	err = RetryUntil(ctx, "the renewal of "+name, func() (bool, error) {
		if row, err = s.Renewal(ctx, name); err != nil {
			return false, err
		}
		return done(row), fmt.Errorf("it is %+v", row)
	})
	return row, err
}
