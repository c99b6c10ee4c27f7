package page

import (
	"slices"
	"strings"
)

// The basket has a German and an English address.
const (
	BasketPath        = "/warenkorb"
	EnglishBasketPath = "/basket"
)

// BasketIn is the basket's address in a language.
func BasketIn(language string) string {
	if language == English {
		return EnglishBasketPath
	}
	return BasketPath
}

// A basket is bounded by what one order takes and by what browsers keep of a cookie.
const (
	MostInBasket  = 20
	largestBasket = 3500
	betweenItems  = "~" // no name has it
)

// Basket is what the browser has collected, such as register:example.de. It is no
// more than a wish list: no price and no right hangs on it, and every entry is
// parsed anew by whoever uses it. So it lies in a cookie, and no stranger's wishes
// are stored here.
func (v *Visit) Basket() []string {
	if v.basket != nil {
		return *v.basket
	}
	value := v.frame.cookie(v.R, basketCookie)
	if value == "" || len(value) > largestBasket {
		return nil
	}
	items := strings.Split(value, betweenItems)
	return slices.DeleteFunc(items[:min(len(items), MostInBasket)], func(item string) bool { return item == "" })
}

// KeepBasket hands another basket to the browser. It is false, and nothing changes,
// if it is too full.
func (v *Visit) KeepBasket(items []string) bool {
	value := strings.Join(items, betweenItems)
	if len(items) > MostInBasket || len(value) > largestBasket {
		return false
	}
	v.frame.setCookie(v.W, basketCookie, value, keepBasket)
	v.basket = &items
	return true
}
