package site

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

type homePage struct {
	// Query is the content of the search field, Problem the error about it.
	Query, Problem string
	Results        *results
	FeaturedPrices []featuredPrice // some extensions with their prices
	Extensions     int             // how many there are
	Categories     []catalog.Category
	MaxPrices      []int
	Rate           string // the VAT in percent
	MCP            string
}

type featuredPrice struct {
	Ext   string
	Offer offer
}

type results struct {
	plan
	Hits    []hit
	Summary string // the result in words
	Rate    string
	// Free, Premium, NotSold (free or premium, but not to be ordered here) and Unknown count the
	// names of this batch and, with script, of those before it, which stay on the page.
	Free, Premium, NotSold, Unknown int
	Priced                          bool // a row of theirs shows a price
}

// Pending reports whether a row may still get a price.
func (r results) Pending() bool {
	return slices.ContainsFunc(r.Hits, func(row hit) bool { return row.State == waiting })
}

// count adds the rows of this batch.
func (r *results) count() {
	for _, row := range r.Hits {
		r.Priced = r.Priced || row.Offer != nil || row.Transfer != nil
		available := row.State == free || row.State == premium
		switch {
		case available && row.SaleKey != "":
			r.NotSold++
		case row.State == free:
			r.Free++
		case row.State == premium:
			r.Premium++
		case row.State == unknown, row.State == failed, row.State == waiting:
			r.Unknown++
		}
	}
}

// Alternative returns the name for which similar ones are offered: all are taken.
func (r results) Alternative() string {
	if r.Kind == variants || r.From > 0 || r.Free+r.Premium+r.NotSold > 0 || !slices.ContainsFunc(r.Hits, func(row hit) bool { return row.State == taken }) {
		return ""
	}
	return r.Hits[0].Domain
}

// home is the page before a search, which makes no lookups, or that of the search in its
// address. HEAD makes none either: link checkers don't read the results.
func (h *Handler) home(req *ui.Request) error {
	if sealed := req.Query(searchParameter); sealed != "" && req.R.Method != http.MethodHead {
		return h.showSearch(req, sealed)
	}
	return h.renderHome(req, homePage{}, http.StatusOK)
}

func (h *Handler) renderHome(req *ui.Request, shown homePage, status int) error {
	req.SetFormPath(ui.StartPath)
	shown.Extensions, shown.Categories, shown.MaxPrices = h.Catalog.Catalog().Len(), catalog.Categories(), maxPrices
	shown.Rate = h.rate(req)
	shown.MCP = h.Frame.URL("/api/mcp")
	if shown.Results == nil {
		for _, tld := range lookup.DefaultExtensions() {
			if ext, listed := h.Catalog.Extension(tld); listed && ext.Sale.NoRegistration == "" {
				shown.FeaturedPrices = append(shown.FeaturedPrices, featuredPrice{Ext: tld, Offer: h.offerFor(ext, h.Now())})
			}
		}
	}
	if req.Query(searchParameter) != "" {
		req.W.Header().Set("X-Robots-Tag", "noindex, nofollow")
	}
	return h.templates.Render(req, ui.View{
		Name: "start", Status: status, Title: "start.title", Section: ui.StartPath, Public: "start.description", Data: shown,
	})
}

// search handles the form without script. It redirects to the page of the results, so that
// Back and Forward work.
func (h *Handler) search(req *ui.Request) error {
	planned, err := h.parseSearch(req.Field, h.Now())
	if err != nil {
		return h.renderSearchProblem(req, req.Text("q"), err)
	}
	address := ui.InLanguage(req.Language, ui.StartPath, ui.EnglishStartPath)
	return req.SeeOther(address + "?" + searchParameter + "=" + h.sealSearch(req.Field, planned, req.Now))
}

func (h *Handler) renderSearchProblem(req *ui.Request, query string, err error) error {
	message, status := h.problem(req, err)
	httpjson.RecordError(req.W, err)
	return h.renderHome(req, homePage{Query: query, Problem: message}, status)
}

