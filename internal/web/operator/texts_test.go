package operator

import (
	"regexp"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/test/testkit/textcheck"
)

// dynamicKeys are the prefixes of texts that are chosen by a service's codes.
var dynamicKeys = []string{
	"problem.", "note.", "job.", "what.", "state.", "payment.", "upstream.", "group.", "group_empty.", "field.", "profile.", "who.", "cause.", "block.", "block_hint.", "securing.", "term_action.", "terms.why_", "waits_for.",
}

func TestTexts_SamePlaceholdersInBothLanguages(t *testing.T) {
	t.Parallel()
	textcheck.CheckTranslations(t, texts)
}

func TestTexts_EveryReferencedKeyExists(t *testing.T) {
	t.Parallel()
	textcheck.CheckKeys(t, texts, dynamicKeys)
}

// Every code of the services has a text.
func TestTexts_EveryServiceCodeHasText(t *testing.T) {
	t.Parallel()
	want := func(key string) {
		if texts[key][0] == "" {
			t.Errorf("there is no text %s", key)
		}
	}
	for _, cause := range admin.Causes() {
		want("cause." + string(cause))
	}
	for _, block := range admin.Restrictions() {
		want("block." + string(block))
		want("block_hint." + string(block))
	}
	for _, securing := range []admin.SecureStatus{admin.Secured, admin.SecureInProgress, admin.NotSecured} {
		want("securing." + string(securing))
	}
	for _, kind := range admin.JobKinds() {
		want("job." + string(kind))
	}
	for _, kind := range domainchange.ChangeKinds() {
		want("what." + string(kind))
	}
	for _, status := range registrar.DomainStatuses() {
		want("state." + string(status))
	}
	for _, group := range upstreamGroups {
		want("group." + group)
		want("group_empty." + group)
	}
	for _, reason := range []registrar.Code{
		lifecycle.WaitsForOperator, lifecycle.WaitsForConsent, lifecycle.WaitsForNotices, lifecycle.WaitsForLock, lifecycle.WaitsForRegistry, lifecycle.WaitsForReview,
	} {
		want("waits_for." + string(reason))
	}
	for _, code := range []registrar.Code{
		lifecycle.PreviewChanged, lifecycle.BrakeReleased, lifecycle.PaymentInProgress, lifecycle.TermChanged, lifecycle.WaitsForLock,
	} {
		want("problem." + string(code))
	}
	for code := range fieldByCode {
		want("problem." + string(code))
	}
	states := regexp.MustCompile(`\bState += "([a-z_]+)"`)
	for _, folder := range []string{"order", "provision", "domainchange"} {
		textcheck.EachMatch(t, "../../registrar/"+folder+"/*.go", states, func(state string) {
			if state != "done" && state != "refused" { // these are final
				want("state." + state)
			}
		})
	}
	textcheck.EachMatch(t, "../../registrar/order/*.go", regexp.MustCompile(`PaymentState += "([a-z_]+)"`), func(state string) { want("payment." + state) })
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
