package whois

import (
	"strings"
	"unicode"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// maxTries limits the work on a hostile response.
const maxTries = 300

// statusWord returns the status at the start of a value, before a URL, a remark in
// brackets or an explanation. ok is false if it is unknown.
func statusWord(value string) (word string, ok bool) {
	value = strings.ToLower(value)
	if at := strings.IndexAny(value, "(["); at >= 0 {
		value = value[:at]
	}
	value = strings.TrimSpace(value[:webAddress(value)])
	if word, ok = lookup.ParseStatus(value); ok {
		return word, ok
	}
	// "ok - Normal state.", "clienthold -- by court order"
	value, _, _ = strings.Cut(value, " -")
	return lookup.ParseStatus(strings.Join(strings.Fields(strings.Trim(value, " .!*")), " "))
}

// registrarName cleans the name of a registrar and rejects contact data.
func registrarName(value string) (string, bool) {
	clean := strings.Trim(lookup.CleanRegistrar(value), ` "`)
	lower := strings.ToLower(clean)
	switch {
	case emptyValue(lower), strings.Contains(clean, "@"), webAddress(lower) == 0,
		strings.HasPrefix(lower, "redacted"), strings.HasPrefix(lower, "not disclosed"):
		return "", false
	case strings.Trim(clean, "+0123456789 ().-/") == "" && strings.ContainsAny(clean, "+ ()"):
		return "", false // a phone number; bare digits are an IANA number
	}
	return clean, true
}

// serverNames reads nameservers from the beginning of value: "ns1.example.net
// 192.0.2.1", "ns1.example.net, ns2.example.net". It stops at the first word that
// is neither a host nor an address.
func serverNames(value, name string) []string {
	var found []string
	value = strings.TrimLeft(value, "-*• \t")
	for token := range strings.FieldsFuncSeq(value, func(r rune) bool {
		return r == ' ' || r == '\t' || r == ',' || r == ';' || r == '|'
	}) {
		token = strings.Trim(token, "[]()\"'<>:")
		if token == "" || token == "-" || isAddress(token) {
			continue
		}
		host, ok := hostOf(token)
		if !ok {
			return found
		}
		if host != name && host != "not.defined" {
			found = append(found, host)
		}
		if len(found) == lookup.MaxNameservers {
			return found
		}
	}
	return found
}

// isAddress also accepts what only resembles an address; the value is not used.
func isAddress(token string) bool {
	return strings.Trim(token, "0123456789./") == "" ||
		strings.Contains(token, ":") && strings.Trim(strings.ToLower(token), "0123456789abcdef:./") == ""
}

// hostOf reads a host name with at least one dot whose last label is not a number.
func hostOf(token string) (string, bool) {
	if !strings.Contains(strings.TrimSuffix(token, "."), ".") {
		return "", false
	}
	host, err := registrar.ParseHost(token)
	if err != nil || !strings.Contains(host, ".") || notAName(host[strings.LastIndexByte(host, '.')+1:]) {
		return "", false
	}
	return host, true
}

// emptyValue reports whether a value means "none". It expects lower case.
func emptyValue(value string) bool {
	switch strings.Trim(value, " .-*") {
	case "", "none", "n/a", "na", "not available", "null", "unknown", "undefined", "not applicable", "no registrar", "(not assigned)", "not assigned", "keine", "brak":
		return true
	default:
		return false
	}
}

func isLatin(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) })
}
