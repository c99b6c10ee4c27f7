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
)

// preparedOrder is an order that an agent prepared for its human.
type preparedOrder struct {
	Story  string `json:"story"`
	Pay    string `json:"pay"`
	Verify string `json:"verify"`
	// Code is the auth code, which only the human knows.
	Code string `json:"code"`
}

// The example program is the agent, Chromium the human.
func TestAgentOrders_PaidByHuman(t *testing.T) {
	s := startSandbox(t)
	agent := buildExampleAgent(t)
	// run runs the agent of a story, and the human who gets its order.
	run := func(t *testing.T, story string, rules []string) *exampleAgent {
		t.Helper()
		input := s
		a := startExampleAgent(t, agent, s.info, story)
		input.Order = a.waitForOrder(t, story)
		wantRules(t, runScript(t, input, "order.mjs"), rules...)
		return a
	}
	t.Run("at the same time", func(t *testing.T) {
		t.Run("renewal without script", func(t *testing.T) {
			t.Parallel()
			wantRules(t, runScript(t, s, "renew.mjs"), "renewals share one order", "renewed and paid without script", "the paid term is a year longer",
				"automatic renewal switched both ways", "the order is found again in the portal")
		})
		for _, test := range []struct {
			story string
			// lines are what the agent has to print.
			lines []string
			rules []string
		}{
			{"pay", []string{"status: completed", " active"}, []string{
				"nothing personal before sign-in", "another customer's order is not found in the portal", "another account can only sign out, and returns",
				"a declined card charges nothing, and the order waits", "a pending payment can be continued",
				"paid, registered and shown", "a paid order cannot be paid again",
			}},
			{"decline", []string{"status: canceled"}, []string{"declined after confirmation"}},
			{"identity", []string{"status: awaiting_verification", "status: completed", " active"}, []string{
				"a rejected document can be followed by another", "paid after identity verification",
			}},
			{"transfer", []string{"status: completed", " active"}, []string{
				"a wrong auth code is reported, the right one stored", "paid and transferred", "renews automatically, as agreed",
			}},
		} {
			t.Run(test.story, func(t *testing.T) {
				t.Parallel()
				run(t, test.story, test.rules).want(t, test.lines...)
			})
		}
	})
	// Not parallel, because it advances the clock: the registry takes five days.
	t.Run("free-transfer", func(t *testing.T) {
		a := run(t, "free-transfer", []string{"a wrong auth code is reported, the right one stored", "confirmed without paying"})
		a.waitFor(t, "status: provisioning")
		runCLI(t, s.binary, "sandbox", "clock", "advance", "6d", "--data", s.data)
		a.want(t, "gross: 0.00 EUR", "status: provisioning", "status: completed", " active")
	})
	t.Run("reconciliation finds nothing", func(t *testing.T) {
		runCLI(t, s.binary, "doctor", "--reconcile", "--config", filepath.Join(s.data, "serve.toml"))
	})
}

func TestOrderPage_UpdatesLive(t *testing.T) {
	s := startSandbox(t)
	s.Clock = []string{s.binary, "sandbox", "clock", "advance", "6d", "--data", s.data}
	wantRules(t, runScript(t, s, "live.mjs"), "a completed registration is shown without a reload", "a hidden page has no stream",
		"a completed transfer is shown without a reload, keeps the focus and is announced", "the order in the portal updates live",
		"without a stream the page reloads itself", "without script the page reloads itself")
}

// wantRules fails for each rule that a script did not print.
func wantRules(t *testing.T, out string, rules ...string) {
	t.Helper()
	for _, rule := range rules {
		if !strings.Contains(out, "ok "+rule+"\n") {
			t.Errorf("the script did not print %q", rule)
		}
	}
}

// runCLI runs a command of the product, which has to succeed.
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

// exampleAgent is the running example program.
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

// waitForOrder reads up to the line with which the agent addresses the human.
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

// waitFor reads up to a line.
func (a *exampleAgent) waitFor(t *testing.T, wanted string) {
	t.Helper()
	for line := ""; strings.TrimSpace(line) != wanted; {
		var err error
		if line, err = a.lines.ReadString('\n'); err != nil {
			t.Fatalf("waiting for %q: %v: %s%s", wanted, err, a.stdout.String(), a.stderr.String())
		}
	}
}

// want waits for the agent to exit and checks that it printed each line.
func (a *exampleAgent) want(t *testing.T, lines ...string) {
	t.Helper()
	if _, err := io.Copy(io.Discard, a.lines); err != nil {
		t.Error(err)
	}
	if err := a.run.Wait(); err != nil {
		t.Errorf("%v: %s", err, a.stderr.String())
	}
	for _, line := range lines {
		if !strings.Contains(a.stdout.String(), line) {
			t.Errorf("the agent did not print %q: %s", line, a.stdout.String())
		}
	}
}
