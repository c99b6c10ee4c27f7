package ui

import "net/http"

// policy allows a page to load only our own resources. Form targets are added per page:
// a consent redirects to an application.
const (
	cspBase = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; " +
		"base-uri 'none'; frame-ancestors 'none'"
	cspFormActionSelf = "; form-action 'self'"
)

// setSecurityHeaders sets the headers of every page and of every response below it.
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

// AllowExternalFormAction is for a page whose form redirects to another host: browsers
// apply form-action to redirects, too.
func (req *Request) AllowExternalFormAction() { req.W.Header().Set("Content-Security-Policy", cspBase) }

// AllowOAuthRedirect is for the consent page and those that lead to it. Their forms may
// redirect to another host, and the window keeps its opener, which waits for the
// response.
func (req *Request) AllowOAuthRedirect() {
	req.AllowExternalFormAction()
	req.W.Header().Set("Cross-Origin-Opener-Policy", "unsafe-none")
}
