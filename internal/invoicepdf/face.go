package invoicepdf

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// perEm is the unit of glyph widths in a PDF: a thousandth of the font size.
const perEm = 1000

// face is a TrueType font.
type face struct {
	name   string // in the PDF
	ttf    []byte
	font   *sfnt.Font
	glyphs func() *glyphTable
	// What most documents need, and nearly all: computed once.
	german, western func() subset
}

type glyph struct {
	index uint16
	width int // in thousandths of the font size
}

// glyphTable has the glyphs of a font by rune.
type glyphTable struct {
	all   map[rune]glyph
	latin [maxLatin + 1]glyph // of Latin-1, which nearly all texts consist of
}

const maxLatin = 0xff

// of returns the glyph of a rune; its index is 0 if the font lacks it.
func (t *glyphTable) of(r rune) glyph {
	if r <= maxLatin {
		return t.latin[r]
	}
	return t.all[r]
}

// subset is the part of a font that a document embeds.
type subset struct {
	program []byte // a font file, compressed
	length  int    // of the font file
	widths  string // entries of the array W
	mapping []byte // of glyphs to Unicode, compressed
}

func newFace(name string, ttf []byte) (*face, error) {
	parsed, err := sfnt.Parse(ttf)
	if err != nil {
		return nil, fmt.Errorf("invoicepdf: parse font %s: %w", name, err)
	}
	f := &face{name: name, ttf: ttf, font: parsed}
	f.glyphs = sync.OnceValue(f.loadGlyphs)
	f.german = sync.OnceValue(func() subset { return f.newSubset(isGerman, nil) })
	f.western = sync.OnceValue(func() subset { return f.newSubset(isWestern, nil) })
	return f, nil
}

// loadFaces returns the regular and the bold face.
var loadFaces = sync.OnceValues(func() (faces [2]*face, err error) {
	if faces[regular], err = newFace("GoRegular", goregular.TTF); err != nil {
		return faces, err
	}
	faces[bold], err = newFace("GoBold", gobold.TTF)
	return faces, err
})

// loadGlyphs returns the glyphs of the basic multilingual plane.
func (f *face) loadGlyphs() *glyphTable {
	var buffer sfnt.Buffer
	glyphs := &glyphTable{all: make(map[rune]glyph)}
	for r := ' '; r <= 0xffff; r++ {
		index, err := f.font.GlyphIndex(&buffer, r)
		if err != nil || index == 0 {
			continue
		}
		if width, err := f.font.GlyphAdvance(&buffer, index, fixed.I(perEm), font.HintingNone); err == nil {
			glyphs.all[r] = glyph{uint16(index), width.Round()}
		}
	}
	for r := range glyphs.latin {
		glyphs.latin[r] = glyphs.all[rune(r)]
	}
	return glyphs
}

// isGerman reports whether a rune is one of German or English, or of our texts.
func isGerman(r rune) bool {
	return r >= ' ' && r <= '~' || strings.ContainsRune("ÄÖÜäöüß\u00a0§·–—‘’‚“”„•…€"+string(missingGlyph), r)
}

// isWestern reports whether a rune is one of Western Europe (Latin-1), or of our texts.
func isWestern(r rune) bool { return isGerman(r) || r >= 0xa0 && r <= 0xff }

// embed returns a subset that has the given runes. It is small, because invoices are mailed.
func (f *face) embed(used []rune) subset {
	lacks := func(has func(rune) bool) bool {
		return slices.ContainsFunc(used, func(r rune) bool { return !has(r) })
	}
	switch {
	case !lacks(isGerman):
		return f.german()
	case !lacks(isWestern):
		return f.western()
	}
	return f.newSubset(isWestern, used)
}

// newSubset returns the runes of a group and others.
func (f *face) newSubset(inGroup func(rune) bool, others []rune) subset {
	glyphs := f.glyphs()
	runes := slices.Clone(others)
	for r := range glyphs.all {
		if inGroup(r) {
			runes = append(runes, r)
		}
	}
	slices.Sort(runes)
	runes = slices.Compact(runes)
	var widths, names strings.Builder
	for block := range slices.Chunk(runes, maxMappings) {
		fmt.Fprintf(&names, "%d beginbfchar\n", len(block))
		for _, r := range block {
			fmt.Fprintf(&widths, "%d [%d] ", glyphs.of(r).index, glyphs.of(r).width)
			fmt.Fprintf(&names, "<%04X> <%04X>\n", glyphs.of(r).index, r)
		}
		names.WriteString("endbfchar\n")
	}
	mapping := "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n" +
		"/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n" +
		"1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n" + names.String() + "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
	file, compressor := f.reduce(runes), newCompressor(zlib.BestCompression)
	return subset{compress(compressor, file), len(file), widths.String(), compress(compressor, []byte(mapping))}
}

const (
	longLocations     = 1  // the table loca has 32 bits for each glyph
	offsetOfLocFormat = 50 // in the table head
	headerOfGlyph     = 10 // number of contours and bounding box
)

