package portal

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/bulk"
	"github.com/dotkontor/dotkontor/internal/registrar/contactcheck"
	"github.com/dotkontor/dotkontor/internal/registrar/delegate"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/overview"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

//go:embed templates
var templateFS embed.FS

// Config holds the dependencies of the portal.
type Config struct {
	// Frame is set by package web.
	Frame        *ui.Frame
	Accounts     *account.Service
	AccessTokens *oauth.Service
	Portfolio    *portfolio.Service
	Overview     *overview.Service
	// Applications are connected by OAuth.
	Applications *oauth.AuthorizationServer
	// Agents are checkout agents that customers can link; Delegates are all who act for a
	// customer.
	Agents        *agent.Service
	Delegates     *delegate.Service
	DomainChanges *domainchange.Service
	Holders       *holder.Service
	TransfersAway *transferaway.Service
	// Contacts confirms registrants' addresses; nil: no pages about them. ContactLimit counts a
	// request for the page of a mailed link and returns how long to wait; nil means no limit.
	Contacts     *contactcheck.Service
	ContactLimit func(key string) (wait time.Duration)
	Bulk         *bulk.Service
	// Orders renews domains; nil if nothing can be ordered.
	Orders Orders
	// Renewals turns automatic renewal on and off; nil if nothing can be ordered.
	Renewals Renewals
	// MethodLimit counts a customer's attempt to add a payment method and returns how long to
	// wait, 0 if allowed: stolen cards are tried out where cards can be saved. nil means no
	// limit.
	MethodLimit func(customer string) (wait time.Duration)
	Exporter    Exporter
	// OrderBasket is set by package web; nil if nothing can be ordered.
	OrderBasket OrderBasket
	// ShowBasketEmail shows the basket again if its email address is invalid. It is set by
	// package web with OrderBasket.
	ShowBasketEmail func(req *ui.Request, email string, wrong error) error
	// ApplyTerms stores the terms that were chosen in the basket, whose form registers a new
	// customer. It is set by package web with OrderBasket.
	ApplyTerms func(req *ui.Request) error
	// Extension has the list prices of renewals; Orders requires it.
	Extension func(tld string) (registrar.Extension, bool)
	// OpenNotices returns, by the ids of domains, the kinds of a customer's open withdrawal notices about
	// their contracts; nil means that there are none.
	OpenNotices func(ctx context.Context, customer string, domains []string) (map[string][]withdrawal.Kind, error)
	// ContractNotices returns a customer's withdrawal notices about the contract of a domain, the newest
	// first; nil means that there are none.
	ContractNotices func(ctx context.Context, customer, domain string) ([]withdrawal.Notice, error)
	// Locks returns the operators' locks of a customer's domain; nil means that there
	// are none.
	Locks func(ctx context.Context, actor registrar.Actor, domain string) ([]admin.Lock, error)
	// Now is the business time, by which terms end; nil means time.Now.
	Now func() time.Time
	// MailEnabled reports whether mail can be sent; without it, registration and
	// password reset are unavailable, and the pages say so.
	MailEnabled bool
}

// Exporter is export.Service; tests interrupt it.
type Exporter interface {
	Write(ctx context.Context, actor registrar.Actor, w io.Writer) error
}

// Orders is order.Service, which orders renewals.
type Orders interface {
	AddRenewals(ctx context.Context, actor registrar.Actor, items []order.RequestedItem) (order.Order, []order.RefusedItem, error)
	OpenRenewals(ctx context.Context, actor registrar.Actor) (order.Order, bool, error)
	Get(ctx context.Context, actor registrar.Actor, id string) (order.Order, error)
	List(ctx context.Context, actor registrar.Actor, before string, limit int) ([]order.Order, error)
	ListRefundedFor(ctx context.Context, actor registrar.Actor, notices []string) ([]order.Order, error)
	PayURL(o order.Order) (string, error)
	VATRate(ctx context.Context, actor registrar.Actor) (billing.Assessment, error)
	TransferList(ctx context.Context, actor registrar.Actor) ([]order.ListedTransfer, error)
}

// OrderBasket orders the basket of a customer who has just signed in and returns the page
// to go to.
type OrderBasket func(req *ui.Request) (page string)

// Handler serves the portal. It is safe for concurrent use.
type Handler struct {
	Config
	templates *ui.Templates
}

