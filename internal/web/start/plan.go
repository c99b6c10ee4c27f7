package start

import (
	"errors"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

// atATime is how many names one request asks about: as many as a search of the
// REST interface does, for the same price.
const atATime = 8

// variants is the kind of a search for other names below the same extension.
const variants = "variants"

// plan is what a search will ask.
type plan struct {
	// Query is what was understood, as a person writes it.
	Query string
	// Kind is empty or variants.
	Kind string
	// From is the number of the first name, and Names are these and no more.
	From  int
	Names []registrar.Name
	// Next is where the next ones would begin; 0 if there are none.
	Next int
	// NotCarried is an extension that was asked for and that we do not have.
	NotCarried string
}

// planOf reads a search's form.
func (h *Handler) planOf(v *page.Visit) (plan, error) {
	p := plan{Kind: v.Field("kind")}
	if p.Kind != variants {
		p.Kind = ""
	}
	if from, err := strconv.Atoi(v.Field("from")); err == nil && from > 0 {
		p.From = from
	}
	label, tld, err := h.understand(v.Field("q"))
	if err != nil {
		return p, err
	}
	p.Query = readable(label)
	if tld != "" && !h.carries(tld) {
		p.NotCarried, tld = readable(tld), ""
	}
	if tld != "" {
		p.Query += readable(tld)
	}
	all := h.wanted(p.Kind, label, tld)
	p.From = min(p.From, len(all))
	p.Names = all[p.From:min(len(all), p.From+atATime)]
	if end := p.From + atATime; end < len(all) {
		p.Next = end
	}
	return p, nil
}

// wanted are all names that a search could go through: the one that was asked for,
// then the others in their order.
func (h *Handler) wanted(kind, label, tld string) []registrar.Name {
	if kind == variants && tld != "" {
		return variantsOf(label, tld)
	}
	order := searchOrder(h.Catalogue.Catalog())
	names := make([]registrar.Name, 0, len(order))
	if tld != "" {
		names = append(names, registrar.NewName(label, tld))
	}
	for _, ext := range order {
		if ext != tld {
			names = append(names, registrar.NewName(label, ext))
		}
	}
	return names
}

// variantsOf are other names below the same extension.
func variantsOf(label, tld string) []registrar.Name {
	var names []registrar.Name
	for _, other := range lookup.Suggest(readable(label)) {
		if ascii, err := registrar.ParseHost(other); err == nil {
			names = append(names, registrar.NewName(ascii, tld))
		}
	}
	return names
}

// understand reads what people type or paste: a word, several, a name with or
// without an extension, or the address of a page.
func (h *Handler) understand(input string) (label, tld string, err error) {
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

// readable is a name as people write it.
func readable(ascii string) string {
	if written, err := idna.Punycode.ToUnicode(ascii); err == nil {
		return written
	}
	return ascii
}
