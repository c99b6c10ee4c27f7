package portal

import (
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// termEnd says what happens at the end of a domain's term and what the customer can do
// about it.
type termEnd struct {
	Text string // empty if there is nothing to say
	// Charges means that Text promises a charge, which an open notice puts on hold.
	Charges bool
	// Automatic means that Text is about automatic renewal.
	Automatic bool
	// NextTerm means that automatic renewal is on but begins with the next term: this one ends unless
	// the customer renews by hand.
	NextTerm bool
	// On means that automatic renewal is on, Expire that the customer lets it expire, Locked
	// that a dispute forbids renewals.
	On, Expire, Locked bool
	// CanTurnOn, CanTurnOff, CanLetExpire and CanKeep are the choices.
	CanTurnOn, CanTurnOff, CanLetExpire, CanKeep bool
	Renewable                                    bool      // by hand
	RenewableUntil                               time.Time // the last day of a late renewal; zero if unknown
	OfflineAt                                    time.Time // when an expired domain is taken out of the DNS; zero if it is, or if that is not planned
	// LastDay is the end of the term if that is the last moment for a renewal of an active domain
	// that does not renew automatically, UndoUntil if it would be the last moment to undo that it
	// expires; zero otherwise.
	LastDay, UndoUntil time.Time
	// Plan says on which days an active domain is taken out of the DNS and deleted, once its customer lets
	// it expire or its term is near its end, and ExpirePlan if they let it expire; empty otherwise.
	Plan, ExpirePlan string
}

// termEndOf decides by what is stored, so that the list, the page and the agents' tools
// agree.
func (h *Handler) termEndOf(req *ui.Request, d portfolio.Domain) termEnd {
	active, expired := d.Status == registrar.DomainActive, d.Status == registrar.DomainExpired
	end := termEnd{On: d.Renews(), Expire: d.AtTermEnd == registrar.TermEndExpire, Locked: d.Term.Locked}
	over := expired && (lifecycle.PolicyOf(d.TLD).RenewalOver(d.PaidUntil, h.Now()) || deletesNow(d))
	leaving := d.Restriction == portfolio.Leaving // the registry renews nothing until that has ended
	if !end.Locked && !leaving && !deletesNow(d) {
		end.Renewable, end.RenewableUntil = h.renewable(h.Now(), d)
	}
	if h.Renewals != nil {
		end.CanTurnOn = active && !end.On && !end.Locked && !leaving && h.sold(d.TLD)
		end.CanTurnOff = end.On && d.Status != registrar.DomainTransferredOut && !d.IsGone(h.Now())
		end.CanLetExpire = (active || expired) && !end.Expire && !over && !leaving
		end.CanKeep = (active || expired) && end.Expire && !over
	}
	end.OfflineAt = h.offlineAt(d)
	key, args := h.termEndText(req, d, end)
	end.NextTerm = key == "term.next"
	if active && (!end.On || end.NextTerm) && lifecycle.EndsWithTerm(d.TLD, end.Expire) {
		end.LastDay = d.PaidUntil
	}
	if active && lifecycle.EndsWithTerm(d.TLD, true) {
		end.UndoUntil = d.PaidUntil
	}
	if key != "" {
		end.Text = h.templates.Text(req.Language, key, args...)
	}
	end.Automatic = active && end.On && !end.Locked && !leaving
	end.Charges = key == "term.renews" || key == "term.announced" || key == "term.retry"
	if active && !end.Locked && !leaving {
		if end.Expire || !end.Charges && key != "term.charging" && lifecycle.NearEnd(d.PaidUntil, h.Now()) {
			end.Plan = h.planText(req, d, end.Expire)
		}
		end.ExpirePlan = h.expirePlanText(req, d, end)
	}
	return end
}

// deletesNow reports whether a domain that its customer let expire is being deleted because its term
// has ended: it can't be kept any more, unless an operator has to decide first.
func deletesNow(d portfolio.Domain) bool {
	expire := d.Status == registrar.DomainExpired && d.AtTermEnd == registrar.TermEndExpire
	return expire && d.Term.Unpaid == string(lifecycle.Unpaid) && !d.Term.WaitsForOperator && lifecycle.EndsWithTerm(d.TLD, true) && lifecycle.ActionOnExpiry(d.TLD) == lifecycle.UnpaidDelete
}

// offlineAt is when an expired domain is taken out of the DNS, by us or by its registry, as the mails
// announce it; zero if it is already, or if that is not planned.
func (h *Handler) offlineAt(d portfolio.Domain) time.Time {
	policy := lifecycle.PolicyOf(d.TLD)
	registrys := d.PaidUntil.AddDate(0, 0, policy.HoldAfter)
	switch {
	case d.Status != registrar.DomainExpired || policy.HoldAfter == 0 || d.OutOfDNS():
	case policy.Unpaid == lifecycle.UnpaidDelete && d.Term.Unpaid == string(lifecycle.Unpaid) && !d.Term.WaitsForOperator:
		return d.Term.StepAt
	case policy.Unpaid == lifecycle.UnpaidExpire && h.Now().Before(registrys):
		return registrys
	}
	return time.Time{}
}

// hold changes what happens at the end of a domain's term while notices about its contract are open:
// nothing is charged, and automatic renewal can't be turned on.
func (h *Handler) hold(req *ui.Request, end *termEnd, d portfolio.Domain, notices []withdrawal.Kind) {
	if len(notices) == 0 {
		return
	}
	end.CanTurnOn = false
	if end.Charges {
		end.Text, end.Charges = h.templates.Text(req.Language, "term.on_hold."+string(notices[0]), ui.FormatDate(req.Language, d.PaidUntil)), false
		if lifecycle.NearEnd(d.PaidUntil, h.Now()) {
			end.Plan = h.planText(req, d, end.Expire)
		}
	}
}

// sold reports whether renewals of a TLD are sold.
func (h *Handler) sold(tld string) bool {
	if h.Orders == nil {
		return false
	}
	extension, listed := h.Extension(tld)
	return listed && extension.Renew > 0
}

// renewable reports whether a domain can be renewed by hand, and until when a late renewal
// is possible. Where the registry renews by itself, a domain that still is here can be
// renewed; where it ends terms, the registry's own period counts.
func (h *Handler) renewable(now time.Time, d portfolio.Domain) (ok bool, until time.Time) {
	if h.Orders == nil {
		return false, time.Time{}
	}
	if d.Status != registrar.DomainExpired {
		return d.Status == registrar.DomainActive, time.Time{}
	}
	policy := lifecycle.PolicyOf(d.TLD)
	var end time.Time
	if policy.RenewableDays > 0 {
		end = d.PaidUntil.AddDate(0, 0, policy.RenewableDays)
		until = registrar.LastFullDay(end)
	}
	if policy.RenewalOver(d.PaidUntil, now) {
		return false, until
	}
	if policy.AtExpiry == lifecycle.RegistryExpires {
		return true, until
	}
	if now.After(end) { // it is late, for example because we could not send a notice
		until = time.Time{}
	}
	return true, until
}

// expiredBanner says first what matters about an expired domain: whether it still works, then what
// can be done.
func (h *Handler) expiredBanner(req *ui.Request, view domainView) string {
	text := func(key string, values ...any) string { return h.templates.Text(req.Language, key, values...) }
	d, end := view.Listed, view.End
	var parts []string
	switch {
	case !d.Term.HeldAt.IsZero():
		parts = append(parts, text("expired.held_since", ui.FormatDate(req.Language, d.Term.HeldAt)))
	case d.OutOfDNS():
		parts = append(parts, text("expired.held"))
	default:
		parts = append(parts, text("expired.since", ui.FormatDate(req.Language, d.PaidUntil)))
	}
	switch {
	case end.Locked:
		parts = append(parts, text("expired.locked"))
	case !end.Renewable:
		parts = append(parts, text("expired.over"))
	case d.OutOfDNS():
		parts = append(parts, text("expired.renew_held"))
	default:
		parts = append(parts, text("expired.renew"))
	}
	if end.Renewable && view.Capabilities.Code && view.Closed[string(domainchange.AuthCode)] == "" {
		key := "expired.transfer"
		if !view.Capabilities.Lock {
			key = "expired.transfer_no_lock"
		}
		parts = append(parts, text(key))
	}
	return strings.Join(parts, " ")
}

// termEndText returns the text key and its values.
func (h *Handler) termEndText(req *ui.Request, d portfolio.Domain, end termEnd) (string, []any) {
	day := func(at time.Time) any { return ui.FormatDate(req.Language, at) }
	if end.Locked && (d.Status == registrar.DomainActive || d.Status == registrar.DomainExpired || d.Status == registrar.DomainRedemption) {
		return "term.locked", []any{day(d.PaidUntil)}
	}
	if d.Restriction == portfolio.Leaving {
		return "term.leaving", nil
	}
	switch d.Status {
	case registrar.DomainActive:
		switch {
		case d.PaidUntil.IsZero():
			return "", nil
		case end.On:
			return h.renewalText(req, d)
		case end.Expire:
			return "term.expire", []any{day(d.PaidUntil)}
		default:
			return endsKey(d), []any{day(d.PaidUntil)}
		}
	case registrar.DomainExpired:
		return h.unpaidText(req, d, end)
	case registrar.DomainRedemption:
		days := lifecycle.PolicyOf(d.TLD).RedemptionDays
		switch until := lifecycle.RestorableUntil(d.TLD, d.Term.DeletedAt); {
		case days == 0: // its status says that it is deleted
			return "", nil
		case d.IsGone(h.Now()):
			return "term.redemption_over", nil
		case until.IsZero():
			return "term.redemption_undated", []any{days}
		default:
			return "term.redemption", []any{day(registrar.LastFullDay(until))}
		}
	case registrar.DomainTransit:
		return "term.transit", nil
	default:
		return "", nil
	}
}

// actUntil is the last day on which the customer can restore a domain whose term is over, or renew it
// before it goes offline or, if it is, before it is too late; zero if unknown.
func (e termEnd) actUntil(d portfolio.Domain) time.Time {
	if e.Renewable && !e.OfflineAt.IsZero() {
		return e.OfflineAt
	}
	if d.Status == registrar.DomainRedemption {
		return registrar.LastFullDay(lifecycle.RestorableUntil(d.TLD, d.Term.DeletedAt))
	}
	return e.RenewableUntil
}

// endsKey is the text key for a domain that nobody renews.
func endsKey(d portfolio.Domain) string {
	if lifecycle.PolicyOf(d.TLD).Lasts() {
		return "term.paid_until"
	}
	return "term.ends"
}

// EndsKey is the text key for the domain without automatic renewal.
func (r domainRow) EndsKey() string { return endsKey(r.Domain) }

// renewalText is about a domain that renews automatically.
func (h *Handler) renewalText(req *ui.Request, d portfolio.Domain) (string, []any) {
	ends := ui.FormatDate(req.Language, d.PaidUntil)
	charge := ui.FormatDate(req.Language, d.Term.ChargeAt)
	switch renewal.State(d.Term.Renewal) {
	case renewal.Announced:
		if d.Term.Attempts > 0 {
			return "term.retry", []any{charge}
		}
		return "term.announced", []any{charge, ui.FormatMoney(req.Language, d.Term.Gross)}
	case renewal.Charging:
		return "term.charging", nil
	case renewal.Failed:
		return "term.failed", []any{ends}
	case renewal.Stopped:
		return "term.next", []any{ends}
	case renewal.Renewed: // the row of the next term does not exist yet
	}
	if !h.sold(d.TLD) {
		return "term.not_sold", []any{ends}
	}
	first := renewal.FirstChargeOf(h.Now(), d.PaidUntil, d.TLD, 1)
	if first.NextTerm {
		return "term.next", []any{ends}
	}
	return "term.renews", []any{ui.FormatDate(req.Language, first.At)}
}

// unpaidText is about a domain whose term has ended.
func (h *Handler) unpaidText(req *ui.Request, d portfolio.Domain, end termEnd) (string, []any) {
	day := func(at time.Time) any { return ui.FormatDate(req.Language, at) }
	policy, step := lifecycle.PolicyOf(d.TLD), d.Term.StepAt
	deletion := policy.DeletionAt(d.PaidUntil, d.Term.HeldAt) // as the mails have announced it
	deletable := !h.Now().Before(deletion)
	switch d.Term.Unpaid {
	case "holding", "held":
		switch {
		case d.Term.HeldAt.IsZero():
			return "term.holding", nil
		case deletable:
			return "term.held_late", []any{day(d.Term.HeldAt), day(deletion)}
		}
		return "term.held", []any{day(d.Term.HeldAt), day(deletion)}
	case "deleting":
		return "term.deleting", nil
	}
	if deletesNow(d) {
		return "term.deleting", nil
	}
	action := policy.Unpaid
	if end.Expire {
		action = lifecycle.ActionOnExpiry(d.TLD)
	}
	planned := d.Term.Unpaid == "unpaid" && !step.IsZero() && !d.Term.WaitsForOperator
	switch {
	case !end.Renewable && !end.Locked && action == lifecycle.UnpaidExpire:
		return "term.unpaid_registry", []any{day(deletion)}
	case policy.RenewalEndsWithTerm():
		return "term.unpaid_over", nil
	case !end.OfflineAt.IsZero():
		return "term.unpaid_hold", []any{day(end.OfflineAt)}
	case planned && action == lifecycle.UnpaidDelete:
		return "term.unpaid_delete", []any{day(deletion)}
	case planned && action == lifecycle.UnpaidTransit:
		return "term.unpaid_transit", []any{day(step)}
	case d.Term.WaitsForOperator && end.Expire && end.Renewable && action != lifecycle.UnpaidTransit && deletable:
		return "term.unpaid_late", nil // without a day: the consent may be later than the end of the term
	case d.Term.WaitsForOperator && end.Expire && end.Renewable && action != lifecycle.UnpaidTransit:
		return "term.unpaid_delete", []any{day(deletion)}
	case policy.Lasts() && end.Renewable && !end.Expire:
		return "term.unpaid_lasts", nil
	case end.Renewable && !end.RenewableUntil.IsZero():
		return "term.unpaid_until", []any{day(end.RenewableUntil)}
	case end.Renewable:
		return "term.unpaid", nil
	default:
		return "term.unpaid_over", nil
	}
}
