package operator

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/office"
	"github.com/dotkontor/dotkontor/internal/registrar/steward"
)

var (
	place    = regexp.MustCompile(`\{[0-9]+\}`)
	inView   = regexp.MustCompile(`\bt "([a-z_.]+)"`)
	inSource = regexp.MustCompile(`"([a-z_]+(?:\.[a-z_]+)+)"`)
)

// byCode are the texts that are found by what a service says.
var byCode = []string{
	"problem.", "note.", "job.", "what.", "state.", "payment.", "peer.", "group.", "nobody.", "field.", "profile.", "who.", "cause.", "block.", "block_hint.", "securing.",
}

func TestBothLanguagesHaveTheSameTexts(t *testing.T) {
	t.Parallel()
	if !slices.Equal(slices.Sorted(maps.Keys(german)), slices.Sorted(maps.Keys(english))) {
		t.Error("the keys differ")
	}
	for key, text := range german {
		places := func(text string) []string { return slices.Sorted(slices.Values(place.FindAllString(text, -1))) }
		if !slices.Equal(places(text), places(english[key])) {
			t.Errorf("%s: %q and %q have other places", key, text, english[key])
		}
		if strings.TrimSpace(text) == "" || strings.TrimSpace(english[key]) == "" {
			t.Errorf("%s is empty", key)
		}
	}
}

func read(t *testing.T, pattern string, find *regexp.Regexp, each func(match string)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v", pattern, err)
	}
	for _, file := range files {
		if name := filepath.Base(file); name == "german.go" || name == "english.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range find.FindAllStringSubmatch(string(text), -1) {
			each(match[1])
		}
	}
}

func TestEveryTextThatAPageNamesExistsAndIsNamed(t *testing.T) {
	t.Parallel()
	named := make(map[string]bool)
	collect := func(key string) { named[key] = true }
	read(t, "templates/*.html", inView, collect)
	read(t, "*.go", inSource, collect)
	for key := range named {
		if _, ok := german[key]; !ok && !strings.HasSuffix(key, ".csv") {
			t.Errorf("there is no text %s", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(german)) {
		if !named[key] && !slices.ContainsFunc(byCode, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			t.Errorf("nobody says %s", key)
		}
	}
	read(t, "*.go", regexp.MustCompile(`(?:note = |note := |v\.Note\()"([a-z_]+)"`), func(note string) {
		if german["note."+note] == "" {
			t.Errorf("the note %s has no text", note)
		}
	})
}

// What services say is said in words.
func TestEveryWordOfTheServicesHasAText(t *testing.T) {
	t.Parallel()
	want := func(key string) {
		if german[key] == "" {
			t.Errorf("there is no text %s", key)
		}
	}
	for _, cause := range office.Causes() {
		want("cause." + string(cause))
	}
	for _, block := range office.Blocks() {
		want("block." + string(block))
		want("block_hint." + string(block))
	}
	for _, securing := range []office.Securing{office.Secured, office.UnderWay, office.NotSecured} {
		want("securing." + string(securing))
	}
	for _, kind := range office.JobKinds() {
		want("job." + string(kind))
	}
	for _, kind := range steward.AllKinds() {
		want("what." + string(kind))
	}
	for _, status := range holding.Statuses() {
		want("state." + string(status))
	}
	for _, group := range groups {
		want("group." + group)
		want("nobody." + group)
	}
	for code := range fieldOf {
		want("problem." + string(code))
	}
	states := regexp.MustCompile(`\bState += "([a-z_]+)"`)
	for _, folder := range []string{"order", "provision", "steward"} {
		read(t, "../../registrar/"+folder+"/*.go", states, func(state string) {
			if state != "done" && state != "refused" { // those are at their end
				want("state." + state)
			}
		})
	}
	read(t, "../../registrar/order/*.go", regexp.MustCompile(`PaymentState += "([a-z_]+)"`), func(state string) { want("payment." + state) })
	shipped, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := shipped.Write(&text); err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(text.String(), "\n")
	for column := range strings.SplitSeq(strings.TrimPrefix(head, "tld,"), ",") {
		want("field." + column)
	}
}
