package epp

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// contactDataOf is a holder as registries want to be told. Every registry takes the
// international form, which is ASCII; where the holder writes otherwise, the local
// form says how. What can't be written in Latin letters has the local form alone.
func contactDataOf(registrant provision.Registrant) ContactData {
	local := Postal{
		Local: true, Name: registrant.Name, Organisation: registrant.Organisation, Street: []string{registrant.Street},
		City: registrant.City, State: registrant.State, PostCode: registrant.PostalCode, Country: registrant.Country,
	}
	contact := ContactData{Voice: Phone{Number: registrant.Phone}, Email: registrant.Email, Hide: true}
	international := local
	international.Local = false
	international.Street = []string{transliterate(registrant.Street)}
	for _, field := range []*string{
		&international.Name, &international.Organisation, &international.City, &international.State, &international.PostCode,
	} {
		*field = transliterate(*field)
	}
	if !international.isASCII() {
		contact.Postal = []Postal{local}
		return contact
	}
	contact.Postal = []Postal{international}
	if !local.isASCII() {
		contact.Postal = append(contact.Postal, local)
	}
	return contact
}

// transliterations are letters that are not a letter of ASCII with a mark.
var transliterations = strings.NewReplacer(
	"ä", "ae", "ö", "oe", "ü", "ue", "Ä", "Ae", "Ö", "Oe", "Ü", "Ue", "ß", "ss", "ẞ", "SS",
	"æ", "ae", "Æ", "Ae", "ø", "oe", "Ø", "Oe", "å", "aa", "Å", "Aa", "œ", "oe", "Œ", "Oe",
	"ł", "l", "Ł", "L", "đ", "d", "Đ", "D", "ð", "d", "Ð", "D", "þ", "th", "Þ", "Th", "ı", "i",
	"–", "-", "—", "-", "’", "'", "‘", "'", "„", "\"", "“", "\"", "”", "\"",
)

// transliterate writes a text with the letters of ASCII, as far as that goes.
func transliterate(text string) string {
	text = transliterations.Replace(norm.NFC.String(text))
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(text))
}
