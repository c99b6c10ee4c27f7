package epp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// Provisioner provisions paid items at one account, following the policies of its
// TLDs.
type Provisioner struct {
	client     *Client
	makePolicy func(tld string) Policy

	mu       sync.Mutex
	policies map[string]*Policy
}

var _ provision.Account = (*Provisioner)(nil)

// maxPolicies limits the stored policies. It is more than there are TLDs to sell.
const maxPolicies = 2000

// NewProvisioner returns a Provisioner. policyOf overrides how the account presents
// a TLD, always in the same way; nil means the table of this package.
func NewProvisioner(client *Client, policyOf func(tld string) Policy) *Provisioner {
	if policyOf == nil {
		policyOf = PolicyOf
	}
	return &Provisioner{client: client, makePolicy: policyOf, policies: make(map[string]*Policy)}
}

// policyOf returns the policy of a TLD, which must not be changed. A purchase asks for it dozens of
// times, so it is not made from the tables and the configuration each time.
func (p *Provisioner) policyOf(tld string) *Policy {
	p.mu.Lock()
	defer p.mu.Unlock()
	policy := p.policies[tld]
	if policy == nil {
		made := p.makePolicy(tld)
		policy = &made
		if len(p.policies) < maxPolicies {
			p.policies[tld] = policy
		}
	}
	return policy
}

// authCodeLength is the length of generated auth codes where the registry allows
// it.
const authCodeLength = 16

// Rules returns what the TLD's registry requires and offers.
func (p *Provisioner) Rules(tld string) provision.Rules {
	policy := p.policyOf(tld)
	rules := provision.Rules{
		Contacts: policy.NeedsContacts(), HostObjects: !policy.HostAttributes, TransferYears: policy.TransferYears,
		MaxYears: policy.MaxYears, NoRenew: policy.NoRenew, TransferLock: !policy.NoTransferLock,
	}
	if policy.Transfer == PendingTransfer {
		rules.TransferDays = cmp.Or(policy.ObjectionDays, objectionDays)
	}
	if !policy.AuthInfo.OnDemand {
		rules.CodeLength = policy.AuthInfo.generatedLength()
	}
	return rules
}

// EnsureContact creates the contact of an item or finds it.
func (p *Provisioner) EnsureContact(ctx context.Context, contact provision.Contact) (string, error) {
	id, err := p.ensureContacts(ctx, contact.TLD, contact.Handle, contact.Registrant, contact.Transaction, contact.MaybeSent)
	return id, mapBillingError(err)
}

// EnsureHosts creates the host objects that do not exist yet.
func (p *Provisioner) EnsureHosts(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := p.client.EnsureHost(ctx, CreateHost{Name: name}); err != nil {
			return mapBillingError(err)
		}
	}
	return nil
}

// createCommand builds the create command of a registration.
func (p *Provisioner) createCommand(request provision.Request) CreateDomain {
	policy := p.policyOf(request.TLD)
	q := CreateDomain{
		Name: request.Name, Years: request.Years, HostAttributes: policy.HostAttributes, AuthInfo: request.Code, ClTRID: request.Transaction,
		Fee: request.PremiumFee,
	}
	for _, server := range request.Nameservers {
		q.Nameservers = append(q.Nameservers, domainchange.Nameserver{Name: server})
	}
	if policy.NeedsContacts() {
		q.Registrant, q.Contacts = request.Handle, policy.roleHandles(request.Handle, request.Registrant)
	}
	return q
}

// Request registers, transfers, renews or restores. If an earlier call succeeded, it returns
// that result.
func (p *Provisioner) Request(ctx context.Context, request provision.Request) (provision.Outcome, error) {
	switch request.Kind {
	case provision.Renew:
		return p.renew(ctx, request)
	case provision.Restore:
		return p.restore(ctx, request)
	case provision.Transfer:
		return p.requestTransfer(ctx, request)
	default:
		return p.register(ctx, request)
	}
}

func (p *Provisioner) register(ctx context.Context, request provision.Request) (provision.Outcome, error) {
	q := p.createCommand(request)
	policy := p.policyOf(request.TLD)
	if err := policy.Check(&q); err != nil {
		return provision.Outcome{}, err
	}
	outcome, err := p.client.CreateOrFind(ctx, q, request.MaybeSent, request.Since)
	return outcome, mapFeeError(err, request.PremiumFee)
}

func (p *Provisioner) renew(ctx context.Context, request provision.Request) (provision.Outcome, error) {
	renewed, err := p.client.RenewOrFind(ctx, RenewDomain{
		Name: request.Name, Expires: request.From, Years: request.Years, Fee: request.PremiumFee, ClTRID: request.Transaction,
	}, request.MaybeSent)
	if ResultCode(err) == CodeValueRange {
		// The expiry differs from the one just read: the registry may have
		// auto-renewed in the meantime.
		outcome, queryErr := p.renewalOutcome(ctx, request)
		if queryErr == nil || registrar.KindOf(queryErr) == registrar.KindUpstream {
			return outcome, queryErr
		}
	}
	return renewed, mapFeeError(err, request.PremiumFee)
}

