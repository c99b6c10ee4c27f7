package acp

import (
	"net/http"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestAuthenticate_FloodIsRefusedUnverified(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.agents.slow = make(chan struct{})
	const senders = 200
	replies := make(chan int, senders)
	for range senders {
		go func() {
			replies <- w.do(testRequest{path: sessionPath + "/complete", body: payBody, from: "192.0.2.7", unsigned: true, header: map[string]string{
				"Timestamp": time.Now().UTC().Format(time.RFC3339), "Signature": "AAAA",
			}}).status
		}()
	}
	close(w.agents.slow)
	counted := map[int]int{}
	for range senders {
		counted[<-replies]++
	}
	if calls := w.agents.calls.Load(); calls > 30+maxUnkeyedVerifications || counted[401] > 30 || counted[401]+counted[429] != senders {
		t.Errorf("%d signatures were verified; %v", calls, counted)
	}
}

func TestAuthenticate_WrongKeysDoNotLockOutWorkingAgent(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	with := func(key string) testRequest {
		return testRequest{path: sessionPath, method: http.MethodGet, unsigned: true, from: "192.0.2.7", header: map[string]string{"Authorization": "Bearer " + key}}
	}
	if got := w.do(with(w.agents.key)); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.text)
	}
	var last testResponse
	for range 700 {
		wrong, _ := registrar.NewSecret(registrar.AgentKey)
		last = w.do(with(wrong))
	}
	if calls := w.agents.calls.Load(); last.status != 429 || last.header.Get("Retry-After") == "" || calls > 601 {
		t.Errorf("%d after %d verifications", last.status, calls)
	}
	if got := w.do(with(w.agents.key)); got.status != 200 {
		t.Errorf("an agent that was verified before: %d", got.status)
	}
}

func TestAuthenticate_FewWrongKeysDoNotLockOutNewAgent(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	with := func(key string) testRequest {
		return testRequest{path: sessionPath, method: http.MethodGet, unsigned: true, from: "192.0.2.7", header: map[string]string{"Authorization": "Bearer " + key}}
	}
	for range 200 {
		wrong, _ := registrar.NewSecret(registrar.AgentKey)
		w.do(with(wrong))
	}
	if got := w.do(with(w.agents.key)); got.status != 200 {
		t.Errorf("an agent that this node has not seen before: %d", got.status)
	}
}

func TestAuthenticate_WrongSignatureDoesNotLockOutAgent(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	key := map[string]string{"Authorization": "Bearer " + w.agents.key}
	good := testRequest{path: sessionPath, method: http.MethodGet, unsigned: true, from: "192.0.2.8", header: key}
	if got := w.do(good); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.text)
	}
	for range 700 { // other clients at the same address
		wrong, _ := registrar.NewSecret(registrar.AgentKey)
		w.do(testRequest{path: sessionPath, method: http.MethodGet, unsigned: true, from: "192.0.2.8", header: map[string]string{"Authorization": "Bearer " + wrong}})
	}
	bad := good
	bad.header = map[string]string{"Authorization": "Bearer " + w.agents.key, "Timestamp": "2026-11-15T00:00:00Z", "Signature": "d3Jvbmc"}
	if got := w.do(bad); got.status == 200 {
		t.Fatal("a wrong signature was accepted")
	}
	if got := w.do(good); got.status != 200 {
		t.Errorf("after one wrong signature: %d", got.status)
	}
}

func TestParse_KeysDifferingInCaseAreRefused(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"buyer":{},"Buyer":{}}`, `{"a":[{"x":1,"X":2}]}`} {
		if _, err := parse([]byte(body)); err == nil {
			t.Errorf("%s was accepted", body)
		}
	}
}
