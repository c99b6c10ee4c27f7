package check

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

const (
	// maxNames bounds one batch, after every name has grown into its extensions
	// and suggestions.
	maxNames = 100_000
	// maxLine bounds a line of input. No name is longer in any spelling.
	maxLine = 4096
)

// labelSeparators are what a person may type between labels (UTS 46, 2.3).
const labelSeparators = ".\u3002\uff0e\uff61"

var errTooManyNames = fmt.Errorf("more than %d names; please split the list", maxNames)

// readNames reads one name a line. Empty lines and everything after a # are
// skipped. It gives up waiting when ctx ends; what still sits in Read then ends
// with the process.
func readNames(ctx context.Context, in io.Reader) ([]string, error) {
	type result struct {
		names []string
		err   error
	}
	done := make(chan result, 1)
	go func() {
		names, err := scanNames(in)
		done <- result{names, err}
	}()
	select {
	case r := <-done:
		return r.names, r.err
	case <-ctx.Done():
		return nil, cli.ExitCode(cli.ExitInterrupted)
	}
}

func scanNames(in io.Reader) ([]string, error) {
	var names []string
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, maxLine), maxLine)
	number := 0
	for lines.Scan() {
		number++
		line, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "\ufeff"), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if len(names) == maxNames {
			return nil, errTooManyNames
		}
		names = append(names, line)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d of the input is longer than %d bytes; one name a line is expected", number+1, maxLine)
	}
	return names, lines.Err()
}

// nameExpansion is what names grow into.
type nameExpansion struct {
	// tlds are the extensions for names without one.
	tlds []string
	// alsoTLDs puts full names below tlds too.
	alsoTLDs bool
	suggest  bool
	listed   func(tld string) bool
}

// expand returns the full names to ask about, each once, in the order of what
// was given.
func (w nameExpansion) expand(given []string) ([]string, error) {
	var names []string
	seen := make(map[string]bool)
	for _, text := range given {
		for _, name := range w.expandName(text) {
			key := strings.ToLower(name)
			if seen[key] {
				continue
			}
			if len(names) == maxNames {
				return nil, errTooManyNames
			}
			seen[key] = true
			names = append(names, name)
		}
	}
	return names, nil
}

// expandName is one name below all its extensions, then its suggestions below them.
// What is no name stays as it is, and the answer will say what is wrong.
func (w nameExpansion) expandName(text string) []string {
	label, below := text, w.tlds
	if strings.ContainsAny(text, labelSeparators) {
		name, err := registrar.ParseName(text, w.listed)
		if err != nil || !w.alsoTLDs && !w.suggest {
			return []string{text}
		}
		label, _, _ = strings.Cut(name.String(), ".")
		below = []string{name.TLD()}
		if w.alsoTLDs {
			below = append(below, w.tlds...)
		}
	} else if _, err := registrar.ParseHost(text); err != nil {
		return []string{text}
	}
	labels := []string{label}
	if w.suggest {
		labels = append(labels, lookup.Suggest(label)...)
	}
	names := make([]string, 0, len(labels)*len(below))
	for _, l := range labels {
		for _, tld := range below {
			names = append(names, l+tld)
		}
	}
	return names
}

// chooseExtensions reads the values of --tlds. Extensions that the list does not
// carry are a mistake if strict: a batch of typing errors helps nobody.
func chooseExtensions(values []string, list *catalog.Catalog, strict bool) ([]string, error) {
	if len(values) == 0 {
		return lookup.DefaultExtensions(), nil
	}
	var chosen []string
	for _, value := range values {
		switch value = strings.TrimSpace(value); value {
		case "all":
			chosen = append(chosen, filterExtensions(list, func(registrar.Extension) bool { return true })...)
		case "popular":
			chosen = append(chosen, filterExtensions(list, func(ext registrar.Extension) bool { return ext.Popular })...)
		default:
			tld, err := registrar.ParseExtension("." + strings.TrimPrefix(value, "."))
			if err != nil {
				return nil, cli.UsageError(fmt.Sprintf("--tlds: %q is not an extension like .de, nor popular or all", value))
			}
			if _, carried := list.Extension(tld); strict && !carried {
				return nil, cli.UsageError(fmt.Sprintf("--tlds: %s is not carried; 'dotkontor catalog export' prints the list", tld))
			}
			chosen = append(chosen, tld)
		}
	}
	return chosen, nil
}

// filterExtensions is the extensions that pass, those of a search first, since they are
// what most people look for.
func filterExtensions(list *catalog.Catalog, pass func(registrar.Extension) bool) []string {
	first := lookup.DefaultExtensions()
	var webConfig, rest []string
	for _, tld := range first {
		if ext, carried := list.Extension(tld); carried && pass(ext) {
			webConfig = append(webConfig, tld)
		}
	}
	for _, ext := range list.All() {
		if pass(ext) && !slices.Contains(first, ext.TLD) {
			rest = append(rest, ext.TLD)
		}
	}
	return append(webConfig, rest...)
}