// restore sends what the registry's state calls for: the restore request, its report, and
// a renewal for the years that the registry has not added itself. It may be repeated.
func (p *Provisioner) restore(ctx context.Context, request provision.Request) (provision.Outcome, error) {
	fee := request.Fee // what earlier calls have reported
	for range 3 {
		info, err := p.client.InfoDomain(ctx, InfoDomain{Name: request.Name})
		switch {
		case err != nil:
			return provision.Outcome{}, mapBillingError(err)
		case !strings.EqualFold(info.Sponsor, p.client.ClientID()):
			return provision.Outcome{}, deniedError(p.client.Host(), nil)
		case info.inGrace(gracePendingRestore):
			_, err = p.client.RestoreDomain(ctx, RestoreDomain{Name: request.Name, Report: p.restoreReport(&info, request), ClTRID: request.Transaction + "-r"})
		case info.inGrace(graceRedemption):
			var agreed registrar.Money
			if agreed, err = p.agreedRestoreFee(ctx, request); err == nil {
				fee, err = p.client.RestoreDomain(ctx, RestoreDomain{Name: request.Name, Fee: agreed, ClTRID: request.Transaction + "-q"})
				err = mapFeeError(err, agreed)
			}
		case info.isDeleted(): // the redemption period is over
			return provision.Outcome{}, deniedError(p.client.Host(), nil)
		default:
			return p.renewRestored(ctx, request, &info, fee)
		}
		if err != nil {
			return provision.Outcome{}, mapBillingError(err)
		}
	}
	return provision.Outcome{Pending: true, Fee: fee}, nil
}

// agreedRestoreFee returns the part of the agreed fee that is for the restore itself. It queries
// the fees, so that a domain is not restored whose renewal the registry would then refuse.
func (p *Provisioner) agreedRestoreFee(ctx context.Context, request provision.Request) (registrar.Money, error) {
	if request.PremiumFee.IsZero() {
		return registrar.Money{}, nil
	}
	restore, renewal, err := p.restoreFees(ctx, request.Name, request.TLD, request.Years, PriorityOrder)
	if err == nil && !restore.IsZero() && (restore.Currency != request.PremiumFee.Currency || restore.Amount+renewal.Amount > request.PremiumFee.Amount) {
		err = conflictError(provision.FeeRaised, nil)
	}
	return restore, err
}

// renewRestored adds the years that the registry has not. fee is that of the restore.
func (p *Provisioner) renewRestored(
	ctx context.Context, request provision.Request, info *DomainInfo, fee registrar.Money,
) (provision.Outcome, error) {
	policy := p.policyOf(request.TLD)
	if request.Years == 0 || policy.NoRenew || !info.Expires.Before(minRenewedExpiry(request.From, request.Years)) {
		return provision.Outcome{Expires: info.Expires, Fee: fee}, nil
	}
	request.From, request.MaybeSent = info.Expires, false // the registry was just queried
	if request.PremiumFee.Currency == fee.Currency {
		request.PremiumFee.Amount -= fee.Amount // both are zero for a name at the usual price
	}
	outcome, err := p.renew(ctx, request)
	if fee.IsZero() || fee.Currency != outcome.Fee.Currency {
		outcome.Fee = registrar.Money{} // a part of the costs is unknown, so the sum is
	} else {
		outcome.Fee.Amount += fee.Amount
	}
	return outcome, err
}

// restoreReport describes a domain that is the same before and after. Its last change is
// taken for the deletion, unless that is too long ago for the domain to be restorable.
func (p *Provisioner) restoreReport(info *DomainInfo, request provision.Request) *RestoreReport {
	redemption, restored := lifecycle.PolicyOf(request.TLD).RedemptionDays, request.Since
	var servers []string
	for _, server := range info.Nameservers {
		servers = append(servers, server.Name)
	}
	record := fmt.Sprintf("Domain: %s; registrant: %s; nameservers: %s; created: %s; expires: %s", info.Name, cmp.Or(info.Registrant, "none"),
		cmp.Or(strings.Join(servers, " "), "none"), info.Created.UTC().Format(time.DateOnly), info.Expires.UTC().Format(time.DateOnly))
	deleted := info.Updated
	if deleted.Before(restored.AddDate(0, 0, -redemption)) {
		deleted = restored
	}
	if restored.Before(deleted) { // the registry's clock is ahead of ours
		restored = deleted
	}
	return &RestoreReport{
		Before: record, After: record, Deleted: deleted, Restored: restored, Reason: "Registrant asked for the domain back.",
		Statements: []string{
			"We restore this domain for its registrant, not to use or sell it ourselves.",
			"To the best of our knowledge the information in this report is correct.",
		},
	}
}

func (p *Provisioner) requestTransfer(ctx context.Context, request provision.Request) (provision.Outcome, error) {
	transfer, err := p.client.TransferOrFind(ctx, p.transferCommand(request), request.MaybeSent)
	if err != nil {
		return provision.Outcome{}, mapFeeError(err, request.PremiumFee)
	}
	if transfer.Status == TransferPending {
		return provision.Outcome{Pending: true, Fee: transfer.Fee}, nil
	}
	outcome, err := p.transferResult(ctx, request, registrar.RegistryDenied)
	outcome.Fee = transfer.Fee
	return outcome, err
}

