package cli

import (
	"cmp"
	"errors"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

// SandboxData is the default data folder of the sandbox, SandboxConfigFile the
// configuration file in it.
const (
	SandboxData       = ".dotkontor/sandbox"
	SandboxConfigFile = "serve.toml"
)

// SecretVariable is the environment variable with an agent's secret.
const SecretVariable = "DOTKONTOR_ACP_SECRET" //nolint:gosec // a name

// ServiceFlags select a service. Commands work on its database, whether it runs or not.
type ServiceFlags struct {
	Config string `help:"Configuration file of the service. Default: $$DOTKONTOR_CONFIG, else .dotkontor/sandbox/serve.toml in the current folder."`
}

func (p ServiceFlags) Load(t *Terminal) (config.Config, error) {
	path := cmp.Or(p.Config, t.Getenv("DOTKONTOR_CONFIG"))
	if path == "" {
		path = filepath.Join(SandboxData, SandboxConfigFile)
		if _, err := os.Stat(path); err != nil {
			return config.Config{}, errors.New("select a service with --config FILE; there is no sandbox in this folder")
		}
	}
	return config.Load(path, t.Env)
}

// WithSession opens the service's database and calls work as an operator.
func (p ServiceFlags) WithSession(t *Terminal, work func(Session) error) error {
	cfg, err := p.Load(t)
	if err != nil {
		return err
	}
	services, err := app.OpenServices(t.Ctx, cfg, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		return err
	}
	err = work(Session{Terminal: t, Services: services, Config: cfg, Operator: registrar.Actor{Kind: registrar.ActorOperator, Through: SystemUser()}})
	return errors.Join(ExplainError(err), services.Close())
}

// WithCustomer is WithSession with the account of an email address.
func (p ServiceFlags) WithCustomer(t *Terminal, email string, work func(Session, account.Customer) error) error {
	return p.WithSession(t, func(d Session) error {
		customer, err := d.Services.Customers.FindByEmail(d.Ctx, d.Operator, email)
		if err != nil {
			return err
		}
		return work(d, customer)
	})
}

// Session is a command with access to a service.
type Session struct {
	*Terminal
	Services *app.Services
	Config   config.Config
	Operator registrar.Actor
}

// SystemUser returns the operating system user, for audit events.
func SystemUser() string {
	if one, err := user.Current(); err == nil && one.Username != "" {
		return one.Username
	}
	return "uid " + strconv.Itoa(os.Getuid())
}

// CustomerID returns the ID of the account with an email address, "" for "".
func (d Session) CustomerID(email string) (string, error) {
	if email == "" {
		return "", nil
	}
	customer, err := d.Services.Customers.FindByEmail(d.Ctx, d.Operator, email)
	return customer.ID, err
}

// Report prints one line if err is nil.
func (d Session) Report(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return d.Println(format, args...)
}

// errorExplanations are the messages for operators.
var errorExplanations = map[registrar.Code]string{
	withdrawal.NoSuchNotice:     "no notice has this ID",
	withdrawal.AlreadyHandled:   "the notice is already done",
	withdrawal.BadNote:          "the note must have 1 to 500 printable characters",
	withdrawal.BadReply:         "the reply must have at most 1000 printable characters",
	withdrawal.BadEnd:           "--end must be a day such as 2026-12-31, and the notice a termination",
	withdrawal.EndOutOfRange:    "the contract can't end on that day; nothing was changed",
	registrar.NoSuchCustomer:    "no account has this email address",
	account.AccountDisabled:     "the account is disabled; enable it first",
	account.EmailInvalid:        "invalid email address",
	account.EmailTaken:          "an account with this email address already exists",
	account.LanguageUnknown:     "the language must be de or en",
	registrar.NoRegistryAccount: "no registry account is configured for this extension",
	provision.NoRegistrant:      "the account's registrant data is missing or incomplete; enter it in the portal",
	provision.NameTaken:         "the name is not available at the registry",
	registrar.NameReserved:      "the registry has reserved the name",
	provision.Undecided:         "the registry did not report the name's availability; try again later",
	registrar.NamePremium:       "the registry charges its own price for the name, and it can't be sold",
	registrar.NameHeld:          "the name already belongs to an account, or an order for it is in progress",
	registrar.IdentityRequired:  "the extension requires a verified identity, and the registrant's name is not verified",
	provision.NoInboundTransfer: "only the losing registrar can start a transfer under this extension",
	provision.NotEligible:       "the registrant does not meet the extension's eligibility rules",
	provision.NotRegistered:     "the name is not registered, so it can't be transferred",
	provision.Locked:            "the losing registrar has locked the name, or a transfer is already pending",
	provision.WrongCode:         "the auth code is wrong",
	provision.NotYours:          "the customer does not hold this domain",
	provision.NotRenewable:      "the registry does not allow a renewal now",
	provision.NotRestorable:     "the domain was not deleted or can't be restored any more",
	provision.BadTerm:           "the extension is not sold for this term",
	provision.BadPayment:        "the payment reference is missing",
	provision.PaymentUsed:       "this payment reference was already used for the name, with another account or term",
	agent.NoSuchAgent:           "no active agent has this ID",
	agent.NameTaken:             "an agent with this name already exists",
	agent.TooManyAgents:         "the limit of 50 agents is reached",
	agent.BadName:               "the name must have 1 to 60 visible characters",
	agent.BadSecret:             "a secret must have 16 to 256 characters and no spaces",
	agent.BadWebhook:            "the webhook URL must start with https:// and have no user or fragment",
	oauth.NoSuchToken:           "no token has this ID",
	order.NoSuchOrder:           "no such order",
	order.RefundTooLarge:        "the amount exceeds what is left to refund; nothing was changed",
	order.BadRefund:             "a refund needs a reason of the list and a note of 1 to 500 printable characters",
	order.NothingToRefund:       "everything is refunded already",
	order.OrderNotPaid:          "the order is not paid",
	order.OrderInProgress:       "the order is still being processed",
	order.RefundChanged:         "the order was refunded meanwhile; look at it again",
	provision.NoSuchItem:        "the order has no such item",
	order.DeletionForbidden:     "the refund leaves no domain that can be deleted; nothing was refunded",
	cost.BadFunds:               "an entry needs an amount, a currency such as EUR, and a reference of at most 200 printable characters; a deposit is not 0; nothing was stored",
	cost.TooManyFunds:           "all accounts together have 10,000 entries already; nothing was stored",
	cost.SecondOpening:          "the account has an opening balance in this currency; nothing was stored",
}

// ExplainError replaces an error that an operator can act on with a sentence that helps.
func ExplainError(err error) error {
	if sentence, known := errorExplanations[registrar.CodeOf(err)]; known {
		var detailed *registrar.Error
		switch code := registrar.CodeOf(err); {
		case code != provision.NotEligible && code != withdrawal.EndOutOfRange:
		case errors.As(err, &detailed) && detailed.Detail != "":
			sentence += " (" + detailed.Detail + ")" // the rule, or the possible days
		}
		return errors.New(sentence)
	}
	if problem := NameProblem(err); problem != "" {
		return errors.New("invalid domain name: " + problem)
	}
	return err
}
