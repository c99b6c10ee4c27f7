package invoicepdf

import (
	"fmt"
	"strings"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
)

// Renderer makes documents into files. It is safe for concurrent use.
type Renderer struct {
	font *sfnt.Font
}

// New reads the font.
func New() (*Renderer, error) {
	font, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		return nil, fmt.Errorf("the font of the invoices: %w", err)
	}
	return &Renderer{font: font}, nil
}

// The one font and its bold.
const (
	family  = "go"
	regular = ""
	bold    = "B"
)

var fontFiles = map[string][]byte{regular: goregular.TTF, bold: gobold.TTF}

// missingGlyph stands for a letter that the font has not.
const missingGlyph = '□'

// printable is a text in letters that the font has, and whether all were.
func (p *Renderer) printable(text string) (string, bool) {
	complete := true
	var buffer sfnt.Buffer
	shown := strings.Map(func(r rune) rune {
		if r == '\u00a0' || r == ' ' {
			return r
		}
		// The PDF library knows only the first plane.
		if glyph, err := p.font.GlyphIndex(&buffer, r); err == nil && glyph != 0 && r <= 0xffff {
			return r
		}
		complete = false
		return missingGlyph
	}, text)
	return shown, complete
}
