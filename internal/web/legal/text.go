package legal

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/web/ui"
)

//go:embed texts
var defaultTexts embed.FS

// maxTextBytes limits an operator's own text.
const maxTextBytes = 256 << 10

// OperatorInfo holds the operator's details by the names that texts use. Missing ones
// are empty.
type OperatorInfo struct {
	Company, Street, PostalCode, City, Email, Phone string
	Representative, Responsible, Register, VATID    string
	VerifyOver                                      string // the total of 30 days above which an identity is verified
}

func (p OperatorInfo) byName() map[string]string {
	return map[string]string{
		"company": p.Company, "street": p.Street, "postal_code": p.PostalCode, "city": p.City, "email": p.Email, "phone": p.Phone,
		"representative": p.Representative, "responsible": p.Responsible, "register": p.Register, "vat_id": p.VATID,
		"verify_over": p.VerifyOver,
	}
}

// block is one part of a text; exactly one field is set.
type block struct {
	Heading string
	Text    []span
	// Lines keep their line breaks, as in an address. Items form a list.
	Lines, Items [][]span
}

// span is a part of a sentence; Link is empty or its target.
type span struct{ Text, Link string }

var (
	placeholder = regexp.MustCompile(`\{([a-z_]+)\}`)
	// Texts link to our own pages only.
	link = regexp.MustCompile(`\[([^\]]+)\]\((/[a-z/-]*)\)`)
)

// parse parses a text: "# " starts a heading, "- " a list item, "| " a line that keeps
// its line break, and [words](/path) is a link to one of our pages. Everything else is
// running text, and an empty line ends a paragraph. {company} and the other details are
// filled in; a line or an item with a missing detail is left out.
func parse(text string, known map[string]string) ([]block, error) {
	var blocks []block
	var paragraph []string
	text = ui.NonBreaking(text)
	end := func() {
		if len(paragraph) > 0 {
			blocks = append(blocks, block{Text: spans(strings.Join(paragraph, " "))})
			paragraph = nil
		}
	}
	for number, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		line = strings.TrimSpace(line)
		filled, complete, err := fill(line, known)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number+1, err)
		}
		mark, rest, _ := strings.Cut(filled, " ")
		switch mark {
		case "#", "-", "|":
			end()
			if complete {
				blocks = appendBlock(blocks, mark, strings.TrimSpace(rest))
			}
		case "":
			end()
		default:
			paragraph = append(paragraph, filled)
		}
	}
	end()
	return dropEmptyHeadings(blocks), nil
}

// fill replaces the placeholders. It returns false if a detail is missing.
func fill(line string, known map[string]string) (filled string, complete bool, err error) {
	complete = true
	filled = placeholder.ReplaceAllStringFunc(line, func(place string) string {
		value, ok := known[place[1:len(place)-1]]
		if !ok {
			err = fmt.Errorf("unknown placeholder %s", place)
		}
		complete = complete && value != ""
		if value == "" {
			return "–"
		}
		return value
	})
	return filled, complete, err
}

// appendBlock appends a marked line, to the same list if there is one.
func appendBlock(blocks []block, mark, text string) []block {
	if mark == "#" {
		return append(blocks, block{Heading: text})
	}
	last := len(blocks) - 1
	if mark == "-" {
		if last >= 0 && blocks[last].Items != nil {
			blocks[last].Items = append(blocks[last].Items, spans(text))
			return blocks
		}
		return append(blocks, block{Items: [][]span{spans(text)}})
	}
	if last >= 0 && blocks[last].Lines != nil {
		blocks[last].Lines = append(blocks[last].Lines, spans(text))
		return blocks
	}
	return append(blocks, block{Lines: [][]span{spans(text)}})
}

func dropEmptyHeadings(blocks []block) []block {
	var remaining []block
	for i, b := range blocks {
		if b.Heading != "" && (i+1 == len(blocks) || blocks[i+1].Heading != "") {
			continue
		}
		remaining = append(remaining, b)
	}
	return remaining
}

func spans(text string) []span {
	var list []span
	from := 0
	for _, at := range link.FindAllStringSubmatchIndex(text, -1) {
		if at[0] > from {
			list = append(list, span{Text: text[from:at[0]]})
		}
		list = append(list, span{Text: text[at[2]:at[3]], Link: text[at[4]:at[5]]})
		from = at[1]
	}
	if from < len(text) {
		list = append(list, span{Text: text[from:]})
	}
	return list
}

// loadTexts returns all texts by name: the operator's if present, otherwise ours.
func loadTexts(override fs.FS, operator OperatorInfo) (map[string][]block, error) {
	known := operator.byName()
	texts := make(map[string][]block)
	files, err := fs.Glob(defaultTexts, "texts/*.txt")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "texts/"), ".txt")
		if texts[name], err = loadText(override, name, known); err != nil {
			return nil, err
		}
	}
	return texts, rejectUnknownTexts(override, texts)
}

// loadText returns one text: the operator's if present, otherwise ours.
func loadText(override fs.FS, name string, known map[string]string) ([]block, error) {
	body, err := defaultTexts.ReadFile("texts/" + name + ".txt")
	if err != nil {
		return nil, err
	}
	if override != nil {
		replacement, err := fs.ReadFile(override, name+".txt")
		switch {
		case err == nil:
			body = replacement
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("legal: text %s.txt: %w", name, err)
		}
	}
	if len(body) > maxTextBytes || !utf8.Valid(body) {
		return nil, fmt.Errorf("legal: text %s.txt is larger than %d bytes or not UTF-8", name, maxTextBytes)
	}
	blocks, err := parse(string(body), known)
	if err != nil {
		return nil, fmt.Errorf("legal: text %s.txt, %w", name, err)
	}
	return blocks, nil
}

// WriteDefaultTexts writes our texts to a folder and returns the files written.
// Existing files are kept.
func WriteDefaultTexts(folder string) (written []string, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	files, err := fs.Glob(defaultTexts, "texts/*.txt")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		body, err := defaultTexts.ReadFile(file)
		if err != nil {
			return written, err
		}
		to := filepath.Join(folder, path.Base(file))
		out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return written, err
		}
		_, err = out.Write(body)
		if err := errors.Join(err, out.Close()); err != nil {
			return written, err
		}
		written = append(written, to)
	}
	return written, nil
}

// rejectUnknownTexts rejects a file that no page uses, because its name is probably
// mistyped.
func rejectUnknownTexts(override fs.FS, texts map[string][]block) error {
	if override == nil {
		return nil
	}
	files, err := fs.Glob(override, "*.txt")
	if err != nil {
		return err
	}
	for _, file := range files {
		if _, known := texts[strings.TrimSuffix(file, ".txt")]; !known {
			return fmt.Errorf("legal: no page uses the text %s", file)
		}
	}
	_, err = fs.ReadDir(override, ".")
	return err
}
