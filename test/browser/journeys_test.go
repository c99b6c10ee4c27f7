package browser

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestPortal_AccountJourneys(t *testing.T) {
	s := startSandbox(t)
	for _, test := range []struct {
		name, script string
		// rules are the lines that the script has to print.
		rules []string
	}{
		{"a new customer signs in by passkey and creates, uses and revokes a token", "passkey.mjs", []string{
			"registered without a password", "passkey added", "signed in by passkey", "token shown once",
			"token copied", "token used", "revoked token rejected at the next call",
		}},
		{"a code works once, and a reset ends other sessions", "password.mjs", []string{
			"second factor on", "signed in with a code", "same code rejected", "recovery code works", "same recovery code rejected",
			"password reset", "other sessions ended", "reset link works once",
		}},
		{"everything but passkeys works without script", "noscript.mjs", []string{
			"signed in without script", "token created without script",
		}},
		{"other sites can neither post nor frame nor see a secret link", "crosssite.mjs", []string{
			"cross-site post rejected", "same-site post of another origin rejected", "framing rejected", "no secret in a Referer",
		}},
		{"a registrant manages a domain", "domain.mjs", []string{
			"found by part of the name and by state", "nameservers changed at the registry", "DS record added", "nameservers of a signed domain wait for the DS record", "transfer lock off",
			"auth code shown once and mailed", "each state explains why changes are disabled", "all of it without script",
		}},
		{"a customer connects applications", "consent.mjs", []string{
			"a name with markup is text", "approved and redirected to the application", "notified by mail",
			"denied and redirected to the application", "an invalid redirect URI shows our error page", "the consent page cannot be framed",
			"disconnected and rejected at the next call", "an error after sign-in reaches the application",
			"the opener receives the callback of its window", "other portal pages have no opener",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			wantRules(t, runScript(t, s, test.script), test.rules...)
		})
	}
}

func TestSearch_WithAndWithoutScript(t *testing.T) {
	s := startSandbox(t)
	for _, test := range []struct {
		script string
		rules  []string
		// once are rules of one screen size only.
		once []string
	}{
		{"search.mjs", []string{
			"rows do not move", "more extensions", "whois and variants", "a filter applies at once", "states are distinguished",
			"prices follow the filter", "settings copied",
		}, []string{"back and forward move between searches", "menu on a phone"}},
		{"searchnoscript.mjs", []string{
			"searched without script", "whois and variants without script", "prices without script",
		}, []string{"menu without script"}},
	} {
		t.Run(test.script, func(t *testing.T) {
			t.Parallel()
			out := runScript(t, s, test.script)
			for _, screen := range []string{" at a desk", " on a phone"} {
				for _, rule := range test.rules {
					wantRules(t, out, rule+screen)
				}
			}
			wantRules(t, out, test.once...)
		})
	}
}

func TestBasket_OrderToAccountClosure(t *testing.T) {
	s := startSandbox(t)
	wantRules(t, runScript(t, s, "basket.mjs"), "names are added to the basket during search",
		"the header counts the basket after quick clicks, and after a change in another tab", "a new account leads to the checkout",
		"a lost session is named at sign-in, and keeps what was typed",
		"registrant data is validated while typing", "registered and transferred in one order", "an account with domains cannot be closed",
		"a basket works without script, and in English", "withdrawn without signing in, and confirmed by mail",
		"terminated without signing in, and confirmed by mail", "data exported, account closed")
}

func TestPurchase_FirstDomainWithFewActionsFieldsAndMails(t *testing.T) {
	s := startSandbox(t)
	wantRules(t, runScript(t, s, "firstpurchase.mjs"),
		"bought with at most 9 actions and 8 fields in German", "told with 2 mails in German",
		"bought with at most 9 actions and 8 fields in English without script", "told with 2 mails in English without script",
		"the basket survives a change of the device", "a change of language keeps the form, but no consent")
}

func TestAutoRenewal_ConsentCardAndEnd(t *testing.T) {
	s := startSandbox(t)
	wantRules(t, runScript(t, s, "autorenew.mjs"), "each domain says what happens at the end of its term",
		"a removed payment method ends automatic renewal", "a card is added without buying", "automatic renewal is on, confirmed by mail",
		"another default, and automatic renewal goes on with it",
		"an agent turns it off, and on only with the customer", "turned off at once, with a link to undo it",
		"left to expire, and taken back", "readable on a phone in both languages", "prices of renewal, late renewal and restore")
}

func TestHolders_AgencyRegistersForItsClients(t *testing.T) {
	s := startSandbox(t)
	wantRules(t, runScript(t, s, "holders.mjs"), "an agency adds clients as holders", "one order registers domains for three holders",
		"a domain changes hands, and both holders are told", "the customer chooses which domains follow a holder's new data")
}

func TestPurchase_KeyboardOnly(t *testing.T) {
	s := startSandbox(t)
	wantRules(t, runScript(t, s, "keyboard.mjs"), "the language is chosen by keyboard",
		"a name is added by keyboard, and the focus stays in its row", "an account is created by keyboard, and leads to the checkout",
		"registrant data and order are submitted by keyboard", "a domain is bought by keyboard alone, in English",
		"the focus stays at the current position")
}

func TestPages_AccessibleWithoutThirdPartyRequests(t *testing.T) {
	s := startSandbox(t)
	out := runScript(t, s, "pages.mjs")
	// At least as many as the portal has routes with a page.
	pages := strings.Count(out, "ok page ")
	if pages < 25 {
		t.Errorf("%d pages were checked", pages)
	}
	if s.Pictures == "" {
		return
	}
	if shots, err := filepath.Glob(filepath.Join(s.Pictures, "pages-*.png")); err != nil || len(shots) < pages {
		t.Errorf("%d screenshots of %d pages: %v", len(shots), pages, err)
	}
}
