package site

import (
	"fmt"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// state is the state of a row's name. States differ in text and colour; only free and
// premium names are available.
type state string

const (
	waiting  state = "waiting" // no answer yet
	free     state = "free"
	premium  state = "premium"
	taken    state = "taken"
	own      state = "own" // taken by the visitor
	reserved state = "reserved"
	unknown  state = "unknown" // sources answered, none decided
	failed   state = "failed"  // no source answered
)

type hit struct {
	Row int // its number in the whole search
	// Domain is the name in A-labels, as forms send it; Label and Ext are for display.
	Domain, Label, Ext string
	State              state
	Offer              *offer // nil if the price is unknown or irrelevant
	Transfer           *price // of a taken name that its holder can transfer here; nil if not
	// RuleKey is the text key of a registry requirement; empty if there is none. It is
	// set from the beginning, so that rows do not grow later.
	RuleKey string
	// SaleKey is the text key of why names of the extension can't be ordered here;
	// empty if they can.
	SaleKey string
	Verify  bool // an order of the extension requires a verified identity
	// Basket is the item to put into the basket; empty if there is none. InBasket means
	// that the basket contains the name.
	Basket   string
	InBasket bool
	Ask      bool // the contact form is the way to a price
	// Held is the page of the domain if the visitor holds it.
	Held string
}

// Tone returns the colour of the state's badge.
func (h hit) Tone() string {
	return map[state]string{free: "good", own: "good", premium: "warn"}[h.State]
}

// StateKey returns the text key of the state.
func (h hit) StateKey() string { return "hit." + string(h.State) }

// Kinds of what is put into a basket.
const (
	registerPrefix = "register:"
	transferPrefix = "transfer:"
)

// pendingRows returns the rows of a plan before any answer.
func (h *Handler) pendingRows(req *ui.Request, p plan) []hit {
	collected := make(map[string]bool)
	for _, item := range req.Basket() {
		_, name, _ := strings.Cut(item, ":")
		collected[name] = true
	}
	held := h.heldDomains(req, p)
	hits := make([]hit, len(p.Names))
	for i, name := range p.Names {
		hits[i] = hit{
			Row: p.From + i, Domain: name.ASCII(), Label: ui.UnicodeName(name.Label()), Ext: ui.UnicodeName(name.TLD()), State: waiting,
			InBasket: collected[name.ASCII()],
		}
		if id := held[name.ASCII()]; id != "" {
			hits[i].Held = ui.DomainsPath + "/" + id
		}
		if ext, listed := h.Catalog.Extension(name.TLD()); listed {
			hits[i].RuleKey, hits[i].SaleKey = h.textKey("rule.", ext.Requires), h.textKey("sale.", string(ext.Sale.NoRegistration))
			hits[i].Verify = ext.Verify && h.Basket && hits[i].SaleKey == ""
		}
	}
	return hits
}

// heldDomains returns the ids of the domains of a plan that the visitor holds. On an error
// they look like those of others.
func (h *Handler) heldDomains(req *ui.Request, p plan) map[string]string {
	if !req.SignedIn {
		return nil
	}
	names := make([]string, len(p.Names))
	for i, name := range p.Names {
		names[i] = name.ASCII()
	}
	held, err := h.HeldDomains(req.R.Context(), req.Actor(), names)
	if err != nil {
		httpjson.RecordError(req.W, err)
	}
	return held
}

func (h *Handler) resolveRow(row hit, answer lookup.Answer, err error, at time.Time) hit {
	row.State = stateOf(answer, err)
	if row.Held != "" && row.State == taken {
		row.State = own
	}
	ext, listed := h.Catalog.Extension(answer.TLD)
	priced := row.State == free || row.State == premium && answer.Prices != nil
	if priced && listed {
		if row.State == premium {
			ext.Register, ext.Renew = answer.Prices.Register, answer.Prices.Renew
		}
		sold := h.offerFor(ext, at)
		row.Offer = &sold
	}
	row.Ask = row.State == premium && !priced && h.Frame.HasContact()
	switch {
	case !h.Basket:
	case row.State == premium && priced && ext.Sale.NoRegistration == "": // the basket shows the same prices
		row.Basket = fmt.Sprintf("register-0-%d-%d:%s", answer.Prices.Register, answer.Prices.Renew, row.Domain)
	case priced && ext.Sale.NoRegistration == "":
		row.Basket = registerPrefix + row.Domain
	case row.State == taken && ext.Sale.NoTransfer == "":
		row.Basket = transferPrefix + row.Domain
		transfer := withVAT(ext.Transfer, h.RateBasisPoints(at))
		row.Transfer = &transfer
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

// textKey returns the text key of a word; empty if there is none. An operator's list may
// name a requirement without a text of its own.
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
