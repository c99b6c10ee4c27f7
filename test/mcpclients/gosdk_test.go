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

// callTool returns the structured content.
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
		t.Fatalf("as nobody: %v, %v", content, err)
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
				// Its clock says that the hour is over as soon as the token is there,
				// so the very first call with it refreshes.
				NewTokenSource: func(ctx context.Context, config *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
					if left := time.Until(token.Expiry); left < 59*time.Minute || left > time.Hour {
						return nil, fmt.Errorf("the token lives for %s", left)
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
				t.Error("the customer was asked for a lookup")
			}
			a.mustListDomains(t)
			a.mustListDomains(t)
			if robot.consentCount() != 1 || refreshed.value() == 0 {
				t.Errorf("the customer was asked %d times; %d calls had a refreshed token", robot.consentCount(), refreshed.value())
			}
		})
	}
}

// countingTokenSource counts tokens that are not the first one.
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

// mcp-remote stands between clients that know no OAuth and a server that asks for
// it. It prints the address that it wants opened, and waits at its own callback.
func TestMCPRemote_MixedAuthFlow(t *testing.T) {
	program := nodejs.Program(t, "mcp-remote")
	s := startSandboxWithDemo(t)
	robot := newConsentBot(t, s)
	home := t.TempDir()
	start := func() mcpClient {
		command := exec.Command(program, nodejs.ModulePath(t, "mcp-remote/dist/proxy.js"), s.endpoint, freePort(t), "--allow-http", "--transport", "http-only")
		command.Dir = home
		// What it would open a browser with does nothing here.
		command.Env = []string{"PATH=" + filepath.Dir(program) + ":/usr/bin:/bin", "HOME=" + home, "BROWSER=true"}
		approvePrintedLinks(t, robot, command)
		return connectClient(t, &mcp.CommandTransport{Command: command})
	}
	a := start()
	a.mustCheckAnonymously(t)
	if robot.consentCount() != 0 {
		t.Error("the customer was asked for a lookup")
	}
	a.mustListDomains(t)
	if robot.consentCount() != 1 {
		t.Errorf("the customer was asked %d times", robot.consentCount())
	}
	if err := robot.expireAccessTokens(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.mustListDomains(t)
	_ = a.Close()
	// It keeps what it got, so the next start asks nobody.
	start().mustListDomains(t)
	if robot.consentCount() != 1 {
		t.Errorf("with its keychain the customer was asked %d times", robot.consentCount())
	}
}

// approvePrintedLinks opens what a program prints that wants an address opened, as a
// person would, up to the program's own callback.
func approvePrintedLinks(t *testing.T, robot *consentBot, command *exec.Cmd) {
	t.Helper()
	output, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = openPrintedLinks(t.Context(), robot, output) }() // what fails here fails the call that waits for it
}

// openPrintedLinks reads what a program says, opens each address of the consent page once,
// and goes where it is sent.
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

// openCallback opens the callback of a program, which may say that it listens before it
// does.
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

// The suite sends no secret to a server that also knows public clients, so there
// is one kind of client to try.
func TestConformance_AuthorizationServerPasses(t *testing.T) {
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
		t.Errorf("%v: the customer was asked %d times, and it says\n%s", err, robot.consentCount(), output.String())
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
