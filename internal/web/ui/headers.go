package ui

import "net/http"

// policy lets a page load what is ours and nothing else. What forms may lead to
// is added by the page: a consent's answer goes to an application elsewhere.
const (
	cspBase = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"base-uri 'none'; frame-ancestors 'none'"
	cspFormActionSelf = "; form-action 'self'"
)

// setSecurityHeaders sets the headers of every page and of every answer below it.
func (f *Frame) setSecurityHeaders(header http.Header) {
	header.Set("Content-Security-Policy", cspBase+cspFormActionSelf)
	header.Set("X-Frame-Options", "DENY")
	header.Set("X-Content-Type-Options", "nosniff")
	// With no-referrer Chromium would send "Origin: null" with our own forms.
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), "+
		"publickey-credentials-create=(self), publickey-credentials-get=(self)")
	if f.secure {
		header.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// AllowExternalFormAction is for a page whose form is answered by a redirect to another
// host: a browser applies form-action to the redirects after a form, too.
func (req *Request) AllowExternalFormAction() { req.W.Header().Set("Content-Security-Policy", cspBase) }

// AllowOAuthRedirect is for the pages of a consent and for those on the way to it.
// Their forms may lead to another host, and the window that an application has opened
// them in stays tied to its opener, which wants to hear of the answer.
func (req *Request) AllowOAuthRedirect() {
	req.AllowExternalFormAction()
	req.W.Header().Set("Cross-Origin-Opener-Policy", "unsafe-none")
}
