package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestAgentAddress_UniqueLoopback(t *testing.T) {
	t.Parallel()
	seen := make(map[netip.Addr]bool)
	for n := range 2 * maxAgents {
		addr := agentAddress(n)
		if !addr.IsLoopback() || seen[addr] || addr == netip.MustParseAddr("127.0.0.1") {
			t.Fatalf("agent %d comes from %s", n, addr)
		}
		seen[addr] = true
	}
}

func TestRecordCall_RealLimitedOrWrong(t *testing.T) {
	t.Parallel()
	check := newCall("domain_check", "domain", "google.com", "available", "false")
	list := newCall("list_tlds", "search", "de", "tlds", "")
	for _, test := range []struct {
		call   call
		result string
		want   string
	}{
		{check, `{"structuredContent":{"available":false}}`, kindReal},
		{check, `{"structuredContent":{"available":true}}`, "wrong"},
		{check, `{"structuredContent":{"available":null}}`, "wrong"},
		{check, `{"structuredContent":{}}`, "wrong"},
		{check, `{"isError":true,"structuredContent":{"code":"rate_limited"}}`, kindLimited},
		{check, `{"isError":true,"structuredContent":{"code":"upstream_failed"}}`, "wrong"},
		{check, `{"isError":true,"structuredContent":{"available":false}}`, "wrong"},
		{check, `[]`, "wrong"},
		{list, `{"structuredContent":{"tlds":[]}}`, kindReal},
		{list, `{"structuredContent":{"total":1}}`, "wrong"},
	} {
		o := outcome{answers: map[string]int{}}
		o.recordCall(test.call, json.RawMessage(test.result))
		if o.answers[test.want] != 1 || (len(o.wrong) == 1) != (test.want == "wrong") {
			t.Errorf("%s of %s is recorded as %v with %q, want %s", test.result, test.call.tool, o.answers, o.wrong, test.want)
		}
	}
}

func TestRandomCall_ValidParams(t *testing.T) {
	t.Parallel()
	tools := make(map[string]bool)
	for range 2000 {
		c := randomCall()
		var params struct {
			Name      string            `json:"name"`
			Arguments map[string]string `json:"arguments"`
		}
		if err := json.Unmarshal(c.params, &params); err != nil || params.Name != c.tool || len(params.Arguments) != 1 {
			t.Fatalf("%s: %s, %v", c.tool, c.params, err)
		}
		tools[c.tool] = true
	}
	if len(tools) != 5 {
		t.Errorf("only %v are called", tools)
	}
}

func TestCheckAgents_NeedsNinetyPercentReal(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		real, limited, wrong int
		kept                 bool
	}{{90, 10, 0, true}, {89, 11, 0, false}, {89, 0, 11, false}, {0, 0, 0, false}} {
		tally := &checklist{out: io.Discard}
		checkAgents(tally, outcome{answers: map[string]int{kindReal: test.real, kindLimited: test.limited, "wrong": test.wrong}})
		if tally.failed == test.kept {
			t.Errorf("%+v: passed is %t", test, !tally.failed)
		}
	}
}

// Agents against a server without tools that responds like one.
func TestRunAgents_InitializeThenCallFromOwnAddress(t *testing.T) {
	t.Parallel()
	var config net.ListenConfig
	probe, err := config.Listen(t.Context(), "tcp", agentAddress(0).String()+":0")
	if err != nil {
		t.Skip("this system has only one loopback address")
	}
	defer probe.Close()
	var (
		mu    sync.Mutex
		began = make(map[string][]string)
	)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var message struct {
			ID     int    `json:"id"`
			Method string `json:"method"`
		}
		if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
			t.Error(err)
		}
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		began[host] = append(began[host], message.Method)
		mu.Unlock()
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"result":{"serverInfo":{},"tools":[],"isError":true,"structuredContent":{"code":"rate_limited"}}}`, message.ID)
	}))
	defer server.Close()
	seen, err := runAgents(t.Context(), server.URL, 0, 3, 40*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if len(began) != 3 || seen.answers[kindListing] != 6 {
		t.Errorf("the agents came from %v and saw %v", began, seen.answers)
	}
	for host, methods := range began {
		if !strings.HasPrefix(strings.Join(methods, " "), "initialize tools/list") {
			t.Errorf("%s began with %v", host, methods)
		}
	}
}

func TestRunAgents_ErrorResponseFails(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}`)
	}))
	defer server.Close()
	if _, err := runAgents(t.Context(), server.URL, 0, 1, 40*time.Millisecond); err == nil {
		t.Error("an error counts as a result")
	}
}

func TestParse_ScenarioDefaults(t *testing.T) {
	t.Parallel()
	s, err := parse([]string{"-scenario", "agents", "-duration", "5s"}, io.Discard)
	if err != nil || s.workers != 2000 || s.duration != 5*time.Second || s.chaos != 0 {
		t.Errorf("got %d workers for %s with %v chaos, %v", s.workers, s.duration, s.chaos, err)
	}
	for _, args := range []string{"-scenario nobody", "-workers -1", "-unknown"} {
		if _, err := parse(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%s was accepted", args)
		}
	}
}
