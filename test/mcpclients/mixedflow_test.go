package mcpclients

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/test/testkit/nodejs"
)

var flowScripts = []string{"mixed.mjs", "mixed1.mjs", "mixed2.mjs", "oauth4webapi.mjs", "openidclient.mjs"}

// A stock client with nothing but the URL looks up a name, is sent to sign in when it
// lists the customer's domains, and gets them, also after the access token has expired.
func TestStockClients_MixedAuthFlow(t *testing.T) {
	t.Parallel()
	program := nodejs.Program(t, "oauth4webapi")
	s := startSandboxWithDemo(t)
	folder := nodejs.ScriptDir(t, flowScripts...)
	const public, secret = "none", "client_secret_post"
	agents := []string{"looked up anonymously", "sent to sign in", "got the customer's domains", "refreshed by itself"}
	byHand := []string{"registered", "a no is an error with iss and state", "got the customer's domains", "refreshed", "revoked"}
	for _, test := range []struct {
		name, script string
		args         []string
		// rules are the lines that the script has to print.
		rules []string
		asked int
	}{
		{"sdk 1", "mixed1.mjs", []string{public}, agents, 1},
		{"sdk 1 with a secret, like Claude", "mixed1.mjs", []string{secret}, agents, 1},
		{"sdk 2 begins with initialize", "mixed2.mjs", []string{public, "legacy"}, agents, 1},
		{"sdk 2 discovers", "mixed2.mjs", []string{public, "auto"}, agents, 1},
		{"sdk 2 with a secret", "mixed2.mjs", []string{secret, "auto"}, agents, 1},
		{"oauth4webapi", "oauth4webapi.mjs", []string{public}, byHand, 2},
		{"oauth4webapi with a secret", "oauth4webapi.mjs", []string{secret}, byHand, 2},
		{"openid-client", "openidclient.mjs", []string{public}, byHand, 2},
		{"openid-client with a secret", "openidclient.mjs", []string{secret}, byHand, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			robot := newConsentBot(t, s)
			out, err := runClient(t, program, append([]string{filepath.Join(folder, test.script), s.endpoint, robot.serve(t)}, test.args...)...)
			if err != nil {
				t.Fatal(err)
			}
			for _, rule := range test.rules {
				if !strings.Contains(out, "ok "+rule+"\n") {
					t.Errorf("the script did not print %q:\n%s", rule, out)
				}
			}
			if got := robot.consentCount(); got != test.asked {
				t.Errorf("%d consents, want %d", got, test.asked)
			}
		})
	}
}
