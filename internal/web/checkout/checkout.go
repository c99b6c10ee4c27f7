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
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

//go:embed templates
var templates embed.FS

// Orders decides; it is order.Service.
type Orders interface {
	paying
	verifying
	claiming
	Start(ctx context.Context, actor registrar.Actor, request order.Request) (order.Order, error)
	Get(ctx context.Context, actor registrar.Actor, id string) (order.Order, error)
	List(ctx context.Context, actor registrar.Actor, before string, limit int) ([]order.Order, error)
	PayURL(o order.Order) (string, error)
	VerifyURL(o order.Order) (string, error)
}

type paying interface {
	Visit(ctx context.Context, actor registrar.Actor, paySecret string) (order.View, error)
	SetCode(ctx context.Context, actor registrar.Actor, paySecret, item, code string) error
	Pay(ctx context.Context, actor registrar.Actor, paySecret string, told order.Confirmation) (redirect string, err error)
	Returned(ctx context.Context, actor registrar.Actor, paySecret string) error
	Back(ctx context.Context, actor registrar.Actor, paySecret string) error
	Decline(ctx context.Context, actor registrar.Actor, paySecret string) error
}

type verifying interface {
	VerifyVisit(ctx context.Context, actor registrar.Actor, verifySecret string) (order.VerifyView, error)
	Verify(ctx context.Context, actor registrar.Actor, verifySecret string) (redirect string, err error)
}

type claiming interface {
	Claimable(ctx context.Context, linkSecret string) (order.Order, error)
	Claim(ctx context.Context, actor registrar.Actor, linkSecret string) (order.Order, error)
	AskClaim(ctx context.Context, actor registrar.Actor, paySecret string) error
}

// Holdings knows what a visitor holds; it is holding.Service.
type Holdings interface {
	Held(ctx context.Context, actor registrar.Actor, name string) (holding.Domain, bool, error)
}

var (
	_ Orders   = (*order.Service)(nil)
	_ Holdings = (*holding.Service)(nil)
)

// Config is what the pages need.
type Config struct {
	// Frame is what they stand in. The front fills it in.
	Frame  *page.Frame
	Orders Orders
	// Invoices and Papers are the customers' invoices and what makes them into files;
	// nil means that there are none.
	Invoices Invoices
	Papers   Papers
	// Holdings tells people that a name which they want is theirs already; nil means that
	// nobody tells.
	Holdings Holdings
	// Codes counts an auth code that a customer tries, and says how long they must
	// wait instead, 0 meaning not at all; nil means that nobody counts.
	Codes func(customer string) (wait time.Duration)
	// Basket is what people collect before they order; nil means that there is none.
	Basket *Basket
}

// Handler serves the pages. It is safe for concurrent use.
type Handler struct {
	frame  *page.Frame
	views  *page.Views
	orders Orders
	codes  func(customer string) time.Duration
	basket *Basket

	invoices Invoices
	papers   Papers
	holdings Holdings
}

// New parses every page.
func New(cfg Config) (*Handler, error) {
	if cfg.Frame == nil || cfg.Orders == nil {
		return nil, errors.New("the checkout needs a frame and orders")
	}
	if (cfg.Invoices == nil) != (cfg.Papers == nil) {
		return nil, errors.New("the checkout needs both invoices and what makes them into files")
	}
	views, err := cfg.Frame.Parse(templates, page.Words{German: german, English: english})
	if err != nil {
		return nil, err
	}
	h := &Handler{
		frame: cfg.Frame, views: views, orders: cfg.Orders, codes: cfg.Codes, basket: cfg.Basket,
		invoices: cfg.Invoices, papers: cfg.Papers, holdings: cfg.Holdings,
	}
	if h.codes == nil {
		h.codes = nobodyWaits
	}
	if b := h.basket; b != nil {
		if b.Extension == nil || b.RateBasisPoints == nil {
			return nil, errors.New("the basket needs a price list and a rate of VAT")
		}
	}
	return h, nil
}

func nobodyWaits(string) time.Duration { return 0 }

const (
	verifyPath = page.CheckoutPath + "verify/"
	claimPath  = page.CheckoutPath + "claim"
)

// Routes is everything that these pages answer to. What can be done with an order
// is one route with a step in it, because the path of a verification would fit
// "/checkout/{link}/paid" as well.
func (h *Handler) Routes() []page.Route {
	const get, post = http.MethodGet, http.MethodPost
	open, members := h.frame.Open, h.frame.Members
	return slices.Concat([]page.Route{
		{Method: get, Path: page.CheckoutPath + "{link}", Handler: open(h.show)},
		{Method: get, Path: page.CheckoutPath + "{link}/{step}", Handler: orStream(h.views.Follow(h.look), open(h.step(map[string]page.Func{
			"paid": h.returned, "back": h.back, "decline": h.askDecline,
		})))},
		{Method: post, Path: page.CheckoutPath + "{link}/{step}", Handler: open(h.step(map[string]page.Func{
			"pay": h.pay, "code": h.setCode, "back": h.back, "decline": h.decline, "claim": h.askClaim,
		}))},
		{Method: get, Path: claimPath, Handler: open(h.showClaim)},
		{Method: post, Path: claimPath, Handler: open(h.claim)},
		{Method: get, Path: verifyPath + "{link}", Handler: open(h.showVerify)},
		{Method: post, Path: verifyPath + "{link}", Handler: open(h.verify)},

		{Method: get, Path: page.OrdersPath, Handler: members(page.OrdersPath, h.list)},
		{Method: get, Path: page.OrdersPath + "/{id}", Handler: members(page.OrdersPath, h.views.Show(h.lookAtOrder))},
		{Method: get, Path: page.OrdersPath + "/{id}/" + events, Handler: h.views.Follow(page.MembersLook(h.lookAtOrder))},
	}, h.invoiceRoutes(), h.basketRoutes())
}

// step is the page for one of the steps.
func (h *Handler) step(steps map[string]page.Func) page.Func {
	return func(v *page.Visit) error {
		do, ok := steps[v.R.PathValue("step")]
		if !ok {
			return &registrar.Error{Kind: registrar.KindNotFound, Code: "no_such_page"}
		}
		return do(v)
	}
}

// orStream is the stream at its step, and the pages at all others.
func orStream(stream, pages http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("step") == events {
			stream(w, r)
			return
		}
		pages(w, r)
	}
}

// payLink is the secret of the visit's address.
func payLink(v *page.Visit) string { return v.R.PathValue("link") }

// payPath is the page that the visit is about.
func payPath(v *page.Visit) string { return page.CheckoutPath + payLink(v) }

// pathOf is the path of an address of ours. Browsers are led by paths, so that a
// form never leaves the host that they are on.
func (h *Handler) pathOf(address string) string {
	return page.LocalPath(strings.TrimPrefix(address, h.frame.Address("")), page.OrdersPath)
}
