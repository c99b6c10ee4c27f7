package invoicepdf

import (
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
)

// Renderer renders documents. It is safe for concurrent use.
type Renderer struct {
	faces [2]*face // by style
}

// New returns a Renderer.
func New() (*Renderer, error) {
	faces, err := loadFaces()
	return &Renderer{faces}, err
}

const missingGlyph = '□'

// printable replaces characters that the font lacks.
func (s *sheet) printable(text string) string {
	glyphs := s.faces[regular].glyphs()
	return strings.Map(func(r rune) rune {
		if glyphs.of(r).index > 0 {
			return r
		}
		s.missingGlyphs = true
		return missingGlyph
	}, text)
}

// label is a label of the form: German, the legally binding language, followed by English
// for customers who chose it.
func (s *sheet) label(german, english string) string {
	return invoice.Bilingual{German: german, English: english}.Text(s.doc.Language)
}

func (s *sheet) title() string {
	if s.doc.Kind == invoice.Correction {
		return s.label("Rechnungskorrektur", "Credit note") + " " + s.doc.Number
	}
	return s.label("Rechnung", "Invoice") + " " + s.doc.Number
}

// formatMoney formats an amount the German way.
func formatMoney(amount registrar.Cents) string {
	euros, cents, _ := strings.Cut(amount.String(), ".")
	sign := ""
	if rest, negative := strings.CutPrefix(euros, "-"); negative {
		sign, euros = "-", rest
	}
	for at := len(euros) - 3; at > 0; at -= 3 {
		euros = euros[:at] + "." + euros[at:]
	}
	return sign + euros + "," + cents + "\u00a0€"
}

func formatPercent(basisPoints int) string {
	text := strings.TrimSuffix(strings.TrimRight(registrar.Cents(basisPoints).String(), "0"), ".")
	return strings.Replace(text, ".", ",", 1) + "\u00a0%"
}
