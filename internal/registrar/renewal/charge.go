package renewal

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

const (
	// lookInterval is when a renewal that is being charged is looked at again, in case its
	// process has died.
	lookInterval = 5 * time.Second
	// retryInterval is when a renewal is due again that could not be attempted: a registry,
	// the payment provider or the VAT register can't be asked, or another order is in progress.
	retryInterval = time.Hour
	// refusedInterval is when a charge is attempted again that the provider rejected as wrong,
	// which an operator must fix: each attempt is an order that the customer sees.
	refusedInterval = day
	// urgentBefore is how long before the end of a term it is charged even if the customer's
	// VAT ID can't be validated.
	urgentBefore = 2 * day
	// minPayable is how long the customer can pay a failed attempt by hand at least.
	minPayable = time.Hour
)

// attemptDelays are the days between an attempt and the next one: days 0, 3 and 7.
var attemptDelays = []time.Duration{3 * day, 4 * day}

// TooLate is the failure of a renewal that could not be charged before its term ended.
const TooLate registrar.Code = "too_late"

// nextAttempt returns when a renewal is attempted again after an attempt that began at a time;
// false if that was the last one.
func (r Renewal) nextAttempt(began time.Time) (time.Time, bool) {
	if r.Attempts >= len(attemptDelays) {
		return time.Time{}, false
	}
	next := began.Add(attemptDelays[r.Attempts])
	return next, next.Before(r.TermEnd)
}

// Charge looks at a customer's charges in flight and makes those that are due.
func (w *Worker) Charge(ctx context.Context, customer string) error {
	if stopped, err := w.cfg.Stopped(ctx); err != nil || stopped {
		return err
	}
	now := w.now()
	dueBy := endOfDay(now)
	rows, err := w.cfg.Store.ListDueRenewals(ctx, customer, dueBy, order.MaxRenewals)
	if err != nil || len(rows) == 0 || rows[0].ChargeAt.After(now) {
		return err
	}
	var due []Renewal
	looked := make(map[string]bool)
	for _, row := range rows {
		switch {
		case row.State == Announced && row.chargeable(now):
			due = append(due, row)
		case row.State == Announced || row.ChargeAt.After(now):
		case !looked[row.Order]:
			looked[row.Order] = true
			o, err := w.cfg.Orders.GetRenewalOrder(ctx, row.Order)
			if err == nil {
				err = w.settle(ctx, o)
			}
			if err != nil {
				return err
			}
		}
	}
	if len(due) == 0 {
		return nil
	}
	if !slices.ContainsFunc(due, func(row Renewal) bool { return !row.ChargeAt.After(now) }) {
		return nil // those of later today wait for their time
	}
	due, err = w.holdWithNotices(ctx, customer, due, now)
	if err != nil || len(due) == 0 {
		return err
	}
	return w.chargeDue(ctx, customer, due, now)
}

// holdWithNotices returns the renewals that may be charged. Those of domains whose contract the customer
// has withdrawn from or terminated wait until an operator has handled the notice, and fail at the end
// of the term.
func (w *Worker) holdWithNotices(ctx context.Context, customer string, due []Renewal, now time.Time) ([]Renewal, error) {
	domains := make([]string, len(due))
	for i, row := range due {
		domains[i] = row.Domain
	}
	open, err := w.cfg.Store.ListOpenNotices(ctx, customer, domains)
	if err != nil {
		return nil, err
	}
	var others, held, missed []Renewal
	for _, row := range due {
		switch {
		case len(open[row.Domain]) == 0:
			others = append(others, row)
		case now.Before(row.TermEnd):
			held = append(held, row)
		default:
			row.Failure = TooLate
			missed = append(missed, row)
		}
	}
	if err := w.postpone(ctx, held); err != nil {
		return nil, err
	}
	return others, w.fail(ctx, customer, missed, open)
}

// endOfDay returns the last moment of a day. A customer is announced days, and all of a day's
// charges are made together.
func endOfDay(now time.Time) time.Time {
	return now.UTC().Truncate(day).Add(day - time.Microsecond)
}

// chargeable reports whether a renewal may be charged with others that are due: it is due, or
// due later today and was announced long enough ago.
func (r Renewal) chargeable(now time.Time) bool {
	return !r.ChargeAt.After(now) || !now.Before(r.AnnouncedAt.Add(noticePeriod))
}