// reduce returns the font without the outlines of other runes. Glyphs keep their indices,
// so widths and hints stay valid. No outline of the Go fonts refers to another one. Tables
// that a PDF does not use are left out.
func (f *face) reduce(runes []rune) []byte {
	tables := f.tables()
	glyphs, locations := f.glyphs(), glyphLocations(tables)
	keep := map[int]bool{0: true}
	for _, r := range runes {
		keep[int(glyphs.of(r).index)] = true
	}
	var outlines, positions []byte
	for index := range len(locations) - 1 {
		positions = binary.BigEndian.AppendUint32(positions, uint32(len(outlines)))
		if keep[index] {
			outlines = appendUnhinted(outlines, tables["glyf"][locations[index]:locations[index+1]])
			outlines = append(outlines, make([]byte, -len(outlines)&3)...)
		}
	}
	tables["glyf"], tables["loca"] = outlines, binary.BigEndian.AppendUint32(positions, uint32(len(outlines)))
	tables["head"] = slices.Clone(tables["head"])
	binary.BigEndian.PutUint16(tables["head"][offsetOfLocFormat:], longLocations)
	return joinTables(tables)
}

// appendUnhinted appends a simple glyph without its instructions, which are nearly half of
// it: they adjust outlines to the few pixels of a screen of 96 dpi, and most readers of PDF
// ignore them.
func appendUnhinted(outlines, glyph []byte) []byte {
	if len(glyph) == 0 { // a space
		return outlines
	}
	instructions := headerOfGlyph + 2*int(binary.BigEndian.Uint16(glyph)) // after the end of each contour
	points := instructions + 2 + int(binary.BigEndian.Uint16(glyph[instructions:]))
	outlines = append(outlines, glyph[:instructions]...)
	outlines = append(outlines, 0, 0)
	return append(outlines, glyph[points:]...)
}

// tables returns the tables that a PDF needs of a font.
func (f *face) tables() map[string][]byte {
	tables := make(map[string][]byte)
	for i := range int(binary.BigEndian.Uint16(f.ttf[4:])) {
		entry := f.ttf[12+16*i:]
		offset, length := binary.BigEndian.Uint32(entry[8:]), binary.BigEndian.Uint32(entry[12:])
		switch tag := string(entry[:4]); tag {
		case "glyf", "head", "hhea", "hmtx", "loca", "maxp":
			tables[tag] = f.ttf[offset : offset+length]
		}
	}
	return tables
}

// glyphLocations returns where each glyph starts, and where the last one ends.
func glyphLocations(tables map[string][]byte) []uint32 {
	count := int(binary.BigEndian.Uint16(tables["maxp"][4:])) + 1
	long := binary.BigEndian.Uint16(tables["head"][offsetOfLocFormat:]) == longLocations
	locations := make([]uint32, count)
	for i := range locations {
		if long {
			locations[i] = binary.BigEndian.Uint32(tables["loca"][4*i:])
		} else {
			locations[i] = 2 * uint32(binary.BigEndian.Uint16(tables["loca"][2*i:]))
		}
	}
	return locations
}

// joinTables writes a font file. Its tables are sorted by tag, as OpenType requires.
func joinTables(tables map[string][]byte) []byte {
	const headerSize, entrySize = 12, 16
	largest, exponent := 1, 0
	for ; 2*largest <= len(tables); largest *= 2 {
		exponent++
	}
	file := binary.BigEndian.AppendUint32(nil, 0x00010000)
	for _, value := range []int{len(tables), 16 * largest, exponent, 16 * (len(tables) - largest)} {
		file = binary.BigEndian.AppendUint16(file, uint16(value))
	}
	offset := headerSize + entrySize*len(tables)
	var body bytes.Buffer
	for _, tag := range slices.Sorted(maps.Keys(tables)) {
		table := tables[tag]
		padded := append(slices.Clip(table), make([]byte, -len(table)&3)...)
		var checksum uint32
		for at := 0; at < len(padded); at += 4 {
			checksum += binary.BigEndian.Uint32(padded[at:])
		}
		file = append(file, tag...)
		for _, value := range []uint32{checksum, uint32(offset + body.Len()), uint32(len(table))} {
			file = binary.BigEndian.AppendUint32(file, value)
		}
		body.Write(padded)
	}
	return append(file, body.Bytes()...)
}

// maxMappings limits a block of a mapping to Unicode (Adobe Technical Note 5014).
const maxMappings = 100

// addTo writes the font with the given runes and returns its object.
func (f *face) addTo(file *pdfFile, used []rune) int {
	var buffer sfnt.Buffer
	bounds, _ := f.font.Bounds(&buffer, fixed.I(perEm), font.HintingNone) // of a font that newFace has parsed
	metrics, _ := f.font.Metrics(&buffer, fixed.I(perEm), font.HintingNone)
	part := f.embed(used)
	program := file.addStream(fmt.Sprintf("/Length1 %d", part.length), part.program)
	descriptor := file.add("<< /Type /FontDescriptor /FontName /DOTKTR+%s /Flags 4 /FontBBox [%d %d %d %d] /ItalicAngle 0 /Ascent %d /Descent %d /CapHeight %d /StemV 80 /FontFile2 %d 0 R >>",
		f.name, bounds.Min.X.Floor(), -bounds.Max.Y.Ceil(), bounds.Max.X.Ceil(), -bounds.Min.Y.Floor(), metrics.Ascent.Round(), -metrics.Descent.Round(), metrics.CapHeight.Round(), program)
	descendant := file.add("<< /Type /Font /Subtype /CIDFontType2 /BaseFont /DOTKTR+%s /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor %d 0 R /W [%s] /CIDToGIDMap /Identity >>",
		f.name, descriptor, part.widths)
	mapping := file.addStream("", part.mapping)
	return file.add("<< /Type /Font /Subtype /Type0 /BaseFont /DOTKTR+%s /Encoding /Identity-H /DescendantFonts [%d 0 R] /ToUnicode %d 0 R >>", f.name, descendant, mapping)
}
