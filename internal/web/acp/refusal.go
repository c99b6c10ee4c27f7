package acp

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// defaultRetryAfter is used if no better value is known.
const defaultRetryAfter = 5 * time.Second

func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*registrar.Error](err); ok && e.RetryAfter > 0 {
		return e.RetryAfter
	}
	return defaultRetryAfter
}

// refusals map domain codes to the protocol. Other codes are mapped by kind.
var refusals = map[registrar.Code]struct {
	status   int
	code     string
	sentence string
}{
	order.PaymentDeclined: {http.StatusPaymentRequired, codeDeclined, messageDeclined},
	order.TokenExpired:    {http.StatusPaymentRequired, codeDeclined, messageExpired},
	order.TokenTooSmall:   {http.StatusPaymentRequired, codeDeclined, messageTooSmall},
	order.PriceChanged:    {http.StatusUnprocessableEntity, codeConflict, messagePrice},
	registrar.NameHeld:    {http.StatusUnprocessableEntity, codeOutOfStock, messageHeld},
	order.DataMissing:     {http.StatusUnprocessableEntity, codeMissing, ""},
	order.NotOpen:         {http.StatusConflict, codeConflict, messageNotOpen},
	order.TooManyOpen:     {http.StatusConflict, codeTooManyOpen, messageTooManyOpen},

	order.RenewalInProgress: {http.StatusConflict, codeConflict, messageRenewing},
	order.PaymentInProgress: {http.StatusConflict, codeConflict, messageInProgress},
	order.OverBudget:        {http.StatusTooManyRequests, codeRateLimited, messageLimited},
}

// toProblem maps an error of the domain. session is what is known of the order.
func (c *call) toProblem(session order.Session, err error) *problem {
	if p := asProblem(err); p != nil {
		return p
	}
	if refused, ok := errors.AsType[*order.ItemsRefused](err); ok {
		return c.itemsRefusedProblem(refused)
	}
	if unasked, ok := errors.AsType[*order.ItemsUnquoted](err); ok {
		return c.itemUndecidedProblem(unasked.Items[0])
	}
	p := c.refusal(session, registrar.KindOf(err), registrar.CodeOf(err))
	if p == nil {
		return faultProblem(err)
	}
	p.cause = err
	if p.status == http.StatusTooManyRequests || registrar.CodeOf(err) == order.PaymentInProgress {
		p.retryAfter = retryAfter(err)
	}
	return p
}

// refusal maps the domain's kind and code to a problem; nil for a fault.
func (c *call) refusal(session order.Session, kind registrar.Kind, code registrar.Code) *problem {
	switch known, ok := refusals[code]; {
	case code == order.DataMissing && !slices.Contains(session.Missing, order.MissingRegistrant) && firstRejectedField(session, c.shape) != "":
		return newProblem(known.status, codeInvalid, firstRejectedField(session, c.shape), "$.buyer")
	case code == order.DataMissing:
		param, message := missingData(session, c.shape)
		return newProblem(known.status, known.code, message, param)
	case code == order.NotOpen && c.op.name == opCancel:
		return newProblem(http.StatusMethodNotAllowed, known.code, messageNoCancel, "")
	case code == order.NotOpen && c.op.name == opComplete && session.Status == order.SessionExpired:
		return newProblem(http.StatusUnprocessableEntity, known.code, messageSessionExpired, "")
	case code == order.NotOpen && c.op.name == opComplete:
		return newProblem(http.StatusUnprocessableEntity, known.code, messageCanceled, "")
	case code == order.PaymentDeclined:
		return newProblem(known.status, known.code, known.sentence+c.shape.payLinkText+".", "")
	case ok:
		return newProblem(known.status, known.code, known.sentence, "")
	case kind == registrar.KindNotFound:
		return newProblem(http.StatusNotFound, codeNotFound, messageNotFound, "")
	case code == order.BadItems:
		return newInvalid(codeInvalidField, messageBadItems, "$."+c.shape.items)
	case kind == registrar.KindInvalid:
		return newInvalid(codeInvalidField, "The order does not accept this ("+string(code)+").", "")
	case kind == registrar.KindConflict:
		return newProblem(http.StatusConflict, codeConflict, "The session does not allow this now ("+string(code)+").", "")
	case kind == registrar.KindForbidden:
		return newProblem(http.StatusForbidden, "forbidden", "This agent may not do this ("+string(code)+").", "")
	}
	return nil
}

// itemsRefusedProblem is 400 for a session that can't be created or changed like this,
// 422 for one that can't be paid any more, and 503 if a registry did not respond.
func (c *call) itemsRefusedProblem(refused *order.ItemsRefused) *problem {
	if len(refused.Items) == 0 {
		return newProblem(http.StatusInternalServerError, codeInternal, messageInternal, "")
	}
	decided := slices.IndexFunc(refused.Items, func(item order.RefusedItem) bool {
		kind := registrar.KindOf(item.Reason)
		return kind != registrar.KindUpstream && kind != registrar.KindInternal && kind != registrar.KindRateLimited &&
			registrar.CodeOf(item.Reason) != provision.Undecided
	})
	if decided < 0 {
		return c.itemUndecidedProblem(refused.Items[0])
	}
	item := refused.Items[decided]
	status, code, param := http.StatusBadRequest, codeOutOfStock, c.itemPath(item)
	switch {
	case c.op.name == opComplete:
		status = http.StatusUnprocessableEntity
	case registrar.KindOf(item.Reason) == registrar.KindUnsupported:
		code = codeInvalidItem
	}
	p := newProblem(status, code, fmt.Sprintf("%s: %s", item.Name, itemMessage(item.Reason)), param)
	p.cause = item.Reason
	return p
}

// itemUndecidedProblem is 503 for an item whose registry gave no response or no
// decision. An internal error stays one.
func (c *call) itemUndecidedProblem(item order.RefusedItem) *problem {
	if kind := registrar.KindOf(item.Reason); kind == registrar.KindInternal {
		return faultProblem(item.Reason)
	}
	p := newProblem(http.StatusServiceUnavailable, codeRegistryUnavailable, fmt.Sprintf("%s: %s", item.Name, itemMessage(item.Reason)), c.itemPath(item))
	p.retryAfter, p.cause = retryAfter(item.Reason), item.Reason
	return p
}

// itemPath is where the request names an item; empty if it does not.
func (c *call) itemPath(item order.RefusedItem) (path string) {
	id := itemID(item.Kind, item.Name)
	for _, asked := range c.request.items {
		if asked.id == id {
			path = asked.path
		}
	}
	return path
}
