package clients

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

	"github.com/dotkontor/dotkontor/test/rig"

	"github.com/dotkontor/dotkontor/test/node"
)

// agent is a connected client of the Go SDK.
type agent struct{ *mcp.ClientSession }

func connectAgent(t *testing.T, transport mcp.Transport) agent {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	t.Cleanup(cancel)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "stranger", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return agent{session}
}

// call returns the structured content.
func (a agent) call(t *testing.T, tool string, arguments map[string]any) (map[string]any, error) {
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

func (a agent) mustLookUpAsNobody(t *testing.T) {
	t.Helper()
	content, err := a.call(t, "domain_check", map[string]any{"domain": "nobody-has-this-name.com"})
	if err != nil || content["available"] != true {
		t.Fatalf("as nobody: %v, %v", content, err)
	}
}

func (a agent) mustListDomains(t *testing.T) {
	t.Helper()
	content, err := a.call(t, "list_my_domains", nil)
	if domains, _ := content["domains"].([]any); err != nil || len(domains) < 6 {
		t.Fatalf("the customer's domains: %v, %v", content, err)
	}
}

func TestTheGoSDKsOwnHandlerGoesThroughTheMixedFlow(t *testing.T) {
	s := startSandboxWithDemo(t)
	const callback = "http://127.0.0.1:43120/callback"
	for _, method := range []string{"none", "client_secret_post"} {
		t.Run(method, func(t *testing.T) {
			robot := newRobot(t, s)
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
					return watched{config.TokenSource(ctx, &old), token.AccessToken, &refreshed}, nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			a := connectAgent(t, &mcp.StreamableClientTransport{Endpoint: s.endpoint, OAuthHandler: handler, DisableStandaloneSSE: true})
			a.mustLookUpAsNobody(t)
			if robot.timesAsked() != 0 {
				t.Error("the customer was asked for a lookup")
			}
			a.mustListDomains(t)
			a.mustListDomains(t)
			if robot.timesAsked() != 1 || refreshed.value() == 0 {
				t.Errorf("the customer was asked %d times; %d calls had a refreshed token", robot.timesAsked(), refreshed.value())
			}
		})
	}
}

// watched counts tokens that are not the first one.
type watched struct {
	oauth2.TokenSource
	first string
	later *counter
}

func (w watched) Token() (*oauth2.Token, error) {
	token, err := w.TokenSource.Token()
	if err == nil && token.AccessToken != w.first {
		w.later.add()
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
func TestMCPRemoteGoesThroughTheMixedFlow(t *testing.T) {
	program := node.Program(t, "mcp-remote")
	s := startSandboxWithDemo(t)
	robot := newRobot(t, s)
	home := t.TempDir()
	start := func() agent {
		command := exec.Command(program, node.Module(t, "mcp-remote/dist/proxy.js"), s.endpoint, freePort(t), "--allow-http", "--transport", "http-only")
		command.Dir = home
		// What it would open a browser with does nothing here.
		command.Env = []string{"PATH=" + filepath.Dir(program) + ":/usr/bin:/bin", "HOME=" + home, "BROWSER=true"}
		watchForSignIn(t, robot, command)
		return connectAgent(t, &mcp.CommandTransport{Command: command})
	}
	a := start()
	a.mustLookUpAsNobody(t)
	if robot.timesAsked() != 0 {
		t.Error("the customer was asked for a lookup")
	}
	a.mustListDomains(t)
	if robot.timesAsked() != 1 {
		t.Errorf("the customer was asked %d times", robot.timesAsked())
	}
	if err := robot.expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.mustListDomains(t)
	_ = a.Close()
	// It keeps what it got, so the next start asks nobody.
	start().mustListDomains(t)
	if robot.timesAsked() != 1 {
		t.Errorf("with its keychain the customer was asked %d times", robot.timesAsked())
	}
}

// watchForSignIn opens what a program prints that wants an address opened, as a
// person would, up to the program's own callback.
func watchForSignIn(t *testing.T, robot *robot, command *exec.Cmd) {
	t.Helper()
	said, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = follow(t.Context(), robot, said) }() // what fails here fails the call that waits for it
}

// follow reads what a program says, opens each address of the consent page once,
// and goes where it is sent.
func follow(ctx context.Context, robot *robot, said io.Reader) error {
	var failed error
	seen := make(map[string]bool)
	lines := bufio.NewScanner(said)
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
			err = arrive(ctx, next.String())
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// arrive opens the callback of a program, which may say that it listens before it
// does.
func arrive(ctx context.Context, address string) error {
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
	address, err := rig.FreeAddress(t.Context())
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
func TestTheConformanceSuiteIsContentWithTheAuthorizationServer(t *testing.T) {
	program := node.Program(t, packages)
	s := startSandboxWithDemo(t)
	robot := newRobot(t, s)
	port := freePort(t)
	id := registerClient(t, s, "http://127.0.0.1:"+port+"/callback")
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, program, node.Module(t, "@modelcontextprotocol/conformance/dist/index.js"),
		"authorization", "--url", s.base, "--client-id", id, "--resource", s.endpoint, "-p", port)
	command.Dir = t.TempDir()
	command.Env = []string{"PATH=" + filepath.Dir(program) + ":/usr/bin:/bin", "HOME=" + command.Dir, "NO_COLOR=1"}
	read, write := io.Pipe()
	command.Stdout, command.Stderr = write, write
	var said bytes.Buffer
	followed := make(chan error, 1)
	go func() { followed <- follow(ctx, robot, io.TeeReader(read, &said)) }()
	err := errors.Join(command.Run(), write.Close(), <-followed)
	passed, _ := readSummary(said.String())
	if err != nil || len(passed) != 2 || count(passed) != 2 || robot.timesAsked() != 1 {
		t.Errorf("%v: the customer was asked %d times, and it says\n%s", err, robot.timesAsked(), said.String())
	}
}

func registerClient(t *testing.T, s stage, redirect string) (id string) {
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
