package lookup

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// labelClass is what an extension's own rules say about a label, before any
// registry is asked.
type labelClass uint8

const (
	// registrable: a missing record may mean that the name is free.
	registrable labelClass = iota
	// doubtful: the registry withholds such labels or sells them at prices of
	// their own, and shows neither in RDAP or WHOIS. Only EPP can call it free.
	doubtful
	// withheld: nobody can register it.
	withheld
)

// withheldLabels are the labels that ICANN's registry agreement (specification
// 5) withholds below every generic extension.
var withheldLabels = map[string]bool{"example": true, "nic": true, "rdds": true, "whois": true, "www": true}

// Labels shorter than this are doubtful. Generic registries withhold one and
// two characters or sell them as premium names.
const (
	minGenericLength = 3
	minCountryLength = 2
)

// minLengths holds the extensions whose registries sell other lengths than most of
// their kind.
var minLengths = map[string]int{
	".de": 1, ".at": 1, ".co.at": 1, ".or.at": 1, // DENIC since 2009, nic.at since 2016
	".ch": 3, ".li": 3, ".it": 3,
	".io": 3, ".ai": 3, ".co": 3, ".me": 3, ".tv": 3, ".cc": 3, // countries' letters, sold like generic ones
}

// withLatin are the extensions that are known to sell names with Latin letters
// beyond ASCII, and withScripts those that also sell other scripts. Below any
// other one, an IDN without a record may be one that can't be registered.
var (
	latinIDNs = setOf(`.de .com .net .org .info .biz .eu .at .co.at .or.at .ch .li .be .dk .se .nu .no .pl .es .fr
		.it .pt .lt .lv .lu .hu .berlin .hamburg .koeln .cologne .bayern .nrw .wien .tirol .ruhr .saarland .shop .xyz
		.cc .tv .name .asia .club .gmbh .online .store .tech .site .space .website`)
	otherScriptIDNs = setOf(`.com .net .cc .tv .name .xn--p1acf`)
)

// lastCommonLatin is the end of Latin Extended-A. Registries' tables of Latin
// letters differ, but hardly any goes further.
const lastCommonLatin = '\u017f'

// scripts are those that registries sell by the name; a label never mixes two.
var scripts = []*unicode.RangeTable{
	unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic, unicode.Armenian, unicode.Georgian,
	unicode.Devanagari, unicode.Thai, unicode.Hangul, unicode.Han,
}

// allowsIDN says whether a label in Unicode is one that the registry may sell: all
// Latin letters in common use, or all letters of one other script.
func allowsIDN(tld, label string) bool {
	latin := true
	for _, r := range label {
		if r > lastCommonLatin || r > unicode.MaxASCII && !unicode.IsLetter(r) {
			latin = false
		}
	}
	if latin {
		return latinIDNs[tld]
	}
	return otherScriptIDNs[tld] && isSingleScript(label)
}

func isSingleScript(label string) bool {
	for _, script := range scripts {
		all := true
		for _, r := range label {
			if r != '-' && !unicode.IsDigit(r) && !unicode.Is(script, r) {
				all = false
			}
		}
		if all {
			return true
		}
	}
	return false
}

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(words) {
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
	minimum, cached := minLengths[tld]
	switch {
	case cached:
	case generic:
		minimum = minGenericLength
	default:
		minimum = minCountryLength
	}
	length := len(label)
	if encoded := strings.HasPrefix(label, "xn--"); encoded {
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

// isGeneric: extensions of two letters, and what lies below them, belong to
// countries; IDN extensions in our list are generic.
func isGeneric(tld string) bool {
	last := tld[strings.LastIndexByte(tld, '.')+1:]
	return len(last) > 2
}
