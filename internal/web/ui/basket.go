package ui

import (
	"slices"
	"strings"
)

// The basket has a German and an English address.
const (
	BasketPath        = "/warenkorb"
	EnglishBasketPath = "/basket"
)

// BasketPathIn is the basket's address in a language.
func BasketPathIn(language string) string {
	if language == English {
		return EnglishBasketPath
	}
	return BasketPath
}

// A basket is bounded by what one order takes and by what browsers keep of a cookie.
const (
	MaxBasketItems  = 20
	maxBasketBytes  = 3500
	basketSeparator = "~" // no name has it
)

// Basket is what the browser has collected, such as register:example.de. It is no
// more than a wish list: no price and no right hangs on it, and every entry is
// parsed anew by whoever uses it. So it lies in a cookie, and no stranger's wishes
// are stored here.
func (req *Request) Basket() []string {
	if req.basket != nil {
		return *req.basket
	}
	value := req.frame.cookie(req.R, basketCookie)
	if value == "" || len(value) > maxBasketBytes {
		return nil
	}
	items := strings.Split(value, basketSeparator)
	return slices.DeleteFunc(items[:min(len(items), MaxBasketItems)], func(item string) bool { return item == "" })
}

// SetBasket hands another basket to the browser. It is false, and nothing changes,
// if it is too full.
func (req *Request) SetBasket(items []string) bool {
	value := strings.Join(items, basketSeparator)
	if len(items) > MaxBasketItems || len(value) > maxBasketBytes {
		return false
	}
	req.frame.setCookie(req.W, basketCookie, value, basketMaxAge)
	req.basket = &items
	return true
}
