package checkout

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/ui"
	"github.com/dotkontor/dotkontor/test/testkit/textcheck"
)

// dynamicKeys are the prefixes of texts that are chosen by a service's codes.
var dynamicKeys = []string{"problem.", "reason.", "rule.", "note.", "vat.", "warning.", "item.", "kind.", "done.", "field.", "hint.", "state.", "pay.title.", "pay.text.", "pay.owner.", "need.registrant.", "verify.", "transfer.includes.", "refunds.", "renew.declared.", "declared.", "declared_title."}

var allStates = []order.State{
	order.AwaitingVerification, order.AwaitingPayment, order.Paying, order.Provisioning, order.Completed,
	order.PartiallyCompleted, order.Failed, order.Canceled, order.Expired,
}

func allTexts(t *testing.T) ui.Texts {
	t.Helper()
	return textcheck.Merge(t, basketTexts, transferTexts, orderTexts, payTexts, problemTexts, ui.RegistrantTexts)
}

func TestTexts_SamePlaceholdersInBothLanguages(t *testing.T) {
	t.Parallel()
	textcheck.CheckTranslations(t, allTexts(t))
}

func TestTexts_EveryReferencedKeyExists(t *testing.T) {
	t.Parallel()
	textcheck.CheckKeys(t, allTexts(t), dynamicKeys)
}

// Every code of provisioning for an item has a text.
func TestTexts_EveryProvisionCodeHasText(t *testing.T) {
	t.Parallel()
	// These are not about an item of an order.
	elsewhere := []string{"bad_payment", "payment_used", "no_such_customer", "no_such_domain", "no_such_item", "item_not_stuck", "item_ended", "item_just_paid", "item_just_sent", "item_executed", "item_unverifiable"}
	found := 0
	check := func(code string) {
		found++
		// The codes of EPP results share the texts of our own.
		if problemTexts["reason."+code][0] == "" && !slices.Contains(elsewhere, code) && !strings.HasPrefix(code, "epp_") {
			t.Errorf("there is no text for %s", code)
		}
	}
	textcheck.EachMatch(t, "../../registrar/provision/*.go", regexp.MustCompile(`registrar\.Code += "([a-z_]+)"`), check)
	textcheck.EachMatch(t, "../../registrar/codes.go", regexp.MustCompile(`Code += "([a-z_]+)"`), check)
	if found < 15 {
		t.Errorf("only %d reasons were found", found)
	}
}

// Every code of order.Service has a text or a page of its own.
func TestTexts_EveryOrderCodeHasText(t *testing.T) {
	t.Parallel()
	// These occur when ordering, lead to the sign-in, are no refusals, or concern
	// agents.
	elsewhere := []string{
		"payment_declined", "token_expired", "token_too_small", "identity", "auth_code", "no_payment_data", "needs_human", "human_is_paying", "payment_in_progress",
		"no_such_order", "too_many_open_orders", "bad_items", "name_mismatch",
		"orders_not_served", "no_price", // reasons of an item
		"basket_full",        // in the portal
		"transfer_list_full", // of the transfer page
		// Of refunds, which operators order.
		"refund_too_large", "bad_refund", "bad_assignment", "nothing_to_refund", "order_not_paid", "order_in_progress", "refund_changed", "no_such_refund", "refund_decided",
		"deletion_forbidden", "charge_disputed", "charge_lost", "superseded", "refund_failed",
		// Why a saved payment method did not pay; mails say it.
		"card_declined", "expired_card", "insufficient_funds", "authentication_required", "no_method", "provider_unavailable",
	}
	found := 0
	check := func(code string) {
		found++
		if problemTexts["problem."+code][0] == "" && !slices.Contains(elsewhere, code) {
			t.Errorf("there is no text for %s", code)
		}
	}
	textcheck.EachMatch(t, "../../registrar/order/*.go", regexp.MustCompile(`registrar\.Code += "([a-z_]+)"`), check)
	check(string(registrar.NameHeld))
	if found < 10 {
		t.Errorf("only %d refusals were found", found)
	}
}

// Every state has a page, for its customer and for others, whatever the states of its
// items.
func TestPay_EveryStateRendersInBothLanguages(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{}
	items := []order.ItemState{order.ItemWaiting, order.ItemProvisioning, order.ItemActive, order.ItemFailed, order.ItemRefunded}
	for _, state := range allStates {
		for _, item := range items {
			for who, view := range map[string]order.View{"erika": ownView(state), "english": ownView(state), "max": foreignView(state), "": foreignView(state)} {
				for i := range view.Order.Items {
					view.Order.Items[i].State = item
				}
				d.view, d.orders = view, []order.Order{view.Order}
				if got := visit(t, d, who, payPage, nil); got.Code != http.StatusOK || strings.Contains(got.Body.String(), payButton) != (who == "erika" && view.Payable) {
					t.Errorf("%s, %s, %q: %d %s", state, item, who, got.Code, got.Body.String())
				}
				if who == "" {
					continue
				}
				for _, path := range []string{"/portal/orders", "/portal/orders/ord_1"} {
					if got := visit(t, d, who, path, nil); got.Code != http.StatusOK {
						t.Errorf("%s, %s, %q: %s: %d %s", state, item, who, path, got.Code, got.Body.String())
					}
				}
			}
		}
	}
}

// Mails have a text for each reason, too; package smtp tests that.
func TestTexts_EveryFailureReasonHasOwnText(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, reason := range registrar.FailureReasons() {
		text := problemTexts[failureTexts[reason]]
		if text[0] == "" || text[1] == "" || seen[text[0]] {
			t.Errorf("the text of %s is missing or not its own: %q", reason, text)
		}
		seen[text[0]] = true
	}
	h := newTestHandler(t, &fakeOrders{})
	for code, want := range map[registrar.Code]string{
		"epp_status_prohibits": "reason.registry_locked", registrar.EPPNotEligible: "reason.registry_locked", registrar.EPPAuthInfo: "reason.auth_code_wrong",
		"epp_policy": "reason.registry_denied", "transfer_locked": "reason.transfer_locked", "something_new": "reason.other",
	} {
		if got := h.reasonKey(order.Register, code); got != want {
			t.Errorf("%s is explained with %s", code, got)
		}
	}
	if ordered, moved := h.reasonKey(order.Register, registrar.NameHeld), h.reasonKey(order.Transfer, registrar.NameHeld); ordered != "reason.name_held" || moved != "reason.transfer_held" {
		t.Errorf("a held name is explained with %s, to a transfer with %s", ordered, moved)
	}
}

// "Locked" and "switched off" alone don't say what the customer can't do.
func TestTexts_LocksSayWhatIsLocked(t *testing.T) {
	t.Parallel()
	vague := regexp.MustCompile(`(?i)\b(ist gesperrt|domain gesperrt|abgeschaltet|is locked|on hold|switched off)\b`)
	for key, text := range allTexts(t) {
		for _, language := range text {
			if vague.MatchString(language) {
				t.Errorf("%s: %s", key, language)
			}
		}
	}
}
