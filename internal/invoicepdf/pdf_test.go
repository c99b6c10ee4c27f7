package invoicepdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// xrefOffsets follows the xref tables of a PDF from its end and returns each object's
// offset; the last version counts.
func xrefOffsets(t *testing.T, pdf []byte) map[int]int {
	t.Helper()
	at, places := -1, map[int]int{}
	if found := regexp.MustCompile(`startxref\n(\d+)\n%%EOF\n$`).FindSubmatch(pdf); found != nil {
		at = atoi(string(found[1]))
	}
	for tables := 0; at >= 0; tables++ {
		if tables > 2 || at >= len(pdf) || !bytes.HasPrefix(pdf[at:], []byte("xref\n")) {
			t.Fatalf("no xref table at %d", at)
		}
		body, rest, _ := strings.Cut(string(pdf[at+len("xref\n"):]), "trailer")
		next := 0
		for _, row := range strings.Split(strings.TrimSuffix(body, "\n"), "\n") {
			fields := strings.Fields(row)
			switch len(fields) {
			case 2:
				next = atoi(fields[0])
			case 3:
				if len(row) != 19 && len(row) != 18 {
					t.Errorf("a row of %d: %q", len(row), row)
				}
				if _, known := places[next]; !known && fields[2] == "n" {
					places[next] = atoi(fields[0])
				}
				next++
			}
		}
		at = -1
		trailer, _, _ := strings.Cut(rest, "startxref")
		if found := regexp.MustCompile(`/Prev (\d+)`).FindStringSubmatch(trailer); found != nil {
			at = atoi(found[1])
		}
	}
	return places
}

func TestPDF_EmbedsXMLAsAssociatedFile(t *testing.T) {
	t.Parallel()
	pdfs, xmls := renderedSamples(t)
	for name, pdf := range pdfs {
		places := xrefOffsets(t, pdf)
		if len(places) < 10 {
			t.Errorf("%s: %d objects", name, len(places))
		}
		objects := map[int]string{}
		for number, at := range places {
			head := strconv.Itoa(number) + " 0 obj\n"
			if at+len(head) > len(pdf) || string(pdf[at:at+len(head)]) != head {
				t.Fatalf("%s: object %d is not at %d", name, number, at)
			}
			body, _, _ := bytes.Cut(pdf[at+len(head):], []byte("\nendobj"))
			objects[number] = string(body)
		}
		var spec, file string
		var specNumber int
		for number, body := range objects {
			switch {
			case strings.HasPrefix(body, "<< /Type /Filespec"):
				spec, specNumber = body, number
			case strings.HasPrefix(body, "<< /Type /EmbeddedFile"):
				file = body
			}
		}
		catalog := ""
		for _, body := range objects {
			if strings.Contains(body, "/Type /Catalog") {
				catalog = body
			}
		}
		if !strings.Contains(spec, "/F (factur-x.xml)") || !strings.Contains(spec, "/AFRelationship /Alternative") ||
			!strings.Contains(catalog, fmt.Sprintf("/AF [%d 0 R]", specNumber)) || !strings.Contains(catalog, "(factur-x.xml)") {
			t.Errorf("%s: attachment has no relationship: %s\n%s", name, spec, catalog)
		}
		_, stream, _ := strings.Cut(file, "stream\n")
		stream, _, _ = strings.Cut(stream, "\nendstream")
		reader, err := zlib.NewReader(strings.NewReader(stream))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if content, err := io.ReadAll(reader); err != nil || !bytes.Equal(content, xmls[name]) {
			t.Errorf("%s: attachment differs: %v", name, err)
		}
		if !strings.Contains(file, "/Subtype /text#2Fxml") || !bytes.Contains(pdf, []byte("<fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>")) {
			t.Errorf("%s: metadata does not describe the attachment", name)
		}
	}
}

// runTool runs an external program, or skips the test.
func runTool(t *testing.T, program string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed", program)
	}
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s %v: %v\n%s", program, args, err, out)
	}
	return string(out)
}

// writeSamplePDFs writes every sample to a directory.
func writeSamplePDFs(t *testing.T) map[string]string {
	t.Helper()
	pdfs, _ := renderedSamples(t)
	folder, paths := t.TempDir(), map[string]string{}
	for name, pdf := range pdfs {
		paths[name] = filepath.Join(folder, strings.ReplaceAll(name, " ", "-")+".pdf")
		if err := os.WriteFile(paths[name], pdf, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

func TestPDF_PassesQPDFCheck(t *testing.T) {
	t.Parallel()
	for name, path := range writeSamplePDFs(t) {
		if output := runTool(t, "qpdf", "--check", path); !strings.Contains(output, "No syntax or stream encoding errors found") {
			t.Errorf("%s: %s", name, output)
		}
	}
}

func TestPDF_TextContainsDocumentData(t *testing.T) {
	t.Parallel()
	for name, path := range writeSamplePDFs(t) {
		d := samples()[name]
		text := strings.Join(strings.Fields(runTool(t, "pdftotext", "-layout", path, "-")), " ")
		want := []string{d.Number, "15.11.2026", pdfMoney(d.Net), pdfMoney(d.VAT), pdfMoney(d.Gross), d.Seller.Name, d.Seller.Street, d.Buyer.Street, d.Order}
		want = append(want, nonEmpty(d.Seller.VATID, d.Seller.TaxNumber, d.Seller.Register)...)
		if d.Reason != "" {
			want = append(want, strings.Join(strings.Fields(d.Reason)[:4], " "))
		}
		for _, phrase := range want {
			if !strings.Contains(text, phrase) {
				t.Errorf("%s lacks %q: %s", name, phrase, text)
			}
		}
		if boxes := strings.Contains(text, "□"); boxes != (name == "outside" || name == "odd") || boxes != strings.Contains(text, "leeres Kästchen") {
			t.Errorf("%s: boxes %t", name, boxes)
		}
		if english := strings.Contains(text, "Rechnung / Invoice"); english != (d.Language == "en") {
			t.Errorf("%s: English %t", name, english)
		}
	}
}

func atoi(digits string) int {
	n, _ := strconv.Atoi(digits) // the pattern matches only digits
	return n
}

// pdfMoney formats an amount as pdftotext prints it.
func pdfMoney(amount registrar.Cents) string {
	return strings.ReplaceAll(formatMoney(amount), "\u00a0", " ")
}

func TestFormat_AmountsAndRatesUseGermanNotation(t *testing.T) {
	t.Parallel()
	for amount, want := range map[registrar.Cents]string{0: "0,00", 5: "0,05", 123456: "1.234,56", 99999: "999,99", 100000000: "1.000.000,00", -123456: "-1.234,56"} {
		if got := formatMoney(amount); got != want+"\u00a0€" {
			t.Errorf("%d is %q", amount, got)
		}
	}
	for rate, want := range map[int]string{0: "0", 1900: "19", 550: "5,5", 2550: "25,5", 1234: "12,34"} {
		if got := formatPercent(rate); got != want+"\u00a0%" {
			t.Errorf("%d is %q", rate, got)
		}
	}
}
