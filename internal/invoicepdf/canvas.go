package invoicepdf

import (
	"bytes"
	"encoding/hex"
	"fmt"
)

const pointsPerMillimetre = 72 / 25.4

// canvas draws on pages. Positions are in millimetres from the top left.
type canvas struct {
	faces  [2]*face
	style  style
	size   float64 // of the font, in points
	colour colour
	y      float64 // where the next block starts
	page   int     // the page that is drawn on
	pages  []*bytes.Buffer
	used   [2][]rune // by style
}

type style int

// The styles of the font.
const (
	regular style = iota
	bold
)

func newCanvas(faces [2]*face) canvas {
	return canvas{faces: faces, page: -1}
}

func (c *canvas) addPage() {
	c.pages = append(c.pages, &bytes.Buffer{})
	c.page++
}

func (c *canvas) draw(format string, values ...any) {
	fmt.Fprintf(c.pages[c.page], format, values...)
}

func points(x, y float64) (float64, float64) {
	return x * pointsPerMillimetre, (pageHeight - y) * pointsPerMillimetre
}

func (c *canvas) line(x, y, toX, toY, thickness float64, stroke colour) {
	x, y = points(x, y)
	toX, toY = points(toX, toY)
	c.draw("%s RG %.2f w %.2f %.2f m %.2f %.2f l S\n", stroke, thickness*pointsPerMillimetre, x, y, toX, toY)
}

func (c *canvas) fill(x, y, width, height float64, with colour) {
	x, y = points(x, y+height)
	c.draw("%s rg %.2f %.2f %.2f %.2f re f\n", with, x, y, width*pointsPerMillimetre, height*pointsPerMillimetre)
}

// textWidth returns the width of a text at the present size.
func (c *canvas) textWidth(text string) float64 {
	width, glyphs := 0, c.faces[c.style].glyphs()
	for _, r := range text {
		width += glyphs.of(r).width
	}
	return float64(width) / perEm * c.size / pointsPerMillimetre
}

// text prints a text whose box of the line's height starts at a position.
func (c *canvas) text(x, y float64, text string) {
	x, y = points(x, y+lineHeight/2)
	c.draw("BT /F%d %.2f Tf %s rg %.2f %.2f Td <", c.style, c.size, c.colour, x, y-0.3*c.size)
	glyphs, page := c.faces[c.style].glyphs(), c.pages[c.page]
	codes := page.AvailableBuffer()
	for _, r := range text {
		c.used[c.style] = append(c.used[c.style], r)
		index := glyphs.of(r).index
		codes = hex.AppendEncode(codes, []byte{byte(index >> 8), byte(index)})
	}
	page.Write(codes)
	page.WriteString("> Tj ET\n")
}

// addTo writes the pages and returns the object of their tree.
func (c *canvas) addTo(file *pdfFile) int {
	fonts := ""
	for style, face := range c.faces {
		fonts += fmt.Sprintf("/F%d %d 0 R ", style, face.addTo(file, c.used[style]))
	}
	tree, kids := file.reserve(), ""
	for _, content := range c.pages {
		stream := file.addStream("", deflate(content.Bytes()))
		kids += fmt.Sprintf("%d 0 R ", file.add("<< /Type /Page /Parent %d 0 R /Contents %d 0 R >>", tree, stream))
	}
	file.put(tree, "<< /Type /Pages /Kids [%s] /Count %d /MediaBox [0 0 %.2f %.2f] /Resources << /Font << %s>> >> >>",
		kids, len(c.pages), pageWidth*pointsPerMillimetre, pageHeight*pointsPerMillimetre, fonts)
	return tree
}
