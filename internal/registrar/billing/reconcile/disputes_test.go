package reconcile

import (
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
)

// withDispute adds a dispute of ord_1, of whose 35.70 EUR 23.80 were refunded, here and at the
// provider.
func withDispute(data *testData, status dispute.Status, amount, withdrawn registrar.Cents) *testData {
	d := dispute.Dispute{
		Report:  dispute.Report{ID: "du_1", Charge: "ch_1", Intent: "pi_1", Status: status, Amount: amount, Withdrawn: withdrawn},
		Payment: "pay_1", Order: "ord_1", Lock: dispute.LockActive, UpdatedAt: old,
	}
	data.disputes = append(data.disputes, d)
	data.provider = append(data.provider, ProviderDispute{ID: "du_1", Intent: "pi_1", Status: string(status), Amount: amount, Withdrawn: withdrawn, CreatedAt: old})
	return data
}

func runOver(t *testing.T, data *testData) Report {
	t.Helper()
	report, err := Run(t.Context(), data, data, Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestDisputes_CleanAmountsAppearInReport(t *testing.T) {
	t.Parallel()
	for status, withdrawn := range map[dispute.Status]registrar.Cents{dispute.NeedsResponse: 1190, dispute.Lost: 1190, dispute.Won: 0, dispute.WarningNeedsResponse: 0} {
		report := runOver(t, withDispute(consistentData(), status, 1190, withdrawn))
		if len(report.Findings) > 0 || report.Disputes != 1 {
			t.Errorf("%s: %v", status, report.Findings)
		}
		open, won, lost := report.Disputed == 1190, report.DisputesWon == 1190, report.DisputesLost == 1190
		if open != (status == dispute.NeedsResponse) || won != (status == dispute.Won) || lost != (status == dispute.Lost) {
			t.Errorf("%s: %s open, %s won, %s lost", status, report.Disputed, report.DisputesWon, report.DisputesLost)
		}
	}
}

func TestDisputes_EveryDifferenceIsReported(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(data *testData)
		want   string
	}{
		"refunded and taken back":  {func(data *testData) { withDispute(data, dispute.Lost, 3570, 3570) }, "35.70, 23.80 was refunded and 35.70 taken back"},
		"not taken back":           {func(data *testData) { withDispute(data, dispute.Lost, 1190, 0) }, "lost over 11.90, and 0.00 is withdrawn"},
		"not returned after a win": {func(data *testData) { withDispute(data, dispute.Won, 1190, 1190) }, "won over 11.90, and 11.90 is withdrawn"},
		"not stored": {func(data *testData) {
			withDispute(data, dispute.Lost, 1190, 1190)
			data.disputes = nil
		}, "is not stored"},
		"not at the provider": {func(data *testData) {
			withDispute(data, dispute.Lost, 1190, 1190)
			data.provider = nil
		}, "exists 0 times at the provider"},
		"another status": {func(data *testData) {
			withDispute(data, dispute.NeedsResponse, 1190, 1190)
			data.provider[0].Status = "lost"
		}, "needs_response here and lost at the provider"},
		"not locked": {func(data *testData) {
			withDispute(data, dispute.NeedsResponse, 1190, 1190)
			data.disputes[0].Lock = dispute.LockNone
		}, "are not locked"},
		"two disputes of one charge": {func(data *testData) {
			withDispute(data, dispute.Lost, 1190, 1190)
			second := data.disputes[0]
			second.ID, second.Amount, second.Withdrawn = "du_2", 100, 100
			data.disputes = append(data.disputes, second)
		}, "23.80 was refunded and 12.90 taken back"},
	} {
		data := consistentData()
		test.change(data)
		report := runOver(t, data)
		if !slices.ContainsFunc(report.Findings, func(f Finding) bool { return f.Rule == "dispute" && strings.Contains(f.Text, test.want) }) {
			t.Errorf("%s: %v", name, report.Findings)
		}
	}
}
