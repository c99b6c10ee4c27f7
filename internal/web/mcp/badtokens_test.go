package mcp

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

func TestBearer_AddressOverBudgetIsRefusedUnchecked(t *testing.T) {
	t.Parallel()
	gate, err := ratelimit.NewGate(ratelimit.Config{Windows: []ratelimit.Window{{Limit: 3, Per: time.Minute}}, MaxKeys: 100}, 1)
	if err != nil {
		t.Fatal(err)
	}
	server, _ := newServer(t, func(cfg *Config) { cfg.BadTokens = gate })
	ask := func(bearer string) int {
		got := post(server.Serve, call("list_my_domains", "{}"), "Accept", "application/json, text/event-stream", "Authorization", "Bearer "+bearer)
		if got.Code == http.StatusTooManyRequests && got.Header().Get("Retry-After") == "" {
			t.Error("429 without Retry-After")
		}
		return got.Code
	}
	if got := ask("good"); got != http.StatusOK {
		t.Fatalf("a valid token: %d", got)
	}
	for i := range 6 {
		if got, want := ask(fmt.Sprint("wrong", i)), map[bool]int{true: 401, false: 429}[i < 3]; got != want {
			t.Errorf("wrong token %d: %d, want %d", i+1, got, want)
		}
	}
	if got := ask("good"); got != http.StatusOK {
		t.Errorf("a token that was valid before is locked out: %d", got)
	}
	if got := post(server.Serve, call("list_tlds", "{}"), "Accept", "application/json, text/event-stream"); got.Code != http.StatusOK {
		t.Errorf("without a token: %d", got.Code)
	}
}
