package account

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"
)

// countriesText holds the 249 countries of ISO 3166-1, each with the calling
// code of ITU-T E.164. The countries of the North American plan share the 1.
//
//go:embed countries.txt
var countriesText string

// callingCodes maps countries to calling codes.
var callingCodes = sync.OnceValue(func() map[string]string {
	codes := make(map[string]string, 249)
	for entry := range strings.FieldsSeq(countriesText) {
		codes[entry[:2]] = entry[2:]
	}
	return codes
})

// Countries returns the allowed codes of a registrant's country, sorted.
func Countries() []string { return slices.Sorted(maps.Keys(callingCodes())) }

// postalCodes are the formats of postal codes: 9 is a digit, A a letter, X either;
// other characters are literal and optional on input. A bar separates alternatives.
// Unlisted countries accept any 2 to 16 characters.
var postalCodes = map[string]string{
	"DE": "99999", "AT": "9999", "CH": "9999", "LI": "9999", "FR": "99999", "IT": "99999", "ES": "99999",
	"NL": "9999 AA", "BE": "9999", "LU": "9999", "DK": "9999", "NO": "9999", "SE": "999 99", "FI": "99999",
	"PL": "99-999", "CZ": "999 99", "SK": "999 99", "HU": "9999", "PT": "9999-999", "GR": "999 99", "SI": "9999",
	"HR": "99999", "RO": "999999", "BG": "9999", "EE": "99999", "LV": "9999", "LT": "99999", "CY": "9999",
	"IE": "AXX XXXX", "US": "99999|99999-9999", "CA": "A9A 9A9", "AU": "9999", "NZ": "9999", "JP": "999-9999",
	"GB": "A9 9AA|A99 9AA|AA9 9AA|AA99 9AA|A9A 9AA|AA9A 9AA",
	"TR": "99999", "UA": "99999", "RU": "999999", "IN": "999999", "CN": "999999", "BR": "99999-999", "MX": "99999",
	"SM": "99999", "MC": "99999", "VA": "99999", "IS": "999", "RS": "99999", "BA": "99999", "SG": "999999", "KR": "99999",
}

// countriesWithoutPostalCodes are countries whose addresses have no postal code.
const countriesWithoutPostalCodes = "AE AG AO AW BF BI BJ BO BS BW BZ CD CF CG CI CK CM CW DJ DM ER FJ GA GD GH GM GQ GY HK " +
	"KI KM KN KP LC LY ML MO MR MW NR NU QA RW SB SC SL SR ST SX SY TD TF TG TK TL TO TT TV TZ UG UM VU YE ZW"

// RequiresState reports whether addresses in a country, such as US, require a state or province.
func RequiresState(country string) bool {
	return len(country) == 2 && strings.Contains(countriesWithStates, country)
}

// countriesWithStates are countries whose addresses require a state or province.
const countriesWithStates = "AU BR CA IN MX US"

// ungroup removes what people put between the groups of a code.
var ungroup = strings.NewReplacer(" ", "", "-", "")

// normalisePostalCode returns a postal code in its country's format; false if it is invalid.
func normalisePostalCode(country, code string) (string, bool) {
	code = strings.ToUpper(strings.Join(strings.Fields(code), " "))
	if code == "" {
		return "", strings.Contains(countriesWithoutPostalCodes, country)
	}
	forms, ok := postalCodes[country]
	if !ok {
		return code, len(code) >= 2 && len(code) <= 16 && plainText(code)
	}
	// "D-10115" is how Germany's neighbours write it.
	bare := ungroup.Replace(code)
	for _, prefix := range []string{country, country[:1]} {
		if rest, ok := strings.CutPrefix(bare, prefix); ok && strings.HasPrefix(forms, "9") {
			bare = rest
		}
	}
	for form := range strings.SplitSeq(forms, "|") {
		if normalised, ok := applyForm(form, bare); ok {
			return normalised, true
		}
	}
	return "", false
}

func applyForm(form, bare string) (string, bool) {
	var out strings.Builder
	for i := range len(form) {
		want := form[i]
		if want != '9' && want != 'A' && want != 'X' {
			out.WriteByte(want)
			continue
		}
		if bare == "" || !fits(want, bare[0]) {
			return "", false
		}
		out.WriteByte(bare[0])
		bare = bare[1:]
	}
	return out.String(), bare == ""
}

const (
	minNationalDigits    = 4
	maxPhoneDigits       = 15         // E.164; EPP has room for no more (RFC 5733, 2.5)
	countriesKeepingZero = "IT SM VA" // their numbers keep the leading zero in international format
)

// normalisePhone returns a number in EPP's format, +49.30123456, however long it is. A number
// without a calling code is taken as one of the given country.
func normalisePhone(country, phone string) (string, bool) {
	phone = strings.TrimSpace(phone)
	if strings.Trim(phone, "+0123456789 -/.()\u00a0") != "" {
		return "", false
	}
	international := strings.HasPrefix(phone, "+") || strings.HasPrefix(phone, "00")
	if international {
		phone = strings.Replace(phone, "(0)", "", 1) // +49 (0)30: the zero is for domestic calls
	}
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, phone)
	if strings.Contains(phone[min(1, len(phone)):], "+") {
		return "", false
	}
	if international {
		return splitPhone(strings.TrimPrefix(digits, "00"))
	}
	code, ok := callingCodes()[country]
	if !ok {
		return "", false
	}
	switch {
	case strings.Contains(countriesKeepingZero, country):
	case code == "1" && len(digits) == 11:
		digits = strings.TrimPrefix(digits, "1")
	default:
		digits = strings.TrimPrefix(digits, "0")
	}
	return joinPhone(code, digits)
}

