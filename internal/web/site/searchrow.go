package site

import (
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// state is what a row says about its name. They are told apart in words and in
// colour, and none but free and premium can be had.
type state string

const (
	waiting  state = "waiting" // nobody has answered yet
	free     state = "free"
	premium  state = "premium"
	taken    state = "taken"
	reserved state = "reserved"
	unknown  state = "unknown" // sources answer, and none decides
	failed   state = "failed"  // no source answers
)

// hit is one row of results.
type hit struct {
	// Row is its number in the whole search.
	Row int
	// Domain is the name in A-labels, which forms send; Label and Ext are how it
	// is read.
	Domain, Label, Ext string
	State              state
	// Offer is nil where no price is known or none is of use.
	Offer *offer
	// RuleKey says what the registry asks of the holder; empty if nothing. It stands
	// there from the beginning, so that no row grows later.
	RuleKey string
	// SaleKey says why names of the extension can't be ordered here; empty if they can.
	SaleKey string
	// Basket is what would be put into the basket; empty where nothing can be. It is
	// InBasket if it lies there, or the same name does.
	Basket   string
	InBasket bool
}

// Tone is the colour of the state's badge.
func (h hit) Tone() string {
	switch h.State {
	case free:
		return "good"
	case premium:
		return "warn"
	default:
		return ""
	}
}

// StateKey is the key of the state's word.
func (h hit) StateKey() string { return "hit." + string(h.State) }

// Kinds of what is put into a basket.
const (
	registerPrefix = "register:"
	transferPrefix = "transfer:"
)

// pendingRows are the rows of a plan before anybody has answered.
func (h *Handler) pendingRows(req *ui.Request, p plan) []hit {
	collected := make(map[string]bool)
	for _, item := range req.Basket() {
		_, name, _ := strings.Cut(item, ":")
		collected[name] = true
	}
	hits := make([]hit, len(p.Names))
	for i, name := range p.Names {
		hits[i] = hit{
			Row: p.From + i, Domain: name.ASCII(), Label: unicodeName(name.Label()), Ext: unicodeName(name.TLD()), State: waiting,
			InBasket: collected[name.ASCII()],
		}
		if ext, listed := h.extension(name.TLD()); listed {
			hits[i].RuleKey, hits[i].SaleKey = h.ruleKey(ext.Requires), h.saleKey(ext.Sale.NoRegistration)
		}
	}
	return hits
}

// resolveRow is the row with what was found out.
func (h *Handler) resolveRow(row hit, answer lookup.Answer, err error, at time.Time) hit {
	row.State = stateOf(answer, err)
	ext, listed := h.extension(answer.TLD)
	if row.State == free && listed {
		sold := h.offerFor(ext, at)
		row.Offer = &sold
	}
	switch {
	case !h.Basket:
	case row.State == free && ext.Sale.NoRegistration == "":
		row.Basket = registerPrefix + row.Domain
	case row.State == taken && ext.Sale.NoTransfer == "":
		row.Basket = transferPrefix + row.Domain
	}
	return row
}

func stateOf(answer lookup.Answer, err error) state {
	switch {
	case err != nil:
		return failed
	case answer.Availability == lookup.Available && answer.Premium:
		return premium
	case answer.Availability == lookup.Available:
		return free
	case answer.Availability == lookup.Taken && answer.Reason == lookup.ReasonReserved:
		return reserved
	case answer.Availability == lookup.Taken:
		return taken
	default:
		return unknown
	}
}

// ruleKey is the key of the sentence about a registry's rule; empty without one. An
// operator's list may name one that has no sentence of its own.
func (h *Handler) ruleKey(requires string) string { return h.textKey("rule.", requires) }

// saleKey is the key of the sentence about an extension that can't be ordered; empty
// if it can.
func (h *Handler) saleKey(refusal registrar.Code) string { return h.textKey("sale.", string(refusal)) }

func (h *Handler) textKey(family, word string) string {
	switch {
	case word == "":
		return ""
	case h.templates.Has(family + word):
		return family + word
	default:
		return family + "other"
	}
}

// count is how many rows are in a state.
func count(hits []hit, s state) int {
	n := 0
	for _, row := range hits {
		if row.State == s {
			n++
		}
	}
	return n
}
