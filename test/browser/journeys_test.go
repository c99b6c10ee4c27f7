package browser

import (
	"os"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/test/testkit/nodejs"
)

// One sandbox for all: starting one and a browser is most of the time.
func TestPortal_AccountJourneys(t *testing.T) {
	nodejs.Program(t, "playwright-core") // before the build, which takes longer to fail
	s := startSandbox(t)
	for _, test := range []struct {
		name, script string
		// rules are the lines that the script must have printed.
		rules []string
	}{
		{"a new person signs in by passkey and makes, uses and revokes a token", "passkey.mjs", []string{
			"registered without a password", "passkey added", "signed in by passkey", "token shown once",
			"token copied", "token used", "revoked token refused at the very next call",
		}},
		{"a code is good once, and a reset ends every other session", "password.mjs", []string{
			"second factor on", "signed in with a code", "same code refused", "recovery code works", "same recovery code refused",
			"password reset", "other sessions ended", "reset link is good once",
		}},
		{"everything but passkeys works without script", "noscript.mjs", []string{
			"signed in without script", "token made without script",
		}},
		{"other sites can neither post nor frame nor learn a link", "crosssite.mjs", []string{
			"cross-site post refused", "same-site post of another origin refused", "framing refused", "no secret in a Referer",
		}},
		{"a holder looks after a domain", "domain.mjs", []string{
			"found by part of the name and by state", "nameservers changed at the registry", "DS record added", "transfer lock off",
			"auth code shown once, and told by letter", "each state says why nothing can be changed", "all of it without script",
		}},
		{"a customer connects applications, and only these hear of it", "consent.mjs", []string{
			"a name with markup is text", "approved and led back to the application", "told by letter",
			"denied and led back to the application", "a bad redirect is a page of ours", "consent can not be framed",
			"disconnected, and refused at the very next call", "an error reaches the application from the sign-in's form",
			"an application hears from the window that it opened", "the portal's other pages have no opener",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantRules(t, runScript(t, s, test.script), test.rules...)
		})
	}
}

func TestSearch_WithAndWithoutScript(t *testing.T) {
	nodejs.Program(t, "playwright-core")
	s := startSandbox(t)
	for _, test := range []struct {
		script string
		rules  []string
		// once are rules of one of the two screens.
		once []string
	}{
		{"search.mjs", []string{
			"rows keep their place", "more extensions", "back leads to the results", "whois and variants", "states told apart",
			"prices follow the filter", "settings copied",
		}, []string{"menu on a phone"}},
		{"searchplain.mjs", []string{
			"searched without script", "whois and variants without script", "prices without script",
		}, []string{"menu without script"}},
	} {
		t.Run(test.script, func(t *testing.T) {
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
	nodejs.Program(t, "playwright-core")
	s := startSandbox(t)
	wantRules(t, runScript(t, s, "basket.mjs"), "names are collected without leaving the search", "a new account comes back to its basket",
		"the holder is checked while typing", "registered and transferred in one order", "an account with domains can not be closed",
		"a basket works without script, and in English", "withdrawn without signing in, and confirmed by mail",
		"ended without signing in, and confirmed by mail", "data taken along, account closed")
}

func TestPurchase_KeyboardOnly(t *testing.T) {
	nodejs.Program(t, "playwright-core")
	s := startSandbox(t)
	wantRules(t, runScript(t, s, "keyboard.mjs"), "the language is chosen by keyboard",
		"a name is collected by keyboard, and the focus stays in its row", "an account is made by keyboard, and leads back to the basket",
		"the holder is told and the order placed by keyboard", "a domain is bought by keyboard alone, in English",
		"the focus stays where reading goes on")
}

func TestPages_AccessibleWithoutThirdPartyRequests(t *testing.T) {
	nodejs.Program(t, "playwright-core")
	s := startSandbox(t)
	out := runScript(t, s, "pages.mjs")
	shots, err := os.ReadDir(s.Pictures)
	if err != nil {
		t.Fatal(err)
	}
	// As many pages as the portal has routes that show one, and more.
	if pages := strings.Count(out, "ok page "); pages < 25 || len(shots) < pages {
		t.Errorf("%d pages were looked at, and there are %d pictures", pages, len(shots))
	}
	t.Log("pictures: " + s.Pictures)
}
