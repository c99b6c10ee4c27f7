package inbox_test

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
)

func TestBalance_IsLowBelowItsThreshold(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		balance inbox.Balance
		low     bool
	}{
		{inbox.Balance{Available: "500.00", Threshold: "500.00", ThresholdType: inbox.FixedThreshold}, false},
		{inbox.Balance{Available: "499.99", Threshold: "500.00", ThresholdType: inbox.FixedThreshold}, true},
		{inbox.Balance{Available: "499.99", Threshold: "500.00"}, true},
		{inbox.Balance{Available: "500.00", Limit: "1000.00", Threshold: "50", ThresholdType: inbox.PercentThreshold}, false},
		{inbox.Balance{Available: "499.99", Limit: "1000.00", Threshold: "50", ThresholdType: inbox.PercentThreshold}, true},
		{inbox.Balance{Available: "5.00", Threshold: "50", ThresholdType: inbox.PercentThreshold}, false}, // of an unknown limit
		{inbox.Balance{Available: "-5.00", Threshold: "50", ThresholdType: inbox.PercentThreshold}, true},
		{inbox.Balance{Available: "0.01"}, false},
		{inbox.Balance{Available: "0.00"}, true},
		{inbox.Balance{Available: "-12.00"}, true},
		{inbox.Balance{Available: "-12.00", Threshold: "0.00", ThresholdType: inbox.FixedThreshold}, true},
		{inbox.Balance{Available: "900000000000.00", Limit: "900000000000.00", Threshold: "100", ThresholdType: inbox.PercentThreshold}, false},
		{inbox.Balance{Available: "viel"}, false},
	} {
		if got := test.balance.IsLow(); got != test.low {
			t.Errorf("%+v: %t", test.balance, got)
		}
	}
}
