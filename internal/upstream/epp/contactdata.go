package epp

import (
	"strings"
	"unicode"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"golang.org/x/text/unicode/norm"
)

// contactDataOf converts a registrant. Every registry accepts the international
// form, which is ASCII; the local form is added where the registrant's spelling
// differs. Data that can't be transliterated has the local form only.
func contactDataOf(registrant registrar.Registrant) ContactData {
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

// transliterations are letters that are not an ASCII letter with a diacritic.
var transliterations = strings.NewReplacer(
	"ä", "ae", "ö", "oe", "ü", "ue", "Ä", "Ae", "Ö", "Oe", "Ü", "Ue", "ß", "ss", "ẞ", "SS",
	"æ", "ae", "Æ", "Ae", "ø", "oe", "Ø", "Oe", "å", "aa", "Å", "Aa", "œ", "oe", "Œ", "Oe",
	"ł", "l", "Ł", "L", "đ", "d", "Đ", "D", "ð", "d", "Ð", "D", "þ", "th", "Þ", "Th", "ı", "i",
	"–", "-", "—", "-", "’", "'", "‘", "'", "„", "\"", "“", "\"", "”", "\"",
)

// transliterate converts a text to ASCII as far as possible.
func transliterate(text string) string {
	text = transliterations.Replace(norm.NFC.String(text))
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(text))
}
