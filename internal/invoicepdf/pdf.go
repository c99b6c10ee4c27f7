package invoicepdf

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
)

// Page layout in millimetres, with the address in the envelope window per DIN 5008.
const (
	marginLeft, marginRight, marginTop = 25.0, 20.0, 20.0
	pageWidth, pageHeight              = 210.0, 297.0
	contentWidth                       = pageWidth - marginLeft - marginRight
	windowTop                          = 50.0
	infoLeft, infoValue                = 107.0, 143.0
	bodyTop                            = 108.0
	footerTop                          = pageHeight - 32
	lineHeight                         = 5.2
	positionWidth                      = 12.0
	amountWidth                        = 26.0
	serviceWidth                       = contentWidth - positionWidth - 3*amountWidth
	cellMargin                         = 1.0 // left and right of a text
)

// Font sizes in points.
const (
	fontSmall, fontNormal, fontLarge, fontHuge = 7.5, 9.5, 12.0, 18.0
)

// colour has the operands of a colour in a content stream: red, green and blue from 0 to 1.
type colour string

const (
	textColour  colour = "0.094 0.125 0.173"
	greyColour  colour = "0.376 0.416 0.471"
	ruleColour  colour = "0.804 0.827 0.859"
	brandColour colour = "0.063 0.361 0.424"
	shadeColour colour = "0.953 0.965 0.973"
)

// sheet is one document being rendered.
type sheet struct {
	canvas
	doc           invoice.Document
	missingGlyphs bool // a character was replaced
}

// PDF renders the document with its XML embedded.
func (p *Renderer) PDF(d invoice.Document) ([]byte, error) {
	data, err := p.XML(d)
	if err != nil {
		return nil, err
	}
	s := &sheet{canvas: newCanvas(p.faces), doc: d}
	s.addPage()
	s.drawHeader()
	s.drawAddress()
	s.drawInfoBlock()
	s.drawItems()
	s.drawTotals()
	s.drawNotes()
	for s.page = range s.pages {
		s.drawFooter()
	}
	file := newPDFFile()
	attachment := addFacturX(file, data, d.IssuedAt)
	title, pages := s.title(), s.addTo(file)
	xmp := xmpMetadata(title, d.Seller.Name, d.IssuedAt)
	// Not compressed, so that programs that don't know PDF find it (ISO 16684-1).
	metadata := file.add("<< /Type /Metadata /Subtype /XML /Length %d >>\nstream\n%s\nendstream", len(xmp), xmp)
	info := file.add("<< /Title %s /Author %s /Creator (dotkontor) /Producer (dotkontor) /CreationDate %[3]s /ModDate %[3]s >>",
		textString(title), textString(d.Seller.Name), dateString(d.IssuedAt))
	catalog := file.add("<< /Type /Catalog /Pages %d 0 R /Metadata %d 0 R /Lang (de-DE) /AF [%[3]d 0 R] /Names << /EmbeddedFiles << /Names [(%[4]s) %[3]d 0 R] >> >> >>",
		pages, metadata, attachment, attachmentName)
	return file.finish(catalog, info), nil
}

func (s *sheet) setStyle(style style, size float64, c colour) {
	s.style, s.size, s.colour = style, size, c
}

// drawRule draws a line to the right margin.
func (s *sheet) drawRule(x, y, thickness float64, c colour) {
	s.line(x, y, pageWidth-marginRight, y, thickness, c)
}

type alignment int

const (
	left alignment = iota
	right
)

// putText prints one line at a position. Text that is too long is printed smaller, so that
// it never overlaps its neighbour.
func (s *sheet) putText(x, y, w float64, text string, align alignment) {
	text = s.printable(text)
	size := s.size
	for s.size > size/2 && s.textWidth(text) > w-cellMargin {
		s.size -= 0.25
	}
	if align == right {
		x += w - s.textWidth(text) - 2*cellMargin
	}
	s.text(x+cellMargin, y, text)
	s.size = size
}

// putWrapped prints a text in as many lines as needed and returns their height.
func (s *sheet) putWrapped(x, y, w float64, text string) float64 {
	rows := s.splitLines(text, w)
	for i, row := range rows {
		s.text(x+cellMargin, y+float64(i)*lineHeight, row)
	}
	return float64(len(rows)) * lineHeight
}

