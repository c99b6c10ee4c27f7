package acp

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/idempotency"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// Prefix is the prefix of all operations.
const Prefix = "/api/acp/"

const (
	maxBodyBytes = 64 << 10 // limits a request
	// readTimeout and requestTimeout bound a request. A completion calls registries and
	// the payment provider.
	readTimeout    = 15 * time.Second
	requestTimeout = 45 * time.Second
	// writeTimeout is left for sending the response. The server's own write timeout may
	// be shorter than requestTimeout.
	writeTimeout           = 10 * time.Second
	outOfServiceRetryAfter = time.Hour // the Retry-After if checkout is not in service
	// maxUnkeyedVerifications limits concurrent verifications of requests without a
	// key: each tries the secrets of all active agents.
	maxUnkeyedVerifications = 4
)

// Agents authenticates agents.
type Agents interface {
	// Authenticate returns errors of KindUnauthenticated, or those of package signing,
	// for invalid credentials.
	Authenticate(ctx context.Context, who agent.Credentials) (agent.Agent, error)
}

// Orders stores sessions as orders.
type Orders interface {
	CreateSession(ctx context.Context, actor registrar.Actor, req order.SessionRequest) (order.Session, error)
	Session(ctx context.Context, actor registrar.Actor, id string) (order.Session, error)
	// BuyerContact returns what the agent has sent about the buyer. It is cheap.
	BuyerContact(ctx context.Context, actor registrar.Actor, id string) (order.Contact, error)
	UpdateSession(ctx context.Context, actor registrar.Actor, id string, change order.SessionChange) (order.Session, error)
	CompleteSession(ctx context.Context, actor registrar.Actor, id string, done order.Completion) (order.Session, error)
	CancelSession(ctx context.Context, actor registrar.Actor, id string) (order.Session, error)
}

// Config holds the dependencies of the checkout. Without agents or orders it is not in
// service, and says so.
type Config struct {
	BaseURL       string // the public URL without a trailing slash
	Agents        Agents
	Orders        Orders
	Idempotency   *idempotency.Service
	SupportsTLD   func(tld string) bool // reports whether the catalog has an extension
	CreateLimit   *ratelimit.Limiter    // limits the sessions created by an agent
	BadSignatures *ratelimit.Gate       // limits the wrong signatures and keys of an address
	OrdersPath    string                // the prefix of a customer's order pages
	// Terms, Privacy and Returns are the paths of the legal pages; empty if there are
	// none.
	Terms, Privacy, Returns string
	Address                 func(*http.Request) netip.Addr // finds the client address of a request
	// Closing is closed when the server drains: completions stop waiting for another
	// one. nil means never.
	Closing <-chan struct{}
}

// Handler serves the operations.
type Handler struct {
	cfg          Config
	now          func() time.Time // wall time: signatures do not follow a sandbox clock
	unkeyedSlots chan struct{}    // limits concurrent verifications against every agent's secrets
}

// New returns a Handler.
func New(cfg Config) (*Handler, error) {
	h := &Handler{cfg: cfg, now: time.Now, unkeyedSlots: make(chan struct{}, maxUnkeyedVerifications)}
	if !h.inService() {
		return h, nil
	}
	if cfg.Idempotency == nil || cfg.SupportsTLD == nil || cfg.CreateLimit == nil || cfg.BadSignatures == nil || cfg.Address == nil {
		return nil, errors.New("acp: Config.Idempotency, SupportsTLD, CreateLimit, BadSignatures and Address are required")
	}
	return h, nil
}

func (h *Handler) inService() bool { return h.cfg.Agents != nil && h.cfg.Orders != nil }

// Routes lists the five operations, in the contract's order.
func (h *Handler) Routes() []httpjson.Route {
	const sessions, session = Prefix + "checkout_sessions", Prefix + "checkout_sessions/{id}"
	return []httpjson.Route{
		{Method: http.MethodPost, Path: sessions, Handler: h.serve(operation{opCreate, http.StatusCreated, h.create})},
		{Method: http.MethodGet, Path: session, Handler: h.serve(operation{opShow, http.StatusOK, h.show})},
		{Method: http.MethodPost, Path: session, Handler: h.serve(operation{opUpdate, http.StatusOK, h.update})},
		{Method: http.MethodPost, Path: session + "/complete", Handler: h.serve(operation{opComplete, http.StatusOK, h.complete})},
		{Method: http.MethodPost, Path: session + "/cancel", Handler: h.serve(operation{opCancel, http.StatusOK, h.cancel})},
	}
}

// MethodNotAllowed answers 405; Allow is already set.
func MethodNotAllowed(w http.ResponseWriter, _ *http.Request) {
	p := newProblem(http.StatusMethodNotAllowed, codeNoSuchMethod, messageMethod, "")
	httpjson.RecordError(w, p)
	p.write(w)
}

// ServeError answers 500 after a panic.
func ServeError(w http.ResponseWriter, _ *http.Request, err error) {
	httpjson.RecordError(w, err)
	newProblem(http.StatusInternalServerError, codeInternal, messageInternal, "").write(w)
}

func (p *problem) write(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	httpjson.WriteJSON(w, p.status, p.body)
}

const (
	opCreate   = "create"
	opShow     = "show"
	opUpdate   = "update"
	opComplete = "complete"
	opCancel   = "cancel"
)

// operation is what differs between the five. All but opShow have a body.
type operation struct {
	name   string
	status int // of success
	do     func(context.Context, *call) (order.Session, error)
}

// call is one authenticated request.
type call struct {
	op       operation
	actor    registrar.Actor
	id       string // the session's; empty for a new one
	shape    *shape
	fields   map[string]any
	request  request
	language string // the Accept-Language header's
	// waitUntil ends the wait for another completion of the session, and so does gone,
	// which is closed when the client disconnects.
	waitUntil  time.Time
	clientGone <-chan struct{}
	resumed    bool // the same request was interrupted before
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
		// The payer need not be the holder: the billing address is used if the holder
		// has none.
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

// mapCompletion maps the result of a completion to this shape. The contract has two
// statuses for it, completed and not_ready_for_payment: a human who is paying right now
// is the latter, with the link, and everything else is an error. The protocol's
// versions have statuses of their own for a session that is being paid or can't be paid
// any more.
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
		return session, nil // canceled by the interrupted request
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

// contact returns the buyer with a language, which clients rarely set.
func (c *call) contact() *order.Contact {
	if contact := c.request.contact; contact != nil && contact.Language == "" {
		contact.Language = c.language
	}
	return c.request.contact
}

// withBilling uses the billing address and names if the holder has no address.
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
