package browser

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
	"github.com/dotkontor/dotkontor/test/testkit/nodejs"
)

// preparedOrder is what an agent hands to its human.
type preparedOrder struct {
	Story  string `json:"story"`
	Pay    string `json:"pay"`
	Verify string `json:"verify"`
	// Code is the auth code that only the human knows.
	Code string `json:"code"`
}

// The example is the agent, Chromium the human.
func TestAgentOrders_PaidByHuman(t *testing.T) {
	nodejs.Program(t, "playwright-core")
	s := startSandbox(t)
	agent := buildExampleAgent(t)
	t.Run("a holder renews without script", func(t *testing.T) {
		wantRules(t, runScript(t, s, "renew.mjs"), "renewed and paid without script", "the paid term is a year longer",
			"automatic renewal switched both ways", "the order is found again in the portal")
	})
	for _, test := range []struct {
		story string
		// lines are what the agent must have printed, beside its end.
		lines []string
		rules []string
	}{
		{"pay", []string{"status: completed", " active"}, []string{
			"nothing personal before sign-in", "somebody else's order is not found in the portal", "another account can only sign out, and comes back",
			"a declined card charges nothing, and the order waits", "a payment under way can be continued",
			"paid, registered and seen", "a paid order can not be paid again",
		}},
		{"decline", []string{"status: canceled"}, []string{"declined after a question"}},
		{"identity", []string{"status: awaiting_verification", "status: completed", " active"}, []string{
			"a refused document can be followed by another", "paid after showing who they are",
		}},
		{"transfer", []string{"status: completed", " active"}, []string{
			"a wrong auth code is told, the right one kept", "paid and transferred", "marked for automatic renewal, as chosen",
		}},
		{"free-transfer", []string{"gross: 0.00 EUR", "status: provisioning", "status: completed", " active"}, []string{
			"a wrong auth code is told, the right one kept", "confirmed without paying",
		}},
	} {
		t.Run(test.story, func(t *testing.T) {
			a := startExampleAgent(t, agent, s.info, test.story)
			s.Order = a.waitForOrder(t, test.story)
			wantRules(t, runScript(t, s, "order.mjs"), test.rules...)
			if test.story == "free-transfer" { // the registry takes five days
				runCLI(t, s.binary, "sandbox", "clock", "advance", "6d", "--data", s.data)
			}
			said := a.wait(t)
			for _, line := range test.lines {
				if !strings.Contains(said, line) {
					t.Errorf("the agent did not say %q: %s", line, said)
				}
			}
		})
	}
	t.Run("the books find nothing", func(t *testing.T) {
		runCLI(t, s.binary, "doctor", "--books", "--config", filepath.Join(s.data, "serve.toml"))
	})
	t.Log("pictures: " + s.Pictures)
}

func TestOrderPage_UpdatesLive(t *testing.T) {
	nodejs.Program(t, "playwright-core")
	s := startSandbox(t)
	s.Clock = []string{s.binary, "sandbox", "clock", "advance", "6d", "--data", s.data}
	wantRules(t, runScript(t, s, "live.mjs"), "a registration is seen to be done without a reload", "a page that nobody sees has no stream",
		"a transfer is seen to arrive: no reload, the focus stays, and it is told aloud", "the order in the portal is live as well",
		"without a stream the page reloads itself", "without script the page reloads itself")
	t.Log("pictures: " + s.Pictures)
}

// wantRules checks that a script has seen each rule to hold.
func wantRules(t *testing.T, out string, rules ...string) {
	t.Helper()
	for _, rule := range rules {
		if !strings.Contains(out, "ok "+rule+"\n") {
			t.Errorf("the script did not say %q", rule)
		}
	}
}

// runCLI runs the product's own command, which must succeed.
func runCLI(t *testing.T, binary string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, binary, args...).CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", args, err, out)
	}
}

func buildExampleAgent(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "agent-order")
	if err := testkit.BuildExample(t.Context(), "agent-order", binary, os.Stderr); err != nil {
		t.Fatal(err)
	}
	return binary
}

// exampleAgent is the example, running.
type exampleAgent struct {
	lines  *bufio.Reader
	stdout bytes.Buffer
	stderr bytes.Buffer
	run    *exec.Cmd
}

func startExampleAgent(t *testing.T, binary, info, story string) *exampleAgent {
	t.Helper()
	args := []string{"--info", info, "--wait", "5m"}
	if story != "pay" {
		args = append(args, "--"+story)
	}
	ctx, cancel := context.WithTimeout(t.Context(), journeyTimeout)
	a := &exampleAgent{run: exec.CommandContext(ctx, binary, args...)}
	out, err := a.run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.lines, a.run.Stderr = bufio.NewReader(io.TeeReader(out, &a.stdout)), &a.stderr
	if err := a.run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = a.run.Wait() // it has ended, or ends now
	})
	return a
}

// waitForOrder reads up to where the agent turns to the human.
func (a *exampleAgent) waitForOrder(t *testing.T, story string) *preparedOrder {
	t.Helper()
	prepared := &preparedOrder{Story: story}
	for {
		line, err := a.lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%v: %s%s", err, a.stdout.String(), a.stderr.String())
		}
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "payment_url":
			prepared.Pay = value
		case "verification_url":
			prepared.Verify = value
		case "human":
			_, prepared.Code, _ = strings.Cut(value, "the auth code is ")
			return prepared
		}
	}
}

// wait waits for the agent's own end, and returns all that it has said.
func (a *exampleAgent) wait(t *testing.T) string {
	t.Helper()
	if _, err := io.Copy(io.Discard, a.lines); err != nil {
		t.Error(err)
	}
	if err := a.run.Wait(); err != nil {
		t.Errorf("%v: %s", err, a.stderr.String())
	}
	return a.stdout.String()
}
