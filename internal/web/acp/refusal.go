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

// tryAgain is what is told where nobody knows better.
const tryAgain = 5 * time.Second

func retryAfter(err error) time.Duration {
	var e *registrar.Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		return e.RetryAfter
	}
	return tryAgain
}

// refusals are the domain's codes in the protocol's words. Codes that are not here
// go by their kind.
var refusals = map[registrar.Code]struct {
	status   int
	code     string
	sentence string
}{
	order.PaymentDeclined: {http.StatusPaymentRequired, codeDeclined, sentenceDeclined},
	order.TokenExpired:    {http.StatusPaymentRequired, codeDeclined, sentenceExpired},
	order.TokenTooSmall:   {http.StatusPaymentRequired, codeDeclined, sentenceTooSmall},
	order.PriceChanged:    {http.StatusUnprocessableEntity, codeConflict, sentencePrice},
	order.NameHeld:        {http.StatusUnprocessableEntity, codeOutOfStock, sentenceHeld},
	order.DataMissing:     {http.StatusUnprocessableEntity, codeMissing, ""},
	order.NotOpen:         {http.StatusConflict, codeConflict, sentenceNotOpen},
	order.TooManyOpen:     {http.StatusConflict, codeTooManyOpen, sentenceTooManyOpen},

	order.PaymentInProgress: {http.StatusConflict, codeConflict, sentenceInProgress},
}

// problemOf is what the domain says, as the client reads it. session is what is
// known of the order.
func (c *call) problemOf(session order.Session, err error) error {
	if p := asProblem(err); p != nil {
		return p
	}
	var refused *order.ItemsRefused
	if errors.As(err, &refused) {
		return c.itemsRefused(refused)
	}
	var unasked *order.ItemsUnasked
	if errors.As(err, &unasked) {
		return c.itemUndecided(unasked.Items[0])
	}
	code := registrar.CodeOf(err)
	if code == order.OverBudget {
		p := limited(retryAfter(err))
		p.cause = err
		return p
	}
	p := fault(err)
	known, ok := refusals[code]
	switch {
	case ok && code == order.DataMissing:
		param, sentence := lacking(session, c.shape)
		p = refuse(known.status, known.code, sentence, param)
	case ok && code == order.NotOpen && c.op.canceling:
		p = refuse(http.StatusMethodNotAllowed, known.code, sentenceNoCancel, "")
	case ok && code == order.NotOpen && c.op.completing:
		p = refuse(http.StatusUnprocessableEntity, known.code, endedSentence(session), "")
	case ok && code == order.PaymentDeclined:
		p = refuse(known.status, known.code, known.sentence+c.shape.payLink+".", "")
	case ok:
		p = refuse(known.status, known.code, known.sentence, "")
	case registrar.KindOf(err) == registrar.KindNotFound:
		p = refuse(http.StatusNotFound, codeNotFound, sentenceNotFound, "")
	case code == order.BadItems:
		p = invalid(codeInvalidField, sentenceBadItems, "$."+c.shape.items)
	case registrar.KindOf(err) == registrar.KindInvalid:
		p = invalid(codeInvalidField, "The order does not accept this ("+string(code)+").", "")
	case registrar.KindOf(err) == registrar.KindConflict:
		p = refuse(http.StatusConflict, codeConflict, "The session does not allow this now ("+string(code)+").", "")
	case registrar.KindOf(err) == registrar.KindForbidden:
		p = refuse(http.StatusForbidden, "forbidden", "This agent may not do this ("+string(code)+").", "")
	}
	var out *problem
	if errors.As(p, &out) {
		out.cause = err
		if code == order.PaymentInProgress {
			out.retryAfter = retryAfter(err)
		}
	}
	return p
}

// endedSentence says why a session can't be completed any more.
func endedSentence(session order.Session) string {
	if session.Status == order.SessionExpired {
		return sentenceSessionExpired
	}
	return sentenceCanceled
}

// itemsRefused is 400 for a session that can't be made or changed so, and 422 for
// one that can't be paid any more. If a registry could not be asked, nobody knows.
func (c *call) itemsRefused(refused *order.ItemsRefused) error {
	if len(refused.Items) == 0 {
		return refuse(http.StatusInternalServerError, codeInternal, sentenceInternal, "")
	}
	decided := slices.IndexFunc(refused.Items, func(item order.RefusedItem) bool {
		kind := registrar.KindOf(item.Reason)
		return kind != registrar.KindUpstream && kind != registrar.KindInternal && kind != registrar.KindRateLimited &&
			registrar.CodeOf(item.Reason) != provision.Undecided
	})
	if decided < 0 {
		return c.itemUndecided(refused.Items[0])
	}
	item := refused.Items[decided]
	status, code, param := http.StatusBadRequest, codeOutOfStock, c.pathOf(item)
	switch {
	case c.op.completing:
		status = http.StatusUnprocessableEntity
	case registrar.KindOf(item.Reason) == registrar.KindUnsupported:
		code = codeInvalidItem
	}
	p := refuse(status, code, fmt.Sprintf("%s: %s", item.Name, reasonFor(item.Reason)), param)
	p.cause = item.Reason
	return p
}

// itemUndecided is 503 for an item whose registry gave no answer or no decision. A fault
// of ours stays one.
func (c *call) itemUndecided(item order.RefusedItem) error {
	if kind := registrar.KindOf(item.Reason); kind == registrar.KindInternal {
		return fault(item.Reason)
	}
	p := refuse(http.StatusServiceUnavailable, codeNotYetDecided, fmt.Sprintf("%s: %s", item.Name, reasonFor(item.Reason)), c.pathOf(item))
	p.retryAfter, p.cause = retryAfter(item.Reason), item.Reason
	return p
}

// pathOf is where the request names an item; empty if it does not.
func (c *call) pathOf(item order.RefusedItem) (path string) {
	id := itemID(item.Kind, item.Name)
	for _, asked := range c.asked.items {
		if asked.id == id {
			path = asked.path
		}
	}
	return path
}
