package operator

import (
	"cmp"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// shownMessages bounds the unread registry messages on the overview.
const shownMessages = 10

// home lists what needs an operator.
func (h *Handler) home(req *ui.Request, operator registrar.Actor) error {
	needs, err := h.Admin.ListOpenIssues(req.R.Context(), operator)
	if err != nil {
		return err
	}
	var database []DatabaseCondition
	if h.Database != nil {
		database = h.Database()
	}
	var troubled []Upstream
	for _, upstream := range h.Upstreams() {
		if upstream.State == UpstreamFailing || upstream.State == UpstreamPaused {
			troubled = append(troubled, upstream)
		}
	}
	unpaid, err := h.Terms.ListOpen(req.R.Context(), operator)
	if err != nil {
		return err
	}
	preview, err := h.Terms.Preview(req.R.Context(), operator)
	if err != nil {
		return err
	}
	notices, err := h.openNotices(req, operator)
	if err != nil {
		return err
	}
	inquiries, moreInquiries, err := h.Inquiries.ListUrgent(req.R.Context(), operator)
	if err != nil {
		return err
	}
	low, err := h.Inbox.LowBalances(req.R.Context(), operator)
	if err != nil {
		return err
	}
	messages, _, err := h.Inbox.List(req.R.Context(), operator, inbox.Filter{}, true, "")
	if err != nil {
		return err
	}
	messages = messages[:min(len(messages), shownMessages)]
	open, _, err := h.Disputes.List(req.R.Context(), operator, true, "")
	if err != nil {
		return err
	}
	slices.SortStableFunc(open, func(a, b dispute.Dispute) int { return compareDeadlines(a.Deadline(), b.Deadline()) })
	disputes, err := h.disputeRows(req, operator, open[:min(len(open), shownMessages)])
	if err != nil {
		return err
	}
	contacts, err := h.urgentContacts(req, operator)
	if err != nil {
		return err
	}
	for i := range contacts {
		if contacts[i].Name, err = h.Contacts.FirstDomain(req.R.Context(), operator, contacts[i].ID); err != nil {
			return err
		}
	}
	unfunded, err := h.unfunded(req, operator)
	if err != nil {
		return err
	}
	quiet := len(needs.Undecided)+len(contacts)+len(low)+len(database)+len(disputes)+len(messages)+len(notices)+len(inquiries)+len(needs.Orders)+len(needs.Items)+len(needs.Changes)+len(needs.Refunds)+len(needs.Locks)+len(troubled)+len(unpaid.Waiting)+len(unpaid.Overdue) == 0 &&
		!preview.Brake.Engaged()
	view := homeView{
		OpenIssues: needs, Database: database, Upstreams: troubled, Brake: preview.Brake, Unpaid: unpaid, Notices: notices, Inquiries: h.newInquiryRows(inquiries, nil),
		MoreInquiries: moreInquiries, LowBalances: low, Messages: newMessageRows(messages, nil), Disputes: disputes, Undecided: newUndecidedRows(needs.Undecided, h.Now()),
		Contacts: contacts, Unfunded: unfunded, Quiet: quiet, Now: h.Now(),
	}
	return h.render(req, ui.View{Name: "home", Section: homePath}, view, "")
}

// homeView is what needs an operator.
type homeView struct {
	admin.OpenIssues
	Database      []DatabaseCondition
	Upstreams     []Upstream
	Brake         lifecycle.BrakeStatus
	Unpaid        lifecycle.OpenTerms
	Notices       []noticeRow
	Inquiries     []inquiryRow
	MoreInquiries int
	LowBalances   []inbox.Stored
	Messages      []messageRow
	Disputes      []disputeRow
	Undecided     []refundRow // refunds that wait for a decision
	Contacts      []contactRow
	Unfunded      []unfundedAccount
	Quiet         bool
	Now           time.Time
}

// homeSection is a kind of work on the overview.
type homeSection struct {
	Name string
	Late bool      // some of it is overdue
	Due  time.Time // the earliest deadline; zero if there is none
}

// Sections are the kinds of work in the order of their urgency: overdue work first, then that with
// the earliest deadline, then that without one. Orders that are stuck, and what is stopped until an
// operator decides, are due now.
func (v homeView) Sections() []homeSection {
	orders, items := homeSection{Name: "orders", Due: v.Now}, homeSection{Name: "items", Due: v.Now}
	disputes, notices, inquiries := homeSection{Name: "disputes"}, homeSection{Name: "notices"}, homeSection{Name: "inquiries"}
	changes, locks := homeSection{Name: "changes"}, homeSection{Name: "locks"}
	undecided, contacts := homeSection{Name: "undecided"}, homeSection{Name: "contacts"}
	for section, jobs := range map[*homeSection][]admin.Job{&orders: v.Orders, &items: v.Items, &changes: v.Changes} {
		section.Late = slices.ContainsFunc(jobs, func(j admin.Job) bool { return j.Overdue })
	}
	for _, one := range v.Disputes {
		disputes.add(one.IsLate, one.Deadline())
	}
	for _, notice := range v.Notices {
		deadline := notice.Deadline()
		if notice.AtOnce() {
			deadline = v.Now
		}
		notices.add(notice.Urgency == "overdue", deadline)
	}
	for _, refund := range v.Undecided {
		if refund.Due != nil {
			undecided.add(refund.Due.Urgency == "overdue", refund.Due.Deadline())
		}
	}
	for _, one := range v.Contacts {
		contacts.add(one.IsLate, one.DueAt)
	}
	for _, one := range v.Inquiries {
		inquiries.add(one.IsOverdue, one.Deadline())
	}
	for _, lock := range v.Locks {
		locks.add(lock.Overdue(v.Now), lock.ReviewAt)
	}
	sections := []homeSection{
		orders, items, disputes, notices,
		{Name: "refunds", Late: true},
		undecided, contacts,
		{Name: "brake", Late: true, Due: v.Brake.StoppedAt},
		{Name: "unpaid"},
		inquiries,
		{Name: "messages"},
		changes, locks,
		{Name: "upstreams"},
	}
	slices.SortStableFunc(sections, func(a, b homeSection) int {
		return cmp.Or(compareTrue(a.Late, b.Late), compareDeadlines(a.Due, b.Due))
	})
	return sections
}

func (s *homeSection) add(late bool, deadline time.Time) {
	s.Late = s.Late || late
	if compareDeadlines(deadline, s.Due) < 0 {
		s.Due = deadline
	}
}

// UnpaidSince is the earliest end of the terms that wait for a decision; zero if none does.
func (v homeView) UnpaidSince() (since time.Time) {
	for _, term := range v.Unpaid.Waiting {
		if compareDeadlines(term.End, since) < 0 {
			since = term.End
		}
	}
	return since
}

// compareDeadlines sorts the earliest first, and those that are zero last.
func compareDeadlines(a, b time.Time) int {
	return cmp.Or(compareTrue(!a.IsZero(), !b.IsZero()), a.Compare(b))
}

// compareTrue sorts what holds first.
func compareTrue(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}