// New parses every page.
func New(cfg Config) (*Handler, error) {
	if cfg.Frame == nil || cfg.Accounts == nil || cfg.AccessTokens == nil || cfg.Portfolio == nil || cfg.Applications == nil ||
		cfg.Agents == nil || cfg.Delegates == nil || cfg.Overview == nil || cfg.DomainChanges == nil || cfg.Holders == nil || cfg.TransfersAway == nil || cfg.Bulk == nil || cfg.Exporter == nil {
		return nil, errors.New("portal: Config.Frame, Accounts, AccessTokens, Portfolio, Overview, Applications, Agents, Delegates, DomainChanges, Holders, TransfersAway, Bulk and Exporter are required")
	}
	if cfg.Orders != nil && cfg.Extension == nil {
		return nil, errors.New("portal: Config.Orders requires Extension")
	}
	registrar.Default(&cfg.Now, time.Now)
	views, err := cfg.Frame.LoadTemplates(templateFS, texts, overviewTexts, activityTexts, domainTexts, termPlanTexts, transferTexts, domainListTexts, nameserverTexts, holderTexts, contactCheckTexts, retentionTexts, ui.RegistrantTexts)
	if err != nil {
		return nil, err
	}
	return &Handler{cfg, views}, nil
}

// Paths that several pages use.
const (
	profilePath  = "/portal/profile"
	securityPath = "/portal/security"
	tokensPath   = ui.TokensPath
	appsPath     = "/portal/apps"
	agentsPath   = ui.AgentsPath
	stopAllPath  = agentsPath + "/stop-all"
	domainsPath  = ui.DomainsPath
	codePath     = "/portal/sign-in/code"
)

