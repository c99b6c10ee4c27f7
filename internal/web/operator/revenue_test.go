package operator

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
)

func TestRevenue_MonthBelowZeroIsNamed(t *testing.T) {
	t.Parallel()
	var year invoice.Year
	year.Months[2].Corrections.Gross = 1500
	year.Months[3].Invoices.Gross = 900
	if below := monthsBelowZero(year); len(below) != 1 || below[0].Month != 2 || below[0].Gross != -1500 {
		t.Errorf("%+v", below)
	}
}
