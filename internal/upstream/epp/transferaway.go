package epp

import (
	"context"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
)

var _ transferaway.Registry = (*Provisioner)(nil)

// OutgoingRules reports what the registry lets the losing registrar do.
func (p *Provisioner) OutgoingRules(tld string) transferaway.Rules {
	policy := p.policyOf(tld)
	return transferaway.Rules{Answer: policy.Transfer == PendingTransfer && !policy.NoAnswer}
}

// QueryTransfer returns the last transfer of a domain and who sponsors it. A registry without
// a transfer to report, or that hides it from the former sponsor, still tells whether the domain
// is ours.
func (p *Provisioner) QueryTransfer(ctx context.Context, name string) (transferaway.RegistryTransfer, error) {
	last, err := p.client.TransferDomain(ctx, TransferDomain{Op: TransferQuery, Name: name})
	if err != nil && (ResultCode(err) == 0 || isUndecided(err)) {
		return transferaway.RegistryTransfer{}, mapBillingError(err)
	}
	found := transferaway.RegistryTransfer{Status: last.Status, Gaining: last.Requester, RequestedAt: last.Requested, ActsAt: last.Acts}
	info, err := p.client.InfoDomain(ctx, InfoDomain{Name: name})
	switch ResultCode(err) {
	case CodeMissing:
		found.Missing = true
		return found, nil
	case CodeAuthorization:
		return found, nil
	}
	if err == nil {
		found.Sponsor = info.Sponsor
		found.Held = strings.EqualFold(info.Sponsor, p.client.ClientID())
	}
	return found, mapBillingError(err)
}

// AnswerTransfer approves or rejects a pending transfer. A repeated answer is refused, and
// QueryTransfer tells what came of the first.
func (p *Provisioner) AnswerTransfer(ctx context.Context, name string, approve bool, transaction string) error {
	op := TransferReject
	if approve {
		op = TransferApprove
	}
	_, err := p.client.TransferDomain(ctx, TransferDomain{Op: op, Name: name, ClTRID: transaction})
	return mapBillingError(err)
}
