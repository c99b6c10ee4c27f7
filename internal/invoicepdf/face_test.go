package invoicepdf

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"testing"
)

// tablesOf unpacks an embedded font.
func tablesOf(t *testing.T, embedded subset) map[string][]byte {
	t.Helper()
	reader, err := zlib.NewReader(bytes.NewReader(embedded.program))
	if err != nil {
		t.Fatal(err)
	}
	ttf, err := io.ReadAll(reader)
	if err != nil || len(ttf) != embedded.length {
		t.Fatalf("%d of %d bytes, %v", len(ttf), embedded.length, err)
	}
	return (&face{ttf: ttf}).tables()
}

// sameOutline returns an error unless a glyph has the points of another one, no
// instructions, and at most three bytes of padding.
func sameOutline(hinted, unhinted []byte) error {
	if len(hinted) == 0 && len(unhinted) == 0 {
		return nil
	}
	contours := int(binary.BigEndian.Uint16(hinted))
	ends := 10 + 2*contours
	skip := ends + 2 + int(binary.BigEndian.Uint16(hinted[ends:]))
	want := slices.Concat(hinted[:ends], []byte{0, 0}, hinted[skip:])
	if !bytes.HasPrefix(unhinted, want) || len(unhinted)-len(want) > 3 {
		return fmt.Errorf("% x instead of % x", unhinted, want)
	}
	return nil
}

func TestSubset_HasOutlinesOfItsRunes(t *testing.T) {
	t.Parallel()
	faces, err := loadFaces()
	if err != nil {
		t.Fatal(err)
	}
	outline := func(tables map[string][]byte, index int) []byte {
		locations := glyphLocations(tables)
		return tables["glyf"][locations[index]:locations[index+1]]
	}
	for _, face := range faces {
		whole, glyphs := face.tables(), face.glyphs()
		for index := range len(glyphLocations(whole)) - 1 {
			if contours := outline(whole, index); len(contours) > 0 && contours[0]&0x80 != 0 {
				t.Fatalf("%s: glyph %d is composed of others, which reduce does not keep", face.name, index)
			}
		}
		for _, used := range []string{"", "Désirée Núñez", "Ж", "Ελλάδα ščž"} {
			tables := tablesOf(t, face.embed([]rune(used)))
			for _, r := range "Straße Äü1€" + used {
				index := int(glyphs.of(r).index)
				if err := sameOutline(outline(whole, index), outline(tables, index)); err != nil {
					t.Errorf("%s: %q: %v", face.name, r, err)
				}
			}
			for _, r := range "éЖ" {
				if used == "" && len(outline(tables, int(glyphs.of(r).index))) != 0 {
					t.Errorf("%s: the subset of a German document has %q", face.name, r)
				}
			}
		}
	}
}
