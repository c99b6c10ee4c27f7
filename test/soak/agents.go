package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

const (
	// callInterval is the mean pause of an agent: 25 calls a minute, of which 30 are
	// allowed. Pauses are random, so some agents reach the limit all the same.
	callInterval = time.Minute / 25
	// arrivalWindow is the time over which the agents arrive. All at one moment would
	// be an attack.
	arrivalWindow = 5 * time.Second
	// minRealShare is the share of calls that must have a real result.
	minRealShare = 0.9

	protocolVersion = "2025-11-25"
	maxMessage      = 1 << 20
	maxAgents       = 50_000
)

// The kinds of responses that agents get, besides those of judge.
const (
	kindReal    = "real"
	kindLimited = "rate_limited"
	kindListing = "listing" // of the server and of its tools
)

// agentAddress returns a loopback address for each agent, never 127.0.0.1, which the
// product treats as its proxy.
func agentAddress(n int) netip.Addr {
	const first = 1 << 16 // 127.1.0.0
	at := first + n
	return netip.AddrFrom4([4]byte{127, byte(at >> 16), byte(at >> 8), byte(at)})
}

// runAgents runs agents concurrently and merges their outcomes.
func runAgents(ctx context.Context, base string, first, agents int, duration time.Duration) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, duration+4*responseDeadline)
	defer cancel()
	total := outcome{answers: make(map[string]int)}
	var (
		mu       sync.Mutex
		problems []error
		all      sync.WaitGroup
		end      = time.Now().Add(duration)
	)
	for n := range agents {
		all.Go(func() {
			a := newAgent(base, agentAddress(first+n))
			err := a.run(ctx, min(arrivalWindow, duration/4), end)
			a.close()
			mu.Lock()
			defer mu.Unlock()
			total.add(a.outcome)
			if err != nil {
				problems = append(problems, err)
			}
		})
	}
	all.Wait()
	if len(problems) > 0 {
		return total, fmt.Errorf("%d of %d agents failed: %w", len(problems), agents, problems[0])
	}
	return total, nil
}

// agent is one client with one address and one connection.
type agent struct {
	url     string
	client  *http.Client
	close   func()
	lastID  int
	outcome outcome
}

func newAgent(base string, from netip.Addr) *agent {
	dialer := &net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0))}
	transport := &http.Transport{DialContext: dialer.DialContext, MaxConnsPerHost: 1}
	return &agent{
		url:     base + "/api/mcp",
		client:  &http.Client{Transport: transport, Timeout: 2 * responseDeadline},
		close:   transport.CloseIdleConnections,
		outcome: outcome{answers: make(map[string]int)},
	}
}

// run initializes, lists the tools, and then calls one at random intervals.
func (a *agent) run(ctx context.Context, come time.Duration, end time.Time) error {
	if err := sleep(ctx, rand.N(come)); err != nil {
		return err
	}
	for _, opening := range []struct{ method, params, wanted string }{
		{"initialize", `{"protocolVersion":"` + protocolVersion + `","capabilities":{},"clientInfo":{"name":"soak","version":"1"}}`, "serverInfo"},
		{"tools/list", `{}`, "tools"},
	} {
		result, err := a.send(ctx, opening.method, json.RawMessage(opening.params))
		if err != nil {
			return fmt.Errorf("%s: %w", opening.method, err)
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(result, &members); err != nil || members[opening.wanted] == nil {
			return fmt.Errorf("%s has no %s", opening.method, opening.wanted)
		}
		a.outcome.answers[kindListing]++
	}
	for {
		wait := time.Duration(rand.ExpFloat64() * float64(callInterval))
		if time.Now().Add(wait).After(end) {
			return nil
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
		c := randomCall()
		result, err := a.send(ctx, "tools/call", c.params)
		if err != nil {
			return fmt.Errorf("%s: %w", c.tool, err)
		}
		a.outcome.recordCall(c, result)
	}
}

// send sends one request. A response without a result is an error.
func (a *agent) send(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	a.lastID++
	body, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      int             `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
	}{"2.0", a.lastID, method, params})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if method != "initialize" {
		request.Header.Set("MCP-Protocol-Version", protocolVersion)
	}
	began := time.Now()
	response, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxMessage))
	if err != nil {
		return nil, err
	}
	a.outcome.took = append(a.outcome.took, time.Since(began))
	var answer struct {
		ID     int             `json:"id"`
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Result == nil || answer.ID != a.lastID {
		return nil, fmt.Errorf("status %d with %.200q", response.StatusCode, text)
	}
	return answer.Result, nil
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// call is a tool call and what its result must contain.
type call struct {
	tool   string
	params json.RawMessage
	// field is in every valid result; want is its value if it is known.
	field, want string
}

// agentExtensions all have a source with a definite answer.
var agentExtensions = []string{".de", ".com", ".eu", ".net", ".org", ".shop"}

// randomCall returns a typical call: mostly whether a name is available.
func randomCall() call {
	tld := agentExtensions[rand.N(len(agentExtensions))]
	label := fmt.Sprintf("soak-agent-%d", rand.N(numbers))
	switch n := rand.N(100); {
	case n < 30:
		return newCall("domain_check", "domain", "google"+tld, "available", "false")
	case n < 70:
		return newCall("domain_check", "domain", label+tld, "available", "true")
	case n < 75:
		return newCall("domain_search", "query", label, "results", "")
	case n < 85:
		return newCall("whois_lookup", "domain", "google"+tld, "registered", "true")
	case n < 95:
		return newCall("tld_price", "tld", tld, "registerEur", "")
	default:
		return newCall("list_tlds", "search", strings.TrimPrefix(tld, "."), "tlds", "")
	}
}

func newCall(tool, argument, value, member, says string) call {
	return call{
		tool:   tool,
		params: json.RawMessage(fmt.Sprintf(`{"name":%q,"arguments":{%q:%q}}`, tool, argument, value)),
		field:  member, want: says,
	}
}

// recordCall classifies the result of a call. Anything but a valid result or a rate
// limit is an error.
func (o *outcome) recordCall(c call, result json.RawMessage) {
	kind, err := kindOf(c, result)
	if err != nil {
		kind = "wrong"
		o.wrong = append(o.wrong, c.tool+": "+err.Error())
	}
	o.answers[kind]++
}

func kindOf(c call, result json.RawMessage) (string, error) {
	var read struct {
		IsError    bool                       `json:"isError"`
		Structured map[string]json.RawMessage `json:"structuredContent"`
	}
	if err := json.Unmarshal(result, &read); err != nil {
		return "", errors.New("no result of a tool")
	}
	value, there := read.Structured[c.field]
	switch {
	case read.IsError && string(read.Structured["code"]) == `"rate_limited"`:
		return kindLimited, nil
	case read.IsError:
		return "", fmt.Errorf("failed with %s", read.Structured["code"])
	case !there || c.want != "" && string(value) != c.want:
		return "", fmt.Errorf("%s is %s instead of %s", c.field, value, c.want)
	default:
		return kindReal, nil
	}
}

// checkAgents requires that nearly all calls have valid results.
func checkAgents(t *checklist, seen outcome) {
	calls := seen.answers[kindReal] + seen.answers[kindLimited] + seen.answers["wrong"]
	t.check(calls > 0 && float64(seen.answers[kindReal]) >= minRealShare*float64(calls),
		"real results: %d of %d calls, %.1f %%; wanted %.0f %%, and the rest rate_limited",
		seen.answers[kindReal], calls, 100*float64(seen.answers[kindReal])/float64(max(1, calls)), 100*minRealShare)
}
