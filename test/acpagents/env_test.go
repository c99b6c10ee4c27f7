// Package acpagents runs checkout agents against the built binary: the examples, and an
// agent whose webhook receives the events of its orders.
package acpagents

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/signing"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// binary is the path of the product.
var binary string

func TestMain(m *testing.M) { os.Exit(testkit.Main(m, &binary)) }

// buildExampleAgent builds examples/acp-agent.
func (s *env) buildExampleAgent() string {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "acp-agent")
	if err := testkit.BuildExample(s.t.Context(), "acp-agent", path, os.Stderr); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// The go tool does not see that the tests depend on the built binary.
func TestSources_AreInputsOfTheTestCache(t *testing.T) {
	t.Parallel()
	seen, err := testkit.Sources()
	if err != nil || len(seen) == 0 {
		t.Fatalf("%d sources, %v", len(seen), err)
	}
	files, err := filepath.Glob("../../examples/acp-*")
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range append(files, files[0]+"/main.go", files[0]+"/client.go", files[0]+"/buy.go") {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
}

// waitTimeout bounds every command, on a busy machine.
const waitTimeout = 2 * time.Minute

// env is a product with its world.
type env struct {
	*testkit.Env
	t *testing.T
}

func newEnv(t *testing.T) *env {
	t.Helper()
	s := &env{testkit.NewEnv(t, binary), t}
	// In a single-process sandbox the info file has the product's URL too.
	text, err := os.ReadFile(s.Info)
	if err != nil {
		t.Fatal(err)
	}
	var info map[string]any
	if err := json.Unmarshal(text, &info); err != nil {
		t.Fatal(err)
	}
	info["base_url"], info["mcp_url"] = s.Base, s.Base+"/api/mcp"
	if text, err = json.Marshal(info); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Info, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// runCLI runs an operator command, which has to succeed.
func (s *env) runCLI(args ...string) []byte {
	s.t.Helper()
	out, err := s.runProgram(binary, append(args, "--config", s.Config)...)
	if err != nil {
		s.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}

func (s *env) runProgram(program string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), waitTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, program, args...)
	command.Env = append(os.Environ(), "DOTKONTOR="+binary)
	return command.CombinedOutput()
}

// agentCredentials is the output of "agents add --json".
type agentCredentials struct {
	ID            string `json:"id"`
	Key           string `json:"key"`
	Secret        string `json:"secret"`
	WebhookSecret string `json:"webhook_secret"`
}

// addAgent registers an agent with the operator command.
func (s *env) addAgent(args ...string) agentCredentials {
	s.t.Helper()
	var agent agentCredentials
	if out := s.runCLI(append([]string{"agents", "add", "--json"}, args...)...); json.Unmarshal(out, &agent) != nil {
		s.t.Fatalf("agents add printed %s", out)
	}
	return agent
}

// requestSession sends a request with the agent's bearer key.
func (s *env) requestSession(agent agentCredentials, method, path string, body any) (status int, answer map[string]any) {
	s.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.Base+"/api/acp/checkout_sessions"+path, bytes.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+agent.Key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err = io.ReadAll(response.Body); err != nil {
		s.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		s.t.Fatalf("%d: %s", response.StatusCode, text)
	}
	return response.StatusCode, answer
}

// completeSession completes a session with a payment token.
func (s *env) completeSession(agent agentCredentials, id string) {
	body := []byte(`{"payment_data":{"token":"spt_ok_1","provider":"stripe"}}`)
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.Base+"/api/acp/checkout_sessions/"+id+"/complete", bytes.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return
	}
	timestamp := time.Now().UTC().Format(time.RFC3339)
	request.Header.Set("Timestamp", timestamp)
	request.Header.Set("Signature", signing.Compute(agent.Secret, timestamp, body))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK {
		s.t.Errorf("%d: %s, %v", response.StatusCode, text, err)
	}
}
