package provision

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// beginRenewal is the first step of a renewal: the registry's present expiry is
// stored, by which it is recognised later whether the renewal was carried out.
func (r *run) beginRenewal(ctx, call context.Context) bool {
	domain, err := r.renewing(call)
	if err != nil {
		return r.settle(ctx, err)
	}
	record, err := r.account.Record(call, r.line.Name)
	switch {
	case err != nil:
		return r.settle(ctx, err)
	case record.Redemption:
		return r.settle(ctx, &registrar.Error{Kind: registrar.KindConflict, Code: NotRenewable, Detail: "it was deleted"})
	case renewedAlready(domain, record, r.line.Years):
		return r.renew(ctx, call, record.Expires)
	}
	line := r.line
	line.RenewFrom = record.Expires
	if !r.advance(ctx, line, StateRequested) {
		return false
	}
	boundary(atRequested)
	return true
}

// renewing is the domain that the line renews.
func (r *run) renewing(ctx context.Context) (Domain, error) {
	domain, found, err := r.cfg.Domains.DomainByName(ctx, r.line.Name)
	if err == nil && (!found || domain.ID != r.line.Domain || domain.Customer != r.line.Customer || domain.Status == domainTransferredOut) {
		err = &registrar.Error{Kind: registrar.KindConflict, Code: NotYours}
	}
	return domain, err
}

// renewedAlready says that the registry has the domain for the whole new term:
// many renew by themselves at the end of one. A registry that tells no expiry has
// no terms, and then only the customer's moves.
func renewedAlready(domain Domain, record Record, years int) bool {
	return record.Expires.IsZero() || !record.Expires.Add(shortBy).Before(domain.PaidUntil.AddDate(years, 0, 0))
}

// renew ends a renewal well: the customer's term grows by what was paid for.
func (r *run) renew(ctx, call context.Context, expires time.Time) bool {
	domain, err := r.renewing(call)
	if err == nil && domain.Status == domainExpired {
		err = r.account.Unhold(call, r.line.Name, r.line.ID+"-u")
	}
	switch {
	case err != nil && waits(err):
		return r.wait(ctx, err)
	case domain.ID != r.line.Domain: // the name is somebody else's by now, or nobody's
		return r.settle(ctx, err)
	case err != nil:
		// The registry has renewed it, so the money is spent and the term is the
		// customer's, whatever else stands in the way.
		r.cfg.Logger.ErrorContext(ctx, "a renewed domain can't be put back into the zone; somebody has to look", "line", r.line.ID,
			"extension", r.line.TLD, "detail", err.Error())
	}
	now := r.cfg.Now()
	line := r.line
	line.State = StateActive
	return r.end(ctx, Move{Line: line, Deed: r.deed(ActionRenewed), Renew: &Renewal{
		Domain: domain.ID, From: domain.PaidUntil, Until: domain.PaidUntil.AddDate(line.Years, 0, 0),
		RegistryExpires: expires, SyncDue: r.clock().Add(followEvery), At: now,
	}})
}