// splitPhone finds the calling code. No calling code is a prefix of another.
func splitPhone(digits string) (string, bool) {
	for _, code := range callingCodes() {
		if national, ok := strings.CutPrefix(digits, code); ok {
			return joinPhone(code, national)
		}
	}
	return "", false
}

func joinPhone(code, national string) (string, bool) {
	if len(national) < minNationalDigits {
		return "", false
	}
	return "+" + code + "." + national, true
}

// phoneTooLong reports whether a number in EPP's format has more digits than registries accept.
func phoneTooLong(phone string) bool { return len(phone)-len("+.") > maxPhoneDigits }

// FormatPhone formats a stored number for people: +49.30123456 becomes +49 30 123456. Numbers of
// an unknown area stay in one piece. A registrant's phone is accepted in this format, too.
func FormatPhone(stored string) string {
	code, national, found := strings.Cut(stored, ".")
	if !found {
		return stored
	}
	for _, area := range areaCodes[code] {
		if strings.HasPrefix(national, strings.TrimRight(area, "x")) && len(national) >= len(area)+minNationalDigits {
			return code + " " + national[:len(area)] + " " + national[len(area):]
		}
	}
	return code + " " + national
}

// areaCodes are unambiguous area codes by calling code: those of Germany's largest
// cities and mobile networks, and Vienna. An x is any digit.
var areaCodes = map[string][]string{
	"+49": {"30", "40", "69", "89", "15x", "16x", "17x"},
	"+43": {"1"},
}

// vatForms are the formats of VAT IDs after the country prefix, as the European
// Commission lists them: 9 is a digit, A a letter, X either, other characters are
// literal. Greece uses EL, Northern Ireland XI.
var vatForms = map[string]string{
	"AT": "U99999999", "BE": "0999999999|1999999999", "BG": "999999999|9999999999", "CY": "99999999A",
	"CZ": "99999999|999999999|9999999999", "DE": "999999999", "DK": "99999999", "EE": "999999999", "EL": "999999999",
	"ES": "X9999999X", "FI": "99999999", "FR": "XX999999999", "HR": "99999999999", "HU": "99999999",
	"IE": "9999999A|9999999AA|9X99999A", "IT": "99999999999", "LT": "999999999|999999999999", "LU": "99999999",
	"LV": "99999999999", "MT": "99999999", "NL": "XXXXXXXXXXXX", "PL": "9999999999", "PT": "999999999",
	"RO": "99|999|9999|99999|999999|9999999|99999999|999999999|9999999999", "SE": "999999999999", "SI": "99999999",
	"SK": "9999999999", "XI": "999999999|999999999999|GD999|HA999",
}

// vatCountry splits a VAT ID in capitals without spaces after its prefix, which is a key of vatForms for
// the countries of the European register (VIES).
func vatCountry(id string) (country, rest string) {
	id = strings.ToUpper(strings.NewReplacer(" ", "", "-", "", ".", "", "\u00a0", "").Replace(id))
	if len(id) < 2 {
		return "", id
	}
	if country, rest = id[:2], id[2:]; country == "GR" {
		country = "EL"
	}
	return country, rest
}

// foreignVATID reports whether an ID that VIES can't know is another country's: that of its prefix, or
// the one it was entered for.
func foreignVATID(enteredFor, id string) bool {
	prefix, _ := vatCountry(id)
	if vatForms[prefix] != "" {
		return false
	}
	if _, real := callingCodes()[prefix]; real {
		return true
	}
	country, _ := vatCountry(enteredFor)
	_, real := callingCodes()[enteredFor]
	return real && vatForms[country] == ""
}

// normaliseVATID returns a VAT ID in capitals without spaces; false if it is invalid.
func normaliseVATID(id string) (string, bool) {
	country, rest := vatCountry(id)
	if len(rest) < 2 {
		return "", false
	}
	for form := range strings.SplitSeq(vatForms[country], "|") {
		if vatMatches(form, rest) {
			return country + rest, country != "DE" || germanCheckDigit(rest)
		}
	}
	return "", false
}

func vatMatches(form, text string) bool {
	if len(form) != len(text) || form == "" {
		return false
	}
	for i := range len(form) {
		if !fits(form[i], text[i]) {
			return false
		}
	}
	return true
}

// fits reports whether a character matches one of a form.
func fits(want, got byte) bool {
	digit, letter := got >= '0' && got <= '9', got >= 'A' && got <= 'Z'
	switch want {
	case '9':
		return digit
	case 'A':
		return letter
	case 'X':
		return digit || letter
	default:
		return got == want
	}
}

// germanCheckDigit verifies ISO 7064, MOD 11,10.
func germanCheckDigit(digits string) bool {
	product := 10
	for i := range 8 {
		sum := (int(digits[i]-'0') + product) % 10
		if sum == 0 {
			sum = 10
		}
		product = 2 * sum % 11
	}
	return (11-product)%10 == int(digits[8]-'0')
}
