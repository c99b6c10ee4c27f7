package operator

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/inquiry"
)

func TestInquiryRows_DueWithinADayIsMarked(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC)
	h := &Handler{Config: Config{Now: func() time.Time { return now }}}
	for name, test := range map[string]struct {
		inquiry       inquiry.Inquiry
		soon, overdue bool
	}{
		"new":           {inquiry.Inquiry{Topic: "domain", At: now}, false, false},
		"last day":      {inquiry.Inquiry{Topic: "domain", At: now.AddDate(0, 0, -2).Add(-time.Hour)}, true, false},
		"abuse":         {inquiry.Inquiry{Topic: "abuse", At: now.Add(-time.Hour)}, true, false},
		"abuse, late":   {inquiry.Inquiry{Topic: "abuse", At: now.AddDate(0, 0, -2)}, false, true},
		"abuse, closed": {inquiry.Inquiry{Topic: "abuse", At: now.Add(-time.Hour), DoneAt: now}, false, false},
	} {
		if row := h.newInquiryRows([]inquiry.Inquiry{test.inquiry}, nil)[0]; row.IsSoon != test.soon || row.IsOverdue != test.overdue {
			t.Errorf("%s: soon %t, overdue %t", name, row.IsSoon, row.IsOverdue)
		}
	}
}