// chargeDue makes one attempt for a customer's due renewals.
func (w *Worker) chargeDue(ctx context.Context, customer string, due []Renewal, now time.Time) error {
	charge := order.RenewalCharge{Customer: customer, LookAt: now.Add(lookInterval), DueBy: endOfDay(now)}
	for _, row := range due {
		charge.Items = append(charge.Items, order.RenewalItem{
			Domain: row.Domain, Name: row.Name, TLD: row.TLD, TermEnd: row.TermEnd, Years: row.Years, MaxGross: row.Gross, Former: row.Order,
		})
		next, again := row.nextAttempt(now)
		if !again {
			next = row.TermEnd
		}
		if charge.ExpiresAt.IsZero() || next.Before(charge.ExpiresAt) {
			charge.ExpiresAt = next
		}
		charge.Urgent = charge.Urgent || !now.Before(row.TermEnd.Add(-urgentBefore))
	}
	if earliest := now.Add(minPayable); charge.ExpiresAt.Before(earliest) {
		charge.ExpiresAt = earliest
	}
	w.pace.Add(len(due) - 1)
	attempt, err := w.cfg.Orders.ChargeRenewals(ctx, charge)
	switch {
	case registrar.CodeOf(err) == registrar.NoSuchCustomer: // the account is closed
		return w.stop(ctx, due)
	case err != nil && attempt.Order.ID == "":
		// Whatever it is, these must not keep other customers from being charged.
		return errors.Join(err, w.postpone(ctx, due))
	case err != nil:
		return err // the order, if there is one, is looked at later
	}
	var stopped, later, refused, missed []Renewal
	for _, row := range due {
		_, waits := attempt.Later[row.Domain]
		switch reason := attempt.Refused[row.Domain]; {
		case reason != nil:
			row.Failure = registrar.CodeOf(reason)
			refused = append(refused, row)
		case waits || attempt.Unfit[row.Domain] == order.ObstacleBusy:
			later = append(later, row)
		case attempt.Unfit[row.Domain] == order.ObstacleStopped && !now.Before(row.TermEnd):
			row.Failure = TooLate
			missed = append(missed, row)
		case attempt.Unfit[row.Domain] == order.ObstacleStopped:
			stopped = append(stopped, row)
		}
	}
	// Each is stored on its own: a conflict in one must not undo the others.
	for _, store := range []func() error{
		func() error { return w.stop(ctx, stopped) },
		func() error { return w.postpone(ctx, later) },
		func() error { return w.fail(ctx, customer, refused, nil) },
		func() error { return w.fail(ctx, customer, missed, nil) },
	} {
		if err := store(); err != nil {
			return err
		}
	}
	if attempt.Order.ID == "" {
		return nil
	}
	return w.settle(ctx, attempt.Order)
}

// stop ends renewals that must not be charged: the customer knows why.
func (w *Worker) stop(ctx context.Context, rows []Renewal) error {
	return w.each(ctx, rows, OutcomeStopped, func(row *Renewal) { row.State, row.ChargeAt = Stopped, time.Time{} })
}

// postpone makes renewals due again that could not be attempted.
func (w *Worker) postpone(ctx context.Context, rows []Renewal) error {
	at := w.now().Add(retryInterval)
	return w.each(ctx, rows, OutcomePostponed, func(row *Renewal) { row.ChargeAt = at })
}

// each stores one change after the other: another node may have stored some of them.
func (w *Worker) each(ctx context.Context, rows []Renewal, outcome Outcome, change func(row *Renewal)) error {
	for _, row := range rows {
		to := row
		change(&to)
		if err := w.update(ctx, Update{Changes: []Change{{From: row, To: to}}}, outcome); err != nil {
			return err
		}
	}
	return nil
}

// fail ends renewals that can't be charged, each with the reason in Failure, and queues a mail
// to the customer, which names the open notices about their domains.
func (w *Worker) fail(ctx context.Context, customer string, rows []Renewal, open map[string][]withdrawal.Kind) error {
	byReason := make(map[registrar.Code][]Renewal)
	for _, row := range rows {
		byReason[row.Failure] = append(byReason[row.Failure], row)
	}
	for _, group := range byReason {
		var update Update
		var lines []mailLine
		for _, row := range group {
			to := row
			to.State, to.ChargeAt = Failed, time.Time{}
			update.Changes = append(update.Changes, Change{From: row, To: to})
			update.AuditEvents = append(update.AuditEvents, w.failedEvent(to))
			line := mailLine{Renewal: to}
			if kinds := open[row.Domain]; len(kinds) > 0 {
				line.held = kinds[0]
			}
			lines = append(lines, line)
		}
		update.Mails = []registrar.Mail{newMail(registrar.MailRenewalFailed, customer, lines)}
		if err := w.update(ctx, update, OutcomeFailed); err != nil {
			return err
		}
	}
	return nil
}

