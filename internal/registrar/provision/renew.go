package provision

import (
	"context"
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// beginRenewal stores the registry's current expiry, by which a later run recognises
// whether the renewal was executed. A restore begins in the same way: it may add years.
func (r *run) beginRenewal(ctx, call context.Context) error {
	domain, err := r.renewalDomain(call)
	if err != nil {
		return err
	}
	record, err := r.account.Record(call, r.item.Name)
	switch {
	case err != nil:
		return err
	case r.item.Kind == Restore:
	case record.Redemption:
		return &registrar.Error{Kind: registrar.KindConflict, Code: NotRenewable, Detail: "domain is in redemption"}
	case r.account.Rules(r.item.TLD).NoRenew, alreadyRenewed(domain, record, r.item.Years):
		// The registry charges for the term although no command was sent.
		return r.completeRenewal(ctx, call, Outcome{Expires: record.Expires})
	}
	item := r.item
	item.RenewFrom = record.Expires
	return r.advance(ctx, item, StateRequested)
}

func (r *run) renewalDomain(ctx context.Context) (Domain, error) {
	domain, found, err := r.cfg.Domains.DomainByName(ctx, r.item.Name)
	if err == nil && (!found || domain.ID != r.item.Domain || domain.Customer != r.item.Customer || domain.Status == registrar.DomainTransferredOut) {
		err = &registrar.Error{Kind: registrar.KindConflict, Code: NotYours}
	}
	return domain, err
}

// alreadyRenewed reports whether the registry has the domain for the whole new term: many
// registries renew by themselves. Without an expiry date the registry has no terms, and
// only the customer's term is extended.
func alreadyRenewed(domain Domain, record Record, years int) bool {
	return record.Expires.IsZero() || !record.Expires.Add(expiryTolerance).Before(domain.PaidUntil.AddDate(years, 0, 0))
}

// completeRenewal extends the customer's term by what was paid for. An expired or restored
// domain becomes active.
func (r *run) completeRenewal(ctx, call context.Context, outcome Outcome) error {
	domain, err := r.renewalDomain(call)
	inactive := domain.Status != registrar.DomainActive
	held := inactive || slices.Contains(domain.RegistryStatus, "clientHold")
	if err == nil && held && !domain.Suspended {
		err = r.account.Unhold(call, r.item.Name, r.item.ID+"-u")
	}
	switch {
	case err != nil && registrar.IsTransient(err), domain.ID != r.item.Domain: // or the name has another owner by now, or none
		return err
	case err != nil:
		// The registry has renewed the domain and the money is spent, so the customer gets
		// the term regardless.
		r.cfg.Logger.ErrorContext(ctx, "renewed domain still on hold, operator action required", "item", r.item.ID,
			"extension", r.item.TLD, "detail", err.Error())
	}
	now := r.cfg.Now()
	item := r.item
	item.State = StateActive
	action := ActionRenewed
	if item.Kind == Restore {
		action = ActionRestored
	}
	renewal := &Renewal{
		Domain: domain.ID, From: domain.PaidUntil, Until: domain.PaidUntil.AddDate(item.Years, 0, 0),
		RegistryExpires: outcome.Expires, SyncDue: r.items.Now().Add(syncInterval), At: now,
	}
	if inactive || held && !domain.Suspended { // pages must not show the old statuses until the next regular comparison
		renewal.SyncDue, renewal.Restored, renewal.Released = r.items.Now(), err == nil, err == nil && !domain.Suspended
	}
	return r.finish(ctx, Transition{To: item, AuditEvent: r.auditEvent(action), Charge: r.charge(outcome.Fee, now), Renewal: renewal})
}
