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
	domain, ok := h.admit(w, r, "domain")
	if !ok {
		return
	}
	answer, err := h.lookups.Check(r.Context(), domain)
	switch {
	case err == nil:
		httpjson.WriteCheckResult(w, httpjson.NewCheckResult(answer))
	case registrar.KindOf(err) == registrar.KindUnsupported:
		httpjson.WriteJSON(w, http.StatusOK, httpjson.UnsupportedResult{Domain: domain, TLD: answer.TLD})
	case registrar.KindOf(err) == registrar.KindUpstream:
		httpjson.RecordError(w, err)
		httpjson.WriteJSON(w, statusOf(err), errorBody{Error: message(err), Domain: answer.Domain})
	default:
		WriteError(w, err)
	}
}

// Search is POST /api/domain/search.
func (h *Handler) Search(w http.ResponseWriter, r *http.Request) {
	query, ok := h.admit(w, r, "query")
	if !ok {
		return
	}
	result, err := h.lookups.Search(r.Context(), query)
	if err != nil {
		WriteError(w, err)
		return
	}
	httpjson.WriteJSON(w, http.StatusOK, httpjson.NewSearchResult(result, func(err error) { httpjson.RecordError(w, err) }))
}

var noStore = []string{"no-store"}

// admit spends from the budget and returns the field of the body. It answers the request
// itself if it returns false.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request, field string) (value string, ok bool) {
	w.Header()["Cache-Control"] = noStore
	decision, windows := h.budget.Spend(h.address(r))
	h.writeRateLimitHeaders(w.Header(), decision, windows)
	if !decision.Allowed {
		WriteError(w, &registrar.Error{Kind: registrar.KindRateLimited, Code: overBudget, RetryAfter: decision.RetryAfter})
		return "", false
	}
	value, err := readField(w, r, field)
	if err != nil {
		WriteError(w, err)
	}
	return value, err == nil
}
