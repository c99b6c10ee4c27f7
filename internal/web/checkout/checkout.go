package checkout

import (
	"context"
	"embed"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

//go:embed templates
var templateFS embed.FS

// Orders is order.Service, which makes all decisions.
type Orders interface {
	Create(ctx context.Context, actor registrar.Actor, request order.Request) (order.Order, error)
	Prepare(ctx context.Context, actor registrar.Actor, request order.Request) (order.View, error)
	VATRate(ctx context.Context, actor registrar.Actor) (billing.Assessment, error)
	AddRenewals(ctx context.Context, actor registrar.Actor, requested []order.RequestedItem) (order.Order, []order.RefusedItem, error)
	TransferList(ctx context.Context, actor registrar.Actor) ([]order.ListedTransfer, error)
	ReplaceTransfers(ctx context.Context, actor registrar.Actor, remove []string, add []order.ListedTransfer) error
	Get(ctx context.Context, actor registrar.Actor, id string) (order.Order, error)
	List(ctx context.Context, actor registrar.Actor, before string, limit int) ([]order.Order, error)
	PayURL(o order.Order) (string, error)
	VerifyURL(o order.Order) (string, error)

	View(ctx context.Context, actor registrar.Actor, paySecret string) (order.View, error)
	SetAuthCode(ctx context.Context, actor registrar.Actor, paySecret, item, code string) error
	Pay(ctx context.Context, actor registrar.Actor, paySecret string, confirmation order.Confirmation) (redirect string, err error)
	HandleReturn(ctx context.Context, actor registrar.Actor, paySecret string) error
	AbortPayment(ctx context.Context, actor registrar.Actor, paySecret string) error
	Decline(ctx context.Context, actor registrar.Actor, paySecret string) error
	RemoveItem(ctx context.Context, actor registrar.Actor, paySecret, item string) error
	SetHolders(ctx context.Context, actor registrar.Actor, paySecret string, holders map[string]string) error

	VerifyOver() registrar.Cents
	ExpectedIdentityCheck(ctx context.Context, actor registrar.Actor, gross registrar.Cents, verify bool) (order.IdentityCheck, error)
	VerifyView(ctx context.Context, actor registrar.Actor, verifySecret string) (order.VerifyView, error)
	StartVerification(ctx context.Context, actor registrar.Actor, verifySecret string) (redirect string, err error)

	ClaimableOrder(ctx context.Context, linkSecret string) (order.Order, error)
	Claim(ctx context.Context, actor registrar.Actor, linkSecret string) (order.Order, error)
	ResendClaimMail(ctx context.Context, actor registrar.Actor, paySecret string) error
}

// Registrants is account.Service, which stores the first registrant data of a customer.
type Registrants interface {
	Registrant(ctx context.Context, actor registrar.Actor) (account.Registrant, bool, error)
	AddRegistrant(ctx context.Context, actor registrar.Actor, registrant account.Registrant) error
}

// Transfers lists the ordered transfers of a customer, the newest first.
type Transfers interface {
	// ListTransfers returns those that have ended as active or failed; in progress if ended is
	// empty.
	ListTransfers(ctx context.Context, customer string, ended provision.State, limit, offset int) ([]provision.Item, error)
	CountTransfers(ctx context.Context, customer string) (map[provision.State]int, error)
	// ListTransferMessages returns what registries reported about the transfers of a name, the
	// newest first.
	ListTransferMessages(ctx context.Context, name string, limit int) ([]inbox.Transfer, error)
}

// Config holds the dependencies of the pages. All but Now, LocksTransfers, LongestTerm,
// TransferTerms, Transfers, HeldDomains, EndedDomains, Restricted, Disputes and Declared are required.
type Config struct {
	// Frame is set by package web.
	Frame       *ui.Frame
	Orders      Orders
	Registrants Registrants
	// Holders lists for whom the visitor can order; nil means only for themselves.
	Holders         func(ctx context.Context, actor registrar.Actor) ([]holder.Holder, error)
	Invoices        Invoices
	InvoiceRenderer InvoiceRenderer
	// FindDomain finds a domain of the visitor by name, to say that a requested one is
	// already theirs.
	FindDomain func(ctx context.Context, actor registrar.Actor, name string) (portfolio.Domain, bool, error)
	// HeldDomains returns the ids of those of the names, at most portfolio.MaxHeldNames, that the
	// actor's account holds, by name; nil means none.
	HeldDomains func(ctx context.Context, actor registrar.Actor, names []string) (ids map[string]string, err error)
	// AuthCodeLimit counts a customer's attempt with an auth code and returns how long
	// to wait, 0 if allowed.
	AuthCodeLimit func(customer string) (wait time.Duration)
	// Extension finds a row of the current price list, for the basket.
	Extension func(tld string) (registrar.Extension, bool)
	// RateBasisPoints is the VAT rate shown before the customer is known, in hundredths
	// of a percent.
	RateBasisPoints func(at time.Time) int
	// LocksTransfers reports whether new domains of a TLD are locked against transfers; nil
	// means that none are.
	LocksTransfers func(tld string) bool
	// LongestTerm returns the most years for which a name of an extension can be registered.
	LongestTerm func(ext registrar.Extension) int
	// TransferTerms returns how many years a transfer adds to a term, and how many days it may
	// take; nil means none.
	TransferTerms func(tld string) (years, days int)
	// Transfers lists ordered transfers; nil means that there are none.
	Transfers Transfers
	// EndedDomains returns the domains of an order that were deleted or handed over since, by
	// item; nil means none.
	EndedDomains func(ctx context.Context, order string) (map[string]lifecycle.EndedDomain, error)
	// Restricted returns the states of the visitor's restricted domains, by name; nil means that
	// there are none.
	Restricted func(ctx context.Context, actor registrar.Actor) (map[string]portfolio.State, error)
	// Disputes returns the disputes about the payments of a customer's orders from one to another,
	// by id, the oldest first; nil means that there are none.
	Disputes func(ctx context.Context, customer, first, last string) ([]dispute.Dispute, error)
	// Declared returns a customer's withdrawals and terminations about some contracts, the newest
	// first; nil means that there are none.
	Declared func(ctx context.Context, customer string, contracts ...withdrawal.Contract) ([]withdrawal.Notice, error)
	// Now is the business time, by which terms end; nil means time.Now.
	Now func() time.Time
}

// Handler serves the pages. It is safe for concurrent use.
type Handler struct {
	Config
	templates *ui.Templates
}

// New parses every page.
func New(cfg Config) (*Handler, error) {
	if cfg.Frame == nil || cfg.Orders == nil || cfg.Registrants == nil || cfg.Invoices == nil || cfg.InvoiceRenderer == nil || cfg.FindDomain == nil ||
		cfg.AuthCodeLimit == nil || cfg.Extension == nil || cfg.RateBasisPoints == nil {
		return nil, errors.New("checkout: a required field of Config is missing")
	}
	registrar.Default(&cfg.Now, time.Now)
	registrar.Default(&cfg.EndedDomains, func(context.Context, string) (map[string]lifecycle.EndedDomain, error) { return nil, nil })
	registrar.Default(&cfg.Restricted, func(context.Context, registrar.Actor) (map[string]portfolio.State, error) { return nil, nil })
	registrar.Default(&cfg.Disputes, func(context.Context, string, string, string) ([]dispute.Dispute, error) { return nil, nil })
	registrar.Default(&cfg.Declared, func(context.Context, string, ...withdrawal.Contract) ([]withdrawal.Notice, error) { return nil, nil })
	registrar.Default(&cfg.HeldDomains, func(context.Context, registrar.Actor, []string) (map[string]string, error) { return nil, nil })
	registrar.Default(&cfg.LocksTransfers, func(string) bool { return false })
	registrar.Default(&cfg.LongestTerm, registrar.Extension.Term)
	registrar.Default(&cfg.TransferTerms, func(string) (int, int) { return 0, 0 })
	views, err := cfg.Frame.LoadTemplates(templateFS, basketTexts, transferTexts, orderTexts, payTexts, problemTexts, ui.RegistrantTexts)
	if err != nil {
		return nil, err
	}
	registrar.Default(&cfg.Holders, func(context.Context, registrar.Actor) ([]holder.Holder, error) { return nil, nil })
	return &Handler{cfg, views}, nil
}

const (
	verifyPath = ui.CheckoutPath + "verify/"
	claimPath  = ui.CheckoutPath + "claim"
)

// Routes lists the pages. The actions of an order share one route with a step, because
// the path of a verification would also match "/checkout/{link}/paid".
func (h *Handler) Routes() []httpjson.Route {
	const get, post = http.MethodGet, http.MethodPost
	public, signedIn := h.Frame.Page, h.Frame.SignedInPage
	return []httpjson.Route{
		{Method: get, Path: ui.CheckoutPath + "{link}", Handler: public(h.showPay)},
		{Method: get, Path: ui.CheckoutPath + "{link}/{step}", Handler: streamOr(h.templates.Stream(h.payView), public(h.step(map[string]ui.PageFunc{
			"paid": h.paymentReturned, "back": h.paymentAborted, "decline": h.confirmDecline,
		})))},
		{Method: post, Path: ui.CheckoutPath + "{link}/{step}", Handler: public(h.step(map[string]ui.PageFunc{
			"pay": h.pay, "registrant": h.addRegistrant, "code": h.setCode, "back": h.paymentAborted, "decline": h.decline, "claim": h.resendClaimMail, "remove": h.removeItem, "holders": h.setHolders,
		}))},
		{Method: get, Path: claimPath, Handler: public(h.showClaim)},
		{Method: post, Path: claimPath, Handler: public(h.claim)},
		{Method: get, Path: verifyPath + "{link}", Handler: public(h.showVerify)},
		{Method: post, Path: verifyPath + "{link}", Handler: public(h.verify)},

		{Method: get, Path: ui.OrdersPath, Handler: signedIn(ui.OrdersPath, h.listOrders)},
		{Method: get, Path: ui.OrdersPath + "/{id}", Handler: signedIn(ui.OrdersPath, h.templates.RenderFunc(h.orderView))},
		{Method: get, Path: ui.OrdersPath + "/{id}/" + eventsStep, Handler: h.templates.Stream(ui.SignedInView(h.orderView))},

		{Method: get, Path: invoicesPath, Handler: signedIn(invoicesPath, h.listInvoices)},
		{Method: get, Path: invoicesPath + "/{id}/pdf", Handler: signedIn(invoicesPath, h.invoiceFile(h.InvoiceRenderer.PDF, "application/pdf", ".pdf"))},
		{Method: get, Path: invoicesPath + "/{id}/xml", Handler: signedIn(invoicesPath, h.invoiceFile(h.InvoiceRenderer.XML, "application/xml", ".xml"))},

		{Method: get, Path: ui.TransferPath, Handler: h.transferPage(ui.German)},
		{Method: get, Path: ui.EnglishTransferPath, Handler: h.transferPage(ui.English)},
		{Method: post, Path: ui.TransferPath, Handler: h.Frame.UploadPage(maxTransferBytes, h.orderTransfers)},
		{Method: post, Path: ui.EnglishTransferPath, Handler: h.Frame.UploadPage(maxTransferBytes, h.orderTransfers)},
		{Method: get, Path: ui.TransfersPath, Handler: signedIn(ui.TransfersPath, h.listTransfers)},

		{Method: get, Path: ui.BasketPath, Handler: h.basketPage(ui.German)},
		{Method: get, Path: ui.EnglishBasketPath, Handler: h.basketPage(ui.English)},
		{Method: get, Path: ui.BasketPath + "/count", Handler: h.Frame.Script(ui.BasketPath, false, h.writeBasketCount)},
		{Method: post, Path: ui.BasketPath + "/add", Handler: h.basketChange(h.addToBasket)},
		{Method: post, Path: ui.BasketPath + "/remove", Handler: h.basketChange(h.removeFromBasket)},
		{Method: post, Path: ui.BasketPath + "/term", Handler: h.basketChange(h.setTerms)},
		{Method: post, Path: ui.BasketPath + "/order", Handler: h.basketChange(h.orderBasket)},
		{Method: post, Path: ui.BasketPath + "/again", Handler: signedIn(ui.OrdersPath, h.orderAgain)},
	}
}

// step dispatches to the page of a step, which belongs to the order's page.
func (h *Handler) step(steps map[string]ui.PageFunc) ui.PageFunc {
	return func(req *ui.Request) error {
		req.SetFormPath(currentPayPath(req))
		do, ok := steps[req.R.PathValue("step")]
		if !ok {
			return &registrar.Error{Kind: registrar.KindNotFound, Code: ui.NoSuchPage}
		}
		err := do(req)
		// Only a signed-in customer sees a form that needs a sign-in.
		if req.R.Method == http.MethodPost && !req.SignedIn && registrar.KindOf(err) == registrar.KindUnauthenticated {
			req.Flash("session_lost")
		}
		return err
	}
}

// streamOr serves the stream at its step and the pages at all others.
func streamOr(stream, pages http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("step") == eventsStep {
			stream(w, r)
			return
		}
		pages(w, r)
	}
}

func linkSecret(req *ui.Request) string { return req.R.PathValue("link") }

// currentPayPath returns the path of the order's page.
func currentPayPath(req *ui.Request) string { return ui.CheckoutPath + linkSecret(req) }

func (h *Handler) payPath(o order.Order) (string, error) {
	address, err := h.Orders.PayURL(o)
	return h.localPath(address), err
}

// localPath returns the path of one of our URLs. Redirects use paths, so that a form
// stays on the browser's host.
func (h *Handler) localPath(address string) string {
	return ui.LocalPath(strings.TrimPrefix(address, h.Frame.URL("")), ui.OrdersPath)
}
