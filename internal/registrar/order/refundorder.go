package order

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
)

// MaxRefundNote limits an operator's note.
const MaxRefundNote = 500

// deletionMargin is how long before the end of the add grace period a deletion is no longer
// said to return the registry's fee: the refund comes first and may be retried.
const deletionMargin = 2 * time.Hour

// RefundRequested is a refund as an operator requests it.
type RefundRequested struct {
	Order, Item string          // an empty item means the whole order
	Amount      registrar.Cents // gross; 0 means all that is left
	Reason      string          // one of OperatorReasons
	Note        string
	Notice      string // the withdrawal notice that the refund is for; empty: none
	Delete      bool   // the domains whose registration is refunded in full
	// Seen is that of the preview which the operator confirms.
	Seen string
}

// RefundPreview is what a refund would do.
type RefundPreview struct {
	Order            Order
	Amount, Net, VAT registrar.Cents
	Remaining        registrar.Cents // of the item or order, before the refund
	Lines            []RefundLine
	// Deletable are the domains that can be deleted together with the refund.
	Deletable []DeletableDomain
	Seen      string
}

// Completes reports whether the refund, once it and those that are due are made, leaves nothing of what
// a withdrawal notice is about.
func (p RefundPreview) Completes(mentions []string) bool {
	refunded := p.Order.settledByItem(true)
	for _, line := range p.Lines {
		refunded[line.Item.ID] += line.Gross
	}
	return p.Order.coversNotice(mentions, refunded)
}

// RefundLine is the part of a refund for one item, as on the correction.
type RefundLine struct {
	Item            Item
	Net, VAT, Gross registrar.Cents
	Remaining       registrar.Cents // before the refund
}

// DeletableDomain is a domain whose registration is refunded in full.
type DeletableDomain struct {
	Item, Domain, Name string
	Fee                FeeEffect
	Until              time.Time // the end of the add grace period; zero without one
	HandedOver         bool      // the registry takes it over and asks the registrant
}

// FeeEffect is whether a deletion returns the registry's fee.
type FeeEffect string

// Effects on the fee.
const (
	FeeReturned FeeEffect = "returned"
	FeeLost     FeeEffect = "lost"    // there is no add grace period, or it is over
	FeeUnknown  FeeEffect = "unknown" // no source says whether there is one
)

// RegisteredDomain is a domain that an item of an order registered, and that its customer still
// holds with the same term.
type RegisteredDomain struct {
	Item, Domain string
	RegisteredAt time.Time
}

// RefundStore is what operators' refunds need.
type RefundStore interface {
	OrderByID(ctx context.Context, id string) (Order, bool, error)
	UpdateOrder(ctx context.Context, move Transition) (bool, error)
	// ListRegisteredDomains returns the domains that can be deleted: registered by the order,
	// active, not locked, and not renewed or being renewed since.
	ListRegisteredDomains(ctx context.Context, order string) ([]RegisteredDomain, error)
}

// RefundsConfig configures Refunds. Store is required.
type RefundsConfig struct {
	Store RefundStore
	// Now is the business time, Clock the wall clock; nil means time.Now.
	Now, Clock func() time.Time
	Wake       func() // called after a refund became due; optional
}

// Refunds lets operators refund paid orders. It only stores what they decide: the worker of
// some node calls the provider.
type Refunds struct{ cfg RefundsConfig }

// NewRefunds returns Refunds.
func NewRefunds(cfg RefundsConfig) (*Refunds, error) {
	if cfg.Store == nil {
		return nil, errors.New("order: RefundsConfig.Store is required")
	}
	registrar.Default(&cfg.Now, time.Now)
	registrar.Default(&cfg.Clock, time.Now)
	registrar.Default(&cfg.Wake, func() {})
	return &Refunds{cfg}, nil
}

func (s *Refunds) now() time.Time { return s.cfg.Now().Truncate(time.Microsecond) }

// refundsDigest changes with every refund of an order.
func (o *Order) refundsDigest() string {
	parts := []string{strconv.Itoa(len(o.Refunds)), o.Remaining().String()}
	for _, r := range o.Refunds {
		parts = append(parts, r.State())
	}
	for _, item := range o.Items { // a refund may have been assigned to another item
		parts = append(parts, o.RemainingOf(item.ID).String())
	}
	return strings.Join(parts, "-")
}

// Preview returns what a refund would do. It changes nothing.
func (s *Refunds) Preview(ctx context.Context, operator registrar.Actor, request RefundRequested) (RefundPreview, error) {
	if err := operator.RequireOperator(); err != nil {
		return RefundPreview{}, err
	}
	o, err := existing(s.cfg.Store.OrderByID(ctx, request.Order))
	if err != nil {
		return RefundPreview{}, err
	}
	return s.preview(ctx, o, request)
}

