package portfolio

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// PageSize is the number of domains per page, MaxPageSize the largest that can be chosen.
const (
	PageSize    = 50
	MaxPageSize = 200
)

// MaxListed bounds the domains of one list, such as an export.
const MaxListed = 20_000

// Sort is an order of domains.
type Sort string

// The orders. Domains without a term, and those transferred out, come last by term.
const (
	SortName   Sort = ""
	SortTerm   Sort = "term"   // the next to end first
	SortStatus Sort = "status" // as in States
	SortAdded  Sort = "added"  // the newest first, by CreatedAt
)

// AutoRenew selects domains by automatic renewal.
type AutoRenew string

// The choices; empty means all.
const (
	AutoRenewOn  AutoRenew = "on"
	AutoRenewOff AutoRenew = "off"
)

// Filter selects domains of an account.
type Filter struct {
	// Part is a substring of the name, in Unicode or A-label form; empty matches every
	// name.
	Part   string
	Status registrar.DomainStatus // empty for all of them
	State  State                  // empty for all; only Page and ListMatching know it
	// PaidBefore selects domains whose paid term ends before it. Domains without a
	// term, and domains transferred out, never match. Zero matches all.
	PaidBefore  time.Time
	TLD, Folder string // empty for all
	AutoRenew   AutoRenew
	// UrgentBefore selects domains that need attention: their term is over, ends before this
	// time without a decision about it, could not be renewed automatically, another registrar has
	// requested it, its holder's address is not confirmed, or it is restricted.
	// Zero matches all.
	UrgentBefore time.Time
	HasStatus    string // part of an EPP status that the registry must have set; empty for all
	LacksStatus  string // an EPP status that the registry must not have set; empty for all

	Sort Sort
	// The other fields identify the last domain of the previous page; empty for the first
	// page. After sets them.
	AfterName, AfterID string
	AfterEnd           time.Time
	AfterState         State
}

// After returns the filter for the domains that follow one.
func (f Filter) After(last Domain) Filter {
	f.AfterName, f.AfterID, f.AfterEnd, f.AfterState = last.Name, last.ID, last.PaidUntil, last.State()
	return f
}

// Group counts domains with the same state, extension and folder.
type Group struct {
	State       State
	TLD, Folder string
	Domains     int
}

// Page is one page of an account's domains.
type Page struct {
	Domains []Domain
	More    bool    // reports whether there are further domains
	Groups  []Group // all domains of the account, regardless of the filter
}

// Total is the number of domains of the account.
func (p Page) Total() int {
	total := 0
	for _, group := range p.Groups {
		total += group.Domains
	}
	return total
}

