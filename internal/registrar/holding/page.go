package holding

import (
	"context"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// PageSize is how many domains a page has.
const PageSize = 50

// Filter is which domains of an account are wanted.
type Filter struct {
	// Part is what a name contains, as people type it; empty means every name.
	Part string
	// Status is what they are; empty means all.
	Status Status
	// PaidBefore selects domains whose paid term ends before it. Names without a
	// term, and names that another registrar looks after, never match. Zero means all.
	PaidBefore time.Time
	// AfterName and AfterID are those of the last one of the page before; empty at
	// the beginning.
	AfterName, AfterID string
}

// Page is a part of an account's domains.
type Page struct {
	Domains []Domain
	// More says that there are further ones.
	More bool
	// Counts are how many the account has of each status, whatever the filter says.
	Counts map[Status]int
}

// Total is how many domains the account has.
func (p Page) Total() int {
	total := 0
	for _, count := range p.Counts {
		total += count
	}
	return total
}

// Page returns some of the domains of the actor's account, by name.
func (s *Service) Page(ctx context.Context, actor registrar.Actor, filter Filter) (Page, error) {
	if actor.Customer == "" {
		return Page{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	counts, err := s.store.CountOf(ctx, actor.Customer)
	if err != nil {
		return Page{}, err
	}
	page := Page{Counts: counts}
	part, possible := stored(filter.Part)
	if !possible || filter.Status != "" && !filter.Status.valid() {
		return page, nil // no name is like that
	}
	filter.Part = part
	if page.Domains, err = s.store.PageOf(ctx, actor.Customer, filter, PageSize+1); err != nil {
		return Page{}, err
	}
	if len(page.Domains) > PageSize {
		page.Domains, page.More = page.Domains[:PageSize], true
	}
	return page, nil
}

// Find returns up to limit of the matching domains of the actor's account, by name,
// after skipping offset of them, and how many match in all.
func (s *Service) Find(ctx context.Context, actor registrar.Actor, filter Filter, limit, offset int) (domains []Domain, total int, err error) {
	if actor.Customer == "" {
		return nil, 0, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	part, possible := stored(filter.Part)
	if !possible {
		return nil, 0, nil // no name contains it
	}
	filter.Part = part
	return s.store.FindDomains(ctx, actor.Customer, filter, limit, offset)
}

// stored is a part of a name as names are stored; false if no name can have it.
func stored(part string) (string, bool) {
	part = strings.ToLower(strings.TrimSpace(part))
	if strings.ContainsFunc(part, func(r rune) bool { return r >= 0x80 }) {
		written, err := idna.Lookup.ToASCII(part)
		if err != nil {
			return "", false
		}
		part = written
	}
	const signs = "abcdefghijklmnopqrstuvwxyz0123456789-."
	return part, strings.Trim(part, signs) == "" && len(part) <= 253
}
