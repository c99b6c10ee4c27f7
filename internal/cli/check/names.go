package check

import (
	"bufio"
	"cmp"
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
	// maxNames limits one batch, including extensions and suggestions.
	maxNames = 100_000
	// maxLine limits a line of input. No form of a name is longer.
	maxLine = 4096
)

// labelSeparators are the characters that separate labels (UTS 46, 2.3).
const labelSeparators = ".\u3002\uff0e\uff61"

var errTooManyNames = fmt.Errorf("more than %d names; split the list", maxNames)

// readNames reads one name per line. It skips empty lines and text after #.
func readNames(ctx context.Context, in io.Reader) ([]string, error) {
	return interruptible(ctx, func() ([]string, error) { return scanNames(in) })
}

// interruptible returns the result of work, or ExitInterrupted when ctx ends. Work that
// is blocked then ends with the process.
func interruptible[T any](ctx context.Context, work func() (T, error)) (result T, err error) {
	done := make(chan func() (T, error), 1)
	go func() {
		result, err := work()
		done <- func() (T, error) { return result, err }
	}()
	select {
	case finished := <-done:
		return finished()
	case <-ctx.Done():
		return result, cli.ExitCode(cli.ExitInterrupted)
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
		return nil, fmt.Errorf("line %d of the input is longer than %d bytes; expected one name per line", number+1, maxLine)
	}
	return names, lines.Err()
}

// nameExpansion expands names into extensions and suggestions.
type nameExpansion struct {
	// tlds are the extensions for names without one.
	tlds []string
	// alsoTLDs also checks names with an extension under tlds.
	alsoTLDs bool
	suggest  bool
	listed   func(tld string) bool
}

// expand returns the full names to look up, without duplicates, in the given order.
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

// expandName returns one name under all its extensions, then its suggestions. Invalid
// names stay as they are; their result reports the error.
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

// chooseExtensions parses the values of --tlds. If strict, extensions that are not listed
// are errors, because they are probably typos.
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
				return nil, cli.UsageError(fmt.Sprintf("--tlds: %s is not in the price list; 'dotkontor catalog export' prints it", tld))
			}
			chosen = append(chosen, tld)
		}
	}
	return chosen, nil
}

// filterExtensions returns the extensions that pass by popularity: those of a search, then
// those that the price list marks as popular, then the rest by name.
func filterExtensions(list *catalog.Catalog, pass func(registrar.Extension) bool) []string {
	searched := lookup.DefaultExtensions()
	rank := func(ext registrar.Extension) int {
		switch i := slices.Index(searched, ext.TLD); {
		case i >= 0:
			return i
		case ext.Popular:
			return len(searched)
		default:
			return len(searched) + 1
		}
	}
	all := list.All()
	slices.SortStableFunc(all, func(a, b registrar.Extension) int { return cmp.Compare(rank(a), rank(b)) })
	var chosen []string
	for _, ext := range all {
		if pass(ext) {
			chosen = append(chosen, ext.TLD)
		}
	}
	return chosen
}
