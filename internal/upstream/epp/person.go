package epp

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// personOf is a holder as registries want to be told. Every registry takes the
// international form, which is ASCII; where the holder writes otherwise, the local
// form says how. What can't be written in Latin letters has the local form alone.
func personOf(holder provision.Holder) Person {
	local := Postal{
		Local: true, Name: holder.Name, Organisation: holder.Organisation, Street: []string{holder.Street},
		City: holder.City, State: holder.State, PostCode: holder.PostalCode, Country: holder.Country,
	}
	person := Person{Voice: Phone{Number: holder.Phone}, Email: holder.Email, Hide: true}
	international := local
	international.Local = false
	international.Street = []string{toLatin(holder.Street)}
	for _, field := range []*string{
		&international.Name, &international.Organisation, &international.City, &international.State, &international.PostCode,
	} {
		*field = toLatin(*field)
	}
	if !international.isASCII() {
		person.Postal = []Postal{local}
		return person
	}
	person.Postal = []Postal{international}
	if !local.isASCII() {
		person.Postal = append(person.Postal, local)
	}
	return person
}

// spellings are letters that are not a letter of ASCII with a mark.
var spellings = strings.NewReplacer(
	"ä", "ae", "ö", "oe", "ü", "ue", "Ä", "Ae", "Ö", "Oe", "Ü", "Ue", "ß", "ss", "ẞ", "SS",
	"æ", "ae", "Æ", "Ae", "ø", "oe", "Ø", "Oe", "å", "aa", "Å", "Aa", "œ", "oe", "Œ", "Oe",
	"ł", "l", "Ł", "L", "đ", "d", "Đ", "D", "ð", "d", "Ð", "D", "þ", "th", "Þ", "Th", "ı", "i",
	"–", "-", "—", "-", "’", "'", "‘", "'", "„", "\"", "“", "\"", "”", "\"",
)

// toLatin writes a text with the letters of ASCII, as far as that goes.
func toLatin(text string) string {
	text = spellings.Replace(norm.NFC.String(text))
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(text))
}
