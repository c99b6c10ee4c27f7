package portal

import (
	"embed"
	"errors"
	"net/http"

	"github.com/dotkontor/dotkontor/internal/web/page"
)

//go:embed templates
var templates embed.FS

// Config is what the portal needs.
type Config struct {
	// Frame is what the portal's pages stand in. The front fills it in.
	Frame     *page.Frame
	Customers Customers
	Access    Access
	Holdings  Holdings
	// Applications are what customers connect by OAuth.
	Applications Applications
	// Agents are those that customers let check out for them; nil where there are
	// none.
	Agents Agents
	// Orders renews domains; nil where nothing can be ordered.
	Orders Orders
	// Steward changes domains at registries; nil means that they have no pages.
	Steward Steward
	// Dossier is all that is stored about a customer.
	Dossier Dossier
	// MailWorks says whether letters can be sent; without them nobody can
	// register or choose another password, and the pages say so.
	MailWorks bool
}

// Handler serves the portal. It is safe for concurrent use.
type Handler struct {
	frame     *page.Frame
	views     *page.Views
	customers Customers
	access    Access
	holdings  Holdings
	mailWorks bool

	applications Applications
	agents       Agents
	orders       Orders
	steward      Steward
	dossier      Dossier
}

// New parses every page.
func New(cfg Config) (*Handler, error) {
	if cfg.Frame == nil || cfg.Customers == nil || cfg.Access == nil || cfg.Holdings == nil || cfg.Applications == nil || cfg.Dossier == nil {
		return nil, errors.New("the portal needs a frame, customers, access, holdings, applications and dossiers")
	}
	views, err := cfg.Frame.Parse(templates, words())
	if err != nil {
		return nil, err
	}
	if cfg.Agents == nil {
		cfg.Agents = noAgents{}
	}
	return &Handler{
		frame: cfg.Frame, views: views, customers: cfg.Customers, access: cfg.Access, holdings: cfg.Holdings,
		mailWorks: cfg.MailWorks, applications: cfg.Applications, agents: cfg.Agents, orders: cfg.Orders, steward: cfg.Steward,
		dossier: cfg.Dossier,
	}, nil
}

// Where pages are that others lead to.
const (
	profilePath  = "/portal/profile"
	securityPath = "/portal/security"
	tokensPath   = page.TokensPath
	appsPath     = "/portal/apps"
	agentsPath   = "/portal/agents"
	domainsPath  = page.DomainsPath
	codePath     = "/portal/sign-in/code"
)

