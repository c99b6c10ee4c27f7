package ui

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

// Names of cookies. Over TLS they carry the prefix that makes browsers reject a cookie
// set by another host of the domain or over plain HTTP.
const (
	hostPrefix     = "__Host-"
	sessionCookie  = "dotkontor"
	deviceCookie   = "dotkontor_device"
	flashCookie    = "dotkontor_note"
	languageCookie = "dotkontor_lang"
	basketCookie   = "dotkontor_basket"
	nextCookie     = "dotkontor_next"
	mailedCookie   = "dotkontor_mailed"
)

// Lifetimes of cookies in the browser. Whether a session is valid is decided by the
// server.
const (
	sessionMaxAge      = 90 * 24 * time.Hour
	deviceMaxAge       = 365 * 24 * time.Hour
	languageMaxAge     = 365 * 24 * time.Hour
	basketMaxAge       = 30 * 24 * time.Hour
	flashMaxAge        = time.Minute
	nextMaxAge         = time.Hour // as long as the mailed link of a password reset
	mailedMaxAge       = 10 * time.Minute
	untilBrowserCloses = 0 // until the browser is closed
)

func (f *Frame) cookieName(name string) string {
	if f.secure && name != languageCookie {
		return hostPrefix + name
	}
	return name
}

func (f *Frame) setCookie(w http.ResponseWriter, name, value string, maxAge time.Duration) {
	cookie := &http.Cookie{
		Name: f.cookieName(name), Value: value, Path: "/", MaxAge: int(maxAge / time.Second),
		HttpOnly: true, Secure: f.secure, SameSite: http.SameSiteLaxMode,
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, cookie)
}

