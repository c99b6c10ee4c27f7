package site

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// batchSize is the number of names per request, the same as for a search of the REST
// interface.
const batchSize = 8

// variants is the kind of a search for other names with the same extension.
const variants = "variants"

// plan is a parsed search.
type plan struct {
	Query string // the parsed query for display
	Kind  string // empty or variants
	// Category and MaxPrice select extensions; empty and 0 mean all. MaxPrice is the gross
	// price of the first year in euros.
	Category   catalog.Category
	MaxPrice   int
	From       int              // the number of the first name
	Names      []registrar.Name // the names of this batch
	Next       int              // the start of the next batch; 0 if there is none
	NextCount  int              // the names in it
	NotCarried string           // a requested extension that we do not offer
	NoMatch    bool             // no extension but the requested one matches Category and MaxPrice
}

// parseSearch parses the fields of a search.
func (h *Handler) parseSearch(field func(name string) string, at time.Time) (plan, error) {
	p := plan{Kind: field("kind")}
	if p.Kind != variants {
		p.Kind = ""
	}
	if from, err := strconv.Atoi(field("from")); err == nil && from > 0 {
		p.From = from
	}
	if category := catalog.Category(field("category")); slices.Contains(catalog.Categories(), category) {
		p.Category = category
	}
	if euros, err := strconv.Atoi(field("max")); err == nil && slices.Contains(maxPrices, euros) {
		p.MaxPrice = euros
	}
	label, tld, err := h.parseQuery(field("q"))
	if err != nil {
		return p, err
	}
	p.Query = ui.UnicodeName(label)
	if tld != "" && !h.carries(tld) {
		p.NotCarried, tld = ui.UnicodeName(tld), ""
	}
	if tld != "" {
		p.Query += ui.UnicodeName(tld)
	}
	all := h.candidates(p, label, tld, at)
	requested := 0
	if tld != "" {
		requested = 1
	}
	p.NoMatch = (p.Category != "" || p.MaxPrice > 0) && p.Kind == "" && len(all) == requested
	p.From = min(p.From, len(all))
	p.Names = all[p.From:min(len(all), p.From+batchSize)]
	if end := p.From + batchSize; end < len(all) {
		p.Next, p.NextCount = end, min(batchSize, len(all)-end)
	}
	return p, nil
}

// maxPrices are the prices to choose from, in euros.
var maxPrices = []int{10, 20, 50}

// includes reports whether a search asks for an extension.
func (h *Handler) includes(p plan, tld string, at time.Time) bool {
	ext, listed := h.Catalog.Extension(tld)
	return listed && (p.Category == "" || p.Category.Contains(ext)) &&
		(p.MaxPrice == 0 || ext.Sale.NoRegistration == "" && h.offerFor(ext, at).First.Gross <= registrar.Cents(p.MaxPrice*100))
}

// candidates returns all names of a search: the requested one first, then the others in
// order.
func (h *Handler) candidates(p plan, label, tld string, at time.Time) []registrar.Name {
	if p.Kind == variants && tld != "" {
		return variantNames(label, tld)
	}
	order := searchOrder(h.Catalog.Catalog())
	names := make([]registrar.Name, 0, len(order))
	if tld != "" {
		names = append(names, registrar.NewName(label, tld))
	}
	for _, ext := range order {
		if ext != tld && h.includes(p, ext, at) {
			names = append(names, registrar.NewName(label, ext))
		}
	}
	return names
}

func variantNames(label, tld string) []registrar.Name {
	var names []registrar.Name
	for _, other := range lookup.Suggest(ui.UnicodeName(label)) {
		if ascii, err := registrar.ParseHost(other); err == nil {
			names = append(names, registrar.NewName(ascii, tld))
		}
	}
	return names
}

// parseQuery parses what people type or paste: one or more words, a name with or
// without an extension, or a URL.
func (h *Handler) parseQuery(input string) (label, tld string, err error) {
	text := strings.ToLower(strings.TrimSpace(input))
	if _, after, found := strings.Cut(text, "://"); found {
		text = after
	}
	if at := strings.IndexAny(text, "/?#"); at >= 0 {
		text = text[:at]
	}
	text = strings.Join(strings.Fields(strings.TrimPrefix(text, "www.")), "-")
	ascii, err := registrar.ParseHost(text)
	if err != nil || !strings.Contains(ascii, ".") {
		return ascii, "", err
	}
	name, err := registrar.ParseName(text, h.carries)
	switch {
	case err == nil:
		return name.Label(), name.TLD(), nil
	case !errors.Is(err, &registrar.Error{Kind: registrar.KindUnsupported}):
		return "", "", err
	}
	label, found := strings.CutSuffix(ascii, name.TLD())
	switch {
	case !found || label == "":
		return "", "", &registrar.Error{Kind: registrar.KindInvalid, Code: registrar.NameIsExtension}
	case strings.Contains(label, "."):
		return "", "", &registrar.Error{Kind: registrar.KindInvalid, Code: registrar.NameSubdomain}
	}
	return label, name.TLD(), nil
}
