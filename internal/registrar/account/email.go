package account

import (
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	maxLocalPart = 64  // RFC 5321, 4.5.3.1.1
	maxAddress   = 254 // what fits into a path of 256 octets with its brackets
	// atext are the characters of an atom (RFC 5322, 3.2.3).
	atext = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-/=?^_`{|}~"
)

// parseEmail parses an address that every mail server accepts: an unquoted ASCII local part and a
// host name, which is converted to A-labels. net/mail accepts much more, such as comments, quoted
// spaces and address literals. key is the form in which addresses are compared.
func parseEmail(input string) (address, key string, err error) {
	input = strings.TrimSpace(input)
	local, host, ok := strings.Cut(input, "@")
	if !ok || !validLocalPart(local) {
		return "", "", registrar.Invalid(EmailInvalid)
	}
	ascii, err := registrar.ParseHost(host)
	if err != nil || strings.TrimSpace(host) != host || !strings.Contains(ascii, ".") {
		return "", "", registrar.Invalid(EmailInvalid)
	}
	address = local + "@" + ascii
	if len(address) > maxAddress {
		return "", "", registrar.Invalid(EmailInvalid)
	}
	return address, strings.ToLower(address), nil
}

func validLocalPart(local string) bool {
	if local == "" || len(local) > maxLocalPart {
		return false
	}
	for atom := range strings.SplitSeq(local, ".") {
		if atom == "" || strings.Trim(atom, atext) != "" {
			return false
		}
	}
	return true
}

// parseLanguage accepts de and en; empty means German.
func parseLanguage(language string) (string, error) {
	switch language {
	case "":
		return "de", nil
	case "de", "en":
		return language, nil
	default:
		return "", registrar.Invalid(LanguageUnknown)
	}
}