// showSearch is the page of a sealed search. It is rendered once every row is known, within
// the lookup's deadline.
func (h *Handler) showSearch(req *ui.Request, sealed string) error {
	fields, ok := h.openSearch(sealed, req.Now)
	if !ok {
		return h.renderHome(req, homePage{Problem: h.templates.Text(req.Language, "problem.search_expired")}, http.StatusGone)
	}
	planned, err := h.startSearch(req, fields.Get)
	if err != nil {
		return h.renderSearchProblem(req, fields.Get("q"), err)
	}
	found := &results{plan: planned, Hits: h.pendingRows(req, planned), Rate: h.rate(req)}
	h.checkAll(req, planned, found.Hits, func(row hit) { found.Hits[row.Row-planned.From] = row })
	found.count()
	found.Summary = h.summary(req, *found, len(found.Hits))
	return h.renderHome(req, homePage{Query: planned.Query, Results: found}, http.StatusOK)
}

// startSearch parses a search and spends the budget. An invalid search costs nothing.
func (h *Handler) startSearch(req *ui.Request, field func(name string) string) (plan, error) {
	planned, err := h.parseSearch(field, h.Now())
	if err != nil {
		return planned, err
	}
	return planned, h.spend(req, h.Budget)
}

// checkAll looks up all names of a plan concurrently and passes each row on as soon as
// it is known. It returns when all are known or the request ends.
func (h *Handler) checkAll(req *ui.Request, planned plan, pending []hit, onRow func(hit)) {
	ctx, cancel := context.WithCancel(req.R.Context())
	defer cancel()                // stops lookups for a client that is gone
	rows := slices.Clone(pending) // onRow changes them
	type resolved struct {
		row hit
		err error
	}
	answers := make(chan resolved, len(rows)) // buffered, so that late answers don't block
	for i, name := range planned.Names {
		go func() {
			answer, err := h.Lookups.Check(ctx, name.ASCII())
			answers <- resolved{h.resolveRow(rows[i], answer, err, h.Now()), err}
		}()
	}
	for range rows {
		select {
		case answer := <-answers:
			if answer.err != nil {
				httpjson.RecordError(req.W, answer.err)
			}
			onRow(answer.row)
		case <-ctx.Done():
			return
		}
	}
}

// streamSearch is the same for our script: first the pending rows, which reserve their
// space, then each row as it becomes known, then the summary.
func (h *Handler) streamSearch(req *ui.Request) error {
	req.PreferLanguage(req.Field("language"))
	out := req.Events()
	planned, err := h.startSearch(req, req.Field)
	if err != nil {
		message, status := h.problem(req, err)
		httpjson.RecordError(req.W, err)
		req.W.WriteHeader(status)
		out.Send("problem", map[string]any{"text": message})
		return nil
	}
	found := results{plan: planned, Hits: h.pendingRows(req, planned), Rate: h.rate(req)}
	part := "results"
	if planned.From > 0 {
		part = "hits"
	}
	reserved, err := h.templates.RenderPart(req.Language, "start", part, found)
	if err != nil {
		return err
	}
	out.Send("rows", map[string]any{"html": reserved, "more": planned.From > 0})
	h.checkAll(req, planned, found.Hits, func(row hit) {
		found.Hits[row.Row-planned.From] = row
		html, err := h.templates.RenderPart(req.Language, "start", "hit", row)
		if err != nil {
			httpjson.RecordError(req.W, err)
			return
		}
		out.Send("row", map[string]any{"id": "hit-" + strconv.Itoa(row.Row), "html": html})
	})
	if planned.From > 0 {
		found.Free, found.Premium = countField(req, "free", planned.From), countField(req, "premium", planned.From)
		found.NotSold, found.Unknown = countField(req, "not_sold", planned.From), countField(req, "unknown", planned.From)
		found.Priced = req.Field("priced") != ""
	}
	found.count()
	more, err := h.templates.RenderPart(req.Language, "start", "more", found)
	if err != nil {
		httpjson.RecordError(req.W, err)
	}
	out.Send("end", map[string]any{"text": h.summary(req, found, planned.From+len(found.Hits)), "html": more, "priced": found.Priced})
	return nil
}

// countField returns how many of the rows that are shown already had a state; the page
// sends it.
func countField(req *ui.Request, name string, shown int) int {
	n, _ := strconv.Atoi(req.Field(name))
	return max(0, min(n, shown))
}

