package registrar

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
)

// The codes of invalid names.
const (
	NameEmpty        Code = "name_empty"
	NameNoExtension  Code = "name_no_extension"
	NameIsExtension  Code = "name_is_extension"
	NameSubdomain    Code = "name_subdomain"
	NameEmptyLabel   Code = "name_empty_label"
	NameLabelTooLong Code = "name_label_too_long"
	NameTooLong      Code = "name_too_long"
	NameHyphenEdge   Code = "name_hyphen_edge"
	NameHyphens34    Code = "name_hyphens_34"
	NamePunycode     Code = "name_punycode"
	NameUnderscore   Code = "name_underscore"
	NameAddress      Code = "name_address"
	NameURL          Code = "name_url"
	NamePort         Code = "name_port"
	NameEmail        Code = "name_email"
	NameControl      Code = "name_control"
	NameSpace        Code = "name_space"
	NameCharacter    Code = "name_character"
	NameNotASCII     Code = "name_not_ascii"

	ExtensionNotCarried Code = "extension_not_carried" // KindUnsupported
)

const (
	maxLabelOctets = 63
	maxNameOctets  = 253
	// maxInputBytes bounds the work on hostile input. No valid name is longer in any
	// form: 253 octets of A-labels are fewer than 253 runes of up to four bytes each.
	maxInputBytes = 4 * maxNameOctets
)

// Name is a domain that can be registered: exactly one label below a listed extension.
// The zero Name is invalid.
type Name struct {
	ascii    string
	labelEnd int // the length of the label in ascii
	display  string
}

// Label is the part before the extension, in lower-case A-label form.
func (n Name) Label() string { return n.ascii[:n.labelEnd] }

// TLD is the extension in lower-case A-label form with its leading dot.
func (n Name) TLD() string { return n.ascii[n.labelEnd:] }

// ASCII is the full name in lower-case A-label form, as used in registry queries.
func (n Name) ASCII() string { return n.ascii }

// String is the full name in lower case, in Unicode or A-labels as given, for display.
func (n Name) String() string { return n.display }

// NewName joins a label and an extension that are both known to be well-formed
// A-labels, such as the label of one Name and the extension of a catalog row.
func NewName(label, tld string) Name {
	ascii := label + tld
	return Name{ascii: ascii, labelEnd: len(label), display: ascii}
}

// ParseName parses a full domain name as typed by a person. listed reports whether the
// catalog has an extension (lower case, leading dot).
//
// If the name is well-formed but its extension is not listed, the error has
// KindUnsupported and the returned Name has the extension only.
func ParseName(input string, listed func(tld string) bool) (Name, error) {
	ascii, display, err := normalise(input)
	if err != nil {
		return Name{}, err
	}
	if !strings.Contains(ascii, ".") {
		if listed("." + ascii) {
			return Name{}, Invalid(NameIsExtension)
		}
		return Name{}, Invalid(NameNoExtension)
	}
	tld := extensionOf(ascii, listed)
	if !listed(tld) {
		return Name{ascii: tld}, Unsupported(ExtensionNotCarried)
	}
	label, err := labelBefore(tld, ascii)
	if err != nil {
		return Name{}, err
	}
	return Name{ascii: ascii, labelEnd: len(label), display: display}, nil
}

// labelBefore returns the only label of a name before its extension.
func labelBefore(tld, ascii string) (string, error) {
	label, found := strings.CutSuffix(ascii, tld)
	switch {
	case !found: // "co.uk" is shorter than its extension ".co.uk"
		return "", Invalid(NameIsExtension)
	case strings.Contains(label, "."):
		return "", Invalid(NameSubdomain)
	}
	return label, nil
}

// Query is a parsed search.
type Query struct {
	// Label is the second-level part in lower case.
	Label string
	// TLD is the extension in the input; empty if there was none.
	TLD string
}

// ParseQuery parses a search: a name with or without an extension, whose second-level
// part consists of a-z, 0-9 and hyphens. Without a dot the whole input is a label, even
// if it is also an extension.
func ParseQuery(input string, listed func(tld string) bool) (Query, error) {
	ascii, _, err := normalise(input)
	if err != nil {
		return Query{}, err
	}
	label, tld := ascii, ""
	if strings.Contains(ascii, ".") {
		tld = extensionOf(ascii, listed)
		if label, err = labelBefore(tld, ascii); err != nil {
			return Query{}, err
		}
	}
	// Checked before mapping: a full-width "ａ" folds to "a" but is not a-z.
	if written, _, _ := strings.Cut(strings.TrimSpace(input), "."); !isASCII(written) {
		return Query{}, Invalid(NameNotASCII)
	}
	return Query{Label: label, TLD: tld}, nil
}

// ParseExtension parses an extension with its leading dot and returns it in lower-case
// A-label form.
func ParseExtension(input string) (string, error) {
	rest, found := strings.CutPrefix(strings.TrimSpace(input), ".")
	if !found {
		return "", Invalid(NameNoExtension)
	}
	ascii, err := ParseHost(rest)
	if err != nil {
		return "", err
	}
	return "." + ascii, nil
}

