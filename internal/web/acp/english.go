package acp

import (
	"errors"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

// signatureSentences are what an agent reads about its signature.
var signatureSentences = map[registrar.Code]string{
	registrar.CodeOf(signing.ErrMissing): "The request is not signed. Send the headers Timestamp and Signature as /.well-known/acp.json describes.",
	registrar.CodeOf(signing.ErrInvalid): "The signature does not match the timestamp and the raw body, or the timestamp is neither RFC 3339 nor whole seconds, or the signature was used for another path.",
	registrar.CodeOf(signing.ErrStale):   "The timestamp is more than 300 seconds away from our clock. Sign the request anew.",
}

const (
	sentenceCredentials = "Send the agent's key as a bearer, or sign the request as /.well-known/acp.json describes."
	sentenceUnknownKey  = "The bearer key is unknown here: it is mistyped, or it was replaced or removed."
	sentenceNotBearer   = "The Authorization header must have the form: Bearer KEY. A signed request may omit it."
	sentenceBody        = "The body did not arrive whole, or it is larger than 64 KiB."
	sentenceContentType = "The body must be sent as application/json."
	sentenceVersion     = "This version of the protocol is not spoken here. Leave API-Version out, or send one of supported_versions."
	sentenceKeyMissing  = "Idempotency-Key header is required."
	sentenceKeyInvalid  = "An Idempotency-Key has 1 to 255 printable ASCII characters and is sent once."
	sentenceKeyConflict = "This Idempotency-Key was used with another body or version within the last 24 hours. Use a new key for a new request."
	sentenceKeyInFlight = "A request with this Idempotency-Key is still running. Repeat it a little later; it is carried out once."
	sentenceNotFound    = "There is no such checkout session."
	sentenceNoCancel    = "The session is finished, or being paid, and can't be canceled."
	sentenceNotOpen     = "The session is finished, or being paid, or its items are of the customer's own order, and can't be changed so."
	sentenceInProgress  = "A payment for this session is in progress and has no result yet. Repeat the request after Retry-After seconds; nothing is charged twice."
	sentenceCanceled    = "The session was canceled. Nothing was charged. Create another one."
	sentenceTooManyOpen = "Too many sessions of this agent are open. Complete or cancel some of them, or wait until they expire."
	sentencePrice       = "A price has changed since the session was last read. Read it again: it has the new totals. Nothing was charged."
	sentenceHeld        = "Somebody else has got the name meanwhile. Nothing was charged."
	sentenceBadItems    = "A session has one to twenty items, and each name once."
	sentenceDeclined    = "The payment was declined. Nothing was charged. Try another payment token (each is good for one payment), or let the buyer pay at "
	sentenceExpired     = "The payment token has expired or was revoked. Nothing was charged. Ask for a new one."
	sentenceTooSmall    = "The payment token does not cover the session's total in euros. Nothing was charged. Ask for one over the exact total."
	sentenceUpstream    = "A registry or the payment provider could not be asked. Repeat the request a little later; nothing is charged twice."
	sentenceInternal    = "Something went wrong on our side. Repeat the request a little later; nothing is charged twice."
	sentenceClosed      = "Agentic checkout is not in service here. No session was created or changed."
	sentenceLimited     = "Too many requests. Wait as long as Retry-After says."
	sentenceMethod      = "This path does not have this method."

	sentenceSessionExpired = "The session has expired. Nothing was charged. Create another one."
	sentenceRepeatedHeader = "Authorization, Timestamp and Signature may each be sent only once."
)

// reasonFor says why an item can't be ordered.
func reasonFor(err error) string {
	var e *registrar.Error
	if !errors.As(err, &e) {
		return sentenceUpstream
	}
	if text, ok := itemSentences[e.Code]; ok {
		return text
	}
	switch e.Kind {
	case registrar.KindUnsupported:
		return "Names with this extension are not sold here."
	case registrar.KindUpstream, registrar.KindInternal, registrar.KindRateLimited:
		return "The registry could not be asked. Try again in a minute."
	default:
		return "The registry does not accept this name."
	}
}

var itemSentences = map[registrar.Code]string{
	provision.NameTaken:         "The name is taken or reserved.",
	provision.NameReserved:      "The registry has reserved this name and does not register it.",
	provision.Undecided:         "The registry gave no decision about this name, so whether it is available is unknown. Try again later, or leave it out.",
	provision.NamePremium:       "The registry asks a price of its own for this name, and such names are not sold here.",
	provision.NameHeld:          "The name is registered here already, or another order for it is being carried out.",
	provision.NoAccount:         "Names with this extension can be looked up here but not ordered.",
	provision.NotEligible:       "The extension has a rule that can't be met here.",
	provision.NoInboundTransfer: "With this extension only the present registrar can start a transfer.",
	order.NoPrice:               "Names with this extension have no price here and can't be ordered.",
	provision.NotRegistered:     "The name is not registered, so there is nothing to transfer.",
	provision.Locked:            "The name is locked at its present registrar, or was registered or moved lately.",
	provision.WrongCode:         "The auth code is not the name's.",
	provision.BadTerm:           "The registry does not sell this name for the usual term.",
}
