package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

func TestScanNames_SkipsCommentsBlanksAndBOM(t *testing.T) {
	t.Parallel()
	got, err := scanNames(strings.NewReader("\ufeffa.de\r\n\n# comment\n  b.de  # why\nc"))
	if err != nil || !slices.Equal(got, []string{"a.de", "b.de", "c"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestNameList_IsBounded(t *testing.T) {
	t.Parallel()
	if _, err := scanNames(strings.NewReader("a.de\n" + strings.Repeat("x", maxLine+1))); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a long line: %v", err)
	}
	if names, err := scanNames(strings.NewReader(strings.Repeat("x\n", maxNames))); err != nil || len(names) != maxNames {
		t.Errorf("%d names, %v", len(names), err)
	}
	if _, err := scanNames(strings.NewReader(strings.Repeat("x\n", maxNames+1))); !errors.Is(err, errTooManyNames) {
		t.Errorf("one too many: %v", err)
	}
	labels := make([]string, maxNames/2+1)
	for i := range labels {
		labels[i] = fmt.Sprintf("x%d", i)
	}
	if _, err := (nameExpansion{tlds: []string{".de", ".com"}}).expand(labels); !errors.Is(err, errTooManyNames) {
		t.Errorf("too many names after expansion: %v", err)
	}
}

func TestReadNames_StopsWithContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in, out := io.Pipe()
	defer out.Close() // unblocks the reader
	var code cli.ExitCode
	if _, err := readNames(ctx, in); !errors.As(err, &code) || int(code) != cli.ExitInterrupted {
		t.Errorf("got %v", err)
	}
}

func TestNameExpansion_TLDsAndSuggestions(t *testing.T) {
	t.Parallel()
	list, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	listed := func(tld string) bool { _, ok := list.Extension(tld); return ok }
	tlds := []string{".de", ".com"}
	for _, test := range []struct {
		rule      string
		expansion nameExpansion
		given     string
		want      string
	}{
		{"a name without a dot below every extension", nameExpansion{tlds: tlds}, "haus", "haus.de haus.com"},
		{"a full name as it is", nameExpansion{tlds: tlds}, "haus.shop", "haus.shop"},
		{"with --tlds a full name there, too", nameExpansion{tlds: tlds, alsoTLDs: true}, "haus.shop", "haus.shop haus.de haus.com"},
		{"no name twice", nameExpansion{tlds: tlds, alsoTLDs: true}, "haus.de HAUS.de haus", "haus.de haus.com"},
		{"two labels of extension are one", nameExpansion{tlds: tlds, alsoTLDs: true}, "haus.co.uk", "haus.co.uk haus.de haus.com"},
		{"Unicode stays", nameExpansion{tlds: tlds, alsoTLDs: true}, "bücher.de", "bücher.de bücher.com"},
		{"another dot is a dot", nameExpansion{tlds: tlds}, "haus。de", "haus。de"},
		{"what is no name stays as it is", nameExpansion{tlds: tlds, alsoTLDs: true, suggest: true}, "a_b www.haus.de haus.zz", "a_b www.haus.de haus.zz"},
	} {
		test.expansion.listed = listed
		got, err := test.expansion.expand(strings.Fields(test.given))
		if err != nil || strings.Join(got, " ") != test.want {
			t.Errorf("%s: got %v, %v", test.rule, got, err)
		}
	}
	got, err := nameExpansion{tlds: tlds, suggest: true, listed: listed}.expand([]string{"kaffeehaus", "tee.shop"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"kaffeehaus.de", "kaffee-haus.de", "kaffee-haus.com", "tee.shop", "meintee.shop"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in %v", want, got)
		}
	}
	if slices.Contains(got, "meintee.de") {
		t.Error("a suggestion for a full name left its extension without --tlds")
	}
}

func TestChooseExtensions_ByGroupOrName(t *testing.T) {
	t.Parallel()
	list, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	all, err := chooseExtensions([]string{"all"}, list, true)
	if err != nil || len(all) != list.Len() || all[0] != ".de" || all[1] != ".com" {
		t.Errorf("all: %d of %d, %v", len(all), list.Len(), err)
	}
	// By popularity: the eight of a search, those marked in the price list, the rest.
	if !slices.Equal(all[:8], lookup.DefaultExtensions()) || !slices.IsSorted(all[40:]) {
		t.Errorf("all begins with %v and ends with %v", all[:8], all[40:])
	}
	last := slices.IndexFunc(all, func(tld string) bool { ext, _ := list.Extension(tld); return !ext.Popular })
	if rest := all[last:]; slices.ContainsFunc(rest, func(tld string) bool { ext, _ := list.Extension(tld); return ext.Popular }) {
		t.Errorf("a popular extension comes after %s", rest[0])
	}
	popular, err := chooseExtensions([]string{"popular", ".abogado"}, list, true)
	if err != nil || len(popular) < 10 || !slices.Contains(popular, ".shop") || popular[len(popular)-1] != ".abogado" {
		t.Errorf("popular: %v, %v", popular, err)
	}
	if got, err := chooseExtensions([]string{"de", ".CO.UK"}, list, true); err != nil || !slices.Equal(got, []string{".de", ".co.uk"}) {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := chooseExtensions(nil, list, true); err != nil || len(got) != 8 {
		t.Errorf("by default: %v, %v", got, err)
	}
	for _, wrong := range []string{"", ".", "d_e", ".zz"} {
		var usage cli.UsageError
		if _, err := chooseExtensions([]string{wrong}, list, true); !errors.As(err, &usage) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if _, err := chooseExtensions([]string{".zz"}, list, false); err != nil {
		t.Errorf("an unlisted extension is rejected with --server: %v", err)
	}
}
