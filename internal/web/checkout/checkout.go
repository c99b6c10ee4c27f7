package checkout

import (
	"context"
	"embed"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

//go:embed templates
var templateFS embed.FS

// Orders is implemented by order.Service, which makes all decisions.
type Orders interface {
	payments
	verifications
	claims
	Create(ctx context.Context, actor registrar.Actor, request order.Request) (order.Order, error)
	Get(ctx context.Context, actor registrar.Actor, id string) (order.Order, error)
	List(ctx context.Context, actor registrar.Actor, before string, limit int) ([]order.Order, error)
	PayURL(o order.Order) (string, error)
	VerifyURL(o order.Order) (string, error)
}

type payments interface {
	View(ctx context.Context, actor registrar.Actor, paySecret string) (order.View, error)
	SetAuthCode(ctx context.Context, actor registrar.Actor, paySecret, item, code string) error
	Pay(ctx context.Context, actor registrar.Actor, paySecret string, confirmation order.Confirmation) (redirect string, err error)
	HandleReturn(ctx context.Context, actor registrar.Actor, paySecret string) error
	AbortPayment(ctx context.Context, actor registrar.Actor, paySecret string) error
	Decline(ctx context.Context, actor registrar.Actor, paySecret string) error
}

type verifications interface {
	VerifyView(ctx context.Context, actor registrar.Actor, verifySecret string) (order.VerifyView, error)
	StartVerification(ctx context.Context, actor registrar.Actor, verifySecret string) (redirect string, err error)
}

type claims interface {
	ClaimableOrder(ctx context.Context, linkSecret string) (order.Order, error)
	Claim(ctx context.Context, actor registrar.Actor, linkSecret string) (order.Order, error)
	ResendClaimMail(ctx context.Context, actor registrar.Actor, paySecret string) error
}

// Portfolio finds the visitor's own domains; it is portfolio.Service.
type Portfolio interface {
	FindByName(ctx context.Context, actor registrar.Actor, name string) (portfolio.Domain, bool, error)
}

var (
	_ Orders    = (*order.Service)(nil)
	_ Portfolio = (*portfolio.Service)(nil)
)

// Config holds the dependencies of the pages.
type Config struct {
	// Frame is set by package web.
	Frame  *ui.Frame
	Orders Orders
	// Invoices and InvoiceRenderer provide the customers' invoices and their files; nil
	// means none.
	Invoices        Invoices
	InvoiceRenderer InvoiceRenderer
	// Portfolio tells visitors that a requested name is already theirs; nil disables
	// this.
	Portfolio Portfolio
	// AuthCodeLimit counts a customer's attempt with an auth code and returns how long
	// to wait, 0 if allowed; nil means no limit.
	AuthCodeLimit func(customer string) (wait time.Duration)
	// Basket configures the basket; nil means that there is none.
	Basket *Basket
}

// Handler serves the pages. It is safe for concurrent use.
type Handler struct {
	frame         *ui.Frame
	templates     *ui.Templates
	orders        Orders
	authCodeLimit func(customer string) time.Duration
	basket        *Basket

	invoices        Invoices
	invoiceRenderer InvoiceRenderer
	portfolio       Portfolio
}

// New parses every page.
func New(cfg Config) (*Handler, error) {
	if cfg.Frame == nil || cfg.Orders == nil {
		return nil, errors.New("checkout: Config.Frame and Orders are required")
	}
	if (cfg.Invoices == nil) != (cfg.InvoiceRenderer == nil) {
		return nil, errors.New("checkout: Config.Invoices and InvoiceRenderer are required together")
	}
	views, err := cfg.Frame.LoadTemplates(templateFS, texts)
	if err != nil {
		return nil, err
	}
	h := &Handler{
		frame: cfg.Frame, templates: views, orders: cfg.Orders, authCodeLimit: cfg.AuthCodeLimit, basket: cfg.Basket,
		invoices: cfg.Invoices, invoiceRenderer: cfg.InvoiceRenderer, portfolio: cfg.Portfolio,
	}
	if h.authCodeLimit == nil {
		h.authCodeLimit = noLimit
	}
	if b := h.basket; b != nil {
		if b.Extension == nil || b.RateBasisPoints == nil {
			return nil, errors.New("checkout: Basket.Extension and RateBasisPoints are required")
		}
	}
	return h, nil
}

func noLimit(string) time.Duration { return 0 }

const (
	verifyPath = ui.CheckoutPath + "verify/"
	claimPath  = ui.CheckoutPath + "claim"
)

// Routes lists the pages. The actions of an order share one route with a step, because
// the path of a verification would also match "/checkout/{link}/paid".
func (h *Handler) Routes() []httpjson.Route {
	const get, post = http.MethodGet, http.MethodPost
	public, signedIn := h.frame.Page, h.frame.SignedInPage
	return slices.Concat([]httpjson.Route{
		{Method: get, Path: ui.CheckoutPath + "{link}", Handler: public(h.showPay)},
		{Method: get, Path: ui.CheckoutPath + "{link}/{step}", Handler: streamOr(h.templates.Stream(h.payView), public(h.step(map[string]ui.PageFunc{
			"paid": h.paymentReturned, "back": h.paymentAborted, "decline": h.confirmDecline,
		})))},
		{Method: post, Path: ui.CheckoutPath + "{link}/{step}", Handler: public(h.step(map[string]ui.PageFunc{
			"pay": h.pay, "code": h.setCode, "back": h.paymentAborted, "decline": h.decline, "claim": h.resendClaimMail,
		}))},
		{Method: get, Path: claimPath, Handler: public(h.showClaim)},
		{Method: post, Path: claimPath, Handler: public(h.claim)},
		{Method: get, Path: verifyPath + "{link}", Handler: public(h.showVerify)},
		{Method: post, Path: verifyPath + "{link}", Handler: public(h.verify)},

		{Method: get, Path: ui.OrdersPath, Handler: signedIn(ui.OrdersPath, h.listOrders)},
		{Method: get, Path: ui.OrdersPath + "/{id}", Handler: signedIn(ui.OrdersPath, h.templates.RenderFunc(h.orderView))},
		{Method: get, Path: ui.OrdersPath + "/{id}/" + eventsStep, Handler: h.templates.Stream(ui.SignedInView(h.orderView))},
	}, h.invoiceRoutes(), h.basketRoutes())
}

// step dispatches to the page of a step.
func (h *Handler) step(steps map[string]ui.PageFunc) ui.PageFunc {
	return func(req *ui.Request) error {
		do, ok := steps[req.R.PathValue("step")]
		if !ok {
			return &registrar.Error{Kind: registrar.KindNotFound, Code: ui.NoSuchPage}
		}
		return do(req)
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

// linkSecret returns the secret in the request's path.
func linkSecret(req *ui.Request) string { return req.R.PathValue("link") }

// currentPayPath returns the path of the order's page.
func currentPayPath(req *ui.Request) string { return ui.CheckoutPath + linkSecret(req) }

// localPath returns the path of one of our URLs. Redirects use paths, so that a form
// stays on the browser's host.
func (h *Handler) localPath(address string) string {
	return ui.LocalPath(strings.TrimPrefix(address, h.frame.URL("")), ui.OrdersPath)
}
