package main

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestOnlyTransfersAreGivenAway(t *testing.T) {
	t.Parallel()
	priced, free := registrar.Extension{Register: 1000, Renew: 1200, Transfer: 900}, registrar.Extension{}
	for _, tc := range []struct {
		extension registrar.Extension
		kind      order.Kind
		net       registrar.Cents
		sold      bool
	}{
		{priced, order.Register, 2000, true},
		{priced, order.Renew, 2400, true},
		{priced, order.Transfer, 900, true},
		{free, order.Register, 0, false},
		{free, order.Renew, 0, false},
		{free, order.Transfer, 0, true},
	} {
		if net, sold := netOf(tc.extension, tc.kind, 2); net != tc.net || sold != tc.sold {
			t.Errorf("%s at %v: %v, sold %t", tc.kind, tc.extension.Register, net, sold)
		}
	}
}
