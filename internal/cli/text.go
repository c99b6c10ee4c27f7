package cli

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

func Spaces(n int) string { return strings.Repeat(" ", max(0, n)) }

func Pad(text string, to int, right bool) string {
	fill := Spaces(to - CellWidth(text))
	if right {
		return fill + text
	}
	return text + fill
}

// Truncate shortens text to a number of cells and appends an ellipsis.
func Truncate(text string, to int) string {
	if CellWidth(text) <= to {
		return text
	}
	if to < 1 {
		return ""
	}
	var short strings.Builder
	used := 0
	for _, r := range text {
		if used += runeWidth(r); used > to-1 {
			break
		}
		short.WriteRune(r)
	}
	return short.String() + "…"
}

// CellWidth returns the number of terminal cells that text occupies.
func CellWidth(text string) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// Printable replaces control characters: text from a price list, a registry or another
// server must not control the terminal.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || unicode.Is(unicode.Mn, r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
