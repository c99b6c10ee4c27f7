package epp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// CheckAvailability asks the registry whether an order item could be provisioned
// now, and returns the fees of a premium name.
func (p *Provisioner) CheckAvailability(ctx context.Context, query provision.AvailabilityQuery) (fees provision.PremiumFees, err error) {
	if err := p.CheckSupported(query.Kind, query.TLD, query.Requires, query.Years); err != nil {
		return fees, err
	}
	if fees.Term, err = p.checkKind(ctx, query); err == nil && !fees.Term.IsZero() {
		fees.Renewal, err = p.renewalFee(ctx, query)
	}
	return fees, err
}

// renewalFee returns the fee of a year's renewal of a premium name; zero if the registry does not
// state it. Few names are premium, so only they cost this second query.
func (p *Provisioner) renewalFee(ctx context.Context, query provision.AvailabilityQuery) (registrar.Money, error) {
	renew := FeeCommand{Name: "renew", Years: 1}
	checked, err := check(ctx, p.client, renew, query.Name, query.TLD, priorityOf(query.Purpose))
	if err != nil {
		if err = checkError(err); !registrar.IsTransient(err) {
			err = nil // the registry does not say, but the order itself is possible
		}
		return registrar.Money{}, err
	}
	fee, known := checked.Fee.money(renew)
	if !known {
		return registrar.Money{}, nil
	}
	return fee, nil
}

func (p *Provisioner) checkKind(ctx context.Context, query provision.AvailabilityQuery) (fee registrar.Money, err error) {
	policy := p.policyOf(query.TLD)
	switch query.Kind {
	case provision.Renew:
		return p.checkRenewal(ctx, query)
	case provision.Restore:
		return p.checkRestore(ctx, query)
	case provision.Transfer:
		return p.checkTransfer(ctx, query, policy)
	default:
		return p.checkRegistration(ctx, query, policy)
	}
}

// priorityOf gives order priority only to queries that a payment depends on.
func priorityOf(purpose registrar.QueryPurpose) Priority {
	if purpose == registrar.ForPayment {
		return PriorityOrder
	}
	return PriorityQuote
}

// CheckSupported applies the rules that hold for every name of a TLD: requirements
// that the account can't meet, the terms on sale, and who starts a transfer.
func (p *Provisioner) CheckSupported(kind provision.Kind, tld, requires string, years int) error {
	policy := p.policyOf(tld)
	requirement := registrar.RequirementOf(requires)
	switch {
	case kind == provision.Restore && lifecycle.PolicyOf(tld).RedemptionDays == 0:
		return &registrar.Error{Kind: registrar.KindUnsupported, Code: provision.NotRestorable}
	case kind.ForHeldDomain():
		return nil
	case requirement.Gateway && p.client.account.ProtocolExtension == nil:
		return &registrar.Error{Kind: registrar.KindUnsupported, Code: provision.NotEligible, Detail: requires}
	case kind == provision.Transfer && policy.Transfer == PushTransfer:
		return &registrar.Error{Kind: registrar.KindUnsupported, Code: provision.NoInboundTransfer}
	case kind == provision.Register && (years < policy.MinYears || years > policy.MaxYears):
		return &registrar.Error{Kind: registrar.KindInvalid, Code: provision.BadTerm}
	}
	return nil
}

// Missing lists the registrant fields that are absent or that the registry would
// reject.
func (p *Provisioner) Missing(query provision.AvailabilityQuery) (missing []string) {
	if query.Kind.ForHeldDomain() {
		return nil
	}
	policy := p.policyOf(query.TLD)
	requirement := registrar.RequirementOf(query.Requires)
	switch {
	case !query.HasRegistrant || policy.NeedsContacts() && !isEncodable(query.Registrant):
		missing = append(missing, provision.NeedRegistrant)
	case policy.NeedsContacts() && query.Kind == provision.Register: // a transfer sends no contact
		missing = policy.Contact.problems(query.Registrant, query.Name)
	}
	if query.HasRegistrant && !requirement.Admits(query.Registrant.Country) {
		missing = append(missing, query.Requires)
	}
	if query.Kind == provision.Transfer && query.Code == "" {
		missing = append(missing, provision.NeedCode)
	}
	return missing
}

// isEncodable reports, before payment, whether the registrant data can be sent to some
// registry.
func isEncodable(registrant registrar.Registrant) bool {
	w := &Writer{}
	writeContactData(w, registrant, ContactRule{}, "", false)
	return w.err == nil
}

