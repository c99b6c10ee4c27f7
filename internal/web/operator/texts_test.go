package operator

import (
	"regexp"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/contactcheck"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
	"github.com/dotkontor/dotkontor/test/testkit/textcheck"
)

// dynamicKeys are the prefixes of texts that are chosen by a service's codes.
var dynamicKeys = []string{
	"problem.", "note.", "job.", "what.", "state.", "payment.", "upstream.", "group.", "group_empty.", "field.", "profile.", "who.", "cause.", "block.", "block_hint.", "securing.", "holding.", "term_action.", "terms.why_", "term_confirm.", "term_about.", "confirm.", "confirm_about.", "database.", "waits_for.",
	"error.", "mail.", "channel.", "payment_kind.", "document.", "month.", "urgency.", "notice.title.", "notice.page.", "notice.law.", "notice.effect.", "notice.reply_hint.", "notice.renewal.", "terminate.default.", "notices.end.", "ground.", "consent_end.", "topic.", "inquiry.language.",
	"refund_state.", "refund_source.", "refund_reason.", "refund_task.", "refund_filter.", "refund_fee.", "refund_about.", "consumer.",
	"message_kind.", "transfer_status.", "operation.", "case_type.", "maintenance_notice.", "maintenance_reason.", "impact.", "environment.", "away_state.", "away_reason.",
	"dispute.title.", "dispute.page.", "dispute_status.", "dispute_reason.", "dispute_lock.", "dispute_change.", "decision.", "decision_release.", "named.end.", "named.sender.", "menu.", "tab.", "contact.", "contact_wait.", "contact_cause.",
}

func allTexts(t *testing.T) ui.Texts {
	t.Helper()
	return textcheck.Merge(t, texts, listTexts, inquiryTexts, messageTexts, transferTexts, refundTexts, marginTexts, disputeTexts, terminationTexts, contactCheckTexts, termTexts, customerTexts, errorTexts)
}

func TestTexts_SamePlaceholdersInBothLanguages(t *testing.T) {
	t.Parallel()
	textcheck.CheckTranslations(t, allTexts(t))
}

func TestTexts_EveryReferencedKeyExists(t *testing.T) {
	t.Parallel()
	textcheck.CheckKeys(t, allTexts(t), dynamicKeys)
}

// Customers read that a domain is taken out of the DNS, and operators talk to them.
func TestTexts_DomainsAreTakenOutOfTheDNS(t *testing.T) {
	t.Parallel()
	other := regexp.MustCompile(`(?i)abschalt|abgeschaltet|suspen|domains (sperren|gesperrt)`)
	for key, text := range allTexts(t) {
		for _, language := range text {
			if other.MatchString(language) {
				t.Errorf("%s: %s", key, language)
			}
		}
	}
}

