package legal

import (
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// ContractFile is a plain text with our terms, to be attached to the confirmation of a contract:
// a customer keeps it as it was then (§ 312f BGB).
type ContractFile struct {
	Name    string
	Content []byte // UTF-8 with CRLF, which every viewer shows
}

// ContractFiles renders the texts of the pages once and returns the file for a language. For a
// consumer it also has the instructions on withdrawal.
func ContractFiles(own fs.FS, operator OperatorInfo, baseURL string) (func(language string, consumer bool) ContractFile, error) {
	terms, withdrawals := make(map[string]string), make(map[string]string)
	for _, language := range []string{ui.German, ui.English} {
		for l, rendered := range map[legalPage]map[string]string{termsPage: terms, withdrawalPage: withdrawals} {
			blocks, err := loadText(own, l.path(language)[1:], operator.byName())
			if err != nil {
				return nil, err
			}
			title := ui.InLanguage(language, texts[l.title][0], texts[l.title][1])
			rendered[language] = plainText(title, blocks, baseURL)
		}
	}
	files := make(map[bool]map[string]ContractFile)
	for _, consumer := range []bool{false, true} {
		files[consumer] = make(map[string]ContractFile)
		for _, language := range []string{ui.German, ui.English} {
			name, text := ui.InLanguage(language, "AGB.txt", "terms.txt"), terms[language]
			if consumer {
				name, text = ui.InLanguage(language, "AGB-und-Widerrufsbelehrung.txt", "terms-and-withdrawal.txt"), text+"\n\n"+withdrawals[language]
			}
			files[consumer][language] = ContractFile{name, []byte(strings.ReplaceAll(text, "\n", "\r\n"))}
		}
	}
	return func(language string, consumer bool) ContractFile {
		return files[consumer][ui.InLanguage(language, ui.German, ui.English)]
	}, nil
}

// plainText is a text as its page shows it, with the addresses of links.
func plainText(title string, blocks []block, baseURL string) string {
	var out strings.Builder
	write := func(first, rest string, text []span) {
		var line strings.Builder
		for _, s := range text {
			line.WriteString(s.Text)
			if s.Link != "" {
				line.WriteString(" (" + baseURL + s.Link + ")")
			}
		}
		wrap(&out, first, rest, strings.ReplaceAll(line.String(), "\u2011", "-")) // parse has replaced hyphens
	}
	out.WriteString(title + "\n" + strings.Repeat("=", utf8.RuneCountInString(title)) + "\n")
	for _, b := range blocks {
		out.WriteString("\n")
		switch {
		case b.Heading != "":
			write("", "", []span{{Text: b.Heading}})
			out.WriteString(strings.Repeat("-", utf8.RuneCountInString(b.Heading)) + "\n")
		case b.Items != nil:
			for _, item := range b.Items {
				write("- ", "  ", item)
			}
		case b.Lines != nil:
			for _, line := range b.Lines {
				write("", "", line)
			}
		default:
			write("", "", b.Text)
		}
	}
	return out.String()
}

// fileWidth is the length of lines, in characters. Some viewers don't wrap longer ones.
const fileWidth = 76

// wrap writes a paragraph whose first line begins with first, and each further one with rest.
func wrap(out *strings.Builder, first, rest, text string) {
	line := first
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
			line += word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > fileWidth:
			out.WriteString(line + "\n")
			line = rest + word
		default:
			line += " " + word
		}
	}
	out.WriteString(line + "\n")
}
