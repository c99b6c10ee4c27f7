package oauth

// english has the same keys as german.
var english = map[string]string{
	"consent.title":        "Connect an application",
	"consent.named":        "An application that calls itself “{1}” requests access to your account.",
	"consent.unnamed":      "An unnamed application requests access to your account.",
	"consent.claim":        "The application chose this name itself. We have not checked it.",
	"consent.account":      "Your account",
	"consent.host":         "Response goes to",
	"consent.local":        "a program on your own device ({1})",
	"consent.local_hint":   "Approve only if you just started this program yourself.",
	"consent.wants":        "The application will be able to",
	"consent.write.list":   "view your domains and orders",
	"consent.write.order":  "prepare orders, which you pay or decline yourself in the browser",
	"consent.write.cancel": "cancel unpaid orders",
	"consent.write.not":    "It can't pay, see your password or change your account details.",
	"consent.read":         "look up only what anyone can look up without signing in",
	"consent.until":        "Duration",
	"consent.until_text":   "until {1}, extended by 30 days with each use. You can disconnect it in your profile at any time.",
	"consent.approve":      "Approve and connect",
	"consent.deny":         "Deny",

	"refused.title":               "We can't accept this request",
	"refused.back":                "Nothing was granted. Please go back to the application and start again there.",
	"refused.unknown_client":      "The application that sent you here is not registered.",
	"refused.bad_redirect":        "The application requested a response address that is not registered for it. For your protection, we don't redirect you there.",
	"refused.bad_client_document": "The application's description can't be read at its address.",
	"refused.request_too_long":    "The application's request is too long.",
	"refused.unclear_request":     "The application's request is incomplete or ambiguous.",
	"refused.no_such_consent":     "This request has expired or was already answered.",
}