// Routes lists the pages.
func (h *Handler) Routes() []httpjson.Route {
	const get, post = http.MethodGet, http.MethodPost
	public, signedIn, script, withID := h.Frame.Page, h.Frame.SignedInPage, h.Frame.Script, h.withID
	renewals := func(page ui.PageFunc) http.HandlerFunc { return signedIn(domainsPath, h.withRenewals(page)) }
	const onlyMembers = true
	newRegistration, newReset := pair{"link_invalid.again", registerPath}, pair{"link_invalid.again", resetPath}
	newSignInLink := pair{"link_invalid.again", ui.SignInAgainPath}
	routes := []httpjson.Route{
		{Method: get, Path: ui.HomePath, Handler: public(h.home)},
		{Method: get, Path: ui.HomePath + "/{$}", Handler: public(h.home)},
		{Method: post, Path: ui.LanguagePath, Handler: public(h.chooseLanguage)},

		{Method: get, Path: registerPath, Handler: public(h.showRegister)},
		{Method: post, Path: registerPath, Handler: public(h.withMail(h.register))},
		{Method: get, Path: registerSentPath, Handler: public(h.registerSent)},
		{Method: post, Path: registerSentPath, Handler: public(h.withMail(h.register))},
		{Method: get, Path: "/portal/confirm", Handler: h.mailedLink(account.LinkConfirm, newRegistration, h.showConfirm)},
		{Method: post, Path: "/portal/confirm", Handler: h.mailedLink(account.LinkConfirm, newRegistration, h.confirm)},
		{Method: get, Path: resetPath, Handler: public(h.withMail(h.showReset))},
		{Method: post, Path: resetPath, Handler: public(h.withMail(h.requestReset))},
		{Method: post, Path: resetSentPath, Handler: public(h.withMail(h.requestReset))},
		{Method: get, Path: resetSentPath, Handler: public(h.resetSent)},
		{Method: get, Path: "/portal/reset/new", Handler: h.mailedLink(account.LinkReset, newReset, h.showNewPassword)},
		{Method: post, Path: "/portal/reset/new", Handler: h.mailedLink(account.LinkReset, newReset, h.resetPassword)},
		{Method: get, Path: confirmEmailPath, Handler: h.ownLink(account.LinkChangeEmail, confirmEmailPath, h.showConfirmEmail)},
		{Method: post, Path: confirmEmailPath, Handler: h.ownLink(account.LinkChangeEmail, confirmEmailPath, h.confirmEmail)},

		{Method: get, Path: ui.SignInPath, Handler: public(h.showSignIn)},
		{Method: post, Path: ui.SignInPath, Handler: public(h.signIn)},
		{Method: get, Path: codePath, Handler: public(h.showCode)},
		{Method: post, Path: codePath, Handler: public(h.enterCode)},
		{Method: get, Path: ui.SignInAgainPath, Handler: signedIn(profilePath, h.showSignInAgain)},
		{Method: post, Path: ui.SignInAgainPath, Handler: signedIn(profilePath, h.signInAgain)},
		{Method: post, Path: signInLinkPath + "/request", Handler: signedIn(ui.SignInAgainPath, h.withMail(h.requestSignInLink))},
		{Method: get, Path: signInLinkPath + "/request", Handler: signedIn(profilePath, h.signInLinkSent)},
		{Method: get, Path: signInLinkPath, Handler: h.mailedLink(account.LinkSignIn, newSignInLink, h.showSignInLink)},
		{Method: post, Path: signInLinkPath, Handler: h.mailedLink(account.LinkSignIn, newSignInLink, h.signInWithLink)},
		{Method: post, Path: ui.SignOutPath, Handler: public(h.signOut)},
		{Method: post, Path: "/portal/sign-out-everywhere", Handler: signedIn(securityPath, h.signOutEverywhere)},

		{Method: post, Path: beginSignIn, Handler: script(ui.SignInPath, !onlyMembers, h.beginPasskey(h.Accounts.BeginPasskeySignIn))},
		{Method: post, Path: finishSignIn, Handler: script(ui.SignInPath, !onlyMembers, h.finishPasskey(h.passkeySignIn))},
		{Method: post, Path: finishAgain, Handler: script(ui.SignInAgainPath, onlyMembers, h.finishPasskey(h.passkeySignInAgain))},
		{Method: post, Path: beginAdd, Handler: script(securityPath, onlyMembers, h.beginPasskey(h.Accounts.BeginAddPasskey))},
		{Method: post, Path: finishAdd, Handler: script(securityPath, onlyMembers, h.finishPasskey(h.addPasskey))},
		{Method: post, Path: "/portal/passkeys/{id}/remove", Handler: signedIn(securityPath, h.removePasskey)},

		{Method: get, Path: profilePath, Handler: signedIn(profilePath, h.profile)},
		{Method: get, Path: registrantPath, Handler: signedIn(registrantPath, recently(h.showRegistrant))},
		{Method: post, Path: registrantPath, Handler: signedIn(registrantPath, h.setRegistrant)},
		{Method: post, Path: registrantCheckPath, Handler: script(registrantPath, onlyMembers, h.checkRegistrant)},
		{Method: get, Path: passwordPath, Handler: signedIn(passwordPath, recently(h.showPassword))},
		{Method: post, Path: passwordPath, Handler: signedIn(passwordPath, h.changePassword)},
		{Method: get, Path: emailPath, Handler: signedIn(emailPath, h.withMail(recently(h.showEmail)))},
		{Method: post, Path: emailPath, Handler: signedIn(emailPath, h.withMail(h.changeEmail))},

		{Method: get, Path: exportPath, Handler: signedIn(exportPath, recently(h.export))},
		{Method: get, Path: closePath, Handler: signedIn(closePath, recently(h.showClose))},
		{Method: post, Path: closePath, Handler: signedIn(closePath, h.closeAccount)},

		{Method: get, Path: securityPath, Handler: signedIn(securityPath, h.security)},
		{Method: get, Path: enrolPath, Handler: h.ownLink(account.LinkEnrol, enrolPath, h.showEnrol)},
		{Method: post, Path: enrolPath, Handler: h.ownLink(account.LinkEnrol, enrolPath, h.enrol)},
		{Method: get, Path: factorPath, Handler: signedIn(factorPath, h.showSecondFactor)},
		{Method: post, Path: factorPath, Handler: signedIn(factorPath, h.finishSecondFactor)},
		{Method: post, Path: factorPath + "/drop", Handler: signedIn(securityPath, h.dropSecondFactor)},
		{Method: post, Path: "/portal/security/recovery-codes", Handler: signedIn(securityPath, h.newRecoveryCodes)},
		{Method: post, Path: "/portal/sessions/{id}/end", Handler: withID(securityPath, "session_ended", h.Accounts.EndSession)},

		{Method: get, Path: tokensPath, Handler: signedIn(tokensPath, h.tokens)},
		{Method: post, Path: tokensPath, Handler: signedIn(tokensPath, h.createToken)},
		{Method: post, Path: "/portal/tokens/{id}/revoke", Handler: withID(tokensPath, "token_revoked", h.AccessTokens.Revoke)},
		{Method: get, Path: appsPath, Handler: signedIn(appsPath, h.apps)},
		{Method: post, Path: "/portal/apps/{id}/disconnect", Handler: withID(appsPath, "app_disconnected", h.Applications.Disconnect)},
		{Method: get, Path: agentsPath, Handler: signedIn(agentsPath, h.agents)},
		{Method: get, Path: stopAllPath, Handler: signedIn(agentsPath, h.showStopAll)},
		{Method: post, Path: stopAllPath, Handler: signedIn(agentsPath, h.stopAll)},
		{Method: post, Path: agentsPath + "/{id}/link", Handler: withID(agentsPath, "agent_linked", h.Agents.Link)},
		{Method: post, Path: agentsPath + "/{id}/unlink", Handler: withID(agentsPath, "agent_unlinked", h.Agents.Unlink)},
		{Method: get, Path: "/portal/activity", Handler: signedIn("/portal/activity", h.activity)},
		{Method: get, Path: domainsPath, Handler: signedIn(domainsPath, h.domains)},
		{Method: get, Path: domainsPath + ".csv", Handler: signedIn(domainsPath, h.domainsCSV)},
		{Method: get, Path: bulkPath, Handler: signedIn(domainsPath, func(req *ui.Request) error { return req.SeeOther(domainsPath) })},
		{Method: post, Path: bulkPath, Handler: signedIn(domainsPath, h.bulkAction)},
		{Method: get, Path: bulkPath + "/{id}", Handler: signedIn(domainsPath, h.bulkResult)},
		{Method: get, Path: domainsPath + "/{id}", Handler: signedIn(domainsPath, h.domain)},
		{Method: post, Path: domainsPath + "/{id}/labels", Handler: signedIn(domainsPath, h.setLabels)},
		{Method: post, Path: domainsPath + "/{id}/nameservers", Handler: signedIn(domainsPath, h.change(domainchange.Nameservers))},
		{Method: post, Path: domainsPath + "/{id}/cancel", Handler: signedIn(domainsPath, h.cancelChange)},
		{Method: post, Path: domainsPath + "/{id}/ds", Handler: signedIn(domainsPath, h.change(domainchange.AddDS))},
		{Method: post, Path: domainsPath + "/{id}/ds/remove", Handler: signedIn(domainsPath, h.change(domainchange.RemoveDS))},
		{Method: post, Path: domainsPath + "/{id}/lock", Handler: signedIn(domainsPath, h.setLock)},
		{Method: post, Path: domainsPath + "/{id}/auth-code", Handler: signedIn(domainsPath, h.change(domainchange.AuthCode))},
		{Method: post, Path: domainsPath + "/{id}/holder", Handler: signedIn(domainsPath, h.changeHolder)},
		{Method: get, Path: domainsPath + "/{id}" + transferStep, Handler: signedIn(domainsPath, h.transferAway)},
		{Method: post, Path: domainsPath + "/{id}" + transferStep + "/stop", Handler: signedIn(domainsPath, h.decideTransfer(stopTransfer))},
		{Method: post, Path: domainsPath + "/{id}" + transferStep + "/approve", Handler: signedIn(domainsPath, h.decideTransfer(approveTransfer))},
		{Method: post, Path: domainsPath + "/{id}/renew", Handler: signedIn(domainsPath, h.orderDomain(order.Renew))},
		{Method: post, Path: domainsPath + "/{id}/restore", Handler: signedIn(domainsPath, h.orderDomain(order.Restore))},
		{Method: get, Path: domainsPath + "/{id}" + autoRenewStep, Handler: renewals(h.showAutoRenew)},
		{Method: post, Path: domainsPath + "/{id}" + autoRenewStep, Handler: renewals(h.agreeToRenewal)},
		{Method: post, Path: domainsPath + "/{id}" + autoRenewStep + "/off", Handler: renewals(h.termEndAction("auto_renew_off", Renewals.TurnOff))},
		{Method: post, Path: domainsPath + "/{id}/expire", Handler: renewals(h.termEndAction("let_expire", Renewals.LetExpire))},
		{Method: post, Path: domainsPath + "/{id}/keep", Handler: renewals(h.termEndAction("keep_open", Renewals.KeepOpen))},
		{Method: get, Path: methodsPath, Handler: renewals(h.paymentMethods)},
		{Method: post, Path: methodsPath, Handler: renewals(h.addMethod)},
		{Method: get, Path: methodsPath + "/saved", Handler: renewals(h.methodSaved)},
		{Method: post, Path: methodsPath + "/default", Handler: renewals(h.setDefaultMethod)},
		{Method: post, Path: methodsPath + "/remove", Handler: renewals(h.removeMethod)},
	}
	// A reload or a changed language after an error may open the target of a form.
	for _, form := range [...]string{
		"/labels", "/nameservers", "/cancel", "/ds", "/ds/remove", "/lock", "/auth-code", "/holder", "/renew", "/restore", autoRenewStep + "/off", "/expire", "/keep",
		transferStep + "/stop", transferStep + "/approve",
	} {
		routes = append(routes, httpjson.Route{Method: get, Path: domainsPath + "/{id}" + form, Handler: signedIn(domainsPath, h.toDomain)})
	}
	return slices.Concat(routes, h.holderRoutes(), h.contactRoutes())
}

// chooseLanguage stores the language in the account or, before the sign-in, in the browser.
func (h *Handler) chooseLanguage(req *ui.Request) error {
	language := req.Field("language")
	if language != ui.German && language != ui.English {
		return invalidForm()
	}
	if req.SignedIn {
		if err := h.Accounts.SetLanguage(req.R.Context(), req.Actor(), language); err != nil {
			return err
		}
		req.SetAccountLanguage(language)
	} else {
		req.ChooseLanguage(language)
	}
	return req.SeeOther(cmp.Or(nextPath(req, req.Field("next")), ui.HomePath))
}