// splitLines breaks a text at spaces, and inside words longer than a line.
func (s *sheet) splitLines(text string, w float64) []string {
	var rows []string
	row := ""
	for _, word := range strings.Split(s.printable(text), " ") {
		joined := strings.TrimPrefix(row+" "+word, " ")
		if s.textWidth(joined) <= w-2*cellMargin {
			row = joined
			continue
		}
		if row != "" {
			rows = append(rows, row)
		}
		for row = ""; word != ""; word = word[len(row):] {
			if row != "" {
				rows = append(rows, row)
			}
			row = s.fittingPrefix(word, w-2*cellMargin)
		}
	}
	return append(rows, row)
}

func (s *sheet) fittingPrefix(word string, w float64) string {
	end := 0
	for at, r := range word {
		next := at + len(string(r))
		if end > 0 && s.textWidth(word[:next]) > w {
			break
		}
		end = next
	}
	return word[:end]
}

// ensureSpace starts a new page if less than the given height is left.
func (s *sheet) ensureSpace(height float64) bool {
	if s.y+height <= footerTop-8 {
		return false
	}
	s.addPage()
	s.y = marginTop
	return true
}

func (s *sheet) drawHeader() {
	s.setStyle(bold, fontLarge+1, brandColour)
	s.putText(marginLeft, marginTop, contentWidth, s.doc.Seller.Name, left)
	s.drawRule(marginLeft, marginTop+8, 0.6, brandColour)
}

func (s *sheet) drawAddress() {
	from := s.doc.Seller
	s.setStyle(regular, fontSmall, greyColour)
	s.putText(marginLeft, windowTop-6, 80, strings.Join(nonEmpty(from.Name, from.Street, from.PostalCode+" "+from.City), " · "), left)
	to := s.doc.Buyer
	rows := nonEmpty(to.Organisation, to.Name, to.Street, to.PostalCode+" "+to.City, to.State)
	if to.Country != "" && to.Country != from.Country {
		rows = append(rows, countryName(s.doc.Language, to.Country))
	}
	if len(rows) == 0 {
		rows = []string{to.DisplayName()}
	}
	y := windowTop
	for _, row := range rows {
		s.setStyle(regular, fontNormal+0.5, textColour)
		y += s.putWrapped(marginLeft, y, 80, row)
	}
}

// germanCountries holds the German names of CLDR by code. Their package in x/text has the
// names in all languages, which every process would load.
//
//go:embed countries.txt
var germanCountries string

// countryName is the last line of a foreign address: the country in capitals and in a language that
// the sender's postal service reads, which is German or, in an English document, English.
func countryName(language, code string) string {
	if language == "en" {
		return strings.ToUpper(registrar.CountryName(language, code))
	}
	for line := range strings.Lines(germanCountries) {
		if name, found := strings.CutPrefix(line, code+" "); found {
			return strings.ToUpper(strings.TrimSpace(name))
		}
	}
	return code
}

func (s *sheet) drawInfoBlock() {
	d := s.doc
	corrects := ""
	if d.Corrects != nil {
		corrects = d.Corrects.Number
	}
	y := windowTop - 6
	for _, row := range [][2]string{
		{s.label("Nummer", "Number"), d.Number},
		{s.label("Datum", "Date"), invoice.FormatDay(d.Day)},
		{s.label("Leistungsdatum", "Supplied on"), invoice.FormatDay(d.SuppliedOn)},
		{s.label("Zur Rechnung", "For invoice"), corrects},
		{s.label("Bestellung", "Order"), d.Order},
		{s.label("Zahlung", "Payment"), d.Payment},
		{s.label("Ihre USt-IdNr.", "VAT ID"), d.Buyer.VATID},
	} {
		if row[1] == "" {
			continue
		}
		s.setStyle(regular, fontSmall+0.5, greyColour)
		s.putText(infoLeft, y, infoValue-infoLeft, row[0], left)
		s.setStyle(regular, fontSmall+0.5, textColour)
		s.putText(infoValue, y, pageWidth-marginRight-infoValue, row[1], right)
		y += lineHeight
	}
}

func (s *sheet) drawItems() {
	s.setStyle(bold, fontHuge, textColour)
	s.putText(marginLeft, bodyTop-16, contentWidth, s.title(), left)
	s.y = bodyTop
	s.drawTableHeader()
	for i, line := range s.doc.Lines {
		s.setStyle(regular, fontNormal, textColour)
		rowHeight := float64(len(s.splitLines(line.Text, serviceWidth)))*lineHeight + 3
		if s.ensureSpace(rowHeight) {
			s.drawTableHeader()
			s.setStyle(regular, fontNormal, textColour)
		}
		y := s.y + 1.5
		s.putText(marginLeft, y, positionWidth, fmt.Sprint(i+1), left)
		s.putWrapped(marginLeft+positionWidth, y, serviceWidth, line.Text)
		s.drawAmounts(y, formatMoney(line.Net), formatMoney(line.VAT), formatMoney(line.Gross))
		s.drawRule(marginLeft, y-1.5+rowHeight, 0.2, ruleColour)
		s.y = y - 1.5 + rowHeight
	}
}

