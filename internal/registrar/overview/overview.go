package overview

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
)

// DecideWithin and ExpiringWithin are how long before the end of its term a domain is
// listed, without and with a choice of the customer.
const (
	DecideWithin   = 30 * 24 * time.Hour
	ExpiringWithin = 60 * 24 * time.Hour
)

// maxRows bounds what is read of each kind; the page counts the others.
const maxRows = 30

// MaxLeaving bounds the domains that other registrars have requested. It is higher because a
// thief may request all of them at once, and each has to be stopped.
const MaxLeaving = 200

// MaxTransfers bounds the transfers in progress that are read for the days on which they end.
const MaxTransfers = 300

// Kind is what a line is about.
type Kind string

// The kinds of lines.
const (
	AddressMissing    Kind = "address" // it decides whether the order requires a verified identity
	VerifyIdentity    Kind = "verify"
	PreparedOrder     Kind = "prepared"
	TransferRequested Kind = "transfer_requested"
	TransferEnding    Kind = "transfer_ending"
	Restricted        Kind = "restricted"
	TermOver          Kind = "over"
	ChargeFailed      Kind = "charge_failed"
	Undecided         Kind = "undecided"
	NextTerm          Kind = "next_term" // automatic renewal begins with the next term
	RegistrantMissing Kind = "registrant"
	EmailUnconfirmed  Kind = "email"
	UnpaidOrder       Kind = "unpaid"
	Charging          Kind = "charging"
	Provisioning      Kind = "provisioning"
	Changing          Kind = "changing"
	Expiring          Kind = "expiring"
)

// Line is one thing to do or to know.
type Line struct {
	Kind  Kind
	Order Order  // of lines about orders
	Email string // the new address of EmailUnconfirmed
	// Domain is set on lines about domains. A line about a change or an outgoing transfer has
	// only its name and id.
	Domain portfolio.Domain
	Change string    // the kind of the change
	Until  time.Time // zero if there is no deadline
}

// Order is an unfinished order.
type Order struct {
	ID      string
	State   order.State
	Channel order.Channel
	// ByKind and ByName are who created it.
	ByKind               registrar.ActorKind
	ByName               string
	Name                 string // of the first unfinished item
	Kind                 order.Kind
	Items, Failed        int // unfinished and failed items
	Net, Gross           registrar.Cents
	VATRule              string // of order.Totals
	SealedPayLink        string
	CreatedAt, ExpiresAt time.Time
}

// Change is a change of a domain that is not finished.
type Change struct {
	Domain, Name, Kind string
	WaitUntil          time.Time // zero if it does not wait
}

// Leaving is a domain that another registrar has requested.
type Leaving struct {
	Domain, Name string
	Pending      bool      // the customer can still stop it
	ActsAt       time.Time // when the registry approves it
}

// Day is what was spent on a day.
type Day struct {
	Day   time.Time
	Spent registrar.Cents
}

// Facts are what is stored. Lists with a count are the first of as many. Deciding are
// the domains that need a decision, Expiring the others that end soon, both sorted by the end
// of the term; Months and Later count the terms that end in each month of Bounds and after
// them; Spent are the payments of the year.
type Facts struct {
	HasRegistrant bool
	NewEmail      string // empty if no change of the address waits
	NewEmailUntil time.Time
	Orders        []Order
	OrderCount    int
	Transfers     []provision.Item // in progress; read if one of Orders waits for a transfer
	Changes       []Change
	ChangeCount   int
	Leaving       []Leaving
	Restricted    []portfolio.Domain // all of them
	Deciding      []portfolio.Domain
	DecidingCount int
	Expiring      []portfolio.Domain
	ExpiringCount int
	Months        [12]int
	Later         int
	Spent         []Day
}

// Bounds limit what is read. Clock is the wall clock; the others are business time. Months are
// the beginnings of twelve months and of the one after them.
type Bounds struct {
	Clock, PaidBefore, DecideBefore, SpentSince time.Time
	Months                                      [13]time.Time
	Limit                                       int
}

// Store reads facts.
type Store interface {
	OverviewFacts(ctx context.Context, customer string, bounds Bounds) (Facts, error)
}

// Overview is the state of an account.
type Overview struct {
	Decide, Unpaid, InProgress, Expiring []Line
	// The numbers of what is not listed: domains that need a decision, orders, changes, and
	// other domains that end soon.
	MoreDeciding, MoreOrders, MoreChanges, MoreExpiring int
	// Gone are deleted domains that can't be restored any more: nothing is left to do about them.
	Gone int

	Year     int
	Spent    [12]registrar.Cents // by month of Year
	Expiries [12]Month           // from this month on
	Later    int                 // terms that end after those months
}