func (s *Refunds) preview(ctx context.Context, o Order, request RefundRequested) (RefundPreview, error) {
	parts, err := o.planRefund(request.Item, request.Amount)
	if err != nil {
		return RefundPreview{Order: o}, err
	}
	preview := RefundPreview{Order: o, Remaining: o.Remaining(), Seen: o.refundsDigest()}
	if request.Item != "" {
		preview.Remaining = o.RemainingOf(request.Item)
	}
	for _, part := range parts {
		preview.Lines = append(preview.Lines, RefundLine{
			Item: *o.item(part.Item), Net: part.Gross - part.VAT, VAT: part.VAT, Gross: part.Gross, Remaining: o.RemainingOf(part.Item),
		})
		preview.Amount, preview.VAT = preview.Amount+part.Gross, preview.VAT+part.VAT
	}
	preview.Net = preview.Amount - preview.VAT
	registered, err := s.cfg.Store.ListRegisteredDomains(ctx, o.ID)
	if err != nil {
		return preview, err
	}
	for _, domain := range registered {
		line := find(preview.Lines, func(l RefundLine) bool { return l.Item.ID == domain.Item })
		if line != nil && o.RefundedOf(domain.Item)+line.Gross == line.Item.Gross {
			preview.Deletable = append(preview.Deletable, s.deletable(line.Item, domain))
		}
	}
	return preview, nil
}

func (s *Refunds) deletable(item Item, domain RegisteredDomain) DeletableDomain {
	one := DeletableDomain{Item: item.ID, Domain: domain.Domain, Name: item.Name, Fee: FeeLost, HandedOver: lifecycle.DeletionHandsOver(item.TLD)}
	grace := lifecycle.AddGraceOf(item.TLD)
	if grace.Days > 0 {
		one.Until = domain.RegisteredAt.AddDate(0, 0, grace.Days)
	}
	switch {
	case grace.Unknown:
		one.Fee = FeeUnknown
	case s.now().Before(one.Until.Add(-deletionMargin)):
		one.Fee = FeeReturned
	}
	return one
}

// Check returns BadRefund if reason or note are invalid.
func (r RefundRequested) Check() error {
	if _, ok := cleanNote(r.Note); !ok || !slices.Contains(OperatorReasons(), r.Reason) {
		return fail(registrar.KindInvalid, BadRefund)
	}
	return nil
}

// Order stores a refund that an operator has confirmed. If the order was refunded since the
// preview, it returns RefundChanged and changes nothing.
func (s *Refunds) Order(ctx context.Context, operator registrar.Actor, request RefundRequested) (Refund, error) {
	if err := operator.RequireOperator(); err != nil {
		return Refund{}, err
	}
	if err := request.Check(); err != nil {
		return Refund{}, err
	}
	note, _ := cleanNote(request.Note)
	var ordered Refund
	err := s.update(ctx, request.Order, func(m *Transition) error {
		preview, err := s.preview(ctx, m.From, request)
		switch {
		case m.From.refundsDigest() != request.Seen: // before another error that it may have caused
			return fail(registrar.KindConflict, RefundChanged)
		case err != nil:
			return err
		case request.Delete && len(preview.Deletable) == 0:
			return fail(registrar.KindConflict, DeletionForbidden)
		}
		now := s.now()
		ordered = Refund{
			ID: registrar.NewID("ref_", now), Payment: m.To.CapturedPayment().ID, Amount: preview.Amount, Source: ByOperator,
			Reason: request.Reason, Note: note, By: operator.Through, Notice: request.Notice, CreatedAt: now,
		}
		for _, line := range preview.Lines {
			part := RefundPart{Item: line.Item.ID, Gross: line.Gross, VAT: line.VAT}
			if domain := find(preview.Deletable, func(d DeletableDomain) bool { return d.Item == line.Item.ID }); request.Delete && domain != nil {
				part.Domain = domain.Domain
			}
			ordered.Parts = append(ordered.Parts, part)
		}
		s.addDue(m, operator, ordered)
		return nil
	})
	if err == nil {
		failpoint.Hit("refund_written")
		s.cfg.Wake()
	}
	return ordered, err
}

// addDue records a refund and makes the order due.
func (s *Refunds) addDue(m *Transition, operator registrar.Actor, refund Refund) {
	m.To.Refunds = append(m.To.Refunds, refund)
	if m.To.Attempts = 0; m.To.Node == "" { // otherwise a worker makes another refund, and this one after it
		m.To.DueAt = s.cfg.Clock()
	}
	m.AuditEvents = []registrar.AuditEvent{s.event(operator, ActionRefundOrdered, m.To, refund.ID)}
}

func (s *Refunds) event(operator registrar.Actor, action registrar.Action, o Order, refund string) registrar.AuditEvent {
	return registrar.AuditEvent{Actor: operator, Action: action, Customer: o.Customer, Object: o.ID, Refund: refund, At: s.now()}
}