func (w *Worker) failedEvent(row Renewal) registrar.AuditEvent {
	return registrar.AuditEvent{
		Actor: registrar.Actor{Kind: registrar.ActorSystem}, Action: ActionFailed, Customer: row.Customer, Object: row.Name, At: w.now(),
	}
}

// settle stores what an order means for its renewals. A paid order has done so itself.
func (w *Worker) settle(ctx context.Context, o order.Order) error {
	status, failure := order.RenewalStatusOf(o)
	if status == order.RenewalPaid {
		for range o.Items {
			w.cfg.OnOutcome(OutcomeCharged)
		}
		return nil
	}
	failpoint.Hit("renewal_settling")
	all, err := w.cfg.Store.ListRenewalsOfOrder(ctx, o.ID)
	if err != nil {
		return err
	}
	var rows []Renewal
	for _, row := range all {
		if row.State == Charging && row.Order == o.ID && !row.ChargeAt.IsZero() {
			rows = append(rows, row)
		}
	}
	now := w.now()
	switch {
	case status == order.RenewalOpen:
		return w.each(ctx, rows, "", func(row *Renewal) { row.ChargeAt = now.Add(lookInterval) })
	case failure == "": // interrupted: nothing was decided
		return w.each(ctx, rows, "", func(row *Renewal) { row.State, row.ChargeAt = Announced, now })
	case failure == order.ProviderUnavailable:
		return w.each(ctx, rows, OutcomePostponed, func(row *Renewal) { row.State, row.ChargeAt = Announced, now.Add(retryInterval) })
	case failure == order.ProviderRefused:
		return w.each(ctx, rows, OutcomePostponed, func(row *Renewal) { row.State, row.ChargeAt = Announced, now.Add(refusedInterval) })
	}
	return w.endAttempt(ctx, o, rows, failure)
}

// endAttempt stores a failed attempt of an order: with a mail about the next one, or about the
// last one.
func (w *Worker) endAttempt(ctx context.Context, o order.Order, rows []Renewal, failure registrar.Code) error {
	method, _, err := w.cfg.Store.GetPaymentMethod(ctx, o.Customer)
	if err != nil {
		return err
	}
	var again, over Update
	var againLines, overLines []mailLine
	for _, row := range rows {
		to := row
		next, retry := row.nextAttempt(o.CreatedAt)
		to.Attempts++
		to.Failure = failure
		if retry {
			to.State, to.ChargeAt = Announced, next
			again.Changes = append(again.Changes, Change{From: row, To: to})
			againLines = append(againLines, mailLine{Renewal: to})
			continue
		}
		to.State, to.ChargeAt = Failed, time.Time{}
		over.Changes = append(over.Changes, Change{From: row, To: to})
		over.AuditEvents = append(over.AuditEvents, w.failedEvent(to))
		overLines = append(overLines, mailLine{Renewal: to})
	}
	mail := func(kind registrar.MailKind, lines []mailLine) []registrar.Mail {
		if len(lines) == 0 {
			return nil
		}
		mail := newMail(kind, o.Customer, lines)
		// The moment that the order's page shows, and not its day, part of which may be too late.
		mail.Data["order"], mail.Data["method"], mail.Data["payable_until"] = o.ID, method.Label, o.ExpiresAt.UTC().Format(time.RFC3339)
		mail.Data["gross"] = o.Totals.Gross.String() // what was tried, at most what was announced
		mail.Data["vat_rate"] = strconv.Itoa(o.Totals.RateBasisPoints)
		return []registrar.Mail{mail}
	}
	again.Mails, over.Mails = mail(registrar.MailRenewalDeclined, againLines), mail(registrar.MailRenewalFailed, overLines)
	if err := w.update(ctx, again, OutcomeDeclined); err != nil {
		return err
	}
	return w.update(ctx, over, OutcomeFailed)
}
