package acp

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// Prefix is below which everything here is served.
const Prefix = "/api/acp/"

const (
	// maxBodyBytes bounds a request.
	maxBodyBytes = 64 << 10
	// readTimeout and workWithin bound how long a request may take. A completion
	// asks registries and the payment provider.
	readTimeout    = 15 * time.Second
	requestTimeout = 45 * time.Second
	// writeTimeout is what remains for sending the answer. The server's own limit for
	// a whole answer may be shorter than workWithin.
	writeTimeout = 10 * time.Second
	// outOfServiceRetryAfter is what is told where checkout is not in service.
	outOfServiceRetryAfter = time.Hour
	// maxUnkeyedVerifications is how many requests without a key are verified at a time: each is
	// held against the secrets of all live agents.
	maxUnkeyedVerifications = 4
)

// Config is what the checkout needs. Without agents or orders it is not in
// service, and says so.
type Config struct {
	// BaseURL is the service's address, without a slash at its end.
	BaseURL     string
	Agents      Agents
	Orders      Orders
	Idempotency Idempotency
	// SupportsTLD says whether the catalogue carries an extension.
	SupportsTLD func(tld string) bool
	// CreateLimit bounds how many sessions an agent makes.
	CreateLimit Limiter
	// BadSignatures bounds how many wrong signatures and keys an address sends.
	BadSignatures *ratelimit.Gate
	// OrdersPath is the path below which people read their orders.
	OrdersPath string
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
	// unkeyedSlots bounds how many signatures are held against every agent's secrets at a
	// time.
	unkeyedSlots chan struct{}
}

// New returns a Handler.
func New(cfg Config) (*Handler, error) {
	h := &Handler{cfg: cfg, now: time.Now, unkeyedSlots: make(chan struct{}, maxUnkeyedVerifications)}
	if !h.inService() {
		return h, nil
	}
	if cfg.Idempotency == nil || cfg.SupportsTLD == nil || cfg.CreateLimit == nil || cfg.BadSignatures == nil || cfg.Address == nil {
		return nil, errors.New("checkout needs answers, a catalogue, limits and addresses")
	}
	return h, nil
}

func (h *Handler) inService() bool { return h.cfg.Agents != nil && h.cfg.Orders != nil }

// Routes are the five operations, in the contract's order.
func (h *Handler) Routes() []httpjson.Route {
	const sessions, session = Prefix + "checkout_sessions", Prefix + "checkout_sessions/{id}"
	return []httpjson.Route{
		{Method: http.MethodPost, Path: sessions, Handler: h.serve(operation{
			status: http.StatusCreated, rateLimited: true, read: func(s *shape) func(object) request { return s.create }, do: h.create,
		})},
		{Method: http.MethodGet, Path: session, Handler: h.serve(operation{status: http.StatusOK, do: h.show})},
		{Method: http.MethodPost, Path: session, Handler: h.serve(operation{
			status: http.StatusOK, read: func(s *shape) func(object) request { return s.update }, do: h.update,
		})},
		{Method: http.MethodPost, Path: session + "/complete", Handler: h.serve(operation{
			status: http.StatusOK, completing: true, read: func(s *shape) func(object) request { return s.complete }, do: h.complete,
		})},
		{Method: http.MethodPost, Path: session + "/cancel", Handler: h.serve(operation{
			status: http.StatusOK, canceling: true, read: func(s *shape) func(object) request { return s.cancel }, do: h.cancel,
		})},
	}
}

// MethodNotAllowed answers 405 on our paths; Allow is set already.
func MethodNotAllowed(w http.ResponseWriter, _ *http.Request) {
	p := newProblem(http.StatusMethodNotAllowed, codeNoSuchMethod, messageMethod, "")
	httpjson.RecordError(w, p)
	w.Header().Set("Cache-Control", "no-store")
	httpjson.WriteJSON(w, p.status, p.body)
}

// ServeError answers 500 where no handler has answered.
func ServeError(w http.ResponseWriter, _ *http.Request, err error) {
	httpjson.RecordError(w, err)
	p := newProblem(http.StatusInternalServerError, codeInternal, messageInternal, "")
	w.Header().Set("Cache-Control", "no-store")
	httpjson.WriteJSON(w, p.status, p.body)
}

// operation is what is different between the five.
type operation struct {
	status int
	// completing needs a signature; canceling answers 405 where it comes too late;
	// counted is bounded by Creates.
	completing, canceling, rateLimited bool
	// read picks the reader of a shape; nil for GET.
	read func(*shape) func(object) request
	do   func(context.Context, *call) (order.Session, error)
}

// call is one request that is let in.
type call struct {
	op    operation
	actor registrar.Actor
	// id is the session's; empty for a new one.
	id      string
	shape   *shape
	fields  map[string]any
	request request
	// language is the Accept-Language header's.
	language string
	// waitUntil ends the wait for another completion of the session, and so does gone,
	// which is closed when the client has left.
	waitUntil  time.Time
	clientGone <-chan struct{}
	// resumed says that the same request was interrupted before.
	resumed bool
}

func (h *Handler) create(ctx context.Context, c *call) (order.Session, error) {
	items, err := h.items(c)
	if err != nil {
		return order.Session{}, err
	}
	if len(items) == 0 {
		return order.Session{}, newInvalid(codeMissingField, "A session needs items.", "$."+c.shape.items)
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
	if c.request.billing != nil {
		// Who pays need not be who holds: the address of the payment counts where
		// none was told for the holder.
		known, err := h.cfg.Orders.BuyerContact(ctx, c.actor, c.id)
		if err != nil {
			return order.Session{}, err
		}
		contact = withBilling(contact, known, *c.request.billing)
	}
	return c.shape.mapCompletion(h.cfg.Orders.CompleteSession(ctx, c.actor, c.id, order.Completion{
		Token: c.request.token, Contact: contact, Until: c.waitUntil, CallerGone: c.clientGone,
	}))
}

// mapCompletion is what a completion answers in this shape. The contract has two statuses
// for it, completed and not_ready_for_payment: a human who is paying right now is the
// latter, with the link, and everything else is a refusal. The protocol's versions
// have statuses of their own for a session that is being paid, or can't be any more.
func (s *shape) mapCompletion(session order.Session, err error) (order.Session, error) {
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

func (h *Handler) items(c *call) ([]order.RequestedItem, error) {
	items, err := c.request.requestedItems(h.cfg.SupportsTLD)
	if err != nil {
		return nil, err
	}
	return items, c.shape.checkAfterItems(c.fields)
}

// contact is the buyer with a language, which a client rarely spells out.
func (c *call) contact() *order.Contact {
	if contact := c.request.contact; contact != nil && contact.Language == "" {
		contact.Language = c.language
	}
	return c.request.contact
}

// withBilling fills the address of the payment in where the holder has none, and
// the names with it.
func withBilling(contact *order.Contact, known, billing order.Contact) *order.Contact {
	if known.Street != "" {
		return contact
	}
	if contact == nil {
		contact = &order.Contact{}
	}
	if contact.Street == "" {
		contact.Street, contact.Street2, contact.City = billing.Street, billing.Street2, billing.City
		contact.State, contact.PostalCode, contact.Country = billing.State, billing.PostalCode, billing.Country
	}
	if contact.FirstName+contact.LastName+known.FirstName+known.LastName == "" {
		contact.FirstName, contact.LastName = billing.FirstName, billing.LastName
	}
	return contact
}
