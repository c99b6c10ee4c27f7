package operator

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestWithdrawnItem_OnlyWhatTheNoticeNames(t *testing.T) {
	t.Parallel()
	items := []order.Item{{ID: "itm_1", Name: "teeladen.de"}, {ID: "itm_2", Name: "laden.de"}}
	for contract, want := range map[string]string{
		"teeladen.de":                 "itm_1",
		"Domain LADEN.DE, 3.11.2026":  "itm_2",
		"teeladen.de und laden.de":    "",
		"ord_06f0000000000000000000":  "",
		"meinteeladen.de":             "",
		"Bestellung ord_1 (laden.de)": "itm_2",
		"":                            "",
	} {
		if got := withdrawnItem(items, contract); got != want {
			t.Errorf("%q is about %q, want %q", contract, got, want)
		}
	}
}
