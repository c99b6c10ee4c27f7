package provision

import (
	"cmp"
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// QuoteRequest is what somebody thinks of ordering.
type QuoteRequest struct {
	Customer  string
	Name      registrar.Name
	Extension registrar.Extension
	Kind      Kind
	// Years is the term that was asked for; 0 means the term that is sold.
	Years int
	// Code is the auth code of a transfer; empty while the holder has not told it.
	// Then everything else is checked.
	Code string
	// Registrant is who would hold it, zero if nobody has told; nil means the customer's
	// registrant.
	Registrant *registrar.Registrant
	// Purpose is what the quote is for. Only ForDisplay may be answered by what the
	// registry said a moment ago.
	Purpose registrar.Purpose
	// Admit is called before a registry is asked ForDisplay; its error ends the
	// question. nil admits every one. For other purposes the caller admits.
	Admit func() error
}

// Quote is what the registry makes of it.
type Quote struct {
	// Account would carry it out. Domain is the one that a renewal is about.
	Account, Domain string
	// Years is the term of a registration or a renewal, and what a transfer adds:
	// 0 where the term stays as it is.
	Years int
	// Missing is what the holder must tell before it can be paid for.
	Missing []string
	// AskedAt is when the registry said so, zero if it never did; it is there beside
	// an error, too. Stale says that it could not be asked now, and that this is what
	// it said last.
	AskedAt time.Time
	Stale   bool
}

// Quote asks the registry that would carry a line out whether it could be done now
// at the list price, and writes nothing. Its errors are KindUpstream,
// KindRateLimited or KindInternal if the registry could not be asked, and
// KindConflict, KindInvalid or KindUnsupported if it can't be had. The price list,
// the holder and our own records are read each time, whatever the Purpose.
func (s *Service) Quote(ctx context.Context, request QuoteRequest) (Quote, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Deadline)
	defer cancel()
	quote, registry, err := s.resolveAccount(ctx, request)
	if err != nil {
		return Quote{}, err
	}
	if request.Kind != Renew {
		if _, held, err := s.heldDomain(ctx, request.Name); err != nil || held {
			return Quote{}, cmp.Or(err, error(&registrar.Error{Kind: registrar.KindConflict, Code: registrar.NameHeld}))
		}
	}
	registrant, found, err := s.quoteRegistrant(ctx, request)
	if err != nil {
		return Quote{}, err
	}
	query := AvailabilityQuery{
		Kind: request.Kind, Name: request.Name.ASCII(), TLD: request.Name.TLD(), Years: quote.Years, HasRegistrant: found, Registrant: registrant,
		Code: request.Code, Requires: request.Extension.Requires, Nameservers: s.cfg.Nameservers, Purpose: request.Purpose,
	}
	quote.Missing = registry.Missing(query)
	offered, err := s.checkAvailability(ctx, registry, newAvailabilityKey(quote.Account, request.Customer, query), request, query)
	quote.AskedAt = offered.FetchedAt
	if err != nil && offered.Found() {
		quote.Stale, err = true, nil
	}
	if err == nil {
		err = offered.Value
	}
	if err != nil {
		return Quote{AskedAt: quote.AskedAt, Stale: quote.Stale}, refusalError(err)
	}
	return quote, nil
}

func (s *Service) quoteRegistrant(ctx context.Context, request QuoteRequest) (registrant registrar.Registrant, found bool, err error) {
	if request.Registrant != nil {
		return *request.Registrant, *request.Registrant != registrar.Registrant{}, nil
	}
	return s.cfg.Store.GetRegistrant(ctx, request.Customer)
}

// resolveAccount finds who would carry it out, and for how long.
func (s *Service) resolveAccount(ctx context.Context, request QuoteRequest) (Quote, Account, error) {
	serving, served := s.accountForTLD(request.Name.TLD())
	quote, registry := Quote{Account: serving.Name}, serving.Account
	if request.Kind == Renew {
		domain, held, err := s.heldDomain(ctx, request.Name)
		switch {
		case err != nil:
			return Quote{}, nil, err
		case !held || domain.Customer != request.Customer:
			return Quote{}, nil, &registrar.Error{Kind: registrar.KindConflict, Code: NotYours}
		case !renewable(domain):
			return Quote{}, nil, &registrar.Error{Kind: registrar.KindConflict, Code: NotRenewable}
		}
		quote.Domain = domain.ID
		if domain.Account != "" { // where it is registered, whoever serves the extension today
			quote.Account, registry = domain.Account, s.accountByName(domain.Account)
			served = registry != nil
		}
	}
	if !served {
		return Quote{}, nil, &registrar.Error{Kind: registrar.KindUnsupported, Code: registrar.NoRegistryAccount}
	}
	quote.Years = term(request.Kind, request.Extension, registry.Rules(request.Name.TLD()))
	if request.Years != 0 && request.Years != quote.Years {
		return Quote{}, nil, &registrar.Error{Kind: registrar.KindInvalid, Code: TermNotSold}
	}
	return quote, registry, nil
}

// heldDomain finds the domain of a name that somebody of ours holds, or is about to.
func (s *Service) heldDomain(ctx context.Context, name registrar.Name) (Domain, bool, error) {
	domain, found, err := s.cfg.Domains.DomainByName(ctx, name.ASCII())
	return domain, found && domain.Status != registrar.DomainTransferredOut, err
}

// term is how many years an order of an extension is for.
func term(kind Kind, extension registrar.Extension, rules Rules) int {
	if kind == Transfer {
		return rules.TransferYears
	}
	return extension.Term()
}

// renewable says whether a domain is in a state in which its holder can renew it.
func renewable(domain Domain) bool {
	return domain.Status == registrar.DomainActive || domain.Status == registrar.DomainExpired
}

// refusalError is a registry's no in the kinds that a Quote promises.
func refusalError(err error) error {
	switch registrar.KindOf(err) {
	case registrar.KindNotFound, registrar.KindForbidden, registrar.KindUnauthenticated:
		return &registrar.Error{Kind: registrar.KindConflict, Code: registrar.CodeOf(err), Err: err}
	default:
		return err
	}
}

// missingError is the first of what is missing, for those who can't ask the holder.
func missingError(missing []string) error {
	if len(missing) == 0 {
		return nil
	}
	switch missing[0] {
	case NeedRegistrant:
		return &registrar.Error{Kind: registrar.KindConflict, Code: NoRegistrant}
	case NeedCode:
		return &registrar.Error{Kind: registrar.KindInvalid, Code: CodeMissing}
	default:
		return &registrar.Error{Kind: registrar.KindConflict, Code: NotEligible, Detail: missing[0]}
	}
}
