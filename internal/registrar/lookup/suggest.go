package lookup

import (
	"strings"

	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// maxSuggestions is a limit because each suggestion is checked under every extension.
const maxSuggestions = 20

// Common additions to a name that is taken, most common first.
var (
	suggestedPrefixes = []string{"mein", "my", "get", "the"}
	suggestedSuffixes = []string{"-online", "24", "-shop", "1"}
)

// compoundEndings end many compound names, which read the same with a hyphen before them.
var compoundEndings = []string{
	"garten", "laden", "stadt", "werk", "markt", "haus", "welt", "shop", "store", "house", "hotel", "cafe", "club",
	"team", "land", "blog", "hof", "box", "bar", "lab", "app",
}

// transliterateUmlauts writes German with a-z only.
var transliterateUmlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss")

// Suggest returns alternatives to a label: with and without hyphens, with common prefixes
// and suffixes, in the plural or singular, without umlauts. They are well-formed and
// distinct, at most twenty, the closest first. An invalid label has none. Their
// availability is not checked.
func Suggest(label string) []string {
	own, err := registrar.ParseHost(label)
	if err != nil || strings.Contains(own, ".") {
		return nil
	}
	written := strings.ToLower(strings.Trim(strings.TrimSpace(label), "."))
	if strings.HasPrefix(written, "xn--") {
		// Words are combined before they are encoded, never after.
		if written, err = idna.Punycode.ToUnicode(own); err != nil {
			return nil
		}
	}
	seen := map[string]bool{own: true}
	var labels []string
	for _, candidate := range candidates(written) {
		ascii, err := registrar.ParseHost(candidate)
		if err != nil || seen[ascii] {
			continue
		}
		seen[ascii] = true
		labels = append(labels, candidate)
		if len(labels) == maxSuggestions {
			break
		}
	}
	return labels
}

func candidates(label string) []string {
	list := []string{transliterateUmlauts.Replace(label), strings.ReplaceAll(label, "-", "")}
	// A hyphen before the last word of a compound.
	for _, word := range compoundEndings {
		if first, found := strings.CutSuffix(label, word); found && first != "" {
			list = append(list, first+"-"+word)
			break
		}
	}
	list = append(list, pluralsAndSingulars(label)...)
	for _, prefix := range suggestedPrefixes {
		list = append(list, prefix+label)
	}
	for _, suffix := range suggestedSuffixes {
		list = append(list, label+suffix)
	}
	for _, prefix := range suggestedPrefixes {
		list = append(list, prefix+"-"+label)
	}
	return list
}

// pluralsAndSingulars applies the common German and English rules. Some results are not
// words, which is harmless for a suggestion.
func pluralsAndSingulars(label string) []string {
	switch {
	case strings.HasSuffix(label, "en"):
		return []string{strings.TrimSuffix(label, "n"), strings.TrimSuffix(label, "en"), label + "s"}
	case strings.HasSuffix(label, "e"):
		return []string{label + "n", label + "s"}
	case strings.HasSuffix(label, "us"), strings.HasSuffix(label, "ss"): // haus, bus, pass: no plural to undo
		return []string{label + "e", label + "es"}
	case strings.HasSuffix(label, "s"):
		return []string{strings.TrimSuffix(label, "s"), label + "e"}
	case strings.HasSuffix(label, "y"):
		return []string{strings.TrimSuffix(label, "y") + "ies", label + "s"}
	default:
		return []string{label + "s", label + "e", label + "en"}
	}
}
