package invoicepdf

import (
	"bytes"
	"compress/zlib"
	"io"
	"testing"
)

// tablesOf unpacks an embedded font.
func tablesOf(t *testing.T, embedded fontFile) map[string][]byte {
	t.Helper()
	reader, err := zlib.NewReader(bytes.NewReader(embedded.compressed))
	if err != nil {
		t.Fatal(err)
	}
	ttf, err := io.ReadAll(reader)
	if err != nil || len(ttf) != embedded.length {
		t.Fatalf("%d of %d bytes, %v", len(ttf), embedded.length, err)
	}
	return (&face{ttf: ttf}).tables()
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
				t.Fatalf("%s: glyph %d is composed of others, which subset does not keep", face.name, index)
			}
		}
		for _, used := range []string{"", "Ж", "Ελλάδα ščž"} {
			tables := tablesOf(t, face.embed([]rune(used)))
			for _, r := range "Straße Äü1€" + used {
				index := int(glyphs[r].index)
				want, got := outline(whole, index), outline(tables, index)
				if !bytes.HasPrefix(got, want) || len(got)-len(want) > 3 {
					t.Errorf("%s: %q has %d bytes of %d", face.name, r, len(got), len(want))
				}
			}
			if used == "" && len(outline(tables, int(glyphs['Ж'].index))) != 0 {
				t.Errorf("%s: the common subset has Ж", face.name)
			}
		}
	}
}
