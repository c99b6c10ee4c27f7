package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// Terminal is the environment of one command: context, variables and standard streams.
type Terminal struct {
	Ctx context.Context //nolint:containedctx // a Terminal lives as long as its command
	Env []string
	In  io.Reader
	Out io.Writer // Run reports its first error, so commands need not check each line
	Err io.Writer
}

// output remembers the first error of a writer.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(text []byte) (int, error) {
	n, err := o.Writer.Write(text)
	o.err = cmp.Or(o.err, err)
	return n, err
}

// TerminalFile returns the file behind a stream if it is an interactive terminal, else nil.
func TerminalFile(stream any) *os.File {
	if checked, ok := stream.(*output); ok {
		stream = checked.Writer
	}
	if file, ok := stream.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return file
	}
	return nil
}

// Println prints one line to standard output.
func (t *Terminal) Println(format string, args ...any) error {
	_, err := fmt.Fprintf(t.Out, format+"\n", args...)
	return err
}

// PrintJSON prints indented JSON without HTML escaping.
func (t *Terminal) PrintJSON(value any) error {
	encoder := json.NewEncoder(t.Out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// EncodeJSON returns one line of JSON without HTML escaping.
func EncodeJSON(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// Getenv returns an environment variable, or "" if it is not set.
func (t *Terminal) Getenv(name string) string {
	for _, setting := range t.Env {
		if value, found := strings.CutPrefix(setting, name+"="); found {
			return value
		}
	}
	return ""
}

// Notice prints one line to standard error, so that it never mixes with output that
// a script reads.
func (t *Terminal) Notice(format string, args ...any) {
	fmt.Fprintf(t.Err, "dotkontor: "+format+"\n", args...)
}

// ReadSecret reads a secret from a file, or standard input for "-". An empty path
// means no secret.
func (t *Terminal) ReadSecret(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := t.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" {
		return "", errors.New("read secret: the file is empty")
	}
	return secret, nil
}

// maxInputBytes bounds what a command reads into memory.
const maxInputBytes = 1 << 20

// Open opens a file, or standard input for "-".
func (t *Terminal) Open(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(t.In), nil
	}
	return os.Open(path)
}

// ReadFile reads a file, or standard input for "-".
func (t *Terminal) ReadFile(path string) ([]byte, error) {
	from, err := t.Open(path)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	text, err := io.ReadAll(io.LimitReader(from, maxInputBytes+1))
	if err == nil && len(text) > maxInputBytes {
		err = errors.New("the input is larger than 1 MiB")
	}
	return text, err
}

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
