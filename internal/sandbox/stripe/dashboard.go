package stripe

import (
	"fmt"
	"net/http"
	"slices"
)

// dashboardCharges limits the charges on the dashboard.
const dashboardCharges = 50

// dashboardRow is a charge with what happened to it.
type dashboardRow struct {
	*charge
	Description string
	Refunds     []*refund
	Disputes    []*dispute
}

// Left returns what can still be refunded.
func (r dashboardRow) Left() int64 {
	if slices.ContainsFunc(r.Disputes, func(d *dispute) bool { return !d.refundable() }) {
		return 0
	}
	return r.Amount - r.Refunded
}

// Next returns the statuses that can follow.
func (d *dispute) Next() []string { return disputeMoves[d.Status] }

// dashboardWords are the statuses and actions on the dashboard, in German and English.
var dashboardWords = map[string][2]string{
	"dispute":                {"Reklamation", "Dispute"},
	"inquiry":                {"Nachfrage der Bank", "Inquiry"},
	"bank_return":            {"Rücklastschrift", "Bank return"},
	"warning_needs_response": {"Nachfrage offen", "inquiry open"},
	"warning_under_review":   {"Nachfrage wird geprüft", "inquiry under review"},
	"warning_closed":         {"Nachfrage geschlossen", "inquiry closed"},
	"needs_response":         {"Nachweise erbeten", "evidence requested"},
	"under_review":           {"Bank prüft", "under review"},
	"won":                    {"gewonnen", "won"},
	"lost":                   {"verloren", "lost"},
}

func dashboardWord(german bool, word string) string {
	if german {
		return dashboardWords[word][0]
	}
	return dashboardWords[word][1]
}

// dashboard returns the newest successful charges, the newest first.
func (s *Server) dashboard() (rows []dashboardRow) {
	b := s.state
	b.mu.Lock()
	defer b.mu.Unlock()
	refunds := make(map[string][]*refund)
	for _, one := range b.refunds.all() {
		refunds[one.Charge] = append(refunds[one.Charge], one)
	}
	charges := b.charges.all()
	for _, paid := range slices.Backward(charges) {
		if len(rows) == dashboardCharges {
			break
		}
		if paid.Status != "succeeded" {
			continue
		}
		row := dashboardRow{charge: paid, Refunds: refunds[paid.ID], Disputes: b.disputesOfCharge(paid.ID)}
		if i := b.intents.get(paid.Intent); i != nil {
			row.Description = i.Description
		}
		rows = append(rows, row)
	}
	return rows
}

func (s *Server) showDashboard(w http.ResponseWriter, r *http.Request, status int, problem string) {
	s.render(w, r, status, "home", pageView{German: german("", r), Problem: problem, Charges: s.dashboard()})
}

// actOnDashboard does what the customer's bank or an operator does at the provider. Other sites
// can't: a form of theirs has another Sec-Fetch-Site.
func (s *Server) actOnDashboard(w http.ResponseWriter, r *http.Request) {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		http.Error(w, "This form belongs to the sandbox.", http.StatusForbidden)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	var err error
	switch action := r.PostFormValue("action"); action {
	case "dispute", "inquiry", "bank_return":
		_, err = s.Dispute(DisputeRequest{Intent: r.PostFormValue("intent"), Kind: action})
	case "refund":
		_, err = s.RefundPayment(r.PostFormValue("intent"), 0)
	case "return":
		_, err = s.ReturnRefund(r.PostFormValue("refund"))
	case "move":
		_, err = s.MoveDispute(r.PostFormValue("dispute"), r.PostFormValue("status"))
	default:
		err = fmt.Errorf("unknown action %q", action)
	}
	if err != nil {
		s.showDashboard(w, r, http.StatusConflict, err.Error())
		return
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