func (s *sheet) drawTableHeader() {
	y := s.y
	s.fill(marginLeft, y, contentWidth, 8, shadeColour)
	s.setStyle(bold, fontSmall+0.5, greyColour)
	s.putText(marginLeft, y+1.4, positionWidth, s.label("Pos.", "Pos."), left)
	s.putText(marginLeft+positionWidth, y+1.4, serviceWidth, s.label("Leistung", "Service"), left)
	s.drawAmounts(y+1.4, s.label("Netto", "Net"), s.label("USt.", "VAT"), s.label("Brutto", "Gross"))
	s.y = y + 8
}

func (s *sheet) drawAmounts(y float64, texts ...string) {
	x := pageWidth - marginRight - float64(len(texts))*amountWidth
	for _, text := range texts {
		s.putText(x, y, amountWidth, text, right)
		x += amountWidth
	}
}

func (s *sheet) drawTotals() {
	d := s.doc
	s.ensureSpace(4*lineHeight + 12)
	y := s.y + 5
	const from = 105.0
	rate := ""
	if d.Category != invoice.OutOfScope {
		rate = " " + formatPercent(d.RateBasisPoints)
	}
	for _, row := range [][2]string{
		{s.label("Nettobetrag", "Net amount"), formatMoney(d.Net)}, {s.label("Umsatzsteuer", "VAT") + rate, formatMoney(d.VAT)},
	} {
		s.setStyle(regular, fontNormal, textColour)
		s.putText(from, y, 50, row[0], left)
		s.putText(from+45, y, pageWidth-marginRight-from-45, row[1], right)
		y += lineHeight + 0.6
	}
	s.drawRule(from+1, y+0.8, 0.4, brandColour)
	s.setStyle(bold, fontLarge, brandColour)
	total := s.label("Gesamtbetrag", "Total")
	if d.Kind == invoice.Correction {
		total = s.label("Erstattungsbetrag", "Amount refunded")
	}
	s.putText(from, y+2.2, 52, total, left)
	s.putText(from+50, y+2.2, pageWidth-marginRight-from-50, formatMoney(d.Gross), right)
	s.y = y + 2*lineHeight + 6
}

func (s *sheet) drawNotes() {
	notes := slices.Clone(s.doc.Notes)
	if s.missingGlyphs {
		notes = append(notes, s.label(
			"Ein leeres Kästchen steht für ein Zeichen, das diese Schrift nicht hat; die beigefügte Datei factur-x.xml hat die volle Schreibweise.",
			"An empty box stands for a character that this font does not have; the attached file factur-x.xml has the full spelling."))
	}
	for _, note := range notes {
		s.setStyle(regular, fontNormal, textColour)
		s.ensureSpace(float64(len(s.splitLines(note, contentWidth)))*lineHeight + 2)
		y := s.y
		s.y = y + s.putWrapped(marginLeft, y, contentWidth, note) + 2
	}
	s.setStyle(regular, fontSmall, greyColour)
	s.putText(marginLeft, footerTop-6, contentWidth, s.label(
		"Diese Datei enthält die Rechnungsdaten nach EN 16931 als factur-x.xml.",
		"This file contains the invoice data according to EN 16931 as factur-x.xml."), left)
}

// drawFooter draws the legally required seller details on every page.
func (s *sheet) drawFooter() {
	from := s.doc.Seller
	s.drawRule(marginLeft, footerTop, 0.2, ruleColour)
	tax := nonEmpty(labelled(s.label("USt-IdNr.", "VAT ID"), from.VATID), labelled(s.label("Steuernummer", "Tax number"), from.TaxNumber))
	for column, rows := range [][]string{
		nonEmpty(from.Name, from.Street, from.PostalCode+" "+from.City),
		append(nonEmpty(from.Register), tax...),
		nonEmpty(from.Email, from.Phone, fmt.Sprintf("%s %d/%d", s.label("Seite", "Page"), s.page+1, len(s.pages))),
	} {
		for i, row := range rows {
			s.setStyle(regular, fontSmall, greyColour)
			s.putText(marginLeft+float64(column)*contentWidth/3, footerTop+2+float64(i)*3.6, contentWidth/3, row, left)
		}
	}
}

func labelled(name, value string) string {
	if value == "" {
		return ""
	}
	return name + ": " + value
}

func nonEmpty(texts ...string) []string {
	var all []string
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			all = append(all, text)
		}
	}
	return all
}
