package operator

import (
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/inquiry"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

func TestHomeSections_OverdueFirstThenByDeadline(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC)
	h := &Handler{Config: Config{Now: func() time.Time { return now }}}
	abuse := func(at time.Time) []inquiryRow {
		return h.newInquiryRows([]inquiry.Inquiry{{Topic: "abuse", At: at}}, nil)
	}
	notice := newNoticeRows([]withdrawal.Notice{{Kind: withdrawal.Withdrawal, At: now.AddDate(0, 0, -1)}}, now, nil)
	disputed := disputeRow{Dispute: dispute.Dispute{Report: dispute.Report{Status: dispute.NeedsResponse, DueBy: now.AddDate(0, 0, 6)}}}
	for name, test := range map[string]struct {
		view  homeView
		first []string // of those below
	}{
		"by deadline":     {homeView{Inquiries: abuse(now), Notices: notice, Disputes: []disputeRow{disputed}}, []string{"inquiries", "disputes", "notices"}},
		"overdue":         {homeView{Inquiries: abuse(now.AddDate(0, 0, -3)), OpenIssues: admin.OpenIssues{Items: []admin.Job{{}}}}, []string{"inquiries", "items"}},
		"overdue item":    {homeView{Inquiries: abuse(now), OpenIssues: admin.OpenIssues{Items: []admin.Job{{Overdue: true}}}}, []string{"items", "inquiries"}},
		"stuck order":     {homeView{Inquiries: abuse(now), OpenIssues: admin.OpenIssues{Orders: []admin.Job{{}}}}, []string{"orders", "inquiries"}},
		"none is last":    {homeView{Inquiries: abuse(now), OpenIssues: admin.OpenIssues{Changes: []admin.Job{{}}}, Unpaid: lifecycle.OpenTerms{Waiting: []lifecycle.Term{{End: now}}}}, []string{"inquiries", "unpaid", "changes"}},
		"overdue refunds": {homeView{Inquiries: abuse(now), OpenIssues: admin.OpenIssues{Refunds: []admin.Refund{{Since: now}}}}, []string{"refunds", "inquiries"}},
	} {
		test.view.Now = now
		var got []string
		for _, section := range test.view.Sections() {
			if slices.Contains(test.first, section.Name) {
				got = append(got, section.Name)
			}
		}
		if !slices.Equal(got, test.first) {
			t.Errorf("%s: %v, want %v", name, got, test.first)
		}
	}
}

func TestHome_UnpaidDomainsSinceTheEarliestEndOfTerm(t *testing.T) {
	t.Parallel()
	end := time.Date(2026, 10, 3, 0, 0, 0, 0, time.UTC)
	view := homeView{Unpaid: lifecycle.OpenTerms{Waiting: []lifecycle.Term{{End: end.AddDate(0, 0, 4)}, {End: end}}}}
	if since := view.UnpaidSince(); !since.Equal(end) {
		t.Errorf("since %s", since)
	}
}

func TestUndecidedRefunds_OwedMoneyHasTheDeadlineOfItsWithdrawal(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC)
	refund := func(id, task string, declared, failed time.Time) admin.RefundEntry {
		return admin.RefundEntry{ID: id, Task: task, Declared: declared, FailedAt: failed}
	}
	rows := newUndecidedRows([]admin.RefundEntry{
		refund("assign", "assign", time.Time{}, time.Time{}), refund("domains", "domains", now, time.Time{}),
		refund("soon", "returned", now.AddDate(0, 0, -12), now), refund("refused", "refused", time.Time{}, now),
		refund("late", "returned", now.AddDate(0, 0, -15), now), refund("old", "returned", time.Time{}, now.AddDate(0, 0, -2)),
	}, now)
	want := []struct {
		id, urgency string
		owed, once  bool
	}{{"old", "overdue", true, true}, {"late", "overdue", true, false}, {"refused", "today", true, true}, {"soon", "soon", true, false}, {"assign", "", false, false}, {"domains", "", false, false}}
	for i, row := range rows {
		owed := row.Due != nil
		if row.ID != want[i].id || owed != want[i].owed || owed && (row.Due.Urgency != want[i].urgency || row.Due.AtOnce() != want[i].once) {
			t.Errorf("%d: %s, due %+v, want %+v", i, row.ID, row.Due, want[i])
		}
	}
	view := homeView{Undecided: rows, Now: now}
	for _, section := range view.Sections() {
		if section.Name == "undecided" && !section.Late {
			t.Error("overdue money is not urgent")
		}
	}
}

func TestMenu_CountsAreUrgentIfWorkIsOverdue(t *testing.T) {
	t.Parallel()
	menu, _ := newMenu(homePath, map[string]openWork{noticesPath: {2, true}, inquiriesPath: {1, false}, jobsPath: {3, false}})
	for _, group := range menu {
		late := group.Label == "menu.tasks"
		if group.Work.Late != late || late && group.Work.Open != 3 {
			t.Errorf("%s: %+v", group.Label, group.Work)
		}
	}
}
