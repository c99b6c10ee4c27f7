package portal

import (
	"embed"
	"errors"
	"net/http"

	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

//go:embed templates
var templateFS embed.FS

// Config holds the dependencies of the portal.
type Config struct {
	// Frame is set by package web.
	Frame        *ui.Frame
	Accounts     Accounts
	AccessTokens AccessTokens
	Portfolio    Portfolio
	// Applications are connected by OAuth.
	Applications Applications
	// Agents are checkout agents that customers can link; nil if there are none.
	Agents Agents
	// Orders renews domains; nil if nothing can be ordered.
	Orders Orders
	// DomainChanges changes domains at registries; nil means that domains have no
	// pages.
	DomainChanges DomainChanges
	// Exporter exports everything stored about a customer.
	Exporter Exporter
	// MailEnabled reports whether mail can be sent; without it, registration and
	// password reset are unavailable, and the pages say so.
	MailEnabled bool
}

// Handler serves the portal. It is safe for concurrent use.
type Handler struct {
	frame        *ui.Frame
	templates    *ui.Templates
	accounts     Accounts
	accessTokens AccessTokens
	portfolio    Portfolio
	mailEnabled  bool

	applications  Applications
	agents        Agents
	orders        Orders
	domainChanges DomainChanges
	exporter      Exporter
}

// New parses every page.
func New(cfg Config) (*Handler, error) {
	if cfg.Frame == nil || cfg.Accounts == nil || cfg.AccessTokens == nil || cfg.Portfolio == nil || cfg.Applications == nil || cfg.Exporter == nil {
		return nil, errors.New("portal: Config.Frame, Accounts, AccessTokens, Portfolio, Applications and Exporter are required")
	}
	views, err := cfg.Frame.LoadTemplates(templateFS, texts, domainTexts)
	if err != nil {
		return nil, err
	}
	if cfg.Agents == nil {
		cfg.Agents = noAgents{}
	}
	return &Handler{
		frame: cfg.Frame, templates: views, accounts: cfg.Accounts, accessTokens: cfg.AccessTokens, portfolio: cfg.Portfolio,
		mailEnabled: cfg.MailEnabled, applications: cfg.Applications, agents: cfg.Agents, orders: cfg.Orders, domainChanges: cfg.DomainChanges,
		exporter: cfg.Exporter,
	}, nil
}

// Paths that several pages use.
const (
	profilePath  = "/portal/profile"
	securityPath = "/portal/security"
	tokensPath   = ui.TokensPath
	appsPath     = "/portal/apps"
	agentsPath   = "/portal/agents"
	domainsPath  = ui.DomainsPath
	codePath     = "/portal/sign-in/code"
)

// Routes lists the pages.
func (h *Handler) Routes() []httpjson.Route {
	const get, post = http.MethodGet, http.MethodPost
	public, signedIn, script := h.frame.Page, h.frame.SignedInPage, h.frame.Script
	const onlyMembers = true
	return []httpjson.Route{
		{Method: get, Path: ui.StaticPath + "{file}", Handler: h.frame.Static},
		{Method: get, Path: ui.HomePath, Handler: public(h.home)},
		{Method: get, Path: ui.HomePath + "/{$}", Handler: public(h.home)},
		{Method: post, Path: ui.LanguagePath, Handler: public(h.chooseLanguage)},

		{Method: get, Path: "/portal/register", Handler: public(h.showRegister)},
		{Method: post, Path: "/portal/register", Handler: public(h.register)},
		{Method: get, Path: "/portal/register/sent", Handler: public(h.registerSent)},
		{Method: get, Path: "/portal/confirm", Handler: public(h.showConfirm)},
		{Method: post, Path: "/portal/confirm", Handler: public(h.confirm)},
		{Method: get, Path: "/portal/reset", Handler: public(h.showReset)},
		{Method: post, Path: "/portal/reset", Handler: public(h.requestReset)},
		{Method: get, Path: "/portal/reset/sent", Handler: public(h.resetSent)},
		{Method: get, Path: "/portal/reset/new", Handler: public(h.showNewPassword)},
		{Method: post, Path: "/portal/reset/new", Handler: public(h.resetPassword)},
		{Method: get, Path: confirmEmailPath, Handler: h.linkPage(confirmEmailPath, h.showConfirmEmail)},
		{Method: post, Path: confirmEmailPath, Handler: h.linkPage(confirmEmailPath, h.confirmEmail)},

		{Method: get, Path: ui.SignInPath, Handler: public(h.showSignIn)},
		{Method: post, Path: ui.SignInPath, Handler: public(h.signIn)},
		{Method: get, Path: codePath, Handler: public(h.showCode)},
		{Method: post, Path: codePath, Handler: public(h.enterCode)},
		{Method: get, Path: ui.SignInAgainPath, Handler: signedIn(profilePath, h.showSignInAgain)},
		{Method: post, Path: ui.SignInAgainPath, Handler: signedIn(profilePath, h.signInAgain)},
		{Method: post, Path: ui.SignOutPath, Handler: public(h.signOut)},
		{Method: post, Path: "/portal/sign-out-everywhere", Handler: signedIn(securityPath, h.signOutEverywhere)},

		{Method: post, Path: beginSignIn, Handler: script(ui.SignInPath, !onlyMembers, h.beginPasskeySignIn)},
		{Method: post, Path: finishSignIn, Handler: script(ui.SignInPath, !onlyMembers, h.finishPasskeySignIn)},
		{Method: post, Path: finishAgain, Handler: script(ui.SignInAgainPath, onlyMembers, h.finishPasskeyAgain)},
		{Method: post, Path: beginAdd, Handler: script(securityPath, onlyMembers, h.beginAddPasskey)},
		{Method: post, Path: finishAdd, Handler: script(securityPath, onlyMembers, h.finishAddPasskey)},
		{Method: post, Path: "/portal/passkeys/{id}/remove", Handler: signedIn(securityPath, h.removePasskey)},

		{Method: get, Path: profilePath, Handler: signedIn(profilePath, h.profile)},
		{Method: get, Path: registrantPath, Handler: signedIn(registrantPath, h.showRegistrant)},
		{Method: post, Path: registrantPath, Handler: signedIn(registrantPath, h.setRegistrant)},
		{Method: post, Path: registrantCheckPath, Handler: script(registrantPath, onlyMembers, h.checkRegistrant)},
		{Method: get, Path: passwordPath, Handler: signedIn(passwordPath, h.showPassword)},
		{Method: post, Path: passwordPath, Handler: signedIn(passwordPath, h.changePassword)},
		{Method: get, Path: emailPath, Handler: signedIn(emailPath, h.showEmail)},
		{Method: post, Path: emailPath, Handler: signedIn(emailPath, h.changeEmail)},

		{Method: get, Path: exportPath, Handler: signedIn(exportPath, h.export)},
		{Method: get, Path: closePath, Handler: signedIn(closePath, h.showClose)},
		{Method: post, Path: closePath, Handler: signedIn(closePath, h.closeAccount)},

		{Method: get, Path: securityPath, Handler: signedIn(securityPath, h.security)},
		{Method: get, Path: enrolPath, Handler: h.linkPage(enrolPath, h.showEnrol)},
		{Method: post, Path: enrolPath, Handler: h.linkPage(enrolPath, h.enrol)},
		{Method: get, Path: factorPath, Handler: signedIn(factorPath, h.showSecondFactor)},
		{Method: post, Path: factorPath, Handler: signedIn(factorPath, h.finishSecondFactor)},
		{Method: post, Path: factorPath + "/drop", Handler: signedIn(securityPath, h.dropSecondFactor)},
		{Method: post, Path: "/portal/security/recovery-codes", Handler: signedIn(securityPath, h.newRecoveryCodes)},
		{Method: post, Path: "/portal/sessions/{id}/end", Handler: signedIn(securityPath, h.endSession)},

		{Method: get, Path: tokensPath, Handler: signedIn(tokensPath, h.tokens)},
		{Method: post, Path: tokensPath, Handler: signedIn(tokensPath, h.createToken)},
		{Method: post, Path: "/portal/tokens/{id}/revoke", Handler: signedIn(tokensPath, h.revokeToken)},
		{Method: get, Path: appsPath, Handler: signedIn(appsPath, h.apps)},
		{Method: post, Path: "/portal/apps/{id}/disconnect", Handler: signedIn(appsPath, h.disconnectApp)},
		{Method: get, Path: agentsPath, Handler: signedIn(agentsPath, h.linkedAgents)},
		{Method: post, Path: agentsPath + "/{id}/link", Handler: signedIn(agentsPath, h.linkAgent)},
		{Method: post, Path: agentsPath + "/{id}/unlink", Handler: signedIn(agentsPath, h.unlinkAgent)},
		{Method: get, Path: "/portal/activity", Handler: signedIn("/portal/activity", h.activity)},
		{Method: get, Path: domainsPath, Handler: signedIn(domainsPath, h.domains)},
		{Method: get, Path: domainsPath + "/{id}", Handler: signedIn(domainsPath, h.domain)},
		{Method: post, Path: domainsPath + "/{id}/nameservers", Handler: signedIn(domainsPath, h.setNameservers)},
		{Method: post, Path: domainsPath + "/{id}/ds", Handler: signedIn(domainsPath, h.addDS)},
		{Method: post, Path: domainsPath + "/{id}/ds/remove", Handler: signedIn(domainsPath, h.removeDS)},
		{Method: post, Path: domainsPath + "/{id}/lock", Handler: signedIn(domainsPath, h.setLock)},
		{Method: post, Path: domainsPath + "/{id}/auth-code", Handler: signedIn(domainsPath, h.showAuthCode)},
		{Method: post, Path: domainsPath + "/{id}/holder", Handler: signedIn(domainsPath, h.updateDomainRegistrant)},
		{Method: post, Path: domainsPath + "/{id}/renew", Handler: signedIn(domainsPath, h.renewDomain)},
		{Method: post, Path: domainsPath + "/{id}/auto-renew", Handler: signedIn(domainsPath, h.setAutoRenew)},
	}
}

// home redirects to the profile or the sign-in.
func (h *Handler) home(req *ui.Request) error {
	if req.SignedIn {
		return req.SeeOther(profilePath)
	}
	return req.SeeOther(ui.SignInPath)
}

// chooseLanguage stores the language in the browser and in the account.
func (h *Handler) chooseLanguage(req *ui.Request) error {
	language := req.Field("language")
	if language != ui.German && language != ui.English {
		return invalidForm()
	}
	if req.SignedIn {
		if err := h.accounts.SetLanguage(req.R.Context(), req.Actor(), language); err != nil {
			return err
		}
	}
	req.SetLanguage(language)
	to := nextPath(req, req.Field("next"))
	if to == "" {
		to = ui.HomePath
	}
	return req.SeeOther(to)
}
