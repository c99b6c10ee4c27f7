package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/declaration"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// servicePlace says which service's customers are meant. The commands work on
// its database, whether it runs or not.
type servicePlace struct {
	Config string `help:"Configuration file of the service. Default: $$DOTKONTOR_CONFIG, else .dotkontor/sandbox/serve.toml in the current folder."`
}

func (p servicePlace) load(t *terminal) (config.Config, error) {
	path := p.Config
	if path == "" { // a flag beats the environment, so it is looked at last
		path = t.variable("DOTKONTOR_CONFIG")
	}
	if path == "" {
		path = filepath.Join(sandboxData, sandboxConfig)
		if _, err := os.Stat(path); err != nil {
			return config.Config{}, errors.New("say which service is meant, with --config FILE; there is no sandbox here")
		}
	}
	return config.Load(path, t.environment)
}

// operate opens the service's accounts and does one thing as the person at the
// command line.
func (p servicePlace) operate(t *terminal, work func(desk) error) error {
	cfg, err := p.load(t)
	if err != nil {
		return err
	}
	people, err := openAccounts(t.ctx, cfg, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		return err
	}
	err = work(desk{terminal: t, people: people, cfg: cfg, operator: registrar.Actor{Kind: registrar.ActorOperator, Through: systemUser()}})
	return errors.Join(explain(err), people.close())
}

// desk is where an operator works.
type desk struct {
	*terminal
	people   *accounts
	cfg      config.Config
	operator registrar.Actor
}

// systemUser is who the audit names: the account on this machine.
func systemUser() string {
	if one, err := user.Current(); err == nil && one.Username != "" {
		return one.Username
	}
	return "uid " + strconv.Itoa(os.Getuid())
}

// explanations are what operators read for errors of the domain.
var explanations = map[registrar.Code]string{
	declaration.NoSuchDeclaration: "so eine offene Erklärung gibt es nicht / there is no such open declaration",
	customer.NoSuchCustomer:       "mit dieser Adresse gibt es kein Konto / there is no account with this address",
	customer.AccountDisabled:      "the account is disabled; enable it first",
	customer.EmailInvalid:         "das ist keine E-Mail-Adresse, an die Post gehen kann / this is no e-mail address that mail can be sent to",
	customer.EmailTaken:           "mit dieser Adresse gibt es schon ein Konto / there is an account with this address already",
	customer.LanguageUnknown:      "die Sprache ist de oder en / the language is de or en",
	provision.NoAccount:           "für diese Endung ist kein Registry-Konto eingestellt / no registry account serves this extension",
	provision.NoRegistrant:        "das Konto hat keine Inhaberdaten, oder sie sind nicht vollständig; im Portal eintragen / the account has no registrant data, or not all; enter them in the portal",
	provision.NameTaken:           "die Registry gibt den Namen nicht her / the registry does not give the name away",
	provision.NameReserved:        "the registry has reserved the name",
	provision.Undecided:           "the registry did not say whether the name is available; try again later",
	provision.NamePremium:         "die Registry verlangt einen eigenen Preis für den Namen; das geht hier noch nicht / the registry has a price of its own for the name; that can't be ordered yet",
	provision.NameHeld:            "der Name gehört schon einem Konto oder ist unterwegs dorthin / the name is an account's already, or on its way to one",
	registrar.IdentityRequired:    "die Endung verlangt eine geprüfte Identität, und der Name des Inhabers ist nicht geprüft / the extension demands a verified identity, and the registrant's name is not verified",
	provision.NoInboundTransfer:   "nur der bisherige Registrar kann diese Endung übertragen / only the losing registrar can transfer this extension",
	provision.NotEligible:         "eine Regel der Endung ist nicht erfüllt / a rule of the extension is not met",
	provision.NotRegistered:       "der Name ist nicht registriert, es gibt nichts umzuziehen / the name is not registered, there is nothing to transfer",
	provision.Locked:              "der bisherige Anbieter hat den Namen gesperrt, oder ein Umzug läuft schon / its registrar has locked the name, or a transfer is under way",
	provision.WrongCode:           "der Auth-Code stimmt nicht / the auth code is wrong",
	provision.NotYours:            "verlängern kann nur, wer den Namen hat / only who holds a name can renew it",
	provision.NotRenewable:        "die Registry verlängert den Namen jetzt nicht / the registry does not renew the name now",
	provision.BadTerm:             "diese Laufzeit gibt es nicht / there is no such term",
	provision.BadPayment:          "was hat bezahlt? Eine Referenz fehlt / what paid for it? A reference is missing",
	provision.PaymentUsed:         "diese Referenz hat den Namen schon bezahlt, für ein anderes Konto oder eine andere Laufzeit / this reference has paid for the name already, for another account or another term",
	agent.NoSuchAgent:             "diesen Agenten gibt es nicht, oder nicht mehr / there is no such agent, or not any more",
	agent.NameTaken:               "so heißt schon ein Agent / an agent has this name already",
	agent.TooManyAgents:           "es sind schon so viele Agenten zugelassen, wie es sein dürfen (50) / as many agents as there may be are let in already (50)",
	agent.BadName:                 "der Name ist leer, länger als 60 Zeichen oder hat Zeichen, die man nicht sieht / the name is empty, has over 60 characters or some that can't be seen",
	agent.BadSecret:               "ein Geheimnis hat 16 bis 256 Zeichen und keine Leerzeichen / a secret has 16 to 256 characters and no spaces",
	agent.BadWebhook:              "die Adresse beginnt mit https:// und hat weder Benutzer noch Anker / the address begins with https:// and has neither a user nor a fragment",
	access.NoSuchToken:            "diesen Token gibt es nicht / there is no such token",
}

// explain says in sentences what a person can do something about.
func explain(err error) error {
	if sentence, known := explanations[registrar.CodeOf(err)]; known {
		return errors.New(sentence)
	}
	return err
}

// find returns the account of an address.
func (d desk) find(email string) (customer.Customer, error) {
	return d.people.customers.Find(d.ctx, d.operator, email)
}

// tell prints one sentence in both languages.
func (d desk) tell(german, english string) error {
	_, err := fmt.Fprintf(d.out, "%s / %s\n", german, english)
	return err
}

// moment is a time as lists print it: a dash for never.
func moment(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.UTC().Format("2006-01-02 15:04")
}

// stamp is a time for scripts: null for never.
func stamp(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = at.UTC().Truncate(time.Second)
	return &at
}