func (f *Frame) cookie(r *http.Request, name string) string {
	cookie, err := r.Cookie(f.cookieName(name))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// SessionSecret returns the session cookie, which may also be a session that waits for
// a second factor.
func (f *Frame) SessionSecret(r *http.Request) string { return f.cookie(r, sessionCookie) }

// SessionSecret returns the session cookie of this request.
func (req *Request) SessionSecret() string { return req.frame.SessionSecret(req.R) }

// SetSession sets the cookie of an open session.
func (req *Request) SetSession(secret string) {
	req.frame.setCookie(req.W, sessionCookie, secret, sessionMaxAge)
}

// SetPendingSession sets the cookie of a session that waits for a second factor. It
// lasts until the browser is closed.
func (req *Request) SetPendingSession(secret string) {
	req.frame.setCookie(req.W, sessionCookie, secret, untilBrowserCloses)
}

// ClearSession deletes the session cookie.
func (req *Request) ClearSession() { req.frame.setCookie(req.W, sessionCookie, "", 0) }

// Device returns the secret that identifies a browser that has signed in before.
func (req *Request) Device() string { return req.frame.cookie(req.R, deviceCookie) }

// SetDevice sets that secret; an empty one is ignored.
func (req *Request) SetDevice(secret string) {
	if secret != "" {
		req.frame.setCookie(req.W, deviceCookie, secret, deviceMaxAge)
	}
}

// accountSuffix marks the language of an account in the cookie, as opposed to a choice.
const accountSuffix = "-account"

// ChooseLanguage stores the language that the visitor has chosen with the switch. Until the
// next sign-in, which stores it in the account, it wins over the language of any account. It
// is not security-relevant, so the cookie has no prefix.
func (req *Request) ChooseLanguage(language string) {
	req.frame.setCookie(req.W, languageCookie, language, languageMaxAge)
}

// ChosenLanguage returns the language stored by ChooseLanguage; empty without a choice.
func (req *Request) ChosenLanguage() string {
	if chosen := req.frame.cookie(req.R, languageCookie); validLanguage(chosen) {
		return chosen
	}
	return ""
}

// SetAccountLanguage uses the language of an account for this page and, in this browser, for
// those after it, also when the session has ended.
func (req *Request) SetAccountLanguage(language string) {
	if validLanguage(language) {
		req.Language, req.languageChosen = language, true
		req.frame.setCookie(req.W, languageCookie, language+accountSuffix, languageMaxAge)
	}
}

// PreferAccountLanguage does so for a visitor who has followed a mailed link, unless they are
// signed in or have chosen a language.
func (req *Request) PreferAccountLanguage(language string) {
	if !req.SignedIn && req.ChosenLanguage() == "" {
		req.SetAccountLanguage(language)
	}
}

// Flash stores the key of one message for the next page. It is kept in a cookie and not
// in the URL, so that no link can make a page claim something that did not happen.
func (req *Request) Flash(key string) { req.frame.setCookie(req.W, flashCookie, key, flashMaxAge) }

// FlashAt is Flash for a message that names a time.
func (req *Request) FlashAt(key string, at time.Time) {
	req.Flash(key + flashTime + at.UTC().Format(time.RFC3339))
}

// flashTime separates the key of a message from its time.
const flashTime = "@"

// takeFlash returns the key of the message and its time, which is zero if it names none.
func (req *Request) takeFlash() (key string, at time.Time) {
	key = req.frame.cookie(req.R, flashCookie)
	if key != "" {
		req.frame.setCookie(req.W, flashCookie, "", 0)
	}
	key, when, _ := strings.Cut(key, flashTime)
	at, _ = time.Parse(time.RFC3339, when) // zero if it is not a time
	return key, at
}

// maxNextCookieBytes is what browsers store in a cookie, next to its name and attributes.
const maxNextCookieBytes = 3500

// RememberNext stores the page to which a sign-in after a password reset returns; an empty path
// forgets it. The mailed link can't carry it: the paths of orders contain a secret.
func (req *Request) RememberNext(path string) {
	value := url.QueryEscape(LocalPath(path, ""))
	if len(value) > maxNextCookieBytes {
		value = ""
	}
	if value != "" || req.RememberedNext() != "" {
		req.frame.setCookie(req.W, nextCookie, value, nextMaxAge)
	}
}

// RememberedNext returns the page of RememberNext; empty if there is none.
func (req *Request) RememberedNext() string {
	path, err := url.QueryUnescape(req.frame.cookie(req.R, nextCookie))
	if err != nil {
		return ""
	}
	return LocalPath(path, "")
}

// Mailed is the address to which a form without sign-in has sent a mail, and where its link leads.
type Mailed struct{ Email, Next string }

// RememberMailed stores the address for the page at path, to which the form redirects: no URL may
// contain it, and a page that responds to the form would send the mail again when reloaded.
func (req *Request) RememberMailed(path string, mailed Mailed) {
	value := url.Values{"at": {path}, "email": {mailed.Email}, "next": {mailed.Next}}.Encode()
	if len(value) > maxNextCookieBytes {
		value = ""
	}
	req.frame.setCookie(req.W, mailedCookie, value, mailedMaxAge)
}

// RememberedMailed returns what RememberMailed stored for the page at path within the last minutes.
func (req *Request) RememberedMailed(path string) (mailed Mailed, ok bool) {
	values, err := url.ParseQuery(req.frame.cookie(req.R, mailedCookie))
	if err != nil || values.Get("at") != path || values.Get("email") == "" {
		return Mailed{}, false
	}
	return Mailed{values.Get("email"), values.Get("next")}, true
}

// BasketPathIn returns the basket's path in a language.
func BasketPathIn(language string) string { return InLanguage(language, BasketPath, EnglishBasketPath) }

// A basket is limited by the size of an order and by what browsers store in a cookie.
const (
	MaxBasketItems  = 20
	maxBasketBytes  = 3500
	basketSeparator = "~" // not part of any name
)

// Basket returns what the visitor has collected, such as register:example.de. It carries
// no prices and no rights, and every user parses the items again. Before the sign-in it is
// kept in a cookie; then it belongs to the account, together with what is in the cookie.
func (req *Request) Basket() []string {
	if req.basket != nil {
		return *req.basket
	}
	items := req.basketInCookie()
	if req.SignedIn {
		for _, item := range splitBasket(req.Visitor.Customer.Basket) {
			if !slices.Contains(items, item) {
				items = append(items, item)
			}
		}
	}
	return items[:min(len(items), MaxBasketItems)]
}

func (req *Request) basketInCookie() []string {
	return splitBasket(req.frame.cookie(req.R, basketCookie))
}

func splitBasket(value string) []string {
	if value == "" || len(value) > maxBasketBytes {
		return nil
	}
	items := strings.Split(value, basketSeparator)
	return slices.DeleteFunc(items[:min(len(items), MaxBasketItems)], func(item string) bool { return item == "" })
}

// BasketText is the basket in the form in which accounts keep it.
func (req *Request) BasketText() string { return strings.Join(req.Basket(), basketSeparator) }

// SetBasket sets the visitor's basket. It returns false and changes nothing if there are
// too many items.
func (req *Request) SetBasket(items []string) (fits bool, err error) {
	value := strings.Join(items, basketSeparator)
	if len(items) > MaxBasketItems || len(value) > maxBasketBytes {
		return false, nil
	}
	inAccount := req.SignedIn && req.frame.cfg.Baskets != nil
	switch {
	case !inAccount:
		req.frame.setCookie(req.W, basketCookie, value, basketMaxAge)
	case value != req.Visitor.Customer.Basket:
		err := req.frame.cfg.Baskets.ReplaceBasket(req.R.Context(), req.Actor(), req.Visitor.Customer.Basket, value)
		if err != nil {
			return true, err
		}
		req.Visitor.Customer.Basket = value
	}
	if inAccount && req.frame.cookie(req.R, basketCookie) != "" {
		req.frame.setCookie(req.W, basketCookie, "", 0)
	}
	req.basket = &items
	return true, nil
}

// ShowBasketItems sets the number in the header to that of the items on this page.
func (req *Request) ShowBasketItems(items int) { req.basketShown = &items }

// basketItems returns the number in the header. Where the server has failed, counting might, too.
func (req *Request) basketItems(failed bool) int {
	switch entries := len(req.Basket()); {
	case req.basketShown != nil:
		return *req.basketShown
	case entries == 0 || failed || req.frame.cfg.CountBasket == nil:
		return entries
	default:
		return req.frame.cfg.CountBasket(req)
	}
}

// KeepBasket moves the browser's basket to the account of a visitor who has just signed in.
func (req *Request) KeepBasket(visitor account.Visitor) error {
	req.Visitor, req.SignedIn = visitor, true
	if len(req.basketInCookie()) == 0 {
		return nil
	}
	_, err := req.SetBasket(req.Basket())
	return err
}
