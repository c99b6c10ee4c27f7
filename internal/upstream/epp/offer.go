package epp

import (
	"context"
	"errors"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// mostYearsAhead is how far ahead a domain can be paid for (ICANN's agreements
// say ten years; the others that renew at all are not longer).
const mostYearsAhead = 10

// Offer asks the registry whether a line could be carried out now.
func (d *Desk) Offer(ctx context.Context, wish provision.Wish) error {
	if err := d.Sells(wish.Kind, wish.TLD, wish.Requires, wish.Years); err != nil {
		return err
	}
	policy := d.policyOf(wish.TLD)
	switch wish.Kind {
	case provision.Renew:
		return d.offerRenewal(ctx, wish)
	case provision.Transfer:
		return d.offerTransfer(ctx, wish, &policy)
	default:
		return d.offerRegistration(ctx, wish, &policy)
	}
}

// classOf is the priority of a question: only what money depends on goes with orders.
func classOf(purpose registrar.Purpose) Class {
	if purpose == registrar.ForPayment {
		return Orders
	}
	return Quotes
}

// Sells knows the rules that hold for every name: what the account has no means to
// meet, the terms that the registry sells, and who starts a transfer.
func (d *Desk) Sells(kind provision.Kind, tld, requires string, years int) error {
	policy := d.policyOf(tld)
	requirement := registrar.RequirementOf(requires)
	switch {
	case kind == provision.Renew:
		return nil
	case requirement.Gateway && d.client.account.Extender == nil:
		return &registrar.Error{Kind: registrar.KindUnsupported, Code: provision.NotEligible, Detail: requires}
	case kind == provision.Transfer && policy.Transfer == Push:
		return &registrar.Error{Kind: registrar.KindUnsupported, Code: provision.NoInboundTransfer}
	case kind == provision.Register && (years < policy.MinYears || years > policy.MaxYears):
		return &registrar.Error{Kind: registrar.KindInvalid, Code: provision.BadTerm}
	}
	return nil
}

// Missing is what the holder has not told, or told so that it can't stay.
func (d *Desk) Missing(wish provision.Wish) (missing []string) {
	if wish.Kind == provision.Renew {
		return nil
	}
	requirement := registrar.RequirementOf(wish.Requires)
	if !wish.Told || d.Rules(wish.TLD).Contacts && !writable(personOf(wish.Holder)) {
		missing = append(missing, provision.NeedRegistrant)
	}
	if wish.Told && !requirement.Admits(wish.Holder.Country) {
		missing = append(missing, wish.Requires)
	}
	if wish.Kind == provision.Transfer && wish.Code == "" {
		missing = append(missing, provision.NeedCode)
	}
	return missing
}

// writable says before anybody pays whether a holder's data can be sent.
func writable(person Person) bool {
	w := &Writer{}
	person.write(w, "", true)
	return w.err == nil
}

func (d *Desk) offerRegistration(ctx context.Context, wish provision.Wish, policy *Policy) error {
	q := d.creation(provision.Request{
		Name: wish.Name, TLD: wish.TLD, Years: wish.Years, Handle: "DK-OFFER",
		Code: strings.Repeat("x", d.Rules(wish.TLD).CodeLength), Nameservers: wish.Nameservers,
	})
	if err := policy.Check(&q); err != nil {
		return err
	}
	checked, err := check(ctx, d.client, FeeCommand{Name: "create", Years: wish.Years}, wish.Name, classOf(wish.Purpose))
	switch {
	case err != nil:
		return unchecked(err)
	case !checked.Available && unavailable(checked.Reason) == lookup.Reserved:
		return conflict(provision.NameReserved, nil)
	case !checked.Available:
		return conflict(provision.NameTaken, nil)
	case checked.Fee.Premium():
		return conflict(provision.NamePremium, nil)
	}
	return nil
}

// offerTransfer asks for the fee, and for what can be seen of the domain: with the
// holder's code all of it, without perhaps nothing.
func (d *Desk) offerTransfer(ctx context.Context, wish provision.Wish, policy *Policy) error {
	checked, err := check(ctx, d.client, FeeCommand{Name: "transfer", Years: policy.TransferYears}, wish.Name, classOf(wish.Purpose))
	switch {
	case err != nil:
		return unchecked(err)
	case checked.Available:
		return conflict(provision.NotRegistered, nil)
	}
	info, err := d.client.InfoDomain(ctx, InfoDomain{Name: wish.Name, AuthInfo: wish.Code, Class: classOf(wish.Purpose)})
	switch code := ResultCode(err); {
	case code == CodeMissing: // a reserved name is neither free nor registered
		return conflict(provision.NotRegistered, err)
	case code == CodeAuthInfo && wish.Code != "":
		return &registrar.Error{Kind: registrar.KindInvalid, Code: provision.WrongCode, Err: err}
	case code == CodeAuthorization || code == CodeAuthInfo: // somebody else's, and closed to us until the transfer
	case err != nil:
		return told(err)
	case strings.EqualFold(info.Sponsor, d.client.ClientID()):
		return conflict(provision.NameHeld, nil)
	case info.prohibits("Transfer"):
		return conflict(provision.Locked, nil)
	}
	if checked.Fee.PremiumFor("transfer") {
		return conflict(provision.NamePremium, nil)
	}
	return nil
}

func (d *Desk) offerRenewal(ctx context.Context, wish provision.Wish) error {
	info, err := d.client.InfoDomain(ctx, InfoDomain{Name: wish.Name, Class: classOf(wish.Purpose)})
	switch code := ResultCode(err); {
	case code == CodeMissing || code == CodeAuthorization:
		return conflict(provision.NotRenewable, err)
	case err != nil:
		return told(err)
	case !strings.EqualFold(info.Sponsor, d.client.ClientID()) || info.prohibits("Renew"):
		return conflict(provision.NotRenewable, nil)
	case info.Expires.AddDate(wish.Years, 0, 0).After(d.client.account.Now().AddDate(mostYearsAhead, 0, 0)):
		return &registrar.Error{Kind: registrar.KindInvalid, Code: provision.BadTerm}
	}
	checked, err := check(ctx, d.client, FeeCommand{Name: "renew", Years: wish.Years}, wish.Name, classOf(wish.Purpose))
	switch {
	case err != nil:
		return unchecked(err)
	case checked.Fee.PremiumFor("renew"):
		return conflict(provision.NamePremium, nil)
	}
	return nil
}

// prohibits says that a domain can't be transferred or renewed now: it is locked,
// something else is under way, or it was deleted.
func (d *DomainInfo) prohibits(what string) bool {
	for _, status := range d.Statuses {
		switch {
		case strings.HasSuffix(status.Value, what+"Prohibited"), // set by the registrar or by the registry
			status.Value == "pendingTransfer", status.Value == "pendingDelete", status.Value == "pendingCreate":
			return true
		}
	}
	return d.deleted()
}

// deleted says that a domain was given up and can at most be restored.
func (d *DomainInfo) deleted() bool {
	return d.InGrace("redemptionPeriod") || d.InGrace("pendingRestore") || d.InGrace("pendingDelete") || d.Has("pendingDelete")
}

// unchecked is the error of a check without a result. A registry whose policy forbids
// the question has not said that the name can't be had.
func unchecked(err error) error {
	if errors.Is(err, &registrar.Error{Code: ResultPolicy}) {
		return conflict(provision.Undecided, err)
	}
	return told(err)
}

func conflict(code registrar.Code, cause error) error {
	return &registrar.Error{Kind: registrar.KindConflict, Code: code, Err: cause}
}
