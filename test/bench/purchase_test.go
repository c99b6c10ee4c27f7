package main

import "testing"

func TestCardNumber_HasLuhnCheckDigit(t *testing.T) {
	t.Parallel()
	if got := cardNumber(424242424); got != "4242424242424242" {
		t.Errorf("got %s", got)
	}
	if cardNumber(1) == cardNumber(2) {
		t.Error("two buyers share a card")
	}
}
