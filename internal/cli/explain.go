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

// errorExplanations are what operators read for errors of the domain.
var errorExplanations = map[registrar.Code]string{
	withdrawal.NoSuchNotice:     "so eine offene Erklärung gibt es nicht / there is no such open declaration",
	registrar.NoSuchCustomer:    "mit dieser Adresse gibt es kein Konto / there is no account with this address",
	account.AccountDisabled:     "the account is disabled; enable it first",
	account.EmailInvalid:        "das ist keine E-Mail-Adresse, an die Post gehen kann / this is no e-mail address that mail can be sent to",
	account.EmailTaken:          "mit dieser Adresse gibt es schon ein Konto / there is an account with this address already",
	account.LanguageUnknown:     "die Sprache ist de oder en / the language is de or en",
	registrar.NoRegistryAccount: "für diese Endung ist kein Registry-Konto eingestellt / no registry account serves this extension",
	provision.NoRegistrant:      "das Konto hat keine Inhaberdaten, oder sie sind nicht vollständig; im Portal eintragen / the account has no registrant data, or not all; enter them in the portal",
	provision.NameTaken:         "die Registry gibt den Namen nicht her / the registry does not give the name away",
	registrar.NameReserved:      "the registry has reserved the name",
	provision.Undecided:         "the registry did not say whether the name is available; try again later",
	registrar.NamePremium:       "die Registry verlangt einen eigenen Preis für den Namen; das geht hier noch nicht / the registry has a price of its own for the name; that can't be ordered yet",
	registrar.NameHeld:          "der Name gehört schon einem Konto oder ist unterwegs dorthin / the name is an account's already, or on its way to one",
	registrar.IdentityRequired:  "die Endung verlangt eine geprüfte Identität, und der Name des Inhabers ist nicht geprüft / the extension demands a verified identity, and the registrant's name is not verified",
	provision.NoInboundTransfer: "nur der bisherige Registrar kann diese Endung übertragen / only the losing registrar can transfer this extension",
	provision.NotEligible:       "eine Regel der Endung ist nicht erfüllt / a rule of the extension is not met",
	provision.NotRegistered:     "der Name ist nicht registriert, es gibt nichts umzuziehen / the name is not registered, there is nothing to transfer",
	provision.Locked:            "der bisherige Anbieter hat den Namen gesperrt, oder ein Umzug läuft schon / its registrar has locked the name, or a transfer is under way",
	provision.WrongCode:         "der Auth-Code stimmt nicht / the auth code is wrong",
	provision.NotYours:          "verlängern kann nur, wer den Namen hat / only who holds a name can renew it",
	provision.NotRenewable:      "die Registry verlängert den Namen jetzt nicht / the registry does not renew the name now",
	provision.BadTerm:           "diese Laufzeit gibt es nicht / there is no such term",
	provision.BadPayment:        "was hat bezahlt? Eine Referenz fehlt / what paid for it? A reference is missing",
	provision.PaymentUsed:       "diese Referenz hat den Namen schon bezahlt, für ein anderes Konto oder eine andere Laufzeit / this reference has paid for the name already, for another account or another term",
	agent.NoSuchAgent:           "diesen Agenten gibt es nicht, oder nicht mehr / there is no such agent, or not any more",
	agent.NameTaken:             "so heißt schon ein Agent / an agent has this name already",
	agent.TooManyAgents:         "es sind schon so viele Agenten zugelassen, wie es sein dürfen (50) / as many agents as there may be are let in already (50)",
	agent.BadName:               "der Name ist leer, länger als 60 Zeichen oder hat Zeichen, die man nicht sieht / the name is empty, has over 60 characters or some that can't be seen",
	agent.BadSecret:             "ein Geheimnis hat 16 bis 256 Zeichen und keine Leerzeichen / a secret has 16 to 256 characters and no spaces",
	agent.BadWebhook:            "die Adresse beginnt mit https:// und hat weder Benutzer noch Anker / the address begins with https:// and has neither a user nor a fragment",
	oauth.NoSuchToken:           "diesen Token gibt es nicht / there is no such token",
}

// ExplainError says in sentences what a person can do something about.
func ExplainError(err error) error {
	if sentence, known := errorExplanations[registrar.CodeOf(err)]; known {
		return errors.New(sentence)
	}
	return err
}