// summary says how many names are available, as their rows say: premium names are, too. Names that
// can't be ordered here are counted separately. Of names without an answer it claims nothing.
func (h *Handler) summary(req *ui.Request, found results, shown int) string {
	available, text := found.Free+found.Premium, func(key string, values ...any) string {
		return h.templates.Text(req.Language, key, values...)
	}
	switch {
	case shown == 0 && found.NoMatch:
		return text("search.no_match")
	case shown == 0:
		return text("search.none")
	case shown == 1:
		parts := []string{text(singleKey(found))}
		if found.NoMatch {
			parts = append(parts, text("search.no_other_match"))
		}
		return strings.Join(parts, " ")
	}
	all := func(many, both string) string {
		if shown == 2 {
			return text(both)
		}
		return text(many, shown)
	}
	var parts []string
	switch {
	case found.Unknown >= shown:
		return all("search.summary_unknown_all", "search.summary_unknown_all_two")
	case found.Premium == shown:
		return all("search.summary_premium_all", "search.summary_premium_all_two")
	case found.NotSold == shown:
		return all("search.summary_not_sold_all", "search.summary_not_sold_all_two")
	case found.Premium == 1 && available == 1:
		parts = append(parts, text("search.summary_premium_one", shown))
	case found.Premium > 0 && found.Premium == available:
		parts = append(parts, text("search.summary_premium_only", available, shown))
	case found.NotSold > 0 && available == 1:
		parts = append(parts, text("search.summary_sold_one", shown))
	case found.NotSold > 0 && available > 0:
		parts = append(parts, text("search.summary_sold", available, shown))
	case found.NotSold > 0: // said below
	case shown == 2 && found.Free == 1 && found.Premium == 1:
		return text("search.summary_all_two_premium")
	case available == shown:
		parts = append(parts, all("search.summary_all", "search.summary_all_two"))
	case available == 1:
		parts = append(parts, text("search.summary_one", available, shown))
	case available > 0:
		parts = append(parts, text("search.summary", available, shown))
	case found.Unknown == 0:
		parts = append(parts, all("search.summary_none", "search.summary_none_two"))
	case shown-found.Unknown == 1:
		parts = append(parts, text("search.summary_not_free_one", 1, shown))
	default:
		parts = append(parts, text("search.summary_not_free", shown-found.Unknown, shown))
	}
	if found.Premium > 0 && found.Premium < available {
		parts = append(parts, text("search.summary_premium", found.Premium))
	}
	switch {
	case found.NotSold == 1:
		parts = append(parts, text("search.summary_not_sold_one", 1, shown))
	case found.NotSold > 1:
		parts = append(parts, text("search.summary_not_sold", found.NotSold, shown))
	}
	if found.Unknown > 0 {
		parts = append(parts, text("search.summary_unknown", found.Unknown))
	}
	return strings.Join(parts, " ")
}

// singleKey returns the text key about the only name of a search.
func singleKey(found results) string {
	switch {
	case found.Unknown > 0:
		return "search.single_unknown"
	case found.NotSold > 0:
		return "search.single_not_sold"
	case found.Premium > 0:
		return "search.single_premium"
	case found.Free > 0:
		return "search.single_free"
	default:
		return "search.single_taken"
	}
}

func (h *Handler) rate(req *ui.Request) string {
	return ui.FormatRate(req.Language, h.RateBasisPoints(h.Now()))
}

// problem returns the message for an invalid search, and the status.
func (h *Handler) problem(req *ui.Request, err error) (message string, status int) {
	switch registrar.KindOf(err) {
	case registrar.KindRateLimited:
		wait, _ := req.SetRetryAfter(err)
		return h.templates.Text(req.Language, "problem.over_budget", wait), http.StatusTooManyRequests
	case registrar.KindInvalid, registrar.KindUnsupported:
		if key := ui.ProblemKey(registrar.CodeOf(err)); h.templates.Has(key) {
			return h.templates.Text(req.Language, key), http.StatusBadRequest
		}
		return h.templates.Text(req.Language, "problem.name_character"), http.StatusBadRequest
	default:
		return h.templates.Text(req.Language, "problem.upstream"), http.StatusServiceUnavailable
	}
}
