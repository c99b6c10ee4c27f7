package mcpclients

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/dotkontor/dotkontor/test/testkit"

	"github.com/dotkontor/dotkontor/test/testkit/nodejs"
)

// mcpClient is a connected client of the Go SDK.
type mcpClient struct{ *mcp.ClientSession }

func connectClient(t *testing.T, transport mcp.Transport) mcpClient {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	t.Cleanup(cancel)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "stranger", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return mcpClient{session}
}

// callTool returns the structured content of a result.
func (a mcpClient) callTool(t *testing.T, tool string, arguments map[string]any) (map[string]any, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	result, err := a.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return nil, err
	}
	content, _ := result.StructuredContent.(map[string]any)
	if result.IsError {
		return nil, fmt.Errorf("%s: %v", tool, content)
	}
	return content, nil
}

func (a mcpClient) mustCheckAnonymously(t *testing.T) {
	t.Helper()
	content, err := a.callTool(t, "domain_check", map[string]any{"domain": "nobody-has-this-name.com"})
	if err != nil || content["available"] != true {
		t.Fatalf("anonymous: %v, %v", content, err)
	}
}

func (a mcpClient) mustListDomains(t *testing.T) {
	t.Helper()
	content, err := a.callTool(t, "list_my_domains", nil)
	if domains, _ := content["domains"].([]any); err != nil || len(domains) < 6 {
		t.Fatalf("the customer's domains: %v, %v", content, err)
	}
}

func TestGoSDK_MixedAuthFlow(t *testing.T) {
	t.Parallel()
	s := startSandboxWithDemo(t)
	const callback = "http://127.0.0.1:43120/callback"
	for _, method := range []string{"none", "client_secret_post"} {
		t.Run(method, func(t *testing.T) {
			robot := newConsentBot(t, s)
			var refreshed counter
			handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
				DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
					ClientName: "Go", RedirectURIs: []string{callback}, TokenEndpointAuthMethod: method,
					GrantTypes: []string{"authorization_code", "refresh_token"},
				}},
				RequestRefreshToken: true,
				AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
					back, err := robot.decide(ctx, args.URL, "approve")
					if err != nil {
						return nil, err
					}
					query := back.Query()
					return &auth.AuthorizationResult{Code: query.Get("code"), State: query.Get("state"), Iss: query.Get("iss")}, nil
				},
				// The client considers the token expired at once, so the first call
				// refreshes it.
				NewTokenSource: func(ctx context.Context, config *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
					if left := time.Until(token.Expiry); left < 59*time.Minute || left > time.Hour {
						return nil, fmt.Errorf("the token is valid for %s", left)
					}
					old := *token
					old.Expiry = time.Now().Add(-time.Minute)
					return countingTokenSource{config.TokenSource(ctx, &old), token.AccessToken, &refreshed}, nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			a := connectClient(t, &mcp.StreamableClientTransport{Endpoint: s.endpoint, OAuthHandler: handler, DisableStandaloneSSE: true})
			a.mustCheckAnonymously(t)
			if robot.consentCount() != 0 {
				t.Error("a lookup required consent")
			}
			a.mustListDomains(t)
			a.mustListDomains(t)
			if robot.consentCount() != 1 || refreshed.value() == 0 {
				t.Errorf("%d consents; %d calls with a refreshed token", robot.consentCount(), refreshed.value())
			}
		})
	}
}

// countingTokenSource counts refreshed tokens.
type countingTokenSource struct {
	oauth2.TokenSource
	first     string
	refreshed *counter
}

func (w countingTokenSource) Token() (*oauth2.Token, error) {
	token, err := w.TokenSource.Token()
	if err == nil && token.AccessToken != w.first {
		w.refreshed.add()
	}
	return token, err
}

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}