func (p *Provisioner) checkRegistration(ctx context.Context, query provision.AvailabilityQuery, policy *Policy) (fee registrar.Money, err error) {
	q := p.createCommand(provision.Request{
		Name: query.Name, TLD: query.TLD, Years: query.Years, Handle: "DK-OFFER",
		Code: strings.Repeat("x", p.Rules(query.TLD).CodeLength), Nameservers: query.Nameservers,
	})
	if err := policy.Check(&q); err != nil {
		return fee, err
	}
	create := FeeCommand{Name: "create", Years: query.Years}
	checked, err := check(ctx, p.client, create, query.Name, query.TLD, priorityOf(query.Purpose))
	switch {
	case err != nil:
		return fee, checkError(err)
	case !checked.Available && unavailableState(checked.Reason) == lookup.Reserved:
		return fee, conflictError(registrar.NameReserved, nil)
	case !checked.Available:
		return fee, conflictError(provision.NameTaken, nil)
	}
	if fee, err = checked.Fee.premiumFee(create); err == nil {
		err = p.checkRoleContacts(policy)
	}
	return fee, err
}

// checkRoleContacts refuses a sale that the registry would refuse after the payment: a
// registrant's contact of EURid can't have another role, so those need a contact of ours.
// The preceding check has read the greeting.
func (p *Provisioner) checkRoleContacts(policy *Policy) error {
	if policy.Contact.Type != TypeEURid || policy.RegistrarContact != "" || len(policy.Roles) < 2 || !p.client.announced(nsContactEURid) {
		return nil
	}
	return &registrar.Error{Kind: registrar.KindUnsupported, Code: registrar.NoRegistryAccount, Detail: "registrar_contact is not configured"}
}

// checkTransfer queries the fee and the domain. With the auth code the registry
// shows the whole domain, without it perhaps nothing.
func (p *Provisioner) checkTransfer(ctx context.Context, query provision.AvailabilityQuery, policy *Policy) (fee registrar.Money, err error) {
	transfer := FeeCommand{Name: "transfer", Years: policy.TransferYears}
	checked, err := check(ctx, p.client, transfer, query.Name, query.TLD, priorityOf(query.Purpose))
	switch {
	case err != nil:
		return fee, checkError(err)
	case checked.Available:
		return fee, conflictError(provision.NotRegistered, nil)
	}
	info, err := p.client.InfoDomain(ctx, InfoDomain{Name: query.Name, AuthInfo: query.Code, Priority: priorityOf(query.Purpose)})
	switch code := ResultCode(err); {
	case code == CodeMissing: // a reserved name is neither available nor registered
		return fee, conflictError(provision.NotRegistered, err)
	case code == CodeAuthInfo && query.Code != "":
		return fee, p.wrongCodeError(ctx, query, err)
	case code == CodeAuthorization || code == CodeAuthInfo: // sponsored by another registrar and hidden until the transfer
	case err != nil:
		return fee, mapBillingError(err)
	case strings.EqualFold(info.Sponsor, p.client.ClientID()):
		return fee, conflictError(registrar.NameHeld, nil)
	case info.prohibits("Transfer"):
		return fee, conflictError(provision.Locked, nil)
	}
	return checked.Fee.premiumFee(transfer)
}

// wrongCodeError says that the auth code is wrong and, as its cause, that the domain is locked, if
// the registry tells: the customer can then fix both at once.
func (p *Provisioner) wrongCodeError(ctx context.Context, query provision.AvailabilityQuery, cause error) error {
	info, err := p.client.InfoDomain(ctx, InfoDomain{Name: query.Name, Priority: priorityOf(query.Purpose)})
	if err == nil && info.prohibits("Transfer") {
		cause = conflictError(provision.Locked, cause)
	}
	return &registrar.Error{Kind: registrar.KindInvalid, Code: provision.WrongCode, Err: cause}
}

