package acp

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/quota"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

// Prefix is below which everything here is served.
const Prefix = "/api/acp/"

const (
	// largestBody bounds a request.
	largestBody = 64 << 10
	// readWithin and workWithin bound how long a request may take. A completion
	// asks registries and the payment provider.
	readWithin = 15 * time.Second
	workWithin = 45 * time.Second
	// writeWithin is what remains for sending the answer. The server's own limit for
	// a whole answer may be shorter than workWithin.
	writeWithin = 10 * time.Second
	// closedFor is what is told where checkout is not in service.
	closedFor = time.Hour
	// unkeyedAtOnce is how many requests without a key are verified at a time: each is
	// held against the secrets of all live agents.
	unkeyedAtOnce = 4
)

// Config is what the checkout needs. Without agents or orders it is not in
// service, and says so.
type Config struct {
	// BaseURL is the service's address, without a slash at its end.
	BaseURL string
	Agents  Agents
	Orders  Orders
	Answers Answers
	// Listed says whether the catalogue carries an extension.
	Listed func(tld string) bool
	// Creates bounds how many sessions an agent makes.
	Creates Limiter
	// BadSignatures bounds how many wrong signatures and keys an address sends.
	BadSignatures *quota.Gate
	// Permalinks is the path below which people read their orders.
	Permalinks string
	// Terms, Privacy and Returns are the paths of what people should read; empty where
	// there are no such pages.
	Terms, Privacy, Returns string
	// Address is where a request came from.
	Address func(*http.Request) netip.Addr
	// Closing is closed when the server drains: completions stop waiting for another
	// one. nil means never.
	Closing <-chan struct{}
}

// Handler serves the operations.
type Handler struct {
	cfg Config
	// now is wall time: signatures do not follow the time of a sandbox.
	now func() time.Time
	// unkeyed bounds how many signatures are held against every agent's secrets at a
	// time.
	unkeyed chan struct{}
}

// New returns a Handler.
func New(cfg Config) (*Handler, error) {
	h := &Handler{cfg: cfg, now: time.Now, unkeyed: make(chan struct{}, unkeyedAtOnce)}
	if !h.inService() {
		return h, nil
	}
	if cfg.Answers == nil || cfg.Listed == nil || cfg.Creates == nil || cfg.BadSignatures == nil || cfg.Address == nil {
		return nil, errors.New("checkout needs answers, a catalogue, limits and addresses")
	}
	return h, nil
}

func (h *Handler) inService() bool { return h.cfg.Agents != nil && h.cfg.Orders != nil }

// Route is one line of the list below.
type Route struct {
	Method, Path string
	Handler      http.HandlerFunc
}

// Routes are the five operations, in the contract's order.
func (h *Handler) Routes() []Route {
	const sessions, session = Prefix + "checkout_sessions", Prefix + "checkout_sessions/{id}"
	return []Route{
		{http.MethodPost, sessions, h.serve(operation{
			status: http.StatusCreated, counted: true, read: func(s *shape) func(object) request { return s.create }, do: h.create,
		})},
		{http.MethodGet, session, h.serve(operation{status: http.StatusOK, do: h.show})},
		{http.MethodPost, session, h.serve(operation{
			status: http.StatusOK, read: func(s *shape) func(object) request { return s.update }, do: h.update,
		})},
		{http.MethodPost, session + "/complete", h.serve(operation{
			status: http.StatusOK, completing: true, read: func(s *shape) func(object) request { return s.complete }, do: h.complete,
		})},
		{http.MethodPost, session + "/cancel", h.serve(operation{
			status: http.StatusOK, canceling: true, read: func(s *shape) func(object) request { return s.cancel }, do: h.cancel,
		})},
	}
}

// RefuseMethod answers 405 on our paths; Allow is set already.
func RefuseMethod(w http.ResponseWriter, _ *http.Request) {
	p := refuse(http.StatusMethodNotAllowed, codeNoSuchMethod, sentenceMethod, "")
	wire.Annotate(w, p)
	w.Header().Set("Cache-Control", "no-store")
	wire.WriteJSON(w, p.status, p.body)
}

// Fail answers 500 where no handler has answered.
func Fail(w http.ResponseWriter, _ *http.Request, err error) {
	wire.Annotate(w, err)
	p := refuse(http.StatusInternalServerError, codeInternal, sentenceInternal, "")
	w.Header().Set("Cache-Control", "no-store")
	wire.WriteJSON(w, p.status, p.body)
}

