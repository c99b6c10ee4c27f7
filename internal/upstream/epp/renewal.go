package epp

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// renew executes a renewal.
func (p *Provisioner) renew(ctx context.Context, request provision.Request, earlier PriorAttempt) (provision.Outcome, error) {
	renewed, _, err := p.client.RenewOrFind(ctx, RenewDomain{
		Name: request.Name, Expires: request.From, Years: request.Years, ClTRID: request.Transaction,
	}, earlier)
	if ResultCode(err) == CodeValueRange {
		// The expiry differs from the one just read: the registry may have
		// auto-renewed in the meantime.
		outcome, queryErr := p.renewalOutcome(ctx, request)
		if queryErr == nil || registrar.KindOf(queryErr) == registrar.KindUpstream {
			return outcome, queryErr
		}
	}
	if err != nil {
		return provision.Outcome{}, mapBillingError(err)
	}
	return provision.Outcome{Pending: renewed.Pending(), Expires: renewed.Expires}, nil
}

// renewalOutcome queries whether a renewal was executed.
func (p *Provisioner) renewalOutcome(ctx context.Context, request provision.Request) (provision.Outcome, error) {
	info, err := p.client.InfoDomain(ctx, InfoDomain{Name: request.Name})
	switch code := ResultCode(err); {
	case code == CodeMissing || code == CodeAuthorization:
		return provision.Outcome{}, deniedError(p.client.Host(), err)
	case err != nil:
		return provision.Outcome{}, mapBillingError(err)
	case !info.Expires.Before(minRenewedExpiry(request.From, request.Years)):
		return provision.Outcome{Expires: info.Expires}, nil
	case info.Has("pendingRenew"):
		return provision.Outcome{Pending: true}, nil
	}
	return provision.Outcome{}, deniedError(p.client.Host(), nil)
}

// Unhold removes clientHold from a domain if it is set.
func (p *Provisioner) Unhold(ctx context.Context, name, transaction string) error {
	info, err := p.client.InfoDomain(ctx, InfoDomain{Name: name})
	if err != nil || !info.Has("clientHold") {
		return mapBillingError(err)
	}
	_, err = p.client.UpdateDomain(ctx, UpdateDomain{Name: name, Remove: DomainElements{Statuses: []string{"clientHold"}}, ClTRID: transaction})
	return mapBillingError(err)
}
