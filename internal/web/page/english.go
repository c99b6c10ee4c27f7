package page

// english has the same keys as german.
var english = map[string]string{ //nolint:gosec // sentences
	"frame.skip":     "Skip to content",
	"frame.menu":     "Sections",
	"frame.sign_out": "Sign out",

	"menu.domains":  "Domains",
	"menu.orders":   "Orders",
	"menu.profile":  "Profile",
	"menu.security": "Security",
	"menu.tokens":   "MCP and API access",
	"menu.apps":     "Applications",
	"menu.activity": "Activity",

	"field.optional": "(optional)",

	"wait.soon":    "a moment",
	"wait.second":  "one second",
	"wait.seconds": "{1} seconds",
	"wait.minutes": "{1} minutes",

	"failure.home":                  "To the portal's start page",
	"failure.not_found.title":       "Not found",
	"failure.not_found":             "There is no such page, or it does not belong to your account.",
	"failure.invalid.title":         "That did not work",
	"failure.invalid":               "The request was incomplete. Please go back and try again.",
	"failure.too_large":             "The request was too large.",
	"failure.no_such_method":        "This address can't be used that way.",
	"failure.cross_site.title":      "Request refused",
	"failure.cross_site":            "The request came from another website. For your protection nothing was changed.",
	"failure.forbidden.title":       "Not allowed",
	"failure.forbidden":             "This can't be done with this kind of access.",
	"failure.conflict.title":        "Not possible right now",
	"failure.conflict":              "Things have changed in the meantime. Please reload the page.",
	"failure.rate_limited.title":    "Please wait a little",
	"failure.rate_limited":          "Too many attempts. Please try again in {1}.",
	"failure.unauthenticated.title": "Please sign in",
	"failure.unauthenticated":       "That did not work. Please sign in.",
	"failure.upstream.title":        "Out of reach right now",
	"failure.upstream":              "A part of the service does not answer. Please try again in {1}.",
	"failure.internal.title":        "An error on our side",
	"failure.internal":              "Something went wrong on our side. Please try again in {1}.",
	"failure.mail_off.title":        "No mail at the moment",
	"failure.mail_off":              "We would have to send you a mail for this, and sending is not set up here. Please turn to the operator.",
}