func (c *counter) value() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// mcp-remote adds OAuth to clients without it. It prints the authorization URL and waits
// at its own callback.
func TestMCPRemote_MixedAuthFlow(t *testing.T) {
	t.Parallel()
	program := nodejs.Program(t, "mcp-remote")
	s := startSandboxWithDemo(t)
	robot := newConsentBot(t, s)
	home := t.TempDir()
	start := func() mcpClient {
		command := exec.Command(program, nodejs.ModulePath(t, "mcp-remote/dist/proxy.js"), s.endpoint, freePort(t), "--allow-http", "--transport", "http-only")
		command.Dir = home
		// A command that does nothing takes the place of the browser.
		command.Env = []string{"PATH=" + filepath.Dir(program) + ":/usr/bin:/bin", "HOME=" + home, "BROWSER=true"}
		approvePrintedLinks(t, robot, command)
		return connectClient(t, &mcp.CommandTransport{Command: command})
	}
	a := start()
	a.mustCheckAnonymously(t)
	if robot.consentCount() != 0 {
		t.Error("a lookup required consent")
	}
	a.mustListDomains(t)
	if robot.consentCount() != 1 {
		t.Errorf("%d consents", robot.consentCount())
	}
	if err := robot.expireAccessTokens(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.mustListDomains(t)
	_ = a.Close()
	// It stores its tokens, so the next start needs no consent.
	start().mustListDomains(t)
	if robot.consentCount() != 1 {
		t.Errorf("%d consents with stored tokens", robot.consentCount())
	}
}

// approvePrintedLinks opens each authorization URL that a program prints and follows the
// redirect to the program's callback.
func approvePrintedLinks(t *testing.T, robot *consentBot, command *exec.Cmd) {
	t.Helper()
	output, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = openPrintedLinks(t.Context(), robot, output) }() // an error fails the call that waits for the callback
}

// openPrintedLinks reads a program's output, opens each authorization URL once and
// follows the redirect.
func openPrintedLinks(ctx context.Context, robot *consentBot, output io.Reader) error {
	var failed error
	seen := make(map[string]bool)
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		at := strings.Index(lines.Text(), robot.base+"/oauth/authorize")
		if at < 0 {
			continue
		}
		address, _, _ := strings.Cut(lines.Text()[at:], " ")
		if seen[address] {
			continue
		}
		seen[address] = true
		next, err := robot.decide(ctx, address, "approve")
		if err == nil {
			err = openCallback(ctx, next.String())
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// openCallback opens the callback of a program that may print its URL before it listens.
func openCallback(ctx context.Context, address string) error {
	for tries := 0; ; tries++ {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			return response.Body.Close()
		}
		if tries == 50 || ctx.Err() != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	address, err := testkit.FreeAddress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// The suite sends no secret to a server that supports public clients, so one kind of
// client is tested.
func TestConformance_AuthorizationServerPasses(t *testing.T) {
	t.Parallel()
	program := nodejs.Program(t, packages)
	s := startSandboxWithDemo(t)
	robot := newConsentBot(t, s)
	port := freePort(t)
	id := registerClient(t, s, "http://127.0.0.1:"+port+"/callback")
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, program, nodejs.ModulePath(t, "@modelcontextprotocol/conformance/dist/index.js"),
		"authorization", "--url", s.base, "--client-id", id, "--resource", s.endpoint, "-p", port)
	command.Dir = t.TempDir()
	command.Env = []string{"PATH=" + filepath.Dir(program) + ":/usr/bin:/bin", "HOME=" + command.Dir, "NO_COLOR=1"}
	read, write := io.Pipe()
	command.Stdout, command.Stderr = write, write
	var output bytes.Buffer
	followed := make(chan error, 1)
	go func() { followed <- openPrintedLinks(ctx, robot, io.TeeReader(read, &output)) }()
	err := errors.Join(command.Run(), write.Close(), <-followed)
	passed, _ := readSummary(output.String())
	if err != nil || len(passed) != 2 || countPassed(passed) != 2 || robot.consentCount() != 1 {
		t.Errorf("%v: %d consents, output\n%s", err, robot.consentCount(), output.String())
	}
}

func registerClient(t *testing.T, s env, redirect string) (id string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"redirect_uris": []string{redirect}, "token_endpoint_auth_method": "none"})
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.JoinPath(s.base, "/oauth/register/")
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var client struct {
		ID string `json:"client_id"`
	}
	if err := json.NewDecoder(response.Body).Decode(&client); err != nil || client.ID == "" {
		t.Fatalf("%d: %v", response.StatusCode, err)
	}
	return client.ID
}