func (p *Provisioner) transferCommand(request provision.Request) TransferDomain {
	policy := p.policyOf(request.TLD)
	return TransferDomain{
		Op: TransferRequest, Name: request.Name, Years: policy.TransferYears, AuthInfo: request.Code, ClTRID: request.Transaction, Fee: request.PremiumFee,
	}
}

// Outcome queries the result of a pending request.
func (p *Provisioner) Outcome(ctx context.Context, request provision.Request) (provision.Outcome, error) {
	switch request.Kind {
	case provision.Renew:
		return p.renewalOutcome(ctx, request)
	case provision.Restore:
		return p.restore(ctx, request)
	case provision.Transfer:
		return p.transferOutcome(ctx, request)
	default:
		return p.registrationOutcome(ctx, request)
	}
}

func (p *Provisioner) registrationOutcome(ctx context.Context, request provision.Request) (provision.Outcome, error) {
	info, err := p.client.InfoDomain(ctx, InfoDomain{Name: request.Name})
	q := p.createCommand(request)
	switch {
	case ResultCode(err) == CodeMissing || ResultCode(err) == CodeAuthorization:
		return provision.Outcome{}, deniedError(p.client.Host(), err)
	case err != nil:
		return provision.Outcome{}, mapBillingError(err)
	case !wasCreatedBy(&info, &q, p.client.ClientID(), request.Since):
		return provision.Outcome{}, deniedError(p.client.Host(), nil)
	}
	return provision.Outcome{Pending: info.Has("pendingCreate"), Expires: info.Expires}, nil
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

func (p *Provisioner) transferOutcome(ctx context.Context, request provision.Request) (provision.Outcome, error) {
	state, err := p.client.TransferDomain(ctx, TransferDomain{Op: TransferQuery, Name: request.Name, AuthInfo: request.Code})
	ours := err == nil && strings.EqualFold(state.Requester, p.client.ClientID())
	switch code := ResultCode(err); {
	case err != nil && (code == 0 || registrar.KindOf(err) == registrar.KindUpstream):
		return provision.Outcome{}, mapBillingError(err)
	case ours && state.Status == TransferPending:
		return provision.Outcome{Pending: true}, nil
	}
	// The transfer has ended; the sponsor shows how, and its status why it failed.
	failure := registrar.RegistryDenied
	if ours && state.Status == TransferClientRejected {
		failure = registrar.TransferRejected
	}
	return p.transferResult(ctx, request, failure)
}

// transferResult decides a finished transfer by whether we sponsor the domain. If we don't, it
// has failed with the code failure.
func (p *Provisioner) transferResult(ctx context.Context, request provision.Request, failure registrar.Code) (provision.Outcome, error) {
	info, sponsored, err := p.client.findTransferred(ctx, p.transferCommand(request))
	switch {
	case err != nil:
		return provision.Outcome{}, mapBillingError(err)
	case !sponsored:
		return provision.Outcome{}, &registrar.Error{Kind: registrar.KindConflict, Code: failure, Detail: p.client.Host()}
	}
	return provision.Outcome{Expires: info.Expires}, nil
}

// Unhold removes clientHold from a domain if it is set.
func (p *Provisioner) Unhold(ctx context.Context, name, transaction string) error {
	info, err := p.client.InfoDomain(ctx, InfoDomain{Name: name})
	if err != nil || !info.Has(clientHold) {
		return mapBillingError(err)
	}
	_, err = p.client.UpdateDomain(ctx, UpdateDomain{Name: name, Remove: DomainElements{Statuses: []string{clientHold}}, ClTRID: transaction})
	return mapBillingError(err)
}

// Record returns the registry's record of a domain.
func (p *Provisioner) Record(ctx context.Context, name string) (provision.Record, error) {
	info, err := p.infoSponsored(ctx, name, PriorityOrder)
	record := provision.Record{
		Name: info.Name, Sponsor: info.Sponsor, Created: info.Created, Expires: info.Expires, Handle: info.Registrant,
		Redemption: info.isDeleted(), Statuses: slices.Concat(info.Statuses, info.Grace),
	}
	if err == nil {
		record.Full = p.recordWithGlue(ctx, &info)
	}
	for _, server := range info.Nameservers {
		record.Nameservers = append(record.Nameservers, server.Name)
	}
	return record, err
}

// mapBillingError maps billing failures to the code that alerts the operator, who
// alone can fix them.
func mapBillingError(err error) error {
	if errors.Is(err, &registrar.Error{Code: registrar.EPPBilling}) {
		return &registrar.Error{Kind: registrar.KindUpstream, Code: provision.Billing, Detail: "the registry account has no funds left", Err: err}
	}
	return err
}

func deniedError(host string, cause error) error {
	return &registrar.Error{Kind: registrar.KindConflict, Code: registrar.RegistryDenied, Detail: host, Err: cause}
}
