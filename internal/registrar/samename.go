package registrar

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// SameName says whether two spellings can be one person's name: a document shows
// all given names in capitals and without accents, a form has what people call
// themselves. All words of the shorter name must stand in the longer one, in any
// order, and one word alone is no name unless both are that word.
func SameName(a, b string) bool {
	short, long := nameWords(a), nameWords(b)
	if len(short) > len(long) {
		short, long = long, short
	}
	if len(short) == 0 || len(short) == 1 && len(long) > 1 {
		return false
	}
	for _, word := range short {
		at := slices.IndexFunc(long, func(other [2]string) bool { return sameSpelling(word, other) })
		if at < 0 {
			return false
		}
		long = slices.Delete(long, at, at+1)
	}
	return true
}

// sameSpelling compares two words in both ways of writing umlauts without dots.
func sameSpelling(a, b [2]string) bool {
	return a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1]
}

// spelled are letters that no decomposition takes apart, and how documents write
// them; ä, ö and ü are also written with an e.
var (
	letterReplacer = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "å", "a", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i")
	umlautReplacer = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ø", "oe", "å", "aa")
)

// titles are no names.
var titles = []string{"dr", "prof", "dipl", "ing", "med", "mag", "herr", "frau", "mr", "mrs", "ms"}

// nameWords are the words of a name, each without its accents and with umlauts
// written out.
func nameWords(name string) [][2]string {
	name = norm.NFC.String(strings.ToLower(name))
	// An apostrophe is a part of its word.
	name = strings.NewReplacer("'", "", "’", "", "`", "", "´", "").Replace(name)
	var words [][2]string
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) {
		if slices.Contains(titles, word) {
			continue
		}
		words = append(words, [2]string{stripAccents(word), stripAccents(umlautReplacer.Replace(word))})
	}
	return words
}

func stripAccents(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(letterReplacer.Replace(word)))
}
