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
	registrar.CodeOf(signing.ErrStale):   "The timestamp is more than 300 seconds away from our clock. Sign the request again.",
}

const (
	messageCredentials = "Send the agent's key as a bearer token, or sign the request as /.well-known/acp.json describes."
	messageUnknownKey  = "The bearer key is unknown: it is mistyped, or was replaced or revoked."
	messageNotBearer   = "The Authorization header must have the form: Bearer KEY. A signed request may omit it."
	messageBody        = "The body is incomplete or larger than 64 KiB."
	messageContentType = "The body must be sent as application/json."
	messageVersion     = "This protocol version is not supported. Omit API-Version, or send one of supported_versions."
	messageKeyMissing  = "The Idempotency-Key header is required."
	messageKeyInvalid  = "An Idempotency-Key must have 1 to 255 printable ASCII characters, and the header may be sent only once."
	messageKeyConflict = "This Idempotency-Key was used with another body or version within the last 24 hours. Use a new key for a new request."
	messageKeyInFlight = "A request with this Idempotency-Key is still running. Retry a little later; it is executed only once."
	messageNotFound    = "There is no such checkout session."
	messageNoCancel    = "The session is finished or being paid, so it can't be canceled."
	messageNotOpen     = "The session can't be updated like this: it is finished or being paid, or its items belong to the customer's own order."
	messageRenewing    = "One of the domains is being renewed automatically right now, so it can't be paid again. Nothing was charged."
	messageInProgress  = "A payment for this session is in progress and has no result yet. Retry after Retry-After seconds; nothing is charged twice."
	messageCanceled    = "The session was canceled. Nothing was charged. Create another one."
	messageTooManyOpen = "Too many sessions of this agent are open. Complete or cancel some of them, or wait until they expire."
	messagePrice       = "A price has changed since the session was last read. Read it again: it has the new totals. Nothing was charged."
	messageHeld        = "The name has been taken in the meantime. Nothing was charged."
	messageBadItems    = "A session must have one to twenty items, with each name only once."
	messageDeclined    = "The payment was declined. Nothing was charged. Try another payment token (each is valid for one payment), or let the buyer pay at "
	messageExpired     = "The payment token has expired or was revoked. Nothing was charged. Request a new one."
	messageTooSmall    = "The payment token does not cover the session's total in euros. Nothing was charged. Request one for the exact total."
	messageUpstream    = "A registry or the payment provider did not respond. Retry a little later; nothing is charged twice."
	messageInternal    = "Something went wrong on our side. Retry a little later; nothing is charged twice."
	messageClosed      = "Agentic checkout is disabled here. No session was created or changed."
	messageLimited     = "Too many requests. Wait for Retry-After seconds."
	messageMethod      = "This path does not support this method."

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
		return "Names under this extension are not sold here."
	case registrar.KindUpstream, registrar.KindInternal, registrar.KindRateLimited:
		return "The registry did not respond. Try again in a minute."
	default:
		return "The registry does not accept this name."
	}
}

var itemMessages = map[registrar.Code]string{
	provision.NameTaken:         "The name is taken or reserved.",
	registrar.NameReserved:      "The registry has reserved this name.",
	provision.Undecided:         "The registry did not decide about this name, so its availability is unknown. Try again later, or leave it out.",
	registrar.NamePremium:       "The registry charges a premium price for this name, and it can't be sold here.",
	registrar.NameHeld:          "The name is already registered here, or another order for it is in progress.",
	registrar.NoRegistryAccount: "Names under this extension can be looked up here but not ordered.",
	provision.NotEligible:       "The extension has a rule that can't be met here.",
	provision.NoInboundTransfer: "Under this extension only the current registrar can start a transfer.",
	order.NoPrice:               "Names under this extension have no price here and can't be ordered.",
	provision.NotRegistered:     "The name is not registered, so there is nothing to transfer.",
	provision.Locked:            "The name is locked at its current registrar, or was registered or transferred recently.",
	registrar.TransferRejected:  "The current registrar rejected the transfer.",
	provision.WrongCode:         "The auth code is wrong.",
	provision.BadTerm:           "The registry does not sell this name for the usual term.",
}
