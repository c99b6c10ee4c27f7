package oauth

// english has the keys of german.
var english = map[string]string{
	"consent.title":        "Connect an application",
	"consent.named":        "An application that calls itself “{1}” asks for access to your account.",
	"consent.unnamed":      "An application without a name asks for access to your account.",
	"consent.claim":        "The application chose this name itself. We have not checked it.",
	"consent.account":      "Your account",
	"consent.host":         "The answer goes to",
	"consent.local":        "a program on your own device ({1})",
	"consent.local_hint":   "Approve only if you have just started this program yourself.",
	"consent.wants":        "The application may then",
	"consent.write.list":   "see your domains and orders",
	"consent.write.order":  "prepare orders, which you pay or drop yourself in the browser",
	"consent.write.cancel": "cancel orders that are not paid yet",
	"consent.write.not":    "It may not pay, see your password or change your account.",
	"consent.read":         "look up only what everybody can look up without signing in",
	"consent.until":        "For how long",
	"consent.until_text":   "until {1}, and 30 days more with each use. You can disconnect it in your profile at any time.",
	"consent.approve":      "Approve and connect",
	"consent.deny":         "Deny",

	"refused.title":               "We can't accept this request",
	"refused.back":                "Nothing was granted. Please go back to the application and start again there.",
	"refused.unknown_client":      "The application that sent you here is not known here.",
	"refused.bad_redirect":        "The application named an address for the answer that is not registered for it. To protect you we do not send you there.",
	"refused.bad_client_document": "The description of the application can't be read at its address.",
	"refused.request_too_long":    "The request of the application is too long.",
	"refused.unclear_request":     "The request of the application is incomplete or ambiguous.",
	"refused.no_such_consent":     "This request has expired or was answered already.",
}
