// Package browser drives Chromium through the portal of the built binary: register,
// sign in by passkey or code, order, pay, create and revoke a token. Mails are read from
// the sandbox's inbox.
//
// A script fails at the first violated assertion and prints one line for each rule that
// held. On every page it also fails for an error on the console, a violation of the
// content security policy and a request to another host.
//
// Journeys run in parallel, one Chromium each. Those that change the demo customer or
// the clock in ways that others would notice have a sandbox of their own.
//
// The driver comes from npm (scripts/node.sh) and Chromium from the system. Without
// them, the tests are skipped.
package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
	"github.com/dotkontor/dotkontor/test/testkit/nodejs"
)

// browsers bounds the scripts that run at once: a page waits for CPU time, not for anything
// else, and a step of a journey has a time limit.
var browsers = make(chan struct{}, runtime.NumCPU())

// journeyTimeout is for a busy machine; on a quiet one a journey takes a minute at most.
const journeyTimeout = 10 * time.Minute

// screenshotsVariable names a folder in which journeys save a screenshot of each page.
const screenshotsVariable = "TEST_SCREENSHOTS"

// sandbox is the input of a script.
type sandbox struct {
	Portal   string `json:"portal"` // the origin
	MCP      string `json:"mcp"`
	Inbox    string `json:"inbox"`
	Chromium string `json:"chromium"`
	// Demo is the demo customer.
	Demo struct {
		Email    string `json:"email"`
		Password string `json:"password"`
		Token    string `json:"token"`
	} `json:"demo"`
	// Enrolment is the secret of an operator's enrolment link.
	Enrolment string `json:"enrolment"`
	// Pictures is a folder for screenshots, if they are wanted.
	Pictures string `json:"pictures"`
	// Provider is the base URL of the sandbox's payment provider.
	Provider string `json:"provider"`
	// Transfer is a name at another registrar, with its auth code.
	Transfer struct {
		Name string `json:"name"`
		Code string `json:"code"`
	} `json:"transfer"`
	// Order is an agent's order; nil in other journeys.
	Order *preparedOrder `json:"order,omitempty"`
	// Clock is the command that advances the clock; nil in other journeys.
	Clock []string `json:"clock,omitempty"`

	// binary, data and info are for the test itself.
	binary, data, info string
}

// chromium returns the browser's path, or skips the test. The headless shell needs about
// half of the CPU time.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	t.Skip("there is no Chromium (Debian: apt-get install chromium)")
	return ""
}

// buildProduct builds the binary once for all tests of the package.
var buildProduct = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(buildDir, "dotkontor")
	return binary, testkit.Build(context.Background(), binary, os.Stderr)
})

var buildDir string

func TestMain(m *testing.M) {
	if testkit.SkipShort() {
		return
	}
	// A journey waits for the server as long as it keeps a core busy. A sandbox that is
	// ready while its subtests wait counts too.
	err := flag.Set("test.parallel", strconv.Itoa(runtime.NumCPU()+1))
	if err != nil {
		panic(err)
	}
	if buildDir, err = os.MkdirTemp("", "dotkontor-browser-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(buildDir)
	os.Exit(code)
}

// startSandbox runs the binary at a host name, because passkeys need one. It marks the
// test as parallel.
func startSandbox(t *testing.T) sandbox {
	t.Helper()
	t.Parallel()
	nodejs.Program(t, "playwright-core") // skips before the build
	browser := chromium(t)
	binary, err := buildProduct()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	listen := freePort(t)
	_, port, err := net.SplitHostPort(listen)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(folder, "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	info := filepath.Join(folder, "info.json")
	data := filepath.Join(folder, "data")
	// The test's context ends before the cleanup.
	p, err := testkit.Start(context.WithoutCancel(t.Context()), testkit.Command{
		Path: binary,
		Args: []string{
			"sandbox", "--listen", listen, "--base-url", "http://localhost:" + port, "--data", data, "--info", info,
		},
		Stderr: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
		for _, path := range []string{log.Name(), filepath.Join(data, "dotkontor.log")} {
			checkLog(t, path)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	s := newSandbox(t, info, browser)
	s.binary, s.data, s.info = binary, data, info
	return s
}

// checkLog fails if a log has secrets, personal data or searched names.
func checkLog(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	for _, word := range []string{"DATA RACE", "panic", "dotkontor_live_", "dotkontor_session_", "dotkontor_link_", "dotkontor_device_", "dotkontor_code_", "dotkontor_access_", "dotkontor_refresh_", "dotkontor_consent_", "dotkontor_pay_", "dotkontor_verify_", "auth-transfer", "@example.org", "kaffeeprobe"} {
		if at := bytes.Index(text, []byte(word)); at >= 0 {
			t.Errorf("the log contains %q: %.300s", word, text[max(0, at-200):])
		}
	}
}

// newSandbox reads the sandbox's --info file.
func newSandbox(t *testing.T, info, browser string) sandbox {
	t.Helper()
	text, err := os.ReadFile(info)
	if err != nil {
		t.Fatal(err)
	}
	s := sandbox{Chromium: browser, Pictures: os.Getenv(screenshotsVariable)}
	var read struct {
		BaseURL string          `json:"base_url"`
		MCPURL  string          `json:"mcp_url"`
		Inbox   string          `json:"inbox"`
		Demo    json.RawMessage `json:"demo"`
		Payment struct {
			API string `json:"api"`
		} `json:"payment"`
		Transfers []struct {
			Name     string `json:"name"`
			AuthCode string `json:"auth_code"`
		} `json:"transfers"`
	}
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(read.Demo, &s.Demo); err != nil {
		t.Fatal(err)
	}
	s.Provider = read.Payment.API
	if len(read.Transfers) > 0 {
		s.Transfer.Name, s.Transfer.Code = read.Transfers[0].Name, read.Transfers[0].AuthCode
	}
	s.Portal, s.MCP, s.Inbox = read.BaseURL, read.MCPURL, strings.TrimSuffix(read.Inbox, "/")
	return s
}

func freePort(t *testing.T) string {
	t.Helper()
	address, err := testkit.FreeAddress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// runScript runs a journey and returns its output.
func runScript(t *testing.T, s sandbox, script string) string {
	t.Helper()
	program := nodejs.Program(t, "playwright-core")
	scripts, err := filepath.Glob("*.mjs") // they import each other
	if err != nil {
		t.Fatal(err)
	}
	folder := nodejs.ScriptDir(t, scripts...)
	settings, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "sandbox.json")
	if err := os.WriteFile(path, settings, 0o600); err != nil {
		t.Fatal(err)
	}
	select {
	case browsers <- struct{}{}:
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
	defer func() { <-browsers }()
	out, err := nodejs.Run(t, journeyTimeout, program, filepath.Join(folder, "run.mjs"), path, script)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(strings.TrimSpace(out))
	return out
}
