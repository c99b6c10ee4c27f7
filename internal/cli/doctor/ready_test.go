package doctor

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dotkontor/dotkontor/internal/cli"
)

func TestReady_ExitCodeFollowsReadiness(t *testing.T) {
	t.Parallel()
	var status atomic.Int64
	status.Store(http.StatusOK)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			t.Errorf("asked %s", r.URL.Path)
		}
		w.WriteHeader(int(status.Load()))
		_, _ = io.WriteString(w, "ready\ndegraded database disk_full since 2026-01-02T03:04:05Z\n")
	}))
	var grammar struct {
		Doctor Command `cmd:""`
	}
	run := func(args ...string) (int, string) {
		var out strings.Builder
		return cli.Run(t.Context(), &grammar, append([]string{"doctor"}, args...), nil, strings.NewReader(""), &out, io.Discard), out.String()
	}
	if code, out := run("--ready", server.URL); code != cli.ExitOK || !strings.Contains(out, "disk_full") {
		t.Errorf("ready: exit code %d, %s", code, out)
	}
	status.Store(http.StatusServiceUnavailable)
	if code, _ := run("--ready", server.URL); code != cli.ExitError {
		t.Errorf("draining: exit code %d", code)
	}
	server.Close()
	if code, _ := run("--ready", server.URL); code != cli.ExitError {
		t.Errorf("stopped: exit code %d", code)
	}
	if code, _ := run("--ready", server.URL, "--reconcile"); code != cli.ExitUsage {
		t.Errorf("with --reconcile: exit code %d", code)
	}
}
