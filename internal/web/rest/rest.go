// Package rest is the public REST interface: one check and one search, without a key,
// within a budget per address.
//
// A request is checked in this order: path and method (404, 405: not counted), the
// budget (429: not counted), the body (400), the lookup (200, 502). A request within
// the budget is counted, whatever its outcome.
package rest

import (
	"context"
	"net/http"
	"net/netip"
	"sync"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// Lookups checks and searches names.
type Lookups interface {
	Check(ctx context.Context, domain string) (lookup.Answer, error)
	Search(ctx context.Context, query string) (lookup.Result, error)
}

// Budget counts requests by address.
type Budget interface {
	// Spend counts one request if it is allowed, and returns the windows that apply.
	Spend(addr netip.Addr) (ratelimit.Decision, []ratelimit.Window)
}

// Handler serves both endpoints.
type Handler struct {
	lookups Lookups
	budget  Budget
	address func(*http.Request) netip.Addr
	// headers caches the header texts of each set of windows; there are few, and they
	// never change.
	headers sync.Map // *ratelimit.Window → *rateLimitHeaders
}

// New returns a Handler; address finds the client address of a request.
func New(lookups Lookups, budget Budget, address func(*http.Request) netip.Addr) *Handler {
	return &Handler{lookups: lookups, budget: budget, address: address}
}

// Check is POST /api/domain/check.
func (h *Handler) Check(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, "domain", func(ctx context.Context, domain string) (any, error) {
		answer, err := h.lookups.Check(ctx, domain)
		switch {
		case err == nil:
			return httpjson.NewCheckResult(answer), nil
		case registrar.KindOf(err) == registrar.KindUnsupported:
			return httpjson.UnsupportedResult{Domain: domain, TLD: answer.TLD}, nil
		case registrar.KindOf(err) == registrar.KindUpstream:
			return errorBody{Error: message(err), Domain: answer.Domain}, err
		default:
			return errorBody{Error: message(err)}, err
		}
	})
}

// Search is POST /api/domain/search.
func (h *Handler) Search(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, "query", func(ctx context.Context, query string) (any, error) {
		result, err := h.lookups.Search(ctx, query)
		if err != nil {
			return errorBody{Error: message(err)}, err
		}
		return httpjson.NewSearchResult(result, func(err error) { httpjson.RecordError(w, err) }), nil
	})
}

var noStore = []string{"no-store"}

// serve is shared by both endpoints: spend, decode, call, encode. The body returned by
// call is sent even if it also returns an error.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, field string,
	call func(ctx context.Context, value string) (any, error),
) {
	w.Header()["Cache-Control"] = noStore
	decision, windows := h.budget.Spend(h.address(r))
	h.writeRateLimitHeaders(w.Header(), decision, windows)
	if !decision.Allowed {
		WriteError(w, &registrar.Error{Kind: registrar.KindRateLimited, Code: overBudget, RetryAfter: decision.RetryAfter})
		return
	}
	value, err := readField(w, r, field)
	if err != nil {
		WriteError(w, err)
		return
	}
	body, err := call(r.Context(), value)
	if err != nil {
		httpjson.RecordError(w, err)
	}
	httpjson.WriteJSON(w, statusOf(err), body)
}
