package mcp

import (
	"errors"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// notPayableFailure is what a model reads about items that can't be ordered. If
// each of them can be had a little later, so can the order.
func notPayableFailure(problems []ItemProblem) failure {
	f := failure{Code: notPayable, Message: sentenceNotPayable, Retryable: len(problems) > 0}
	for _, problem := range problems {
		code := registrar.CodeOf(problem.Reason)
		if code == provision.TermNotSold {
			f.Code, f.Message = invalidInput, sentenceTerm
		}
		f.Items = append(f.Items, itemFailure{Domain: problem.Domain, Code: string(code), Reason: reasonOf(problem.Reason)})
		f.Retryable = f.Retryable && registrar.KindOf(problem.Reason) == registrar.KindUpstream
	}
	return f
}

// reasonOf is why one item can't be ordered, and what to do next.
func reasonOf(err error) string {
	var e *registrar.Error
	if !errors.As(err, &e) {
		return sentenceInternal
	}
	if text, ok := orderSentences[e.Code]; ok {
		return text
	}
	if text, ok := sentences[e.Code]; ok {
		return text
	}
	switch e.Kind {
	case registrar.KindUnsupported:
		return sentenceUnsupported
	case registrar.KindUpstream, registrar.KindRateLimited, registrar.KindInternal:
		return sentenceUpstream
	default:
		return "The registry does not accept this name. Leave it out, or choose another one with domain_search."
	}
}

// orderSentences say why something can't be ordered, and what a model should do.
var orderSentences = map[registrar.Code]string{
	registrar.ExtensionNotCarried: sentenceUnsupported,

	provision.NameTaken:         "The name is taken or reserved, so it can't be registered. Choose another one with domain_search, or, if the user holds it at another registrar, use the type transfer.",
	provision.NamePremium:       "The registry asks a price of its own for this name, and such names are not sold here. Choose another one with domain_search.",
	provision.NameHeld:          "The name is registered here already, or somebody's order for it is being carried out. If it may be the user's own, look at list_my_domains; else choose another one.",
	provision.NoAccount:         "Names with this extension can be looked up here but not ordered. list_tlds shows other extensions.",
	provision.NotEligible:       "The extension has a rule that can't be met here, so its names can only be looked up. Choose another extension.",
	provision.NoInboundTransfer: "With this extension only the present registrar can start a transfer, so it can't be ordered here. Tell the user to ask that registrar.",
	order.NoPrice:               "The price list has no price for this extension, so its names can only be looked up. Choose another extension.",
	provision.NotRegistered:     "The name is not registered, so there is nothing to transfer. If the user wants it, use the type register.",
	provision.Locked:            "The name can't be transferred now: it is locked, or was registered or moved lately. Ask the user to have the lock removed at the present registrar, then try again.",
	provision.WrongCode:         "The auth code is not the name's. The user enters the right one at payment_url.",
	provision.NotRenewable:      "The registry does not renew this name now.",
	provision.TermNotSold:       "This name is sold for one term only: leave years out, or give the minYears of tld_price (1 if there is none). What a transfer adds is up to the registry.",
	provision.BadTerm:           "The registry does not sell this name for the usual term. Choose another extension.",
}
