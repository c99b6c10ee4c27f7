package acp

import (
	"errors"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

var signatureMessages = map[registrar.Code]string{
	registrar.CodeOf(signing.ErrMissing): "The request is not signed. Send the headers Timestamp and Signature as /.well-known/acp.json describes.",
	registrar.CodeOf(signing.ErrInvalid): "The signature does not match the timestamp and the raw body, or the timestamp is neither RFC 3339 nor whole seconds, or the signature was used for another path.",
	registrar.CodeOf(signing.ErrStale):   "The timestamp is more than 300 seconds away from our clock. Sign the request anew.",
}

const (
	messageCredentials = "Send the agent's key as a bearer, or sign the request as /.well-known/acp.json describes."
	messageUnknownKey  = "The bearer key is unknown here: it is mistyped, or it was replaced or removed."
	messageNotBearer   = "The Authorization header must have the form: Bearer KEY. A signed request may omit it."
	messageBody        = "The body did not arrive whole, or it is larger than 64 KiB."
	messageContentType = "The body must be sent as application/json."
	messageVersion     = "This version of the protocol is not spoken here. Leave API-Version out, or send one of supported_versions."
	messageKeyMissing  = "Idempotency-Key header is required."
	messageKeyInvalid  = "An Idempotency-Key has 1 to 255 printable ASCII characters and is sent once."
	messageKeyConflict = "This Idempotency-Key was used with another body or version within the last 24 hours. Use a new key for a new request."
	messageKeyInFlight = "A request with this Idempotency-Key is still running. Repeat it a little later; it is carried out once."
	messageNotFound    = "There is no such checkout session."
	messageNoCancel    = "The session is finished, or being paid, and can't be canceled."
	messageNotOpen     = "The session is finished, or being paid, or its items are of the customer's own order, and can't be changed so."
	messageInProgress  = "A payment for this session is in progress and has no result yet. Repeat the request after Retry-After seconds; nothing is charged twice."
	messageCanceled    = "The session was canceled. Nothing was charged. Create another one."
	messageTooManyOpen = "Too many sessions of this agent are open. Complete or cancel some of them, or wait until they expire."
	messagePrice       = "A price has changed since the session was last read. Read it again: it has the new totals. Nothing was charged."
	messageHeld        = "Somebody else has got the name meanwhile. Nothing was charged."
	messageBadItems    = "A session has one to twenty items, and each name once."
	messageDeclined    = "The payment was declined. Nothing was charged. Try another payment token (each is good for one payment), or let the buyer pay at "
	messageExpired     = "The payment token has expired or was revoked. Nothing was charged. Ask for a new one."
	messageTooSmall    = "The payment token does not cover the session's total in euros. Nothing was charged. Ask for one over the exact total."
	messageUpstream    = "A registry or the payment provider could not be asked. Repeat the request a little later; nothing is charged twice."
	messageInternal    = "Something went wrong on our side. Repeat the request a little later; nothing is charged twice."
	messageClosed      = "Agentic checkout is not in service here. No session was created or changed."
	messageLimited     = "Too many requests. Wait as long as Retry-After says."
	messageMethod      = "This path does not have this method."

	messageSessionExpired = "The session has expired. Nothing was charged. Create another one."
	messageRepeatedHeader = "Authorization, Timestamp and Signature may each be sent only once."
)

func itemMessage(err error) string {
	e, ok := errors.AsType[*registrar.Error](err)
	if !ok {
		return messageUpstream
	}
	if text, ok := itemMessages[e.Code]; ok {
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

var itemMessages = map[registrar.Code]string{
	provision.NameTaken:         "The name is taken or reserved.",
	registrar.NameReserved:      "The registry has reserved this name and does not register it.",
	provision.Undecided:         "The registry gave no decision about this name, so whether it is available is unknown. Try again later, or leave it out.",
	registrar.NamePremium:       "The registry asks a price of its own for this name, and such names are not sold here.",
	registrar.NameHeld:          "The name is registered here already, or another order for it is being carried out.",
	registrar.NoRegistryAccount: "Names with this extension can be looked up here but not ordered.",
	provision.NotEligible:       "The extension has a rule that can't be met here.",
	provision.NoInboundTransfer: "With this extension only the present registrar can start a transfer.",
	order.NoPrice:               "Names with this extension have no price here and can't be ordered.",
	provision.NotRegistered:     "The name is not registered, so there is nothing to transfer.",
	provision.Locked:            "The name is locked at its present registrar, or was registered or moved lately.",
	provision.WrongCode:         "The auth code is not the name's.",
	provision.BadTerm:           "The registry does not sell this name for the usual term.",
}
