package provision

import (
	"cmp"
	"context"
	"crypto/sha256"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/ttlcache"
)

// QuoteRequest is an order that a customer considers.
type QuoteRequest struct {
	Customer  string
	Name      registrar.Name
	Extension registrar.Extension
	Kind      Kind
	Years     int // the requested term; 0 means the term on sale
	// Code is the auth code of a transfer. While it is empty, everything else is checked.
	Code string
	// Registrant is the intended one, zero if not entered yet; nil means the customer's own.
	Registrant *registrar.Registrant
	Purpose    registrar.QueryPurpose // only ForDisplay may be served from the cache
	// Admit is called before a registry is queried ForDisplay; its error ends the request.
	// nil admits every query. For other purposes the caller applies its own limit.
	Admit func() error
}

// Quote is the result of a QuoteRequest.
type Quote struct {
	// Account would execute the order. Domain is the one that a renewal or restore is about.
	Account, Domain string
	TermEnd         time.Time // of that domain's paid term
	Years           int       // the term, or what a transfer adds to it
	Missing         []string  // what the customer must provide before payment
	// PremiumFee is what the registry charges for the whole term of a premium name; zero for a
	// name at the list price.
	PremiumFee registrar.Money
	// PremiumRenewal is what it charges for one more year; zero if it does not say.
	PremiumRenewal registrar.Money
	// AskedAt is when the registry answered, zero if it never did, also with an error. Stale:
	// the registry is unreachable and this is its last known answer.
	AskedAt time.Time
	Stale   bool
}

// Quote asks the responsible registry whether the order could be executed now, and for which fee
// if the name is premium. It stores nothing. Errors are KindUpstream, KindRateLimited or KindInternal if
// the registry could not be queried, and KindConflict, KindInvalid or KindUnsupported if
// the name is not available. Prices, registrant and our own records are read every time,
// whatever the Purpose.
func (s *Service) Quote(ctx context.Context, request QuoteRequest) (Quote, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Deadline)
	defer cancel()
	quote, registry, err := s.resolveAccount(ctx, request)
	if err != nil {
		return Quote{}, err
	}
	if !request.Kind.ForHeldDomain() {
		if _, held, err := s.heldDomain(ctx, request.Name); err != nil || held {
			return Quote{}, cmp.Or(err, error(&registrar.Error{Kind: registrar.KindConflict, Code: registrar.NameHeld}))
		}
	}
	var registrant registrar.Registrant
	found := false
	if request.Registrant != nil {
		registrant, found = *request.Registrant, *request.Registrant != registrar.Registrant{}
	} else if registrant, found, err = s.cfg.Store.GetRegistrant(ctx, request.Customer); err != nil {
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
		quote.PremiumFee, quote.PremiumRenewal, err = offered.Value.premium.Term, offered.Value.premium.Renewal, offered.Value.refusal
	}
	if err != nil {
		return Quote{AskedAt: quote.AskedAt, Stale: quote.Stale}, refusalError(err)
	}
	return quote, nil
}

// resolveAccount finds the account that would execute the order, and the term.
func (s *Service) resolveAccount(ctx context.Context, request QuoteRequest) (Quote, Account, error) {
	serving, served := s.cfg.Accounts.forTLD(request.Name.TLD())
	quote, registry := Quote{Account: serving.Name}, serving.Account
	yearsAhead := 0
	if request.Kind.ForHeldDomain() {
		domain, held, err := s.heldDomain(ctx, request.Name)
		switch {
		case err != nil:
			return Quote{}, nil, err
		case !held || domain.Customer != request.Customer:
			return Quote{}, nil, &registrar.Error{Kind: registrar.KindConflict, Code: NotYours}
		case request.Kind == Restore && domain.Status != registrar.DomainRedemption:
			return Quote{}, nil, &registrar.Error{Kind: registrar.KindConflict, Code: NotRestorable}
		case request.Kind == Renew && domain.Status != registrar.DomainActive && domain.Status != registrar.DomainExpired:
			return Quote{}, nil, &registrar.Error{Kind: registrar.KindConflict, Code: NotRenewable}
		}
		yearsAhead = YearsAhead(domain.PaidUntil, s.cfg.Now(), request.Extension.Term())
		quote.Domain, quote.TermEnd = domain.ID, domain.PaidUntil
		if domain.Account != "" { // the sponsoring account, even if another one serves the TLD today
			quote.Account, registry = domain.Account, s.accountByName(domain.Account)
			served = registry != nil
		}
	}
	if !served {
		return Quote{}, nil, &registrar.Error{Kind: registrar.KindUnsupported, Code: registrar.NoRegistryAccount}
	}
	rules := registry.Rules(request.Name.TLD())
	quote.Years = term(request.Kind, request.Extension, rules)
	if request.Kind == Renew {
		quote.Years = max(quote.Years, yearsAhead)
	}
	switch {
	case request.Kind == Restore:
		quote.Years = yearsAhead
	case request.Years == 0 || request.Years == quote.Years:
	case request.Kind == Transfer, request.Kind == Register && (request.Years < quote.Years || request.Years > longestTerm(request.Extension, rules)):
		return Quote{}, nil, &registrar.Error{Kind: registrar.KindInvalid, Code: TermNotSold}
	case request.Years < quote.Years || request.Years > rules.MaxYears:
		return Quote{}, nil, &registrar.Error{Kind: registrar.KindInvalid, Code: BadTerm}
	default:
		quote.Years = request.Years
	}
	return quote, registry, nil
}

