package invoicepdf

import (
	"fmt"
	"strings"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
)

// Renderer renders documents. It is safe for concurrent use.
type Renderer struct {
	font *sfnt.Font
}

// New returns a Renderer.
func New() (*Renderer, error) {
	font, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		return nil, fmt.Errorf("invoicepdf: parse font: %w", err)
	}
	return &Renderer{font: font}, nil
}

// The font family and its styles.
const (
	family  = "go"
	regular = ""
	bold    = "B"
)

var fontFiles = map[string][]byte{regular: goregular.TTF, bold: gobold.TTF}

const missingGlyph = '□'

// printable replaces characters that the font lacks.
func (s *sheet) printable(text string) string {
	var buffer sfnt.Buffer
	return strings.Map(func(r rune) rune {
		if r == '\u00a0' || r == ' ' {
			return r
		}
		// The PDF library supports only the basic multilingual plane.
		if glyph, err := s.font.GlyphIndex(&buffer, r); err == nil && glyph != 0 && r <= 0xffff {
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
