package page

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
	noteCookie     = "dotkontor_note"
	languageCookie = "dotkontor_lang"
	basketCookie   = "dotkontor_basket"
)

// How long browsers keep cookies. Whether a session still counts is the
// server's business.
const (
	keepSession  = 90 * 24 * time.Hour
	keepDevice   = 365 * 24 * time.Hour
	keepLanguage = 365 * 24 * time.Hour
	keepBasket   = 30 * 24 * time.Hour
	keepNote     = time.Minute
	browserTime  = 0 // until the browser is closed
)

func (f *Frame) cookieName(name string) string {
	if f.secure && name != languageCookie {
		return hostPrefix + name
	}
	return name
}

func (f *Frame) setCookie(w http.ResponseWriter, name, value string, keep time.Duration) {
	cookie := &http.Cookie{
		Name: f.cookieName(name), Value: value, Path: "/", MaxAge: int(keep / time.Second),
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
func (v *Visit) SessionSecret() string { return v.frame.SessionSecret(v.R) }

// KeepSession hands the secret of an open session to the browser.
func (v *Visit) KeepSession(secret string) {
	v.frame.setCookie(v.W, sessionCookie, secret, keepSession)
}

// KeepPending hands the secret of a session that waits for a second factor to
// the browser, until it is closed.
func (v *Visit) KeepPending(secret string) {
	v.frame.setCookie(v.W, sessionCookie, secret, browserTime)
}

// ForgetSession takes the session from the browser.
func (v *Visit) ForgetSession() { v.frame.setCookie(v.W, sessionCookie, "", 0) }

// Device is the secret by which a browser that has signed in before is known.
func (v *Visit) Device() string { return v.frame.cookie(v.R, deviceCookie) }

// KeepDevice hands that secret to the browser; nothing if there is none.
func (v *Visit) KeepDevice(secret string) {
	if secret != "" {
		v.frame.setCookie(v.W, deviceCookie, secret, keepDevice)
	}
}

// KeepLanguage remembers the language in the browser. It is no secret and decides
// nothing, so it has no prefix.
func (v *Visit) KeepLanguage(language string) {
	v.frame.setCookie(v.W, languageCookie, language, keepLanguage)
}

// Note leaves one sentence for the next page, by its key. It travels in a cookie
// and not in the address, so that no link can make a page say something that did
// not happen.
func (v *Visit) Note(key string) { v.frame.setCookie(v.W, noteCookie, key, keepNote) }

// takeNote returns the key that was left, once.
func (v *Visit) takeNote() string {
	key := v.frame.cookie(v.R, noteCookie)
	if key != "" {
		v.frame.setCookie(v.W, noteCookie, "", 0)
	}
	return key
}
