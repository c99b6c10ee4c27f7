package portal

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// termEnd says what happens at the end of a domain's term and what the customer can do
// about it.
type termEnd struct {
	Text string // empty if there is nothing to say
	// On means that automatic renewal is on, Expire that the customer lets it expire, Locked
	// that a dispute forbids renewals.
	On, Expire, Locked bool
	// CanTurnOn, CanTurnOff, CanLetExpire and CanKeep are the choices.
	CanTurnOn, CanTurnOff, CanLetExpire, CanKeep bool
	Renewable                                    bool      // by hand
	RenewableUntil                               time.Time // the last day of a late renewal; zero if unknown
	DeletedAt                                    time.Time // when we deleted it; zero if we did not
}

// termEndOf decides by what is stored, so that the list, the page and the agents' tools
// agree.
func (h *Handler) termEndOf(req *ui.Request, d portfolio.Domain) termEnd {
	active, expired := d.Status == registrar.DomainActive, d.Status == registrar.DomainExpired
	end := termEnd{On: d.Renews(), Expire: d.AtTermEnd == registrar.TermEndExpire, Locked: d.Term.Locked, DeletedAt: d.Term.DeletedAt}
	if !end.Locked {
		end.Renewable, end.RenewableUntil = h.renewable(h.Now(), d)
	}
	if h.Renewals != nil {
		end.CanTurnOn = active && !end.On && !end.Locked && h.sold(d.TLD)
		end.CanTurnOff = end.On && d.Status != registrar.DomainTransferredOut
		end.CanLetExpire = (active || expired) && !end.Expire
		end.CanKeep = end.Expire
	}
	key, args := h.termEndText(req, d, end)
	if key != "" {
		end.Text = h.templates.Text(req.Language, key, args...)
	}
	return end
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
	if policy.RenewableDays > 0 {
		until = d.PaidUntil.AddDate(0, 0, policy.RenewableDays)
	}
	if policy.AtExpiry == lifecycle.RegistryExpires {
		return now.Before(until), until
	}
	if now.After(until) { // it is late, for example because we could not send a notice
		until = time.Time{}
	}
	return true, until
}

// termEndText returns the text key and its values.
func (h *Handler) termEndText(req *ui.Request, d portfolio.Domain, end termEnd) (string, []any) {
	day := func(at time.Time) any { return ui.FormatDate(req.Language, at) }
	if end.Locked && (d.Status == registrar.DomainActive || d.Status == registrar.DomainExpired || d.Status == registrar.DomainRedemption) {
		return "term.locked", []any{day(d.PaidUntil)}
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
			return "term.ends", []any{day(d.PaidUntil)}
		}
	case registrar.DomainExpired:
		return h.unpaidText(req, d, end)
	case registrar.DomainRedemption:
		days := lifecycle.PolicyOf(d.TLD).RedemptionDays
		switch last := restorableUntil(h.Now(), d.Term.DeletedAt, days); {
		case days == 0: // its status says that it is deleted
			return "", nil
		case last.IsZero(): // the registry has deleted it by itself, or later than we asked for
			return "term.redemption_undated", nil
		default:
			return "term.redemption", []any{day(last)}
		}
	case registrar.DomainTransit:
		return "term.transit", nil
	default:
		return "", nil
	}
}

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
	switch d.Term.Unpaid {
	case "holding", "held":
		switch {
		case d.Term.HeldAt.IsZero():
			return "term.holding", nil
		case step.IsZero() || d.Term.WaitsForOperator:
			return "term.held_open", []any{day(d.Term.HeldAt)}
		}
		return "term.held", []any{day(d.Term.HeldAt), day(step)}
	case "deleting":
		return "term.deleting", nil
	}
	planned := d.Term.Unpaid == "unpaid" && !step.IsZero() && !d.Term.WaitsForOperator
	switch {
	case planned && policy.Unpaid == lifecycle.UnpaidDelete && policy.HoldAfter > 0:
		return "term.unpaid_hold", []any{day(step)}
	case planned && policy.Unpaid == lifecycle.UnpaidDelete:
		return "term.unpaid_delete", []any{day(step)}
	case planned && policy.Unpaid == lifecycle.UnpaidTransit:
		return "term.unpaid_transit", []any{day(step)}
	case end.Renewable && !end.RenewableUntil.IsZero():
		return "term.unpaid_until", []any{day(end.RenewableUntil)}
	case end.Renewable:
		return "term.unpaid", nil
	default:
		return "term.unpaid_over", nil
	}
}