// Page returns one page of the actor's domains. match decides what the store can't; nil
// matches every domain.
func (s *Service) Page(ctx context.Context, actor registrar.Actor, filter Filter, size int, match func(Domain) bool) (Page, error) {
	if actor.Customer == "" {
		return Page{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	groups, err := s.store.CountDomainGroups(ctx, actor.Customer)
	if err != nil {
		return Page{}, err
	}
	restricted, err := s.store.ListRestrictedDomains(ctx, actor.Customer)
	if err != nil {
		return Page{}, err
	}
	groups = regroup(groups, restricted)
	page := Page{Groups: groups}
	if page.Domains, _, err = s.collect(ctx, actor.Customer, filter, groups, size+1, match); err != nil {
		return Page{}, err
	}
	if len(page.Domains) > size {
		page.Domains, page.More = page.Domains[:size], true
	}
	return page, nil
}

// FilterCount counts the domains of an extension that filters find.
type FilterCount struct {
	TLD     string
	Urgent  int // Filter.UrgentBefore
	Ending  int // Filter.PaidBefore, of active domains
	Lacking int // Filter.LacksStatus, of active domains with statuses of the registry
}

// CountFilters counts the actor's domains that need attention or end before a time, or that lack an
// EPP status. An extension may have several counts.
func (s *Service) CountFilters(ctx context.Context, actor registrar.Actor, soon time.Time, lacking string) ([]FilterCount, error) {
	if actor.Customer == "" {
		return nil, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	return s.store.CountDomainFilters(ctx, actor.Customer, soon, lacking)
}

// regroup moves restricted domains from the groups of active ones to their own.
func regroup(groups []Group, restricted []Domain) []Group {
	move := func(group Group, by int) {
		at := slices.IndexFunc(groups, func(g Group) bool { return g.State == group.State && g.TLD == group.TLD && g.Folder == group.Folder })
		if at < 0 {
			at, groups = len(groups), append(groups, group)
		}
		groups[at].Domains += by
	}
	for _, domain := range restricted {
		move(Group{State: State(domain.Status), TLD: domain.TLD, Folder: domain.Folder}, -1)
		move(Group{State: domain.Restriction, TLD: domain.TLD, Folder: domain.Folder}, 1)
	}
	return slices.DeleteFunc(groups, func(g Group) bool { return g.Domains <= 0 })
}

// Restricted returns the state of each restricted domain of the actor's account, by name.
func (s *Service) Restricted(ctx context.Context, actor registrar.Actor) (map[string]State, error) {
	if actor.Customer == "" {
		return nil, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	domains, err := s.store.ListRestrictedDomains(ctx, actor.Customer)
	states := make(map[string]State, len(domains))
	for _, domain := range domains {
		states[domain.Name] = domain.Restriction
	}
	return states, err
}

// ListMatching returns the domains of all pages, at most MaxListed. more reports whether there
// may be further ones.
func (s *Service) ListMatching(ctx context.Context, actor registrar.Actor, filter Filter, match func(Domain) bool) (domains []Domain, more bool, err error) {
	if actor.Customer == "" {
		return nil, false, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	domains, more, err = s.collect(ctx, actor.Customer, filter, nil, MaxListed+1, match)
	if len(domains) > MaxListed {
		domains = domains[:MaxListed]
	}
	return domains, more, err
}

// collect reads up to limit matching domains in batches. groups is what the account has; nil
// if unknown. cut reports that it stopped before the end of the list.
func (s *Service) collect(
	ctx context.Context, customer string, filter Filter, groups []Group, limit int, match func(Domain) bool,
) (found []Domain, cut bool, err error) {
	part, possible := normalisePart(filter.Part)
	if !possible || filter.Status != "" && !filter.Status.Valid() || filter.State != "" && !slices.Contains(States(), filter.State) {
		return nil, false, nil // no name can match
	}
	if filter.Part = part; !isASCII(part) {
		filter.Part = "xn--"
		also := match
		match = func(d Domain) bool { return containsUnicode(d.Name, part) && (also == nil || also(d)) }
	}
	left := max(limit, scanBatch*scanBatches)
	for _, step := range filter.steps(groups) {
		step, match := step.resolve(groups, match)
		for more := true; more && left > 0; {
			size := min(left, scanBatch)
			if match == nil {
				size = min(size, limit-len(found))
			}
			batch, err := s.store.ListDomainsPage(ctx, customer, step, size)
			if err != nil {
				return nil, false, err
			}
			for _, domain := range batch {
				if match != nil && !match(domain) {
					continue
				}
				if found = append(found, domain); len(found) == limit {
					return found, true, nil
				}
			}
			left -= len(batch)
			if more = len(batch) == size; more {
				step = step.After(batch[size-1])
			}
		}
	}
	return found, left <= 0, nil
}

// resolve replaces the state of a filter by what the store knows, and adds the rest to match.
func (f Filter) resolve(groups []Group, match func(Domain) bool) (Filter, func(Domain) bool) {
	wanted := f.State
	switch wanted {
	case "":
		return f, match
	case Suspended, Held:
		f.Status, f.HasStatus = registrar.DomainActive, "Hold"
	case Disputed, Leaving:
		f.Status = registrar.DomainActive
	default:
		f.Status = registrar.DomainStatus(wanted)
		restricted := groups == nil || slices.ContainsFunc(groups, func(g Group) bool { return g.State.isRestriction() })
		if f.Status != registrar.DomainActive || !restricted {
			return f, match
		}
	}
	return f, func(d Domain) bool { return d.State() == wanted && (match == nil || match(d)) }
}

// steps splits a list into those that the store can sort, from the position on.
func (f Filter) steps(groups []Group) (steps []Filter) {
	add := func(sort Sort, state State) {
		if f.State != "" && state != "" && state != f.State || f.Status != "" && state != "" && state.status() != f.Status {
			return
		}
		has := func(g Group) bool { return state == "" || g.State == state }
		if groups != nil && state != f.AfterState && !slices.ContainsFunc(groups, has) {
			return // no query for an empty list
		}
		step := f
		step.Sort = sort
		if state != "" {
			step.State = state
		}
		steps = append(steps, step)
	}
	const pending, transferredOut = State(registrar.DomainPending), State(registrar.DomainTransferredOut)
	unsorted := func(state State) bool { return state == pending || state == transferredOut }
	var at func(Filter) bool // reports whether the position is in a step
	switch f.Sort {
	case SortStatus:
		for _, state := range States() {
			add(SortName, state)
		}
		at = func(step Filter) bool { return step.State == f.AfterState }
	case SortTerm:
		if !unsorted(cmp.Or(f.State, State(f.Status))) {
			add(SortTerm, "")
		}
		add(SortName, pending)
		add(SortName, transferredOut)
		at = func(step Filter) bool {
			return step.State == f.AfterState || step.Sort == SortTerm && !unsorted(f.AfterState)
		}
	default:
		return []Filter{f}
	}
	if f.AfterID == "" {
		return steps
	}
	for len(steps) > 0 && !at(steps[0]) {
		steps = steps[1:]
	}
	for i := 1; i < len(steps); i++ {
		steps[i].AfterName, steps[i].AfterID, steps[i].AfterEnd = "", "", time.Time{}
	}
	return steps
}

func containsUnicode(name, part string) bool {
	decoded, err := idna.Punycode.ToUnicode(name)
	return err == nil && strings.Contains(decoded, part)
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
			if !containsUnicode(domain.Name, part) {
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

// MaxHeldNames is the number of names that HeldIDs accepts.
const MaxHeldNames = 8

// HeldIDs returns the ids of those of the names, in lower-case A-labels, that the actor's
// account holds. It is one query.
func (s *Service) HeldIDs(ctx context.Context, actor registrar.Actor, names []string) (map[string]string, error) {
	if actor.Customer == "" {
		return nil, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	return s.store.ListHeldDomains(ctx, actor.Customer, names[:min(len(names), MaxHeldNames)])
}

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
