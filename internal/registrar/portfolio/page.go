package portfolio

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// PageSize is the number of domains per page.
const PageSize = 50

// Filter selects domains of an account.
type Filter struct {
	// Part is a substring of the name, in Unicode or A-label form; empty matches every
	// name.
	Part   string
	Status registrar.DomainStatus // empty for all states
	// PaidBefore selects domains whose paid term ends before it. Domains without a
	// term, and domains transferred out, never match. Zero matches all.
	PaidBefore time.Time
	// AfterName and AfterID identify the last domain of the previous page; empty for
	// the first page.
	AfterName, AfterID string
}

// Page is one page of an account's domains.
type Page struct {
	Domains []Domain
	More    bool                           // reports whether there are further domains
	Counts  map[registrar.DomainStatus]int // the account's domains per state, regardless of the filter
}

// Total is the number of domains of the account.
func (p Page) Total() int {
	total := 0
	for _, count := range p.Counts {
		total += count
	}
	return total
}

// Page returns one page of the actor's domains, by name.
func (s *Service) Page(ctx context.Context, actor registrar.Actor, filter Filter) (Page, error) {
	if actor.Customer == "" {
		return Page{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	counts, err := s.store.CountDomainsByStatus(ctx, actor.Customer)
	if err != nil {
		return Page{}, err
	}
	page := Page{Counts: counts}
	part, possible := normalisePart(filter.Part)
	if !possible || filter.Status != "" && !filter.Status.Valid() {
		return page, nil // no name can match
	}
	filter.Part = part
	if isASCII(part) {
		page.Domains, err = s.store.ListDomainsPage(ctx, actor.Customer, filter, PageSize+1)
	} else {
		page.Domains, _, err = s.scanUnicode(ctx, actor.Customer, filter, PageSize+1, 0)
	}
	if err != nil {
		return Page{}, err
	}
	if len(page.Domains) > PageSize {
		page.Domains, page.More = page.Domains[:PageSize], true
	}
	return page, nil
}

// Find returns up to limit matching domains of the actor's account, by name, after
// skipping offset of them, and the total number of matches.
func (s *Service) Find(ctx context.Context, actor registrar.Actor, filter Filter, limit, offset int) (domains []Domain, total int, err error) {
	if actor.Customer == "" {
		return nil, 0, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	part, possible := normalisePart(filter.Part)
	if !possible {
		return nil, 0, nil // no name can match
	}
	filter.Part = part
	if !isASCII(part) {
		return s.scanUnicode(ctx, actor.Customer, filter, limit, offset)
	}
	return s.store.FindDomains(ctx, actor.Customer, filter, limit, offset)
}

// A search by Unicode text reads at most scanBatches batches of an account's
// internationalized names.
const (
	scanBatch   = 500
	scanBatches = 20
)

// scanUnicode is Find for a part with non-ASCII characters. Names are stored as
// A-labels, where part of the Unicode form is not a substring, so the account's
// internationalized names are read in batches and compared decoded.
func (s *Service) scanUnicode(ctx context.Context, customer string, filter Filter, limit, offset int) (domains []Domain, total int, err error) {
	part := filter.Part
	filter.Part = "xn--"
	for range scanBatches {
		batch, err := s.store.ListDomainsPage(ctx, customer, filter, scanBatch)
		if err != nil {
			return nil, 0, err
		}
		for _, domain := range batch {
			decoded, err := idna.Punycode.ToUnicode(domain.Name)
			if err != nil || !strings.Contains(decoded, part) {
				continue
			}
			if total >= offset && len(domains) < limit {
				domains = append(domains, domain)
			}
			total++
		}
		if len(batch) < scanBatch {
			break
		}
		last := batch[len(batch)-1]
		filter.AfterName, filter.AfterID = last.Name, last.ID
	}
	return domains, total, nil
}

func isASCII(part string) bool {
	return !strings.ContainsFunc(part, func(r rune) bool { return r >= utf8.RuneSelf })
}

// partProfile maps part of a name like a name: to lower case and composed. The part
// need not be a valid name.
var partProfile = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))

// normalisePart returns a part in the form in which names are compared: ASCII as
// stored, or Unicode if it has other characters; false if no name can contain it.
func normalisePart(part string) (string, bool) {
	part = strings.ToLower(strings.TrimSpace(part))
	if len(part) > 253 {
		return "", false
	}
	if !isASCII(part) {
		part, _ = partProfile.ToUnicode(part) // the mapped text is returned even if it is no valid name
	}
	const signs = "abcdefghijklmnopqrstuvwxyz0123456789-."
	return part, !isASCII(part) || strings.Trim(part, signs) == ""
}

// maxSameName exceeds the number of times a customer plausibly transfers one name out
// and back.
const maxSameName = 20

// FindByName returns the domain with a name, in lower-case A-labels, that the actor's
// account holds; false if the account does not hold it.
func (s *Service) FindByName(ctx context.Context, actor registrar.Actor, name string) (Domain, bool, error) {
	if actor.Customer == "" {
		return Domain{}, false, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	// The page that starts at the name starts with every domain that ever had it.
	domains, err := s.store.ListDomainsPage(ctx, actor.Customer, Filter{Part: name, AfterName: name}, maxSameName)
	for _, domain := range domains {
		if domain.Name == name && domain.Status != registrar.DomainTransferredOut {
			return domain, true, err
		}
	}
	return Domain{}, false, err
}
