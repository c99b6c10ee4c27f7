package lookup

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestOrderabilityOf_ByAvailabilityAndSale(t *testing.T) {
	t.Parallel()
	sold := registrar.Sale{Decided: true}
	unsold := registrar.Sale{Decided: true, NoRegistration: "no_registry_account", NoTransfer: "no_registry_account"}
	pushed := registrar.Sale{Decided: true, NoTransfer: "transfer_not_offered"}
	for name, test := range map[string]struct {
		sale  registrar.Sale
		found verdict
		want  Orderability
	}{
		"undecided":                    {registrar.Sale{}, verdict{availability: Available}, Orderability{}},
		"free":                         {sold, verdict{availability: Available}, Orderability{Decided: true}},
		"unknown":                      {sold, verdict{availability: Unknown}, Orderability{Decided: true}},
		"taken, can be transferred":    {sold, verdict{availability: Taken, reason: ReasonRegistered}, Orderability{Decided: true}},
		"taken, can't be transferred":  {pushed, verdict{availability: Taken, reason: ReasonRegistered}, Orderability{true, "transfer_not_offered"}},
		"free where transfers are not": {pushed, verdict{availability: Available}, Orderability{Decided: true}},
		"reserved":                     {sold, verdict{availability: Taken, reason: ReasonReserved}, Orderability{true, registrar.NameReserved}},
		"premium of unknown price":     {sold, verdict{availability: Available, premium: true, reason: ReasonPremium}, Orderability{true, registrar.NamePremium}},
		"premium of known price":       {sold, verdict{availability: Available, premium: true, reason: ReasonPremium, fees: &Fees{}}, Orderability{Decided: true}},
		"free under an unsold":         {unsold, verdict{availability: Available}, Orderability{true, "no_registry_account"}},
		"premium under an unsold":      {unsold, verdict{availability: Available, premium: true}, Orderability{true, "no_registry_account"}},
		"taken under an unsold":        {unsold, verdict{availability: Taken, reason: ReasonRegistered}, Orderability{true, "no_registry_account"}},
		"taken premium name":           {sold, verdict{availability: Taken, premium: true, reason: ReasonRegistered}, Orderability{true, registrar.NamePremium}},
	} {
		if got := orderabilityOf(test.sale, test.found, !test.found.premium || test.found.fees != nil); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}