// ParseHost parses a host name of any number of labels and returns it in lower-case
// A-label form.
func ParseHost(input string) (string, error) {
	ascii, _, err := normalise(input)
	return ascii, err
}

// normalise trims, folds and checks the whole input label by label. It returns
// the A-label form and the form for display, both in lower case and without a
// trailing dot.
func normalise(input string) (ascii, display string, err error) {
	if len(input) > maxInputBytes {
		return "", "", Invalid(NameTooLong)
	}
	text := strings.TrimSpace(input)
	if text == "" {
		return "", "", Invalid(NameEmpty)
	}
	plain, err := checkCharacters(text)
	if err != nil {
		return "", "", err
	}
	if plain {
		display = strings.ToLower(text)
	} else if display, err = mapUnicode(text); err != nil {
		return "", "", err
	}
	if display = strings.TrimSuffix(display, "."); display == "" {
		return "", "", Invalid(NameEmptyLabel)
	}
	if looksLikeAddress(display) {
		return "", "", Invalid(NameAddress)
	}
	if ascii, err = checkLabels(display, plain); err != nil {
		return "", "", err
	}
	if len(ascii) > maxNameOctets {
		return "", "", Invalid(NameTooLong)
	}
	return ascii, display, nil
}

// looksLikeAddress reports whether the last label is a number: no extension is, so the
// input was meant as an IPv4 address in some notation. IPv6 has colons, which no name has.
func looksLikeAddress(display string) bool {
	last := display[strings.LastIndexByte(display, '.')+1:]
	if len(last) == len(display) || last == "" || last[0] < '0' || last[0] > '9' {
		return false
	}
	_, err := strconv.ParseUint(last, 0, 64)
	return err == nil
}

// checkCharacters rejects characters that no name contains, with a code for what the
// input looks like instead. plain means ASCII only.
func checkCharacters(text string) (plain bool, err error) {
	plain = true
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c == '-', c == '.':
		case c >= utf8.RuneSelf:
			plain = false
		default:
			return false, Invalid(codeForCharacter(text, c))
		}
	}
	if plain {
		return true, nil
	}
	if !utf8.ValidString(text) {
		return false, Invalid(NameCharacter)
	}
	for _, r := range text {
		switch {
		case unicode.IsControl(r):
			return false, Invalid(NameControl)
		case unicode.IsSpace(r):
			return false, Invalid(NameSpace)
		}
	}
	return false, nil
}

func codeForCharacter(text string, c byte) Code {
	switch {
	case c < ' ' || c == 0x7f:
		return NameControl
	case strings.Contains(text, "://") || c == '/' || c == '?' || c == '#':
		return NameURL
	case strings.IndexByte(text, '@') > 0 && !strings.HasSuffix(text, "@"):
		return NameEmail
	case c == '[':
		return NameAddress
	case c == ':':
		if _, err := netip.ParseAddr(text); err == nil {
			return NameAddress
		}
		return NamePort
	case c == '_':
		return NameUnderscore
	case c == ' ':
		return NameSpace
	default:
		return NameCharacter
	}
}

// checkLabels checks every label of a mapped name and returns the A-label form.
func checkLabels(display string, plain bool) (string, error) {
	if plain && !strings.Contains(display, "xn--") {
		for label := range strings.SplitSeq(display, ".") {
			if err := checkLDH(label); err != nil {
				return "", err
			}
		}
		return display, nil
	}
	var ascii strings.Builder
	for label := range strings.SplitSeq(display, ".") {
		encoded, err := encodeLabel(label)
		if err != nil {
			return "", err
		}
		if ascii.Len() > 0 {
			ascii.WriteByte('.')
		}
		ascii.WriteString(encoded)
	}
	return ascii.String(), nil
}

// checkLDH applies the letter-digit-hyphen rule of RFC 5890, 2.3.1 to a label that is
// not an A-label.
func checkLDH(label string) error {
	switch {
	case label == "":
		return Invalid(NameEmptyLabel)
	case len(label) > maxLabelOctets:
		return Invalid(NameLabelTooLong)
	case label[0] == '-' || label[len(label)-1] == '-':
		return Invalid(NameHyphenEdge)
	case len(label) >= 4 && label[2:4] == "--":
		return Invalid(NameHyphens34)
	default:
		return nil
	}
}

// extensionOf returns the longest suffix that the catalog or the ICANN part of the
// public suffix list contains, otherwise the last label. The result has a leading dot;
// it is longer than the name if the name is itself such a suffix.
func extensionOf(ascii string, listed func(tld string) bool) string {
	dotted := "." + ascii // every suffix is a part of it
	public := len(icannSuffix(ascii))
	for {
		if len(dotted)-1 <= public || listed(dotted) {
			return dotted
		}
		next := strings.IndexByte(dotted[1:], '.') + 1
		if next == 0 {
			return dotted
		}
		dotted = dotted[next:]
	}
}

// icannSuffix skips the private part of the list: "github.io" is a domain below .io,
// not an extension.
func icannSuffix(ascii string) string {
	for {
		suffix, icann := publicsuffix.PublicSuffix(ascii)
		if icann {
			return suffix
		}
		_, parent, found := strings.Cut(suffix, ".")
		if !found {
			return suffix
		}
		ascii = parent
	}
}
