package whois

import (
	"strings"
	"unicode"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Bounds of a record. An honest one stays far below them.
const (
	maxServers        = 20
	maxStatuses       = 20
	maxStatusBytes    = 40
	maxRegistrarRunes = 100
	// maxTries bounds the work on a hostile answer.
	maxTries = 300
)

// eppStatuses are the words of RFC 5731, 2.3 and RFC 3915, 3.1, by their letters
// alone.
var eppStatuses = func() map[string]string {
	table := make(map[string]string)
	for word := range strings.FieldsSeq("ok inactive addPeriod autoRenewPeriod renewPeriod transferPeriod redemptionPeriod " +
		"pendingCreate pendingDelete pendingRenew pendingRestore pendingTransfer pendingUpdate " +
		"clientDeleteProhibited clientHold clientRenewProhibited clientTransferProhibited clientUpdateProhibited " +
		"serverDeleteProhibited serverHold serverRenewProhibited serverTransferProhibited serverUpdateProhibited") {
		table[strings.ToLower(word)] = word
	}
	return table
}()

var lettersOnly = strings.NewReplacer(" ", "", "-", "", "_", "")

// statusWord brings one status into the form of lookup.Record: EPP's spelling,
// or a short phrase in lower case. ok is false for anything else.
func statusWord(value string) (word string, ok bool) {
	value = strings.ToLower(value)
	if at := strings.IndexAny(value, "(["); at >= 0 {
		value = value[:at]
	}
	value = strings.TrimSpace(value[:webAddress(value)])
	if known, found := eppStatuses[lettersOnly.Replace(value)]; found {
		return known, true
	}
	// "ok - Normal state.", "clienthold -- by court order"
	value, _, _ = strings.Cut(value, " -")
	value, _, _ = strings.Cut(value, " http")
	value = strings.Join(strings.Fields(strings.Trim(value, " .!*")), " ")
	if known, found := eppStatuses[lettersOnly.Replace(value)]; found {
		return known, true
	}
	if value == "" || len(value) > maxStatusBytes || emptyValue(value) {
		return "", false
	}
	for i := range len(value) {
		c := value[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != ' ' && c != '_' && c != '-' {
			return "", false
		}
	}
	if strings.Trim(value, "0123456789 _-") == "" {
		return "", false // a code or a date
	}
	return value, true
}

// registrarName cleans the name of a registrar. What is a way to reach somebody
// and not a name is refused.
func registrarName(value string) (string, bool) {
	clean := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, value)
	words := strings.Fields(clean)
	clean = strings.Trim(strings.Join(words, " "), " \"")
	if runes := []rune(clean); len(runes) > maxRegistrarRunes {
		clean = strings.TrimSpace(string(runes[:maxRegistrarRunes]))
	}
	lower := strings.ToLower(clean)
	switch {
	case emptyValue(lower), strings.Contains(clean, "@"), webAddress(lower) == 0:
		return "", false
	case strings.HasPrefix(lower, "redacted") || strings.HasPrefix(lower, "not disclosed"):
		return "", false
	case strings.Trim(clean, "+0123456789 ().-/") == "" && strings.ContainsAny(clean, "+ ()"):
		return "", false // a phone number; bare digits are a registrar's number
	}
	return clean, true
}

// serverNames takes nameservers from the beginning of value: "ns1.example.net
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
		if len(found) == maxServers {
			return found
		}
	}
	return found
}

// isAddress also takes what only resembles an address; nothing is made of it.
func isAddress(token string) bool {
	return strings.Trim(token, "0123456789./") == "" ||
		strings.Contains(token, ":") && strings.Trim(strings.ToLower(token), "0123456789abcdef:./") == ""
}

// hostOf reads a host name with at least one dot whose last label is no number.
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

// emptyValue says that a field is there for form's sake. It wants lower case.
func emptyValue(value string) bool {
	switch strings.Trim(value, " .-*") {
	case "", "none", "n/a", "na", "not available", "null", "unknown", "undefined", "not applicable", "no registrar", "(not assigned)", "not assigned", "keine", "brak":
		return true
	default:
		return false
	}
}

// isLatin says that every letter of s is of the Latin alphabet.
func isLatin(s string) bool {
	for _, r := range s {
		if unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) {
			return false
		}
	}
	return true
}
