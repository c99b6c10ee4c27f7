package ui

import (
	"slices"
	"strings"
)

// The basket has a German and an English path.
const (
	BasketPath        = "/warenkorb"
	EnglishBasketPath = "/basket"
)

// BasketPathIn returns the basket's path in a language.
func BasketPathIn(language string) string { return InLanguage(language, BasketPath, EnglishBasketPath) }

// A basket is limited by the size of an order and by what browsers store in a cookie.
const (
	MaxBasketItems  = 20
	maxBasketBytes  = 3500
	basketSeparator = "~" // not part of any name
)

// Basket returns the items that the browser has collected, such as register:example.de.
// It carries no prices and no rights, and every user parses the items again. That is
// why it is kept in a cookie and not stored here.
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

// SetBasket sets the browser's basket. It returns false and changes nothing if there
// are too many items.
func (req *Request) SetBasket(items []string) bool {
	value := strings.Join(items, basketSeparator)
	if len(items) > MaxBasketItems || len(value) > maxBasketBytes {
		return false
	}
	req.frame.setCookie(req.W, basketCookie, value, basketMaxAge)
	req.basket = &items
	return true
}
