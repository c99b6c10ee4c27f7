package registrar

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// uts46 maps by UTS 46 non-transitional processing (so ß stays ß) and checks the Bidi
// and joiner rules. checkIDNA2008 rejects what it accepts beyond IDNA 2008, such as ☃.
var uts46 = idna.New(
	idna.MapForLookup(),
	idna.Transitional(false),
	idna.StrictDomainName(true),
	idna.BidiRule(),
	idna.CheckJoiners(true),
)

// mapUnicode folds and composes a name with non-ASCII characters, and turns ideographic
// full stops into dots.
func mapUnicode(text string) (string, error) {
	// The capital ẞ is ß in lower case; the tables of x/net predate that rule and map
	// it to ss.
	text = strings.ReplaceAll(text, "ẞ", "ß")
	mapped, err := uts46.ToUnicode(text)
	if err != nil {
		return "", explainIDNA(text)
	}
	// Folding can produce ASCII that the first check did not see: U+2488 "1." or a
	// full-width slash.
	if _, err := checkCharacters(mapped); err != nil {
		return "", err
	}
	// An A-label in a mixed name is displayed as written.
	return restoreALabels(strings.ToLower(text), mapped), nil
}

// restoreALabels restores labels that were written as xn-- and decoded by the mapping.
// If the mapping changed the number of labels, mapped is returned unchanged.
func restoreALabels(written, mapped string) string {
	if !strings.Contains(written, "xn--") {
		return mapped
	}
	given, labels := strings.Split(written, "."), strings.Split(mapped, ".")
	if len(given) != len(labels) {
		return mapped
	}
	for i := range labels {
		if strings.HasPrefix(given[i], "xn--") {
			labels[i] = given[i]
		}
	}
	return strings.Join(labels, ".")
}

// explainIDNA returns the first specific reason that encodeLabel gives.
func explainIDNA(text string) error {
	for label := range strings.SplitSeq(strings.TrimSuffix(strings.ToLower(text), "."), ".") {
		if _, err := encodeLabel(label); err != nil {
			return err
		}
	}
	return Invalid(NameCharacter)
}

// encodeLabel checks one mapped label and returns its A-label or LDH form.
func encodeLabel(label string) (string, error) {
	if strings.HasPrefix(label, "xn--") {
		if len(label) > maxLabelOctets {
			return "", Invalid(NameLabelTooLong)
		}
		return label, checkALabel(label)
	}
	if isASCII(label) {
		return label, checkLDH(label)
	}
	switch {
	case strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-"):
		return "", Invalid(NameHyphenEdge)
	case hyphens34(label):
		return "", Invalid(NameHyphens34)
	}
	if err := checkIDNA2008(label); err != nil {
		return "", err
	}
	encoded, err := uts46.ToASCII(label)
	if err != nil {
		return "", Invalid(NameCharacter)
	}
	if len(encoded) > maxLabelOctets {
		return "", Invalid(NameLabelTooLong)
	}
	return encoded, nil
}

// checkALabel accepts xn-- only if it is the A-label of a valid U-label.
func checkALabel(label string) error {
	unicodeForm, err := uts46.ToUnicode(label)
	if err != nil || isASCII(unicodeForm) || checkIDNA2008(unicodeForm) != nil ||
		strings.HasPrefix(unicodeForm, "-") || strings.HasSuffix(unicodeForm, "-") || hyphens34(unicodeForm) {
		return Invalid(NamePunycode)
	}
	if again, err := uts46.ToASCII(unicodeForm); err != nil || again != label {
		return Invalid(NamePunycode)
	}
	return nil
}

// hyphens34 counts characters, not bytes.
func hyphens34(label string) bool {
	runes := []rune(label)
	return len(runes) > 3 && runes[2] == '-' && runes[3] == '-'
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// pvalidExceptions and disallowedExceptions are category F of RFC 5892, 2.6. Code
// points with a context rule (CONTEXTO) are checked in contextAllows.
const (
	pvalidExceptions     = "ßς۽۾་〇"
	disallowedExceptions = "\u0640\u07fa\u302e\u302f\u3031\u3032\u3033\u3034\u3035\u303b"
)

// checkIDNA2008 rejects code points that RFC 5892 neither lists as PVALID nor allows in
// their context. The label has been mapped by UTS 46, so it contains nothing unstable
// under folding or normalisation; uts46 has checked CONTEXTJ.
func checkIDNA2008(label string) error {
	if label == "" {
		return Invalid(NameEmptyLabel)
	}
	runes := []rune(label)
	if unicode.In(runes[0], unicode.M) {
		return Invalid(NameCharacter)
	}
	for i, r := range runes {
		switch {
		case strings.ContainsRune(pvalidExceptions, r):
		case strings.ContainsRune(disallowedExceptions, r):
			return Invalid(NameCharacter)
		case r == '-', r == '\u200c', r == '\u200d':
		case unicode.In(r, unicode.Ll, unicode.Lo, unicode.Lm, unicode.Mn, unicode.Mc, unicode.Nd):
			if ignorable(r) || oldHangul(r) || mixedArabicDigits(runes, r) {
				return Invalid(NameCharacter)
			}
		case contextAllows(runes, i):
		default:
			return Invalid(NameCharacter)
		}
	}
	return nil
}

// ignorable is category C of RFC 5892, 2.3, as far as letters and marks are concerned.
func ignorable(r rune) bool {
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector,
		unicode.Noncharacter_Code_Point)
}

// oldHangul is category I of RFC 5892, 2.9: conjoining jamo.
func oldHangul(r rune) bool {
	return r >= 0x1100 && r <= 0x11ff || r >= 0xa960 && r <= 0xa97c || r >= 0xd7b0 && r <= 0xd7fb
}

// mixedArabicDigits is the rule of RFC 5892, A.8 and A.9: a label must not mix the two
// sets of Arabic-Indic digits.
func mixedArabicDigits(runes []rune, r rune) bool {
	var low, high rune
	switch {
	case r >= 0x0660 && r <= 0x0669:
		low, high = 0x06f0, 0x06f9
	case r >= 0x06f0 && r <= 0x06f9:
		low, high = 0x0660, 0x0669
	default:
		return false
	}
	return slices.ContainsFunc(runes, func(other rune) bool { return other >= low && other <= high })
}

// contextAllows checks the punctuation that RFC 5892, A.3 to A.7 allows in certain
// contexts only.
func contextAllows(runes []rune, i int) bool {
	before := func(want *unicode.RangeTable) bool { return i > 0 && unicode.Is(want, runes[i-1]) }
	switch runes[i] {
	case '\u00b7': // MIDDLE DOT, between two l
		return i > 0 && i+1 < len(runes) && runes[i-1] == 'l' && runes[i+1] == 'l'
	case '\u0375': // GREEK KERAIA
		return i+1 < len(runes) && unicode.Is(unicode.Greek, runes[i+1])
	case '\u05f3', '\u05f4': // HEBREW GERESH, GERSHAYIM
		return before(unicode.Hebrew)
	case '\u30fb': // KATAKANA MIDDLE DOT
		return slices.ContainsFunc(runes, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) })
	}
	return false
}