// operation is what is different between the five.
type operation struct {
	status int
	// completing needs a signature; canceling answers 405 where it comes too late;
	// counted is bounded by Creates.
	completing, canceling, counted bool
	// read picks the reader of a shape; nil for GET.
	read func(*shape) func(object) request
	do   func(context.Context, *call) (order.Session, error)
}

// call is one request that is let in.
type call struct {
	op    operation
	actor registrar.Actor
	// id is the session's; empty for a new one.
	id     string
	shape  *shape
	fields map[string]any
	asked  request
	// language is the Accept-Language header's.
	language string
	// until ends the wait for another completion of the session, and so does gone,
	// which is closed when the client has left.
	until time.Time
	gone  <-chan struct{}
	// resumed says that the same request was interrupted before.
	resumed bool
}

func (h *Handler) create(ctx context.Context, c *call) (order.Session, error) {
	items, err := h.items(c)
	if err != nil {
		return order.Session{}, err
	}
	if len(items) == 0 {
		return order.Session{}, invalid(codeMissingField, "A session needs items.", "$."+c.shape.items)
	}
	return h.cfg.Orders.CreateSession(ctx, c.actor, order.SessionRequest{Items: items, Contact: c.contact()})
}

func (h *Handler) show(ctx context.Context, c *call) (order.Session, error) {
	return h.cfg.Orders.Session(ctx, c.actor, c.id)
}

func (h *Handler) update(ctx context.Context, c *call) (order.Session, error) {
	items, err := h.items(c)
	if err != nil {
		return order.Session{}, err
	}
	return h.cfg.Orders.UpdateSession(ctx, c.actor, c.id, order.SessionChange{Items: items, Contact: c.contact()})
}

func (h *Handler) complete(ctx context.Context, c *call) (order.Session, error) {
	contact := c.contact()
	if c.asked.billing != nil {
		// Who pays need not be who holds: the address of the payment counts where
		// none was told for the holder.
		known, err := h.cfg.Orders.Told(ctx, c.actor, c.id)
		if err != nil {
			return order.Session{}, err
		}
		contact = withBilling(contact, known, *c.asked.billing)
	}
	return c.shape.completed(h.cfg.Orders.CompleteSession(ctx, c.actor, c.id, order.Completion{
		Token: c.asked.token, Contact: contact, Until: c.until, Gone: c.gone,
	}))
}

// completed is what a completion answers in this shape. The contract has two statuses
// for it, completed and not_ready_for_payment: a human who is paying right now is the
// latter, with the link, and everything else is a refusal. The protocol's versions
// have statuses of their own for a session that is being paid, or can't be any more.
func (s *shape) completed(session order.Session, err error) (order.Session, error) {
	switch code := registrar.CodeOf(err); {
	case s != own && (code == order.PaymentInProgress || code == order.NotOpen):
		return session, nil
	case s == own && err == nil && session.Problem == order.ProblemPaying:
		session.Status = order.NotReady
	}
	return session, err
}

func (h *Handler) cancel(ctx context.Context, c *call) (order.Session, error) {
	session, err := h.cfg.Orders.CancelSession(ctx, c.actor, c.id)
	if c.resumed && registrar.CodeOf(err) == order.NotOpen && session.Status == order.SessionCanceled {
		return session, nil // the interrupted request has canceled it
	}
	return session, err
}

func (h *Handler) items(c *call) ([]order.Wanted, error) {
	items, err := c.asked.names(h.cfg.Listed)
	if err != nil {
		return nil, err
	}
	return items, c.shape.afterItems(c.fields)
}

// contact is the buyer with a language, which a client rarely spells out.
func (c *call) contact() *order.Contact {
	if told := c.asked.contact; told != nil && told.Language == "" {
		told.Language = c.language
	}
	return c.asked.contact
}

// withBilling fills the address of the payment in where the holder has none, and
// the names with it.
func withBilling(told *order.Contact, known, billing order.Contact) *order.Contact {
	if known.Street != "" {
		return told
	}
	if told == nil {
		told = &order.Contact{}
	}
	if told.Street == "" {
		told.Street, told.Street2, told.City = billing.Street, billing.Street2, billing.City
		told.State, told.PostalCode, told.Country = billing.State, billing.PostalCode, billing.Country
	}
	if told.FirstName+told.LastName+known.FirstName+known.LastName == "" {
		told.FirstName, told.LastName = billing.FirstName, billing.LastName
	}
	return told
}
