package paper

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
)

// The sheet, in millimetres: an address in the window of an envelope after DIN 5008.
const (
	left, right, top    = 25.0, 20.0, 20.0
	width, height       = 210.0, 297.0
	inner               = width - left - right
	windowTop           = 50.0
	infoLeft, infoValue = 107.0, 143.0
	bodyTop             = 108.0
	footerTop           = height - 32
	lineHeight          = 5.2
	placeWidth          = 12.0
	sumWidth            = 26.0
	whatWidth           = inner - placeWidth - 3*sumWidth
)

// Sizes of type, in points.
const (
	small, normal, large, huge = 7.5, 9.5, 12.0, 18.0
)

type colour [3]int

var (
	ink   = colour{24, 32, 44}
	grey  = colour{96, 106, 120}
	rule  = colour{205, 211, 219}
	brand = colour{16, 92, 108}
	shade = colour{243, 246, 248}
)

// sheet is one document being set.
type sheet struct {
	*fpdf.Fpdf
	press *Press
	d     invoice.Document
	// boxes says that a letter was missing.
	boxes bool
	// pages stands for how many there are until that is known.
	pages string
}

// PDF is the document on paper, with its XML inside.
func (p *Press) PDF(d invoice.Document) ([]byte, error) {
	data, err := p.XML(d)
	if err != nil {
		return nil, err
	}
	s := &sheet{Fpdf: fpdf.New("P", "mm", "A4", ""), press: p, d: d}
	if s.pages, err = placeholder(d); err != nil {
		return nil, err
	}
	for style, face := range faces {
		s.AddUTF8FontFromBytes(family, style, face)
	}
	s.describe(data)
	s.SetMargins(left, top, right)
	s.SetAutoPageBreak(false, 0) // rows are kept together, see room
	s.SetFooterFunc(s.footer)
	s.AliasNbPages(s.pages)
	s.AddPage()
	s.head()
	s.address()
	s.info()
	s.lines()
	s.sums()
	s.notes()
	var out bytes.Buffer
	if err := s.Output(&out); err != nil {
		return nil, fmt.Errorf("the PDF of %s: %w", d.Number, err)
	}
	return associate(out.Bytes(), d.IssuedAt)
}

// placeholder is a text that stands nowhere in the document: the library puts the
// number of pages in its place wherever it finds it, also in a customer's name.
func placeholder(d invoice.Document) (string, error) {
	said, err := json.Marshal(d)
	text := "{nb}"
	for strings.Contains(string(said), text) {
		text = "{" + text + "}"
	}
	return text, err
}

// describe says what the file is. Nothing in it depends on when it is made.
func (s *sheet) describe(data []byte) {
	title := titles[s.d.Kind].in(s.d.Language) + " " + s.d.Number
	s.SetCatalogSort(true)
	s.SetCreationDate(s.d.IssuedAt.UTC())
	s.SetModificationDate(s.d.IssuedAt.UTC())
	s.SetTitle(title, true)
	s.SetAuthor(s.d.Seller.Name, true)
	s.SetCreator("dotkontor", false)
	s.SetProducer("dotkontor", false)
	s.SetLang("de-DE")
	s.SetXmpMetadata(metadata(title, s.d.Seller.Name, s.d.IssuedAt))
	s.SetAttachments([]fpdf.Attachment{{Content: data, Filename: attachment, Description: "Factur-X/ZUGFeRD, EN 16931"}})
}

func (s *sheet) use(style string, size float64, c colour) {
	s.SetFont(family, style, size)
	s.SetTextColor(c[0], c[1], c[2])
}

func (s *sheet) draw(c colour) { s.SetDrawColor(c[0], c[1], c[2]) }

// text is what the font can show of a text.
func (s *sheet) text(text string) string {
	shown, whole := s.press.printable(text)
	s.boxes = s.boxes || !whole
	return shown
}

// put sets one line at a place. What is too long is set smaller, and never runs into
// its neighbour.
func (s *sheet) put(x, y, w float64, text, align string) {
	text = s.text(text)
	size, _ := s.GetFontSize()
	for fit := size; fit > size/2 && s.GetStringWidth(text) > w-1; fit -= 0.25 {
		s.SetFontSize(fit)
	}
	s.SetXY(x, y)
	s.CellFormat(w, lineHeight, text, "", 0, align, false, 0, "")
	s.SetFontSize(size)
}

