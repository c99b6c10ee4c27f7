package main

import "testing"

func TestEachBuyerHasACardWithItsCheckDigit(t *testing.T) {
	t.Parallel()
	if got := cardOf(424242424); got != "4242424242424242" {
		t.Errorf("got %s", got)
	}
	if cardOf(1) == cardOf(2) {
		t.Error("two buyers share a card")
	}
}
