package portal

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/retention"
	"github.com/dotkontor/dotkontor/internal/web/ui"
	"github.com/dotkontor/dotkontor/test/testkit/textcheck"
)

// dynamicKeys are the prefixes of texts that are chosen by a service's codes.
var dynamicKeys = []string{"hold_cause.", "problem.", "note.", "action.", "who.", "object.", "activity.language.", "domain.", "field.", "hint.", "kind.", "closed.", "change.", "change_state.", "bulk.", "overview.", "line.", "delegate.", "do.", "life.", "more.", "away.", "away_state.", "away_event.", "away_reason.", "lock_event.", "holder_reason.", "holder_refused.", "contact_check.", "contact_checks.", "retention.", "withdrawal.", "termination.", "declared.", "former.", "term.on_hold."}

func allTexts(t *testing.T) ui.Texts {
	t.Helper()
	return textcheck.Merge(t, texts, overviewTexts, activityTexts, domainTexts, termPlanTexts, transferTexts, domainListTexts, nameserverTexts, holderTexts, contactCheckTexts, retentionTexts, ui.RegistrantTexts)
}

func TestTexts_SamePlaceholdersInBothLanguages(t *testing.T) {
	t.Parallel()
	textcheck.CheckTranslations(t, allTexts(t))
}

func TestTexts_EveryReferencedKeyExists(t *testing.T) {
	t.Parallel()
	textcheck.CheckKeys(t, allTexts(t), dynamicKeys)
}

// What is kept after a closure has a name and a reason with its period.
func TestTexts_EveryKeptDataHasReason(t *testing.T) {
	t.Parallel()
	texts := allTexts(t)
	for _, rule := range retention.RulesOfKept() {
		years := strconv.Itoa(rule.Years)
		if why := texts["retention.why."+rule.Data]; texts["retention."+rule.Data][0] == "" || !strings.Contains(why[0], years+" Jahre") || !strings.Contains(why[1], years+" years") {
			t.Errorf("%s: the texts are %q", rule.Data, why)
		}
	}
}

// Every audit action has a text, also in the operators' history of a customer.
func TestTexts_EveryAuditActionHasText(t *testing.T) {
	t.Parallel()
	texts, operators := allTexts(t), ActionTexts()
	for key := range texts {
		if strings.HasPrefix(key, "action.") && operators[key][0] == "" {
			t.Errorf("operators have no text for %s", key)
		}
	}
	found := 0
	textcheck.EachMatch(t, "../../registrar/*/*.go", regexp.MustCompile(`registrar\.Action += "([a-z_]+)"`), func(action string) {
		found++
		if texts["action."+action][0] == "" {
			t.Errorf("there is no text for %s", action)
		}
	})
	if found < 30 {
		t.Errorf("only %d actions were found", found)
	}
	for _, kind := range []registrar.ActorKind{
		registrar.ActorPerson, registrar.ActorToken, registrar.ActorApplication, registrar.ActorOperator, registrar.ActorSystem,
	} {
		if texts["who."+string(kind)][0] == "" {
			t.Errorf("there is no text for %s", kind)
		}
	}
	for _, action := range domainchange.Actions() {
		if texts["action."+string(action)][0] == "" {
			t.Errorf("there is no text for %s", action)
		}
	}
	for _, kind := range domainchange.ChangeKinds() {
		silent := kind == domainchange.AuthCode || !slices.Contains(domainchange.CustomerChangeKinds(), kind)
		if texts["change."+string(kind)][0] == "" || !silent && texts["note.change_"+string(kind)][0] == "" {
			t.Errorf("there is no text for %s", kind)
		}
	}
}

// A message that names a limit gets it from its constant.
func TestTexts_MessagesWithLimitHaveIt(t *testing.T) {
	t.Parallel()
	for code := range limitByCode {
		text, found := domainListTexts[ui.ProblemKey(code)]
		if !found {
			text = texts[ui.ProblemKey(code)]
		}
		if !strings.Contains(text[0], "{1}") {
			t.Errorf("the text of %s names no limit: %q", code, text[0])
		}
	}
	for key, text := range domainListTexts {
		code, isProblem := strings.CutPrefix(key, "problem.")
		if isProblem && strings.Contains(text[0], "höchstens {1}") && limitByCode[registrar.Code(code)] == 0 {
			t.Errorf("%s has no limit to name", key)
		}
	}
}

// "Locked" alone does not say what the customer can't do. A renewal on hold does, as in the mails.
// A lock can have any cause, so no text claims proceedings.
func TestTexts_LocksSayWhatIsLocked(t *testing.T) {
	t.Parallel()
	vague := regexp.MustCompile(`(?i)^(nicht |wird |not |being )?(gesperrt|locked)$|\b(domain (ist )?gesperrt|abgeschaltet|domain is locked|on hold|switched off|because of a dispute)\b|laufenden Verfahren|Verfahrens ge`)
	for key, text := range allTexts(t) {
		for _, language := range text {
			if vague.MatchString(strings.ReplaceAll(language, "renewal is on hold", "")) {
				t.Errorf("%s: %s", key, language)
			}
		}
	}
}
