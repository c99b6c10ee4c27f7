package checkout

import (
	"slices"
	"strings"
	"unicode"
)

// tableColumns are where a table that begins with a header has its domains and auth codes, as the
// exports of registrars do.
type tableColumns struct {
	separator    rune // 0 if lines have the form of those without a header
	domain, code int
}

// maxColumns bounds the columns of a table that are read.
const maxColumns = 100

// Titles of columns, in lower case and without anything but letters and digits.
var (
	domainTitles = []string{"domain", "domains", "domainname", "domainnames", "domainnamen", "domäne", "fqdn"}
	codeTitles   = []string{
		"authcode", "authinfo", "authinfocode", "eppcode", "eppauthcode", "auth", "epp", "code", "authid", "authkey", "eppkey", "authorizationcode", "authorisationcode", "autorisierungscode",
		"transfercode", "transferauthcode", "transferkey", "umzugscode", "kkcode", "password", "passwort", "domainpassword", "domainpasswort", "secret",
	}
	// codeWords are parts of other titles of auth codes, otherWords of columns that have something else.
	codeWords  = []string{"auth", "epp", "transfercode", "transferkey"}
	otherWords = []string{"datum", "date", "ablauf", "expir", "gültig", "gueltig", "valid", "bis", "until", "status", "renew", "verlänger", "lock", "sperre"}
)

// plainTitle returns the title of a column in the form of the lists above.
func plainTitle(field string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, field)
}

func hasWord(title string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(title, word) })
}

// readHeader reads a line that may name the columns of a table. Its separator is 0 if none was
// stated. The code's column is -1 if none is named. It returns false if the line is no header.
func readHeader(line string, separator rune) (columns tableColumns, header bool) {
	if quotedDomain(line) != "" {
		return columns, false
	}
	if separator == 0 {
		separator = widestSeparator(line)
	}
	if separator == 0 {
		return columns, slices.ContainsFunc(strings.Fields(line), func(word string) bool { return slices.Contains(domainTitles, plainTitle(word)) })
	}
	fields := splitFields(line, separator)
	titles := make([]string, len(fields))
	for i, field := range fields {
		if quotedDomain(field) != "" {
			return columns, false
		}
		titles[i] = plainTitle(field)
	}
	code := slices.IndexFunc(titles, func(title string) bool { return slices.Contains(codeTitles, title) })
	if code < 0 {
		code = slices.IndexFunc(titles, func(title string) bool { return hasWord(title, codeWords) && !hasWord(title, otherWords) })
	}
	domain := slices.IndexFunc(titles, func(title string) bool { return slices.Contains(domainTitles, title) })
	if domain < 0 {
		domain = slices.IndexFunc(titles, func(title string) bool { return strings.HasPrefix(title, "domain") && !hasWord(title, otherWords) })
	}
	if domain < 0 && code >= 0 {
		domain = slices.Index(titles, "name")
	}
	if domain < 0 || domain == code {
		return columns, false
	}
	if code < 0 && len(titles) == 2 && !hasWord(titles[1-domain], otherWords) {
		code = 1 - domain
	}
	return tableColumns{separator, domain, code}, true
}

// widestSeparator returns what separates most fields of a header; 0 if nothing but spaces does.
func widestSeparator(line string) (separator rune) {
	most := 0
	for _, candidate := range ";\t,|" {
		if n := strings.Count(line, string(candidate)); n > most {
			separator, most = candidate, n
		}
	}
	return separator
}

// splitFields returns the fields of a line, without their quotes.
func splitFields(line string, separator rune) (fields []string) {
	for line != "" && len(fields) < maxColumns {
		var field string
		field, line, _ = cutField(strings.TrimLeft(line, " "), func(r rune) bool { return r == separator })
		fields = append(fields, strings.TrimSpace(field))
	}
	return fields
}

// split reads a line below the header. One that has no columns is read as one without a header.
func (c tableColumns) split(line string) transferLine {
	fields := splitFields(line, c.separator)
	if len(fields) <= 1 || c.separator == 0 {
		return splitTransferLine(line)
	}
	column := func(i int) string {
		if i < 0 || i >= len(fields) {
			return ""
		}
		return fields[i]
	}
	return transferLine{Domain: bareDomain(column(c.domain)), code: column(c.code)}
}