// Routes is everything that the portal answers to.
func (h *Handler) Routes() []page.Route {
	const get, post = http.MethodGet, http.MethodPost
	open, members, script := h.frame.Open, h.frame.Members, h.frame.Script
	const onlyMembers = true
	return []page.Route{
		{Method: get, Path: page.StaticPath + "{file}", Handler: h.frame.Static},
		{Method: get, Path: page.HomePath, Handler: open(h.home)},
		{Method: get, Path: page.HomePath + "/{$}", Handler: open(h.home)},
		{Method: post, Path: page.LanguagePath, Handler: open(h.chooseLanguage)},

		{Method: get, Path: "/portal/register", Handler: open(h.showRegister)},
		{Method: post, Path: "/portal/register", Handler: open(h.register)},
		{Method: get, Path: "/portal/register/sent", Handler: open(h.registerSent)},
		{Method: get, Path: "/portal/confirm", Handler: open(h.showConfirm)},
		{Method: post, Path: "/portal/confirm", Handler: open(h.confirm)},
		{Method: get, Path: "/portal/reset", Handler: open(h.showReset)},
		{Method: post, Path: "/portal/reset", Handler: open(h.askReset)},
		{Method: get, Path: "/portal/reset/sent", Handler: open(h.resetSent)},
		{Method: get, Path: "/portal/reset/new", Handler: open(h.showNewPassword)},
		{Method: post, Path: "/portal/reset/new", Handler: open(h.resetPassword)},
		{Method: get, Path: confirmEmailPath, Handler: h.behindLink(confirmEmailPath, h.showConfirmEmail)},
		{Method: post, Path: confirmEmailPath, Handler: h.behindLink(confirmEmailPath, h.confirmEmail)},

		{Method: get, Path: page.SignInPath, Handler: open(h.showSignIn)},
		{Method: post, Path: page.SignInPath, Handler: open(h.signIn)},
		{Method: get, Path: codePath, Handler: open(h.showCode)},
		{Method: post, Path: codePath, Handler: open(h.enterCode)},
		{Method: get, Path: page.SignInAgainPath, Handler: members(profilePath, h.showSignInAgain)},
		{Method: post, Path: page.SignInAgainPath, Handler: members(profilePath, h.signInAgain)},
		{Method: post, Path: page.SignOutPath, Handler: open(h.signOut)},
		{Method: post, Path: "/portal/sign-out-everywhere", Handler: members(securityPath, h.signOutEverywhere)},

		{Method: post, Path: beginSignIn, Handler: script(page.SignInPath, !onlyMembers, h.beginPasskeySignIn)},
		{Method: post, Path: finishSignIn, Handler: script(page.SignInPath, !onlyMembers, h.finishPasskeySignIn)},
		{Method: post, Path: finishAgain, Handler: script(page.SignInAgainPath, onlyMembers, h.finishPasskeyAgain)},
		{Method: post, Path: beginAdd, Handler: script(securityPath, onlyMembers, h.beginAddPasskey)},
		{Method: post, Path: finishAdd, Handler: script(securityPath, onlyMembers, h.finishAddPasskey)},
		{Method: post, Path: "/portal/passkeys/{id}/remove", Handler: members(securityPath, h.removePasskey)},

		{Method: get, Path: profilePath, Handler: members(profilePath, h.profile)},
		{Method: get, Path: registrantPath, Handler: members(registrantPath, h.showRegistrant)},
		{Method: post, Path: registrantPath, Handler: members(registrantPath, h.setRegistrant)},
		{Method: post, Path: registrantCheckPath, Handler: script(registrantPath, onlyMembers, h.checkRegistrant)},
		{Method: get, Path: passwordPath, Handler: members(passwordPath, h.showPassword)},
		{Method: post, Path: passwordPath, Handler: members(passwordPath, h.changePassword)},
		{Method: get, Path: emailPath, Handler: members(emailPath, h.showEmail)},
		{Method: post, Path: emailPath, Handler: members(emailPath, h.changeEmail)},

		{Method: get, Path: exportPath, Handler: members(exportPath, h.export)},
		{Method: get, Path: closePath, Handler: members(closePath, h.showClose)},
		{Method: post, Path: closePath, Handler: members(closePath, h.close)},

		{Method: get, Path: securityPath, Handler: members(securityPath, h.security)},
		{Method: get, Path: enrolPath, Handler: h.behindLink(enrolPath, h.showEnrol)},
		{Method: post, Path: enrolPath, Handler: h.behindLink(enrolPath, h.enrol)},
		{Method: get, Path: factorPath, Handler: members(factorPath, h.showSecondFactor)},
		{Method: post, Path: factorPath, Handler: members(factorPath, h.finishSecondFactor)},
		{Method: post, Path: factorPath + "/drop", Handler: members(securityPath, h.dropSecondFactor)},
		{Method: post, Path: "/portal/security/recovery-codes", Handler: members(securityPath, h.newRecoveryCodes)},
		{Method: post, Path: "/portal/sessions/{id}/end", Handler: members(securityPath, h.endSession)},

		{Method: get, Path: tokensPath, Handler: members(tokensPath, h.tokens)},
		{Method: post, Path: tokensPath, Handler: members(tokensPath, h.createToken)},
		{Method: post, Path: "/portal/tokens/{id}/revoke", Handler: members(tokensPath, h.revokeToken)},
		{Method: get, Path: appsPath, Handler: members(appsPath, h.apps)},
		{Method: post, Path: "/portal/apps/{id}/disconnect", Handler: members(appsPath, h.disconnectApp)},
		{Method: get, Path: agentsPath, Handler: members(agentsPath, h.linkedAgents)},
		{Method: post, Path: agentsPath + "/{id}/link", Handler: members(agentsPath, h.linkAgent)},
		{Method: post, Path: agentsPath + "/{id}/unlink", Handler: members(agentsPath, h.unlinkAgent)},
		{Method: get, Path: "/portal/activity", Handler: members("/portal/activity", h.activity)},
		{Method: get, Path: domainsPath, Handler: members(domainsPath, h.domains)},
		{Method: get, Path: domainsPath + "/{id}", Handler: members(domainsPath, h.domain)},
		{Method: post, Path: domainsPath + "/{id}/nameservers", Handler: members(domainsPath, h.setNameservers)},
		{Method: post, Path: domainsPath + "/{id}/ds", Handler: members(domainsPath, h.addDS)},
		{Method: post, Path: domainsPath + "/{id}/ds/remove", Handler: members(domainsPath, h.removeDS)},
		{Method: post, Path: domainsPath + "/{id}/lock", Handler: members(domainsPath, h.setLock)},
		{Method: post, Path: domainsPath + "/{id}/auth-code", Handler: members(domainsPath, h.showAuthCode)},
		{Method: post, Path: domainsPath + "/{id}/holder", Handler: members(domainsPath, h.takeHolder)},
		{Method: post, Path: domainsPath + "/{id}/renew", Handler: members(domainsPath, h.renewDomain)},
		{Method: post, Path: domainsPath + "/{id}/auto-renew", Handler: members(domainsPath, h.setAutoRenew)},
	}
}

// home leads to where somebody has something to do.
func (h *Handler) home(v *page.Visit) error {
	if v.SignedIn {
		return v.SeeOther(profilePath)
	}
	return v.SeeOther(page.SignInPath)
}

// chooseLanguage remembers the language in the browser and in the account.
func (h *Handler) chooseLanguage(v *page.Visit) error {
	language := v.Field("language")
	if language != page.German && language != page.English {
		return invalidForm()
	}
	if v.SignedIn {
		if err := h.customers.SetLanguage(v.R.Context(), v.Actor(), language); err != nil {
			return err
		}
	}
	v.KeepLanguage(language)
	to := next(v, v.Field("next"))
	if to == "" {
		to = page.HomePath
	}
	return v.SeeOther(to)
}
