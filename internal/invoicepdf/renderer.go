package invoicepdf

import (
	"fmt"
	"strings"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
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

// missingGlyph replaces a character that the font lacks.
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
