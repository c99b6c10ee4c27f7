package cli

import (
	"errors"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

// errorExplanations are the messages for operators.
var errorExplanations = map[registrar.Code]string{
	withdrawal.NoSuchNotice:     "no open notice has this id",
	registrar.NoSuchCustomer:    "no account has this email address",
	account.AccountDisabled:     "the account is disabled; enable it first",
	account.EmailInvalid:        "invalid email address",
	account.EmailTaken:          "there is an account with this email address already",
	account.LanguageUnknown:     "the language must be de or en",
	registrar.NoRegistryAccount: "no registry account is configured for this extension",
	provision.NoRegistrant:      "the account's registrant data is missing or incomplete; enter it in the portal",
	provision.NameTaken:         "the name is not available at the registry",
	registrar.NameReserved:      "the registry has reserved the name",
	provision.Undecided:         "the registry did not report the name's availability; try again later",
	registrar.NamePremium:       "premium names can't be ordered yet",
	registrar.NameHeld:          "the name already belongs to an account, or an order for it is in progress",
	registrar.IdentityRequired:  "the extension requires a verified identity, and the registrant's name is not verified",
	provision.NoInboundTransfer: "only the losing registrar can transfer this extension",
	provision.NotEligible:       "the registrant does not meet the extension's eligibility rules",
	provision.NotRegistered:     "the name is not registered, so it can't be transferred",
	provision.Locked:            "the losing registrar has locked the name, or a transfer is already pending",
	provision.WrongCode:         "the auth code is wrong",
	provision.NotYours:          "the customer does not hold this domain",
	provision.NotRenewable:      "the registry does not allow a renewal now",
	provision.BadTerm:           "the extension has no such term",
	provision.BadPayment:        "the payment reference is missing",
	provision.PaymentUsed:       "this payment reference was already used for the name, with another account or term",
	agent.NoSuchAgent:           "no active agent has this id",
	agent.NameTaken:             "an agent with this name already exists",
	agent.TooManyAgents:         "the limit of 50 agents is reached",
	agent.BadName:               "the name must have 1 to 60 visible characters",
	agent.BadSecret:             "a secret must have 16 to 256 characters and no spaces",
	agent.BadWebhook:            "the webhook URL must start with https:// and have no user or fragment",
	oauth.NoSuchToken:           "no token has this id",
}

// ExplainError replaces an error that an operator can act on with a sentence that helps.
func ExplainError(err error) error {
	if sentence, known := errorExplanations[registrar.CodeOf(err)]; known {
		return errors.New(sentence)
	}
	return err
}
