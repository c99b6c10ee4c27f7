package operator

import (
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/contactcheck"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// refundRow is a refund in a list.
type refundRow struct {
	admin.RefundEntry
	// Due is when the customer must have the money that an operator has to pay: by the deadline of the
	// withdrawal, otherwise at once. It is nil if no money is owed.
	Due *noticeRow
}

func newRefundRows(refunds []admin.RefundEntry, now time.Time) []refundRow {
	rows := make([]refundRow, len(refunds))
	for i, refund := range refunds {
		rows[i].RefundEntry = refund
		if task := order.RefundTask(refund.Task); task != order.TaskReturned && task != order.TaskRefused {
			continue
		}
		notice := withdrawal.Notice{ID: refund.Notice, Kind: withdrawal.Withdrawal, At: refund.Declared}
		if refund.Declared.IsZero() { // without delay, like the answer to a termination
			notice.Kind, notice.At = withdrawal.Termination, refund.FailedAt
		}
		due := newNoticeRow(notice, now)
		rows[i].Due = &due
	}
	return rows
}

// newUndecidedRows returns the refunds that wait for an operator, the earliest deadline first.
func newUndecidedRows(refunds []admin.RefundEntry, now time.Time) []refundRow {
	rows := newRefundRows(refunds, now)
	deadline := func(r refundRow) (at time.Time) {
		if r.Due != nil {
			at = r.Due.Deadline()
		}
		return at
	}
	slices.SortStableFunc(rows, func(a, b refundRow) int { return compareDeadlines(deadline(a), deadline(b)) })
	return rows
}

// returnedFor returns the undecided refunds of a notice: money that the customer does not have.
func (h *Handler) returnedFor(req *ui.Request, operator registrar.Actor, notice withdrawal.Notice) ([]refundRow, error) {
	undecided, err := h.Admin.ListUndecided(req.R.Context(), operator)
	return newRefundRows(slices.DeleteFunc(undecided, func(r admin.RefundEntry) bool { return r.Notice != notice.ID }), h.Now()), err
}

// contactRow is an address that is not confirmed, and whose domains are suspended soon or should be.
type contactRow struct {
	contactcheck.Check
	IsLate bool   // the domains should not be online any more
	Name   string // of its first domain; empty if none is left. Only on the overview
}

// More is the number of its domains besides the first.
func (r contactRow) More() int { return max(0, r.Domains-1) }

// urgentContacts returns the addresses that wait for an operator, and those whose domains are
// suspended within soonDays.
func (h *Handler) urgentContacts(req *ui.Request, operator registrar.Actor) (rows []contactRow, err error) {
	checks, err := h.Contacts.ListOpen(req.R.Context(), operator)
	for _, check := range checks {
		late := check.WaitsFor != "" || check.Stage() == contactcheck.Overdue || check.State == contactcheck.Pending && h.Now().After(check.DueAt)
		if late || check.State == contactcheck.Pending && h.Now().AddDate(0, 0, soonDays).After(check.DueAt) {
			rows = append(rows, contactRow{Check: check, IsLate: late})
		}
	}
	return rows, err
}

// isLate reports whether some of the open work on a page is overdue.
func (h *Handler) isLate(req *ui.Request, operator registrar.Actor, path string) (bool, error) {
	ctx := req.R.Context()
	switch path {
	case noticesPath:
		open, err := h.openNotices(req, operator)
		return slices.ContainsFunc(open, func(n noticeRow) bool { return n.Urgency == "overdue" }), err
	case inquiriesPath:
		urgent, _, err := h.Inquiries.ListUrgent(ctx, operator)
		return slices.ContainsFunc(h.newInquiryRows(urgent, nil), func(i inquiryRow) bool { return i.IsOverdue }), err
	case disputesPath:
		open, _, err := h.Disputes.List(ctx, operator, true, "")
		return slices.ContainsFunc(open, func(d dispute.Dispute) bool { return d.Late(h.Now()) }), err
	case contactsPath:
		contacts, err := h.urgentContacts(req, operator)
		return slices.ContainsFunc(contacts, func(c contactRow) bool { return c.IsLate }), err
	case locksPath:
		due, err := h.Admin.ListDueLocks(ctx, operator)
		return slices.ContainsFunc(due, func(l admin.Lock) bool { return l.Overdue(h.Now()) }), err
	case refundsPath:
		overdue, err := h.Admin.HasOverdueRefunds(ctx, operator)
		if err != nil || overdue {
			return overdue, err
		}
		undecided, err := h.Admin.ListUndecided(ctx, operator)
		return slices.ContainsFunc(newRefundRows(undecided, h.Now()), func(r refundRow) bool { return r.Due != nil && r.Due.Urgency == "overdue" }), err
	case jobsPath:
		items, err := h.Admin.ListJobs(ctx, operator, admin.JobItem, true)
		return slices.ContainsFunc(items, func(j admin.Job) bool { return j.Overdue && j.LastError.Code != "" }), err
	case termsPath:
		terms, err := h.Terms.ListOpen(ctx, operator)
		return len(terms.Overdue) > 0, err
	default:
		return false, nil
	}
}
