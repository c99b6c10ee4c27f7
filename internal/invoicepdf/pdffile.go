package invoicepdf

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
)

// pdfFile writes the objects of a PDF (ISO 32000-1, 7.5).
type pdfFile struct {
	out     bytes.Buffer
	offsets []int // by number - 1; 0 until the object is written
}

// usualSize is more than most invoices take, fonts included.
const usualSize = 32 << 10

func newPDFFile() *pdfFile {
	file := &pdfFile{}
	file.out.Grow(usualSize)
	file.out.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n") // bytes above 127 say that it is binary
	return file
}

// reserve returns the number of an object that put writes later.
func (f *pdfFile) reserve() int {
	f.offsets = append(f.offsets, 0)
	return len(f.offsets)
}

func (f *pdfFile) put(number int, format string, values ...any) {
	f.offsets[number-1] = f.out.Len()
	fmt.Fprintf(&f.out, "%d 0 obj\n", number)
	fmt.Fprintf(&f.out, format, values...)
	f.out.WriteString("\nendobj\n")
}

// add writes an object and returns its number.
func (f *pdfFile) add(format string, values ...any) int {
	number := f.reserve()
	f.put(number, format, values...)
	return number
}

// addStream adds what deflate has compressed. entries are those of its dictionary.
func (f *pdfFile) addStream(entries string, compressed []byte) int {
	number := f.reserve()
	f.offsets[number-1] = f.out.Len()
	fmt.Fprintf(&f.out, "%d 0 obj\n<< %s /Filter /FlateDecode /Length %d >>\nstream\n", number, entries, len(compressed))
	f.out.Write(compressed)
	f.out.WriteString("\nendstream\nendobj\n")
	return number
}

// finish writes the cross-reference table and the trailer and returns the file.
func (f *pdfFile) finish(catalog, info int) []byte {
	id := fmt.Sprintf("%x", sha256.Sum256(f.out.Bytes()))[:32]
	start := f.out.Len()
	fmt.Fprintf(&f.out, "xref\n0 %d\n%010d %05d f \n", len(f.offsets)+1, 0, 65535)
	for _, offset := range f.offsets {
		fmt.Fprintf(&f.out, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&f.out, "trailer\n<< /Size %d /Root %d 0 R /Info %d 0 R /ID [<%s> <%s>] >>\nstartxref\n%d\n%%%%EOF\n", len(f.offsets)+1, catalog, info, id, id, start)
	return f.out.Bytes()
}

// compressors are reused, because a new one clears a megabyte. They are fast: a document is
// small, except for its fonts, which are compressed once.
var compressors = sync.Pool{New: func() any { return newCompressor(zlib.BestSpeed) }}

func newCompressor(level int) *zlib.Writer {
	compressor, err := zlib.NewWriterLevel(nil, level)
	if err != nil {
		panic(err) // the level does not exist
	}
	return compressor
}

func deflate(data []byte) []byte {
	compressor := compressors.Get().(*zlib.Writer) //nolint:errcheck // the pool has nothing else
	defer compressors.Put(compressor)
	return compress(compressor, data)
}

func compress(compressor *zlib.Writer, data []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(data) / 2)
	compressor.Reset(&out)
	_, _ = compressor.Write(data) // it writes to memory and can't fail
	_ = compressor.Close()
	return out.Bytes()
}

// textString is a string of the metadata, in UTF-16.
func textString(text string) string {
	var b strings.Builder
	b.WriteString("<FEFF")
	for _, unit := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&b, "%04X", unit)
	}
	return b.String() + ">"
}

func dateString(at time.Time) string { return "(D:" + at.UTC().Format("20060102150405") + "Z)" }