// wrap sets a text in as many lines as it needs and returns how high they are.
func (s *sheet) wrap(x, y, w float64, text string) float64 {
	rows := s.split(text, w)
	for i, row := range rows {
		s.SetXY(x, y+float64(i)*lineHeight)
		s.CellFormat(w, lineHeight, row, "", 0, "L", false, 0, "")
	}
	return float64(len(rows)) * lineHeight
}

// split breaks a text at spaces, and inside of a word that is longer than a line.
func (s *sheet) split(text string, w float64) []string {
	var rows []string
	row := ""
	for _, word := range strings.Split(s.text(text), " ") {
		joined := strings.TrimPrefix(row+" "+word, " ")
		if s.GetStringWidth(joined) <= w-2 {
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
			row = s.begin(word, w-2)
		}
	}
	return append(rows, row)
}

// begin is as much of a word as fits.
func (s *sheet) begin(word string, w float64) string {
	end := 0
	for at, r := range word {
		next := at + len(string(r))
		if end > 0 && s.GetStringWidth(word[:next]) > w {
			break
		}
		end = next
	}
	return word[:end]
}

// room begins another page if there is not so much left on this one.
func (s *sheet) room(needed float64) bool {
	if s.GetY()+needed <= footerTop-8 {
		return false
	}
	s.AddPage()
	s.SetY(top)
	return true
}

func (s *sheet) head() {
	s.use(bold, large+1, brand)
	s.put(left, top, inner, s.d.Seller.Name, "L")
	s.draw(brand)
	s.SetLineWidth(0.6)
	s.Line(left, top+8, width-right, top+8)
}

func (s *sheet) address() {
	from := s.d.Seller
	s.use(regular, small, grey)
	s.put(left, windowTop-6, 80, strings.Join(filled(from.Name, from.Street, from.PostalCode+" "+from.City), " · "), "L")
	to := s.d.Buyer
	rows := filled(to.Organisation, to.Name, to.Street, to.PostalCode+" "+to.City, to.State)
	if to.Country != "" && to.Country != from.Country {
		rows = append(rows, country(to.Country))
	}
	if len(rows) == 0 {
		rows = []string{to.Party()}
	}
	y := windowTop
	for _, row := range rows {
		s.use(regular, normal+0.5, ink)
		y += s.wrap(left, y, 80, row)
	}
}

// country is the last line of an address abroad: its name in the sender's language, in
// capitals, as the post wants it.
func country(code string) string {
	region, err := language.ParseRegion(code)
	if err != nil {
		return code
	}
	return strings.ToUpper(display.German.Regions().Name(region))
}

// info is the block beside the address.
func (s *sheet) info() {
	d := s.d
	rows := [][2]string{
		{labelNumber.in(d.Language), d.Number}, {labelDay.in(d.Language), day(d.Day)}, {labelSupplied.in(d.Language), day(d.SuppliedOn)},
	}
	if d.Corrects != nil {
		rows = append(rows, [2]string{labelCorrects.in(d.Language), d.Corrects.Number})
	}
	rows = append(rows, [2]string{labelOrder.in(d.Language), d.Order}, [2]string{labelPayment.in(d.Language), d.Payment})
	if d.Buyer.VATID != "" {
		rows = append(rows, [2]string{labelVATID.in(d.Language), d.Buyer.VATID})
	}
	y := windowTop - 6
	for _, row := range rows {
		if row[1] == "" {
			continue
		}
		s.use(regular, small+0.5, grey)
		s.put(infoLeft, y, infoValue-infoLeft, row[0], "L")
		s.use(regular, small+0.5, ink)
		s.put(infoValue, y, width-right-infoValue, row[1], "R")
		y += lineHeight
	}
}