// Every code of the services has a text.
func TestTexts_EveryServiceCodeHasText(t *testing.T) {
	t.Parallel()
	texts := allTexts(t)
	want := func(key string) {
		if texts[key][0] == "" {
			t.Errorf("there is no text %s", key)
		}
	}
	for _, cause := range contactcheck.Causes() {
		want("contact_cause." + string(cause))
	}
	for _, cause := range admin.Causes() {
		want("cause." + string(cause))
	}
	for _, state := range transferaway.States() {
		want("away_state." + string(state))
	}
	for _, reason := range transferaway.Reasons() {
		want("away_reason." + string(reason))
	}
	for _, status := range dispute.Statuses() {
		want("dispute_status." + string(status))
	}
	for _, lock := range []dispute.Lock{dispute.LockNone, dispute.LockActive, dispute.LockKept, dispute.LockDenying, dispute.LockDenied, dispute.LockLifted} {
		want("dispute_lock." + string(lock))
	}
	for _, decision := range dispute.Decisions() {
		want("decision." + string(decision))
	}
	for _, kind := range inbox.Kinds() {
		want("message_kind." + string(kind))
	}
	for _, block := range admin.Restrictions() {
		want("block." + string(block))
		want("block_hint." + string(block))
	}
	for _, securing := range []admin.SecureStatus{admin.Secured, admin.SecureInProgress, admin.NotSecured} {
		want("securing." + string(securing))
	}
	for _, holding := range admin.HoldStatuses() {
		want("holding." + string(holding))
	}
	for _, reason := range []renewal.EndReason{
		renewal.EndCustomer, renewal.EndAgent, renewal.EndExpire, renewal.EndNoMethod, renewal.EndTransferred, renewal.EndClosed,
	} {
		want("consent_end." + string(reason))
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
	states := regexp.MustCompile(`\b(?:State|ItemState|ChangeStatus) += "([a-z_]+)"`)
	for _, folder := range []string{"order", "provision", "domainchange"} {
		textcheck.EachMatch(t, "../../registrar/"+folder+"/*.go", states, func(state string) {
			want("state." + state)
		})
	}
	textcheck.EachMatch(t, "../../registrar/order/*.go", regexp.MustCompile(`PaymentState += "([a-z_]+)"`), func(state string) { want("payment." + state) })
	textcheck.EachMatch(t, "../../registrar/order/*.go", regexp.MustCompile(`PaymentKind += "([a-z_]+)"`), func(kind string) { want("payment_kind." + kind) })
	textcheck.EachMatch(t, "../../registrar/order/order.go", regexp.MustCompile(`Channel += "([a-z_]+)"`), func(channel string) { want("channel." + channel) })
	textcheck.EachMatch(t, "../../registrar/provision/*.go", regexp.MustCompile(`Kind += "([a-z_]+)"`), func(kind string) { want("what." + kind) })
	textcheck.EachMatch(t, "../../registrar/mail.go", regexp.MustCompile(`MailKind += "([a-z_]+)"`), func(kind string) { want("mail." + kind) })
	textcheck.EachMatch(t, "../../registrar/actor.go", regexp.MustCompile(`ActorKind += "([a-z_]+)"`), func(kind string) { want("who." + kind) })
	for _, kind := range []withdrawal.Kind{withdrawal.Withdrawal, withdrawal.Termination} {
		want("notice.title." + string(kind))
		want("notice.law." + string(kind))
	}
	for _, ground := range []withdrawal.Ground{withdrawal.Ordinary, withdrawal.Extraordinary} {
		want("ground." + string(ground))
		want("notice.effect." + string(ground))
		want("notices.end." + string(ground))
	}
	for _, kind := range []invoice.Kind{invoice.Invoice, invoice.Correction} {
		want("document." + string(kind))
	}
	shipped, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := shipped.WriteAll(&text); err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(text.String(), "\n")
	for column := range strings.SplitSeq(strings.TrimPrefix(head, "tld,"), ",") {
		want("field." + column)
	}
}

// Jobs, items, payments and upstreams show why they failed.
func TestTexts_EveryErrorCodeHasText(t *testing.T) {
	t.Parallel()
	found := 0
	for pattern, code := range map[string]string{
		"../../registrar/codes.go":          `Code += "([a-z_]+)"`,
		"../../registrar/error.go":          `(?:Code += |Code\(|code = )"([a-z_]+)"`,
		"../../registrar/provision/*.go":    anyCode,
		"../../registrar/domainchange/*.go": anyCode,
		"../../registrar/order/*.go":        anyCode,
		"../../registrar/billing/*.go":      anyCode,
		"../../registrar/mailer/*.go":       anyCode,
		"../../registrar/webhook/*.go":      anyCode,
		"../../upstream/epp/*.go":           anyCode,
		"../../upstream/stripe/*.go":        anyCode,
		"../../upstream/smtp/*.go":          anyCode,
		"../../upstream/webhook/*.go":       anyCode,
	} {
		textcheck.EachMatch(t, pattern, regexp.MustCompile(code), func(code string) {
			found++
			if errorTexts["error."+code][0] == "" {
				t.Errorf("%s: there is no text error.%s", pattern, code)
			}
		})
	}
	if found < 100 {
		t.Errorf("only %d codes were found", found)
	}
}

// anyCode matches the constants and literals that are error codes.
const anyCode = `(?:registrar\.Code += |registrar\.Error\{[^}]*Code: +|registrar\.(?:Invalid|NotFound|Conflict|Unsupported)\()"([a-z_]+)"`
