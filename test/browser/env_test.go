// Package browser lets a real Chromium, driven by a script, do in the portal of
// the built binary what people do there: register, sign in by passkey or with a
// code, make a token, use it, revoke it. Mails are read from the sandbox's
// mailbox, as a person would read them.
//
// A script ends with an error at the first thing that is not as it should be, and
// prints one line for each rule that it has seen to hold. On every page that a
// script visits it also watches for what no page may do: write an error to the
// console, violate its own content policy, or ask another host for anything.
//
// The driver comes from npm (scripts/node.sh) and Chromium from the system.
// Where one is missing, each test here is skipped and says so.
package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
	"github.com/dotkontor/dotkontor/test/testkit/nodejs"
)

// journeyTimeout is for a busy machine: on a quiet one a journey takes one at most.
const journeyTimeout = 6 * time.Minute

// sandbox is what a script is told about the product.
type sandbox struct {
	Portal   string `json:"portal"` // the origin
	MCP      string `json:"mcp"`
	Inbox    string `json:"inbox"`
	Chromium string `json:"chromium"`
	// Demo is the customer that every sandbox has.
	Demo struct {
		Email    string `json:"email"`
		Password string `json:"password"`
		Token    string `json:"token"`
	} `json:"demo"`
	// Enrolment is the secret of an operator's enrolment link.
	Enrolment string `json:"enrolment"`
	// Pictures is a folder for screenshots.
	Pictures string `json:"pictures"`
	// Provider is where the sandbox's payment provider has its pages.
	Provider string `json:"provider"`
	// Transfer is a name that another registrar has, with its auth code.
	Transfer struct {
		Name string `json:"name"`
		Code string `json:"code"`
	} `json:"transfer"`
	// Order is what a human is told by an agent; nil in other journeys.
	Order *preparedOrder `json:"order,omitempty"`
	// Clock is the command that lets days pass; nil in other journeys.
	Clock []string `json:"clock,omitempty"`

	// binary, data and info are for what the test itself does.
	binary, data, info string
}

// chromium is the browser; the test is skipped without it.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	t.Skip("there is no Chromium (Debian: apt-get install chromium)")
	return ""
}

// buildProduct builds the binary once for all tests here: linking takes longer than
// some journeys.
var buildProduct = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(buildDir, "dotkontor")
	return binary, testkit.Build(context.Background(), binary, os.Stderr)
})

// buildDir is the folder of what was built.
var buildDir string

func TestMain(m *testing.M) {
	var err error
	if buildDir, err = os.MkdirTemp("", "dotkontor-browser-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(buildDir)
	os.Exit(code)
}

// startSandbox runs the binary at a name: an address of digits can't have passkeys.
func startSandbox(t *testing.T) sandbox {
	t.Helper()
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
	// Not the test's context, which ends before the clean-up.
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

// checkLog looks for what must never stand in a log.
func checkLog(t *testing.T, path string) {
	t.Helper()
	said, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	for _, word := range []string{"DATA RACE", "panic", "dotkontor_live_", "dotkontor_session_", "dotkontor_link_", "dotkontor_device_", "dotkontor_code_", "dotkontor_access_", "dotkontor_refresh_", "dotkontor_consent_", "dotkontor_pay_", "dotkontor_verify_", "auth-transfer", "@example.org", "kaffeeprobe"} {
		if at := bytes.Index(said, []byte(word)); at >= 0 {
			t.Errorf("the log holds %q: %.300s", word, said[max(0, at-200):])
		}
	}
}

// newSandbox reads what the sandbox says about itself.
func newSandbox(t *testing.T, info, browser string) sandbox {
	t.Helper()
	text, err := os.ReadFile(info)
	if err != nil {
		t.Fatal(err)
	}
	s := sandbox{Chromium: browser, Pictures: pictureDir(t)}
	var said struct {
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
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(said.Demo, &s.Demo); err != nil {
		t.Fatal(err)
	}
	s.Provider = said.Payment.API
	if len(said.Transfers) > 0 {
		s.Transfer.Name, s.Transfer.Code = said.Transfers[0].Name, said.Transfers[0].AuthCode
	}
	s.Portal, s.MCP, s.Inbox = said.BaseURL, said.MCPURL, strings.TrimSuffix(said.Inbox, "/")
	return s
}

// pictureDir is a folder that stays, so that a person can look.
func pictureDir(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "dotkontor-pages-")
	if err != nil {
		t.Fatal(err)
	}
	if !testing.Verbose() {
		t.Cleanup(func() { _ = os.RemoveAll(folder) }) // nobody was told where it is
	}
	return folder
}

func freePort(t *testing.T) string {
	t.Helper()
	address, err := testkit.FreeAddress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// runScript runs a script and returns what it printed.
func runScript(t *testing.T, s sandbox, script string) string {
	t.Helper()
	program := nodejs.Program(t, "playwright-core")
	scripts, err := filepath.Glob("*.mjs") // they use each other
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
	out, err := nodejs.Run(t, journeyTimeout, program, filepath.Join(folder, script), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(strings.TrimSpace(out))
	return out
}
