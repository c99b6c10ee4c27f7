package registrar

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// SameName reports whether two spellings can be one person's name: a document shows all
// given names in capitals without accents, a form the name in daily use. All words of
// the shorter name must occur in the longer one, in any order, and a single word
// matches only itself.
func SameName(a, b string) bool {
	short, long := nameWords(a), nameWords(b)
	if len(short) > len(long) {
		short, long = long, short
	}
	if len(short) == 0 || len(short) == 1 && len(long) > 1 {
		return false
	}
	for _, word := range short {
		at := slices.IndexFunc(long, func(other [2]string) bool { // in either transliteration of umlauts
			return slices.Contains(other[:], word[0]) || slices.Contains(other[:], word[1])
		})
		if at < 0 {
			return false
		}
		long = slices.Delete(long, at, at+1)
	}
	return true
}

// letterReplacer maps letters without a decomposition to their spelling in documents;
// umlautReplacer maps ä, ö and ü to their alternative spelling with an e.
var (
	letterReplacer = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "å", "a", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i")
	umlautReplacer = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ø", "oe", "å", "aa")
)

// titles are not part of a name.
var titles = []string{"dr", "prof", "dipl", "ing", "med", "mag", "herr", "frau", "mr", "mrs", "ms"}

// nameWords returns the words of a name, each without accents and with umlauts
// transliterated.
func nameWords(name string) [][2]string {
	name = norm.NFC.String(strings.ToLower(name))
	// An apostrophe is part of its word.
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
