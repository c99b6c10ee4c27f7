package ui

import (
	"net/http"
	"time"
)

// Names of cookies. Over TLS they carry the prefix by which browsers refuse a
// cookie that another host of the domain, or plain HTTP, has planted.
const (
	hostPrefix     = "__Host-"
	sessionCookie  = "dotkontor"
	deviceCookie   = "dotkontor_device"
	flashCookie    = "dotkontor_note"
	languageCookie = "dotkontor_lang"
	basketCookie   = "dotkontor_basket"
)

// How long browsers keep cookies. Whether a session still counts is the
// server's business.
const (
	sessionMaxAge      = 90 * 24 * time.Hour
	deviceMaxAge       = 365 * 24 * time.Hour
	languageMaxAge     = 365 * 24 * time.Hour
	basketMaxAge       = 30 * 24 * time.Hour
	flashMaxAge        = time.Minute
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

// SessionSecret is what the browser holds as its session, also one that waits
// for a second factor.
func (f *Frame) SessionSecret(r *http.Request) string { return f.cookie(r, sessionCookie) }

// SessionSecret is what this visit's browser holds as its session.
func (req *Request) SessionSecret() string { return req.frame.SessionSecret(req.R) }

// SetSession hands the secret of an open session to the browser.
func (req *Request) SetSession(secret string) {
	req.frame.setCookie(req.W, sessionCookie, secret, sessionMaxAge)
}

// SetPendingSession hands the secret of a session that waits for a second factor to
// the browser, until it is closed.
func (req *Request) SetPendingSession(secret string) {
	req.frame.setCookie(req.W, sessionCookie, secret, untilBrowserCloses)
}

// ClearSession takes the session from the browser.
func (req *Request) ClearSession() { req.frame.setCookie(req.W, sessionCookie, "", 0) }

// Device is the secret by which a browser that has signed in before is known.
func (req *Request) Device() string { return req.frame.cookie(req.R, deviceCookie) }

// SetDevice hands that secret to the browser; nothing if there is none.
func (req *Request) SetDevice(secret string) {
	if secret != "" {
		req.frame.setCookie(req.W, deviceCookie, secret, deviceMaxAge)
	}
}

// SetLanguage remembers the language in the browser. It is no secret and decides
// nothing, so it has no prefix.
func (req *Request) SetLanguage(language string) {
	req.frame.setCookie(req.W, languageCookie, language, languageMaxAge)
}

// Flash leaves one sentence for the next page, by its key. It travels in a cookie
// and not in the address, so that no link can make a page say something that did
// not happen.
func (req *Request) Flash(key string) { req.frame.setCookie(req.W, flashCookie, key, flashMaxAge) }

// takeFlash returns the key that was left, once.
func (req *Request) takeFlash() string {
	key := req.frame.cookie(req.R, flashCookie)
	if key != "" {
		req.frame.setCookie(req.W, flashCookie, "", 0)
	}
	return key
}