func (s *sheet) lines() {
	s.use(bold, huge, ink)
	s.put(left, bodyTop-16, inner, titles[s.d.Kind].in(s.d.Language)+" "+s.d.Number, "L")
	s.SetY(bodyTop)
	s.columns()
	for i, line := range s.d.Lines {
		s.use(regular, normal, ink)
		high := float64(len(s.split(line.Text, whatWidth)))*lineHeight + 3
		if s.room(high) {
			s.columns()
			s.use(regular, normal, ink)
		}
		y := s.GetY() + 1.5
		s.put(left, y, placeWidth, fmt.Sprint(i+1), "L")
		s.wrap(left+placeWidth, y, whatWidth, line.Text)
		s.amounts(y, money(line.Net), money(line.VAT), money(line.Gross))
		s.draw(rule)
		s.SetLineWidth(0.2)
		s.Line(left, y-1.5+high, width-right, y-1.5+high)
		s.SetY(y - 1.5 + high)
	}
}

// columns are the heads of the table.
func (s *sheet) columns() {
	y := s.GetY()
	s.SetFillColor(shade[0], shade[1], shade[2])
	s.Rect(left, y, inner, 8, "F")
	s.use(bold, small+0.5, grey)
	s.put(left, y+1.4, placeWidth, labelPlace.in(s.d.Language), "L")
	s.put(left+placeWidth, y+1.4, whatWidth, labelWhat.in(s.d.Language), "L")
	s.amounts(y+1.4, labelNet.in(s.d.Language), labelVAT.in(s.d.Language), labelGross.in(s.d.Language))
	s.SetY(y + 8)
}

func (s *sheet) amounts(y float64, texts ...string) {
	x := width - right - float64(len(texts))*sumWidth
	for _, text := range texts {
		s.put(x, y, sumWidth, text, "R")
		x += sumWidth
	}
}

func (s *sheet) sums() {
	d := s.d
	s.room(4*lineHeight + 12)
	y := s.GetY() + 5
	const from = 105.0
	rate := ""
	if d.Category != invoice.OutOfScope {
		rate = " " + percent(d.RateBasisPoints)
	}
	for _, row := range [][2]string{
		{labelNetSum.in(d.Language), money(d.Net)}, {labelVATSum.in(d.Language) + rate, money(d.VAT)},
	} {
		s.use(regular, normal, ink)
		s.put(from, y, 50, row[0], "L")
		s.put(from+45, y, width-right-from-45, row[1], "R")
		y += lineHeight + 0.6
	}
	s.draw(brand)
	s.SetLineWidth(0.4)
	s.Line(from+1, y+0.8, width-right, y+0.8)
	s.use(bold, large, brand)
	s.put(from, y+2.2, 52, labelTotals[d.Kind].in(d.Language), "L")
	s.put(from+50, y+2.2, width-right-from-50, money(d.Gross), "R")
	s.SetY(y + 2*lineHeight + 6)
}

func (s *sheet) notes() {
	notes := append([]string(nil), s.d.Notes...)
	if s.boxes {
		notes = append(notes, labelMissing.in(s.d.Language))
	}
	for _, note := range notes {
		s.use(regular, normal, ink)
		s.room(float64(len(s.split(note, inner)))*lineHeight + 2)
		y := s.GetY()
		s.SetY(y + s.wrap(left, y, inner, note) + 2)
	}
	s.use(regular, small, grey)
	s.put(left, footerTop-6, inner, labelEmbedded.in(s.d.Language), "L")
}

// footer stands on every page: who sells, as the law wants it.
func (s *sheet) footer() {
	from, chosen := s.d.Seller, s.d.Language
	s.draw(rule)
	s.SetLineWidth(0.2)
	s.Line(left, footerTop, width-right, footerTop)
	tax := filled(named(labelOurVAT.in(chosen), from.VATID), named(labelTaxNo.in(chosen), from.TaxNumber))
	for column, rows := range [][]string{
		filled(from.Name, from.Street, from.PostalCode+" "+from.City),
		append(filled(from.Register), tax...),
		filled(from.Email, from.Phone, fmt.Sprintf("%s %d/%s", labelPage.in(chosen), s.PageNo(), s.pages)),
	} {
		for i, row := range rows {
			s.use(regular, small, grey)
			s.put(left+float64(column)*inner/3, footerTop+2+float64(i)*3.6, inner/3, row, "L")
		}
	}
}

func named(name, value string) string {
	if value == "" {
		return ""
	}
	return name + ": " + value
}

// filled are the texts that say something.
func filled(texts ...string) []string {
	var all []string
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			all = append(all, text)
		}
	}
	return all
}
