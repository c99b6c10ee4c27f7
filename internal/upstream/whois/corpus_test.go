package whois

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// TestNoRegisteredNameIsCalledFree reads a corpus of real answers if
// WHOIS_CORPUS_DIR names one: a folder with one folder for each extension
// (".de"), or the parent of such a folder. Files named free* are answers about
// free names, all others about registered ones.
func TestNoRegisteredNameIsCalledFree(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("WHOIS_CORPUS_DIR")
	if dir == "" {
		for _, c := range ownAnswers {
			got, code := Classify([]byte(c.answer), c.name)
			if c.want == lookup.Registered && got.State == lookup.Free {
				t.Errorf("%s: called free (%q)", c.rule, code)
			}
		}
		return
	}
	var right, wrong, unknown int
	var report []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".txt" {
			return err
		}
		extension := filepath.Base(filepath.Dir(path))
		if !strings.HasPrefix(extension, ".") {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, free := corpusName(entry.Name(), extension)
		got, code := Classify(raw, name)
		note := fmt.Sprintf("%s as %s: state %d, fault %q", filepath.Join(extension, entry.Name()), name, got.State, code)
		switch {
		case code != "" || got.State == lookup.Undecided:
			unknown++
			report = append(report, "unknown "+note)
		case free == (got.State == lookup.Free):
			right++
		default:
			wrong++
			report = append(report, "wrong   "+note)
			if got.State == lookup.Free {
				t.Error("a registered name is called free: ", note)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(report)
	total := right + wrong + unknown
	t.Logf("%d answers: %d right, %d wrong, %d unknown\n%s", total, right, wrong, unknown, strings.Join(report, "\n"))
	if total == 0 {
		t.Fatal("the corpus holds no answers")
	}
	if right*100 < total*95 {
		t.Errorf("only %d of %d right", right, total)
	}
}

// corpusName finds the asked name in a file's name.
func corpusName(file, extension string) (name string, free bool) {
	base := strings.TrimSuffix(file, ".txt")
	rest, free := strings.CutPrefix(base, "free")
	if free {
		if asked, found := strings.CutPrefix(rest, "_"); found {
			return asked, true
		}
		return "free" + extension, true
	}
	base, _, _ = strings.Cut(base, "_")
	for _, encoding := range []string{"-win1252", "-utf8"} {
		base = strings.TrimSuffix(base, encoding)
	}
	return base, false
}