// Month is a month and the number of terms that end in it.
type Month struct {
	Year    int
	Month   time.Month
	Domains int
}

// Empty reports whether there is nothing to show.
func (o Overview) Empty() bool {
	return o.Domains() == 0 && o.SpentTotal() == 0 && len(o.Decide)+len(o.Unpaid)+len(o.InProgress)+len(o.Expiring) == 0
}

// Domains is the number of terms that end in this month or later.
func (o Overview) Domains() int {
	sum := o.Later
	for _, month := range o.Expiries {
		sum += month.Domains
	}
	return sum
}

// Idle reports whether nothing waits for the customer. An order that is not listed may.
func (o Overview) Idle() bool { return len(o.Decide)+len(o.Unpaid)+o.MoreOrders == 0 }

// SpentTotal is the sum of the year so far.
func (o Overview) SpentTotal() (sum registrar.Cents) {
	for _, month := range o.Spent {
		sum += month
	}
	return sum
}

// Service is safe for concurrent use.
type Service struct {
	store        Store
	transferDays func(tld string) int
	now, clock   func() time.Time
}

// New returns a Service. transferDays is how long a transfer may take; now is business time, by
// which terms end; clock is the wall clock of links.
func New(store Store, transferDays func(tld string) int, now, clock func() time.Time) (*Service, error) {
	if store == nil || transferDays == nil || now == nil || clock == nil {
		return nil, errors.New("overview: store, transferDays, now and clock are required")
	}
	return &Service{store, transferDays, now, clock}, nil
}

// Of returns the overview of the actor's account.
func (s *Service) Of(ctx context.Context, actor registrar.Actor) (Overview, error) {
	if err := actor.RequireSignedIn(); err != nil {
		return Overview{}, err
	}
	now := s.now().UTC()
	bounds := Bounds{
		Clock: s.clock(), PaidBefore: now.Add(ExpiringWithin), DecideBefore: now.Add(DecideWithin), Limit: maxRows,
		SpentSince: time.Date(now.Year(), time.January, 1, 0, 0, 0, 0, time.UTC),
	}
	for i := range bounds.Months {
		bounds.Months[i] = month(now, i)
	}
	facts, err := s.store.OverviewFacts(ctx, actor.Customer, bounds)
	if err != nil {
		return Overview{}, err
	}
	o := overviewOf(facts, now)
	for i, line := range o.InProgress {
		if line.Kind == Provisioning && line.Order.Kind == order.Transfer {
			o.InProgress[i].Until = s.transferredBy(line.Order.ID, facts.Transfers)
		}
	}
	return o, nil
}

// transferredBy returns when the last transfer of an order is expected to be complete; zero if a
// registry has not accepted one yet.
func (s *Service) transferredBy(id string, running []provision.Item) (last time.Time) {
	for _, item := range running {
		if of, found := order.OrderOfPayment(item.Payment); !found || of != id {
			continue
		}
		by := item.TransferredBy(s.transferDays(item.TLD))
		if by.IsZero() {
			return by
		}
		if by.After(last) {
			last = by
		}
	}
	return last
}

// month returns the beginning of the month that many months from now.
func month(now time.Time, ahead int) time.Time {
	return time.Date(now.Year(), now.Month()+time.Month(ahead), 1, 0, 0, 0, 0, time.UTC)
}