// MaxYearsAhead is how far ahead a domain can be paid for: ten years in ICANN's agreements;
// no other registry allows more.
const MaxYearsAhead = 10

// YearsAhead is what a renewal or restore must add to a term at least so that it ends in the future:
// none if the term has not ended, or its end is unknown.
func YearsAhead(paidUntil, now time.Time, term int) (years int) {
	if paidUntil.IsZero() {
		return 0
	}
	for !paidUntil.AddDate(years, 0, 0).After(now) {
		years += term
	}
	return years
}

// heldDomain finds the domain of a name that one of our customers holds or has pending.
func (s *Service) heldDomain(ctx context.Context, name registrar.Name) (Domain, bool, error) {
	domain, found, err := s.cfg.Domains.DomainByName(ctx, name.ASCII())
	return domain, found && domain.Status != registrar.DomainTransferredOut, err
}

// term is the number of years on sale.
func term(kind Kind, extension registrar.Extension, rules Rules) int {
	if kind == Transfer {
		return rules.TransferYears
	}
	return extension.Term()
}

// longestTerm is the longest registration on sale.
func longestTerm(extension registrar.Extension, rules Rules) int {
	return max(extension.Term(), min(extension.MaxYears, rules.MaxYears, MaxYearsAhead))
}

// refusalError maps a registry's refusal to the kinds that Quote promises.
func refusalError(err error) error {
	switch registrar.KindOf(err) {
	case registrar.KindNotFound, registrar.KindForbidden, registrar.KindUnauthenticated:
		return &registrar.Error{Kind: registrar.KindConflict, Code: registrar.CodeOf(err), Err: err}
	default:
		return err
	}
}

// missingError is the first missing item as an error, for callers without a form.
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

const (
	defaultCacheTTL  = 10 * time.Second
	defaultMaxCached = 20_000
	staleTTL         = 15 * time.Minute // of answers shown with their time, while the registry is unreachable
)

// availabilityKey is everything that a registry's answer depends on. Customers do not
// share answers, so response times reveal nothing about other customers' queries.
type availabilityKey struct {
	account, customer, name string
	kind                    Kind
	years                   int
	code                    [sha256.Size]byte
}

func newAvailabilityKey(account, customer string, query AvailabilityQuery) availabilityKey {
	key := availabilityKey{account: account, customer: customer, name: query.Name, kind: query.Kind, years: query.Years}
	if query.Code != "" {
		key.code = sha256.Sum256([]byte(query.Code))
	}
	return key
}

// PremiumFees are what a registry charges for a premium name; zero for a name at the list price.
type PremiumFees struct {
	Term    registrar.Money // of the whole term that is ordered
	Renewal registrar.Money // of one more year; zero if the registry does not state it
}

// verdict is a registry's answer about a name: its fees if it is premium, or the refusal.
type verdict struct {
	premium PremiumFees
	refusal error
}

// checkAvailability returns the registry's verdict. The error says why
// the registry could not be queried; for ForDisplay the result is then the last known one.
// Answers obtained for other purposes are cached for display.
func (s *Service) checkAvailability(ctx context.Context, registry Account, key availabilityKey, request QuoteRequest, query AvailabilityQuery) (ttlcache.Result[verdict], error) {
	fetch := func(ctx context.Context) (answer verdict, unavailable error) {
		fees, err := registry.CheckAvailability(ctx, query)
		if err != nil && registrar.IsTransient(err) {
			return verdict{}, err
		}
		return verdict{premium: fees, refusal: err}, nil
	}
	if request.Purpose == registrar.ForDisplay {
		return s.availability.Get(ctx, key, request.Admit, fetch)
	}
	answer, err := fetch(ctx)
	if err != nil {
		return ttlcache.Result[verdict]{}, err
	}
	s.availability.Set(key, answer)
	return ttlcache.Result[verdict]{Value: answer, FetchedAt: s.items.Now()}, nil
}