// cleanNote returns the note as stored; false if it is empty, too long or not printable.
func cleanNote(note string) (string, bool) {
	note = strings.TrimSpace(strings.ReplaceAll(note, "\r\n", "\n"))
	return note, note != "" && utf8.RuneCountInString(note) <= MaxRefundNote && utf8.ValidString(note) &&
		!strings.ContainsFunc(note, registrar.IsUnprintableInLines)
}

// update changes an order, reloading it after version conflicts.
func (s *Refunds) update(ctx context.Context, id string, change func(m *Transition) error) error {
	for range maxAttempts {
		o, err := existing(s.cfg.Store.OrderByID(ctx, id))
		if err != nil {
			return err
		}
		m := Transition{From: o, To: o.clone(), At: s.cfg.Clock()}
		if err := change(&m); err != nil {
			return err
		}
		m.To.Version, m.To.UpdatedAt = o.Version+1, s.now()
		m.addDelayedMail()
		if updated, err := s.cfg.Store.UpdateOrder(ctx, m); updated || err != nil {
			return err
		}
	}
	return errBusy()
}

// decide changes a refund that waits for an operator with one of these tasks.
func (s *Refunds) decide(
	ctx context.Context, operator registrar.Actor, id, refund string, action registrar.Action, tasks []RefundTask, change func(m *Transition, r *Refund) error,
) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	return s.update(ctx, id, func(m *Transition) error {
		m.AuditEvents = []registrar.AuditEvent{s.event(operator, action, m.To, refund)}
		switch r := m.To.refund(refund); {
		case r == nil:
			return fail(registrar.KindNotFound, NoSuchRefund)
		case !slices.Contains(tasks, r.Task):
			return fail(registrar.KindConflict, NothingToDecide)
		default:
			r.Task = TaskNone
			return change(m, r)
		}
	})
}

// Assign divides a refund that was made at the provider among items. The amounts must add up to
// it. Its correction stays as issued, so its VAT does, too.
func (s *Refunds) Assign(ctx context.Context, operator registrar.Actor, id, refund string, amounts map[string]registrar.Cents) error {
	return s.decide(ctx, operator, id, refund, ActionRefundAssigned, []RefundTask{TaskAssign}, func(m *Transition, r *Refund) error {
		sum, vat := registrar.Cents(0), registrar.Cents(0)
		for _, part := range r.Parts {
			vat += part.VAT
		}
		var parts []RefundPart
		given := registrar.Cents(0)
		for _, item := range m.To.Items {
			amount := amounts[item.ID]
			if amount < 0 || amount > item.Gross-m.To.RefundedOf(item.ID) {
				return fail(registrar.KindInvalid, RefundTooLarge)
			}
			if sum += amount; amount > 0 {
				share := vat*sum/r.Amount - given
				parts, given = append(parts, RefundPart{Item: item.ID, Gross: amount, VAT: share}), given+share
			}
		}
		if sum != r.Amount {
			return fail(registrar.KindInvalid, BadAssignment)
		}
		r.Parts = parts
		m.To.markRefundedItems()
		return nil
	})
}

// Repeat pays a returned refund again, for the reason of the first one, whose correction stays.
func (s *Refunds) Repeat(ctx context.Context, operator registrar.Actor, id, refund string) error {
	err := s.decide(ctx, operator, id, refund, ActionRefundOrdered, []RefundTask{TaskReturned}, func(m *Transition, r *Refund) error {
		now, first := s.now(), m.To.firstOf(*r)
		again := Refund{
			ID: registrar.NewID("ref_", now), Payment: r.Payment, Amount: r.Amount, Source: ByOperator, Reason: first.ReasonOf(), Note: r.Note, By: operator.Through,
			Notice: first.Notice, Parts: slices.Clone(m.To.PartsOf(*r)), Replaces: r.ID, CreatedAt: now,
		}
		for i := range again.Parts {
			again.Parts[i].Domain = ""
		}
		s.addDue(m, operator, again)
		return nil
	})
	if err == nil {
		s.cfg.Wake()
	}
	return err
}

// Settle closes the task of a refund that was returned, was refused, or left domains with the customer.
// The note says what was done.
func (s *Refunds) Settle(ctx context.Context, operator registrar.Actor, id, refund, note string) error {
	note, ok := cleanNote(note)
	if !ok {
		return fail(registrar.KindInvalid, BadRefund)
	}
	return s.decide(ctx, operator, id, refund, ActionRefundSettled, []RefundTask{TaskReturned, TaskRefused, TaskDomains}, func(m *Transition, r *Refund) error {
		r.SettledAt, r.SettledBy, r.Settlement = s.now(), operator.Through, note
		if r.PaysReturned() {
			m.Mails = append(m.Mails, settledMail(m.To, *r))
		}
		return nil
	})
}
