package start

import (
	"errors"
	"slices"
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

// Kinds of searches.
const (
	// variants are other names below the same extension.
	variants = "variants"
)

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
	if _, listed := h.Catalogue.Extension(tld); tld != "" && !listed {
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

// wanted are all names that a search could go through.
func (h *Handler) wanted(kind, label, tld string) []registrar.Name {
	var names []registrar.Name
	if kind == variants && tld != "" {
		for _, other := range lookup.Suggest(readable(label)) {
			if ascii, err := registrar.ParseHost(other); err == nil {
				names = append(names, registrar.NewName(ascii, tld))
			}
		}
		return names
	}
	for _, ext := range h.order(tld) {
		names = append(names, registrar.NewName(label, ext))
	}
	return names
}

// order is in which order extensions are gone through: the one that was asked
// for, those of every search, the popular ones, all others.
func (h *Handler) order(first string) []string {
	var list, rest []string
	if first != "" {
		list = append(list, first)
	}
	for _, tld := range lookup.Searched() {
		if _, listed := h.Catalogue.Extension(tld); listed && tld != first {
			list = append(list, tld)
		}
	}
	for _, ext := range h.Catalogue.All() {
		switch {
		case slices.Contains(list, ext.TLD):
		case ext.Popular:
			list = append(list, ext.TLD)
		default:
			rest = append(rest, ext.TLD)
		}
	}
	return append(list, rest...)
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
	listed := func(tld string) bool { _, ok := h.Catalogue.Extension(tld); return ok }
	name, err := registrar.ParseName(text, listed)
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
