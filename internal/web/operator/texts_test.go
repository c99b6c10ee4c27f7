package operator

import (
	"regexp"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/office"
	"github.com/dotkontor/dotkontor/internal/registrar/steward"
	"github.com/dotkontor/dotkontor/test/texts"
)

// byCode are the texts that are found by what a service says.
var byCode = []string{
	"problem.", "note.", "job.", "what.", "state.", "payment.", "peer.", "group.", "nobody.", "field.", "profile.", "who.", "cause.", "block.", "block_hint.", "securing.",
}

func TestBothLanguagesHaveTheSameTexts(t *testing.T) {
	t.Parallel()
	texts.Same(t, german, english)
}

func TestEveryTextThatAPageNamesExistsAndIsNamed(t *testing.T) {
	t.Parallel()
	texts.Named(t, german, byCode)
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
		texts.Find(t, "../../registrar/"+folder+"/*.go", states, func(state string) {
			if state != "done" && state != "refused" { // those are at their end
				want("state." + state)
			}
		})
	}
	texts.Find(t, "../../registrar/order/*.go", regexp.MustCompile(`PaymentState += "([a-z_]+)"`), func(state string) { want("payment." + state) })
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