func (p *Provisioner) checkRenewal(ctx context.Context, query provision.AvailabilityQuery) (fee registrar.Money, err error) {
	info, err := p.client.InfoDomain(ctx, InfoDomain{Name: query.Name, Priority: priorityOf(query.Purpose)})
	switch code := ResultCode(err); {
	case code == CodeMissing || code == CodeAuthorization:
		return fee, conflictError(provision.NotRenewable, err)
	case err != nil:
		return fee, mapBillingError(err)
	case !strings.EqualFold(info.Sponsor, p.client.ClientID()) || info.prohibits("Renew"):
		return fee, conflictError(provision.NotRenewable, nil)
	case info.Expires.AddDate(query.Years, 0, 0).After(time.Now().AddDate(provision.MaxYearsAhead, 0, 0)):
		return fee, &registrar.Error{Kind: registrar.KindInvalid, Code: provision.BadTerm}
	}
	if policy := p.policyOf(query.TLD); policy.NoRenew {
		return fee, nil
	}
	renew := FeeCommand{Name: "renew", Years: query.Years}
	checked, err := check(ctx, p.client, renew, query.Name, query.TLD, priorityOf(query.Purpose))
	if err != nil {
		return fee, checkError(err)
	}
	return checked.Fee.premiumFee(renew)
}

// checkRestore reports whether a deleted domain can still be restored.
func (p *Provisioner) checkRestore(ctx context.Context, query provision.AvailabilityQuery) (fee registrar.Money, err error) {
	info, err := p.client.InfoDomain(ctx, InfoDomain{Name: query.Name, Priority: priorityOf(query.Purpose)})
	switch code := ResultCode(err); {
	case code == CodeMissing || code == CodeAuthorization:
		return fee, conflictError(provision.NotRestorable, err)
	case err != nil:
		return fee, mapBillingError(err)
	case !strings.EqualFold(info.Sponsor, p.client.ClientID()) || !info.inGrace(graceRedemption) && !info.inGrace(gracePendingRestore):
		return fee, conflictError(provision.NotRestorable, nil)
	}
	restore, renewal, err := p.restoreFees(ctx, query.Name, query.TLD, query.Years, priorityOf(query.Purpose))
	if err == nil && !restore.IsZero() {
		fee = registrar.Money{Amount: restore.Amount + renewal.Amount, Currency: restore.Currency}
	}
	return fee, err
}

// restoreFees returns the fees of a restore and of the years that it adds. Both are zero if both
// prices are the usual ones.
func (p *Provisioner) restoreFees(ctx context.Context, name, tld string, years int, priority Priority) (restore, renewal registrar.Money, err error) {
	commands := []FeeCommand{{Name: "restore", Years: 1}}
	if policy := p.policyOf(tld); years > 0 && !policy.NoRenew {
		commands = append(commands, FeeCommand{Name: "renew", Years: years})
	}
	var fees [2]registrar.Money
	premium, known := false, true
	for i, command := range commands {
		checked, err := check(ctx, p.client, command, name, tld, priority)
		if err != nil {
			return restore, renewal, checkError(err)
		}
		var stated bool
		fees[i], stated = checked.Fee.money(command)
		premium, known = premium || checked.Fee.Premium(command.Name), known && stated && fees[i].Currency == fees[0].Currency
	}
	switch {
	case !premium:
		return restore, renewal, nil
	case !known:
		return restore, renewal, conflictError(registrar.NamePremium, nil)
	}
	return fees[0], fees[1], nil
}

// prohibits reports whether a domain can't be transferred or renewed now: it is
// locked, has another pending operation, or was deleted.
func (d *DomainInfo) prohibits(what string) bool {
	for _, status := range d.Statuses {
		switch {
		case strings.HasSuffix(status, what+"Prohibited"), // set by the registrar or by the registry
			status == "pendingTransfer", status == "pendingDelete", status == "pendingCreate":
			return true
		}
	}
	return d.isDeleted()
}

// isDeleted reports whether a domain was deleted and can at most be restored.
func (d *DomainInfo) isDeleted() bool {
	return d.Has("pendingDelete") || d.inGrace(graceRedemption) || d.inGrace(gracePendingRestore) || d.inGrace("pendingDelete")
}

// The grace period statuses (RFC 3915, 3.1) that decide about a restore.
const (
	graceRedemption     = "redemptionPeriod"
	gracePendingRestore = "pendingRestore"
)

func (d *DomainInfo) inGrace(period string) bool { return slices.Contains(d.Grace, period) }

// checkError maps the error of a check without a result. A registry whose policy
// forbids the query has not said that the name is unavailable.
func checkError(err error) error {
	if errors.Is(err, &registrar.Error{Code: ResultPolicy}) {
		return conflictError(provision.Undecided, err)
	}
	return mapBillingError(err)
}

func conflictError(code registrar.Code, cause error) error {
	return &registrar.Error{Kind: registrar.KindConflict, Code: code, Err: cause}
}
