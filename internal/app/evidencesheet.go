package app

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web/operator"
	"github.com/dotkontor/dotkontor/internal/web/portal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// sheet is a page of the evidence that a bank's clerk reads: labels and values in plain English.
type sheet struct{ strings.Builder }

// title begins a part of the page.
func (s *sheet) title(text string) {
	if s.Len() > 0 {
		s.WriteByte('\n')
	}
	s.WriteString(text + "\n")
}

// line writes a label with what is known of its values; nothing if none is.
func (s *sheet) line(label string, parts ...string) {
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	if len(parts) > 0 {
		fmt.Fprintf(s, "%-14s%s\n", label, strings.Join(parts, ", "))
	}
}

// entry writes a line of a list.
func (s *sheet) entry(parts ...string) {
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	s.WriteString("  " + strings.Join(parts, ", ") + "\n")
}

func (s *sheet) bytes() []byte { return []byte(s.String()) }

// evidenceTime formats a time; empty for none.
func evidenceTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// said prefixes a value with a word; empty without a value.
func said(word, value string) string {
	if value == "" {
		return ""
	}
	return word + " " + value
}

// euros formats an amount that was charged here.
func euros(amount registrar.Cents) string { return amount.String() + " EUR" }

// inWords returns the words of the operators' pages for a code of a kind, such as state. A code
// without words is written as words.
func inWords[Code ~string](kind string, code Code) string {
	if code == "" {
		return ""
	}
	if text, known := operator.EnglishText(kind + "." + string(code)); known {
		return text
	}
	return strings.ReplaceAll(string(code), "_", " ")
}

// withReference is inWords for a code by which the provider's own pages are searched.
func withReference[Code ~string](kind string, code Code) string {
	if code == "" {
		return ""
	}
	return inWords(kind, code) + " (" + string(code) + ")"
}

// actionInWords returns what customers read about an audited action.
func actionInWords(action registrar.Action) string {
	if text, known := portal.ActionTexts()["action."+string(action)]; known {
		return text[1]
	}
	return strings.ReplaceAll(string(action), "_", " ")
}

// statusesInWords returns what a registry's statuses mean, each with the registry's own word.
func statusesInWords(statuses []string) (all []string) {
	for _, status := range statuses {
		if text := ui.EPPStatusText(status); text != "" {
			status = text + " (" + status + ")"
		}
		all = append(all, status)
	}
	return all
}

// fileName turns words into the name of a file.
func fileName(words string) string {
	parts := strings.FieldsFunc(strings.ToLower(words), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(parts, "-")
}
