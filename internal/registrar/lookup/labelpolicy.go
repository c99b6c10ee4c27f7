package lookup

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// labelClass is the result of an extension's label rules, before any registry is queried.
type labelClass uint8

const (
	registrable labelClass = iota // a missing record may mean that the name is free
	// doubtful: the registry withholds such labels or sells them as premium, and shows
	// neither in RDAP or WHOIS. Only EPP can report it as free.
	doubtful
	withheld // it can't be registered
)

// withheldLabels are those of ICANN's registry agreement for generic TLDs, specification 5.
var withheldLabels = map[string]bool{"example": true, "nic": true, "rdds": true, "whois": true, "www": true}

// Labels shorter than this are doubtful. Generic registries withhold one and two characters
// or sell them as premium names.
const (
	minGenericLength = 3
	minCountryLength = 2
)

// minLengths lists the registries that sell other lengths than most of their kind.
var minLengths = map[string]int{
	".de": 1, ".at": 1, ".co.at": 1, ".or.at": 1, // DENIC since 2009, nic.at since 2016
	".ch": 3, ".li": 3, ".it": 3,
	".io": 3, ".ai": 3, ".co": 3, ".me": 3, ".tv": 3, ".cc": 3, // country codes marketed like generic ones
}

// latinIDNs are the extensions known to sell names with Latin letters beyond ASCII, and
// otherScriptIDNs those that also sell other scripts. Under any other extension, an IDN
// without a record may be unregistrable.
var (
	latinIDNs = setOf(`.de .com .net .org .info .biz .eu .at .co.at .or.at .ch .li .be .dk .se .nu .no .pl .es .fr
		.it .pt .lt .lv .lu .hu .berlin .hamburg .koeln .cologne .bayern .nrw .wien .tirol .ruhr .saarland .shop .xyz
		.cc .tv .name .asia .club .gmbh .online .store .tech .site .space .website`)
	otherScriptIDNs = setOf(`.com .net .cc .tv .name .xn--p1acf`)
)

// lastCommonLatin is the end of Latin Extended-A, which hardly any registry exceeds.
const lastCommonLatin = '\u017f'

// scripts are the scripts that registries sell; a label never mixes two.
var scripts = []*unicode.RangeTable{
	unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic, unicode.Armenian, unicode.Georgian,
	unicode.Devanagari, unicode.Thai, unicode.Hangul, unicode.Han,
}

// allowsIDN reports whether the registry may sell a Unicode label: all common Latin
// letters, or all letters of one other script.
func allowsIDN(tld, label string) bool {
	other := func(r rune) bool { return r > lastCommonLatin || r > unicode.MaxASCII && !unicode.IsLetter(r) }
	if !strings.ContainsFunc(label, other) {
		return latinIDNs[tld]
	}
	return otherScriptIDNs[tld] && isSingleScript(label)
}

func isSingleScript(label string) bool {
	return slices.ContainsFunc(scripts, func(script *unicode.RangeTable) bool {
		return !strings.ContainsFunc(label, func(r rune) bool { return r != '-' && !unicode.IsDigit(r) && !unicode.Is(script, r) })
	})
}

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// classifyLabel applies the rules of the name's extension to its label.
func classifyLabel(name registrar.Name) labelClass {
	tld, label := name.TLD(), name.Label()
	generic := isGeneric(tld)
	if generic && withheldLabels[label] {
		return withheld
	}
	minimum := cmp.Or(minLengths[tld], minCountryLength)
	if generic {
		minimum = cmp.Or(minLengths[tld], minGenericLength)
	}
	length := len(label)
	if strings.HasPrefix(label, "xn--") {
		decoded, err := idna.Punycode.ToUnicode(label)
		if err != nil || !allowsIDN(tld, decoded) {
			return doubtful
		}
		length = utf8.RuneCountInString(decoded)
	}
	if length < minimum {
		return doubtful
	}
	return registrable
}

// isGeneric reports whether a TLD is generic: two-letter TLDs, and those below them, are
// country codes; the IDN TLDs in our list are generic.
func isGeneric(tld string) bool {
	return len(tld[strings.LastIndexByte(tld, '.')+1:]) > 2
}
