package renewal

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

const (
	day = 24 * time.Hour
	// announceAhead is how long before the end of a term its charge is announced, and
	// noticePeriod the time that the customer has at least from then on.
	announceAhead = 45 * day
	noticePeriod  = 30 * day
	// ShortestTermDays is how many days of a term must be left when the consent is given: otherwise automatic
	// renewal may begin with the next term; see FirstChargeOf.
	ShortestTermDays = int((noticePeriod + 2*day) / day)
	// maxAnnounced bounds the domains in one mail.
	maxAnnounced = 100
)

// ChargeDay returns when the renewal of a term is charged if it is announced at a time, and
// false if that would be later than the last day before the end of the term.
func ChargeDay(tld string, termEnd, announced time.Time) (time.Time, bool) {
	at := termEnd.Add(-time.Duration(lifecycle.PolicyOf(tld).LeadDays) * day)
	if earliest := announced.Add(noticePeriod); at.Before(earliest) {
		at = earliest
	}
	return at, !at.After(termEnd.Add(-day))
}

// AnnounceWindow is when the terms end whose charge is announced now. One that ends sooner
// has been announced already, or can't be any more.
func AnnounceWindow(now time.Time) Window {
	return Window{From: now.Add(noticePeriod + day), Until: now.Add(announceAhead)}
}

// Announce announces the next charges to one customer, in one mail and one more for those
// whose price has risen.
func (w *Worker) Announce(ctx context.Context, customer string) error {
	if stopped, err := w.cfg.Stopped(ctx); err != nil || stopped {
		return err
	}
	now := w.now()
	candidates, err := w.cfg.Store.ListDomainsToAnnounce(ctx, customer, AnnounceWindow(now), maxAnnounced)
	if err != nil || len(candidates) == 0 {
		return err
	}
	terms := make([]order.RenewalTerm, len(candidates))
	for i, candidate := range candidates {
		terms[i] = Domain{Name: candidate.Name, TLD: candidate.TLD, Premium: candidate.Premium}.renewalTerm(candidate.Years)
	}
	prices, err := w.cfg.Orders.RenewalPrices(ctx, customer, terms)
	if err != nil {
		return err
	}
	methods, err := w.cfg.Store.GetMethods(ctx, customer, 0)
	if err != nil {
		return err
	}
	method := methods.Default()
	open, err := w.openNotices(ctx, customer, candidates)
	if err != nil {
		return err
	}
	announcement := Announcement{Now: now, At: w.cfg.Clock().Truncate(time.Microsecond)}
	lines := make(map[registrar.MailKind][]mailLine)
	var charged, held []mailLine
	for i, candidate := range candidates {
		price := prices[terms[i]]
		row := Renewal{
			Domain: candidate.Domain, Customer: customer, Name: candidate.Name, TLD: candidate.TLD, TermEnd: candidate.TermEnd,
			State: Announced, Years: price.Years, Gross: price.Gross, AnnouncedAt: now,
		}
		kind := registrar.MailRenewalUpcoming
		at, inTime := ChargeDay(candidate.TLD, candidate.TermEnd, now)
		switch {
		case !inTime:
			continue // the window ends before
		case price.Err != nil:
			row.State, row.Failure, kind = Failed, registrar.CodeOf(price.Err), registrar.MailRenewalFailed
		default:
			row.ChargeAt = at
			if price.Gross > candidate.Shown && candidate.Shown > 0 {
				kind = registrar.MailRenewalPriceRise
			}
		}
		line := mailLine{Renewal: row, kind: kind, shown: candidate.Shown, net: price.Net}
		line.rate = price.RateBasisPoints
		switch {
		case row.State == Announced && len(open[row.Domain]) > 0:
			line.held = open[row.Domain][0]
			held = append(held, line)
			continue
		case row.State == Announced:
			charged = append(charged, line)
			continue
		}
		announcement.Renewals = append(announcement.Renewals, row)
		lines[kind] = append(lines[kind], line)
	}
	if err := errors.Join(raiseToShares(charged), raiseToShares(held)); err != nil {
		return err
	}
	for _, line := range slices.Concat(charged, held) {
		announcement.Renewals = append(announcement.Renewals, line.Renewal)
		lines[line.kind] = append(lines[line.kind], line)
	}
	for _, kind := range []registrar.MailKind{registrar.MailRenewalUpcoming, registrar.MailRenewalPriceRise, registrar.MailRenewalFailed} {
		if len(lines[kind]) > 0 {
			mail := newMail(kind, customer, lines[kind])
			mail.Data["method"] = method.Label
			if slices.ContainsFunc(lines[kind], func(line mailLine) bool { return line.held == "" && method.Expired(line.ChargeAt) }) {
				mail.Data["method_expires"] = method.Expires
			}
			if kind != registrar.MailRenewalFailed {
				total, err := totalOf(slices.DeleteFunc(slices.Clone(lines[kind]), func(line mailLine) bool { return line.held != "" }))
				if err != nil {
					return err
				}
				mail.Data["gross"], mail.Data["vat_rate"] = total.String(), strconv.Itoa(lines[kind][0].rate)
			}
			announcement.Mails = append(announcement.Mails, mail)
		}
	}
	if len(announcement.Renewals) == 0 {
		return nil
	}
	store, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	stored, err := w.cfg.Store.AnnounceRenewals(store, announcement)
	if err != nil || !stored { // by another node, or a domain has changed: the next run decides
		return err
	}
	for _, row := range announcement.Renewals {
		outcome := OutcomeAnnounced
		if row.State == Failed {
			outcome = OutcomeFailed
		}
		w.cfg.OnOutcome(outcome)
	}
	w.cfg.MailQueued()
	return nil
}

// openNotices returns, by domain, the kinds of the open notices about candidates. Their charges are
// announced as on hold: if the contract stays, they may be made without another announcement.
func (w *Worker) openNotices(ctx context.Context, customer string, candidates []Candidate) (map[string][]withdrawal.Kind, error) {
	domains := make([]string, len(candidates))
	for i, candidate := range candidates {
		domains[i] = candidate.Domain
	}
	return w.cfg.Store.ListOpenNotices(ctx, customer, domains)
}

// byChargeDay calls use with the VAT of lines that are charged on the same day and so, unless one is held up,
// with one order: it is rounded once over their total.
func byChargeDay(lines []mailLine, use func(group []int, vat []registrar.Cents)) error {
	days := make(map[string][]int)
	for i, line := range lines {
		days[dateOf(line.ChargeAt)] = append(days[dateOf(line.ChargeAt)], i)
	}
	for _, group := range days {
		nets := make([]registrar.Cents, len(group))
		for i, at := range group {
			nets[i] = lines[at].net
		}
		vat, err := billing.SplitVAT(nets, lines[group[0]].rate)
		if err != nil {
			return err
		}
		use(group, vat)
	}
	return nil
}

// raiseToShares announces a cent more for a domain whose share of the VAT will be a cent higher, so
// that the charge is not above what was announced.
func raiseToShares(lines []mailLine) error {
	return byChargeDay(lines, func(group []int, vat []registrar.Cents) {
		for i, at := range group {
			lines[at].Gross = max(lines[at].Gross, lines[at].net+vat[i])
		}
	})
}

// totalOf is what will be charged for lines.
func totalOf(lines []mailLine) (total registrar.Cents, err error) {
	err = byChargeDay(lines, func(group []int, vat []registrar.Cents) {
		for i, at := range group {
			total += lines[at].net + vat[i]
		}
	})
	return total, err
}