func overviewOf(facts Facts, now time.Time) Overview {
	o := Overview{
		Year: now.Year(), Later: facts.Later, MoreDeciding: facts.DecidingCount - len(facts.Deciding), MoreOrders: facts.OrderCount - len(facts.Orders),
		MoreChanges: facts.ChangeCount - len(facts.Changes), MoreExpiring: facts.ExpiringCount - len(facts.Expiring),
	}
	for i, count := range facts.Months {
		first := month(now, i)
		o.Expiries[i] = Month{Year: first.Year(), Month: first.Month(), Domains: count}
	}
	for _, day := range facts.Spent {
		o.Spent[day.Day.Month()-1] += max(0, day.Spent) // less if more went back than was paid
	}
	for _, leaving := range facts.Leaving {
		line := Line{Kind: TransferRequested, Domain: portfolio.Domain{ID: leaving.Domain, Name: leaving.Name}, Until: leaving.ActsAt}
		if leaving.Pending {
			o.Decide = append(o.Decide, line)
		} else {
			line.Kind = TransferEnding
			o.InProgress = append(o.InProgress, line)
		}
	}
	o.addRestricted(facts.Restricted)
	o.addOrders(facts.Orders, facts.HasRegistrant, now)
	for _, domain := range slices.Concat(facts.Deciding, facts.Expiring) {
		o.addDomain(domain, now)
	}
	for _, change := range facts.Changes {
		o.InProgress = append(o.InProgress, Line{
			Kind: Changing, Domain: portfolio.Domain{ID: change.Domain, Name: change.Name}, Change: change.Kind, Until: change.WaitUntil,
		})
	}
	if !facts.HasRegistrant && (o.Domains() > 0 || len(facts.Orders) > 0) {
		o.Decide = append(o.Decide, Line{Kind: RegistrantMissing})
	}
	if facts.NewEmail != "" {
		o.Decide = append(o.Decide, Line{Kind: EmailUnconfirmed, Email: facts.NewEmail, Until: facts.NewEmailUntil})
	}
	slices.SortStableFunc(o.Decide, func(a, b Line) int { return cmp.Compare(a.Kind.rank(), b.Kind.rank()) })
	return o
}

// urgent are the kinds that come first in what waits for the customer: a domain may be lost.
var urgent = []Kind{TransferRequested, Restricted, TermOver, ChargeFailed}

func (k Kind) rank() int {
	if i := slices.Index(urgent, k); i >= 0 {
		return i
	}
	return len(urgent)
}

// addRestricted adds the restricted domains, the most urgent first. Those above the limit count
// as domains that need a decision.
func (o *Overview) addRestricted(domains []portfolio.Domain) {
	listed := 0
	for _, state := range portfolio.States() {
		for _, domain := range domains {
			switch {
			case domain.State() != state, state == portfolio.Leaving: // that has a line of its own
			case listed == maxRows:
				o.MoreDeciding++
			default:
				o.Decide = append(o.Decide, Line{Kind: Restricted, Domain: domain})
				listed++
			}
		}
	}
}

func (o *Overview) addOrders(orders []Order, hasRegistrant bool, now time.Time) {
	for _, one := range orders {
		line := Line{Order: one, Until: one.ExpiresAt}
		addressAwaited := order.AwaitsAddress(one.State, one.VATRule)
		switch {
		case one.State == order.Provisioning:
			line.Kind, line.Until = Provisioning, time.Time{}
			o.InProgress = append(o.InProgress, line)
		case one.State == order.Paying && one.Channel == order.ChannelRenewal:
			line.Kind, line.Until = Charging, time.Time{}
			o.InProgress = append(o.InProgress, line)
		case one.State != order.Paying && !now.Before(one.ExpiresAt): // the worker is about to expire it
		case addressAwaited && !hasRegistrant:
			line.Kind = AddressMissing
			o.Decide = append(o.Decide, line)
		case one.State == order.AwaitingVerification && !addressAwaited:
			line.Kind = VerifyIdentity
			o.Decide = append(o.Decide, line)
		case one.ByKind == registrar.ActorToken || one.ByKind == registrar.ActorApplication || one.ByKind == registrar.ActorAgent:
			line.Kind = PreparedOrder
			o.Decide = append(o.Decide, line)
		default:
			line.Kind = UnpaidOrder
			o.Unpaid = append(o.Unpaid, line)
		}
	}
}

func (o *Overview) addDomain(d portfolio.Domain, now time.Time) {
	line := Line{Kind: Expiring, Domain: d, Until: d.PaidUntil}
	switch {
	case d.IsGone(now):
		o.Gone++
		return
	case d.Status != registrar.DomainActive:
		line.Kind = TermOver
	case d.Renews() && (renewal.State(d.Term.Renewal) == renewal.Failed || renewal.State(d.Term.Renewal) == renewal.Announced && d.Term.Attempts > 0):
		line.Kind = ChargeFailed
	case d.Renews() && (renewal.State(d.Term.Renewal) == renewal.Stopped || d.Term.Renewal == "" && renewal.FirstChargeOf(now, d.PaidUntil, d.TLD, 1).NextTerm):
		line.Kind = NextTerm
	case d.AtTermEnd == "" && d.PaidUntil.Before(now.Add(DecideWithin)):
		line.Kind = Undecided
	}
	if line.Kind == Expiring {
		o.Expiring = append(o.Expiring, line)
	} else {
		o.Decide = append(o.Decide, line)
	}
}
