package account

import "strings"

// vatForms are the formats of VAT ids after the country prefix, as the European
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

// normaliseVATID returns a VAT id in capitals without spaces; false if it is invalid.
func normaliseVATID(id string) (string, bool) {
	id = strings.ToUpper(strings.NewReplacer(" ", "", "-", "", ".", "", "\u00a0", "").Replace(id))
	if len(id) < 4 {
		return "", false
	}
	country, rest := id[:2], id[2:]
	if country == "GR" {
		country = "EL"
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
		digit, letter := text[i] >= '0' && text[i] <= '9', text[i] >= 'A' && text[i] <= 'Z'
		switch form[i] {
		case '9':
			if !digit {
				return false
			}
		case 'X':
			if !digit && !letter {
				return false
			}
		case 'A':
			if !letter {
				return false
			}
		default:
			if form[i] != text[i] {
				return false
			}
		}
	}
	return true
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
