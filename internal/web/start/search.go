package start

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/web/page"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

// startPage is what the template reads.
type startPage struct {
	// Query is what stands in the field, and Problem what is wrong with it.
	Query, Problem string
	Results        *results
	// Shelf are a few extensions with their prices.
	Shelf []shelfEntry
	// Extensions is how many there are, and Rate the VAT in percent.
	Extensions int
	Rate       string
	MCP        string
}

type shelfEntry struct {
	Ext   string
	Offer offer
}

// results are the rows of one request.
type results struct {
	plan
	Hits []hit
	// Summary says how it ended, in words.
	Summary string
	Rate    string
}

// start is the page before anything was searched. It asks nobody.
func (h *Handler) start(v *page.Visit) error {
	return h.showStart(v, startPage{}, http.StatusOK)
}

func (h *Handler) showStart(v *page.Visit, shown startPage, status int) error {
	v.FormOn(page.StartPath)
	shown.Extensions = h.Catalogue.Catalog().Len()
	shown.Rate = h.rate(v)
	shown.MCP = h.Frame.Address("/api/mcp")
	if shown.Results == nil {
		for _, tld := range lookup.Searched() {
			if ext, listed := h.extension(tld); listed && ext.Sale.NoRegistration == "" {
				shown.Shelf = append(shown.Shelf, shelfEntry{Ext: tld, Offer: h.offerOf(ext, v.Now)})
			}
		}
	}
	return h.views.Render(v, page.View{
		Name: "start", Status: status, Title: "start.title", Section: page.StartPath, Public: "start.description", Data: shown,
	})
}

// search is the form without script: the page comes once every row is known,
// which the lookup's own deadline bounds.
func (h *Handler) search(v *page.Visit) error {
	planned, err := h.begin(v)
	if err != nil {
		sentence, status := h.problem(v, err)
		wire.Annotate(v.W, err)
		return h.showStart(v, startPage{Query: v.Text("q"), Problem: sentence}, status)
	}
	found := &results{plan: planned, Hits: h.reserve(v, planned), Rate: h.rate(v)}
	h.ask(v, planned, func(row hit) { found.Hits[row.Row-planned.From] = row })
	found.Summary = h.summary(v, found.Hits)
	return h.showStart(v, startPage{Query: planned.Query, Results: found}, http.StatusOK)
}

// begin reads the form and takes what the search costs. What can't be searched
// costs nothing.
func (h *Handler) begin(v *page.Visit) (plan, error) {
	planned, err := h.planOf(v)
	if err != nil {
		return planned, err
	}
	return planned, h.spend(v, h.Budget)
}

// ask asks about all names of a plan at once, and hands each row over as soon as
// it is known. It returns when all are, or when the visit ends.
func (h *Handler) ask(v *page.Visit, planned plan, known func(hit)) {
	ctx, cancel := context.WithCancel(v.R.Context())
	defer cancel() // somebody who leaves need not be answered
	rows := h.reserve(v, planned)
	type told struct {
		row hit
		err error
	}
	answers := make(chan told, len(rows)) // room for all: nobody who answers late has to wait
	for i, name := range planned.Names {
		go func() {
			answer, err := h.Lookups.Check(ctx, name.ASCII())
			answers <- told{h.answered(rows[i], answer, err, v.Now), err}
		}()
	}
	for range rows {
		select {
		case answer := <-answers:
			if answer.err != nil {
				wire.Annotate(v.W, answer.err)
			}
			known(answer.row)
		case <-ctx.Done():
			return
		}
	}
}

// stream is the same for our script: first the rows, which reserve their place,
// then each of them as it becomes known, then how it ended.
func (h *Handler) stream(v *page.Visit) error {
	out := v.Events()
	planned, err := h.begin(v)
	if err != nil {
		sentence, status := h.problem(v, err)
		wire.Annotate(v.W, err)
		v.W.WriteHeader(status)
		out.Send("problem", map[string]any{"text": sentence})
		return nil
	}
	found := results{plan: planned, Hits: h.reserve(v, planned), Rate: h.rate(v)}
	part := "results"
	if planned.From > 0 {
		part = "hits"
	}
	reserved, err := h.views.Part(v.Language, "start", part, found)
	if err != nil {
		return err
	}
	out.Send("rows", map[string]any{"html": reserved, "more": planned.From > 0})
	h.ask(v, planned, func(row hit) {
		found.Hits[row.Row-planned.From] = row
		html, err := h.views.Part(v.Language, "start", "hit", row)
		if err != nil {
			wire.Annotate(v.W, err)
			return
		}
		out.Send("row", map[string]any{"id": "hit-" + strconv.Itoa(row.Row), "html": html})
	})
	more, err := h.views.Part(v.Language, "start", "more", found)
	if err != nil {
		wire.Annotate(v.W, err)
	}
	out.Send("end", map[string]any{"text": h.summary(v, found.Hits), "html": more})
	return nil
}

func (h *Handler) summary(v *page.Visit, hits []hit) string {
	free, premium := count(hits, free), count(hits, premium)
	if premium > 0 { // they can be had, too, but not at the price that others read here
		return h.views.Text(v.Language, "search.summary_premium", free, premium, len(hits))
	}
	return h.views.Text(v.Language, "search.summary", free, len(hits))
}

// rate is the VAT in percent as people write it.
func (h *Handler) rate(v *page.Visit) string {
	text := percent(h.RateBasisPoints(v.Now))
	if v.Language == page.German {
		return strings.Replace(text, ".", ",", 1)
	}
	return text
}

// problem is the sentence about what can't be searched, and the status.
func (h *Handler) problem(v *page.Visit, err error) (sentence string, status int) {
	switch registrar.KindOf(err) {
	case registrar.KindRateLimited:
		wait := page.RetryAfter(err)
		v.W.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
		return h.views.Text(v.Language, "problem.over_budget", page.Wait(h.views, v.Language, wait)), http.StatusTooManyRequests
	case registrar.KindInvalid, registrar.KindUnsupported:
		if key := page.ProblemKey(registrar.CodeOf(err)); h.views.Has(key) {
			return h.views.Text(v.Language, key), http.StatusBadRequest
		}
		return h.views.Text(v.Language, "problem.name_character"), http.StatusBadRequest
	default:
		return h.views.Text(v.Language, "problem.upstream"), http.StatusServiceUnavailable
	}
}
