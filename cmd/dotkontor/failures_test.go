package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// panickingWriter is where a command writes.
type panickingWriter struct{}

func (panickingWriter) Write([]byte) (int, error) { panic("canary@example.org") }

func TestRun_PanicReportHasStackNotMessage(t *testing.T) {
	t.Parallel()
	var errOut bytes.Buffer
	code := Run(t.Context(), []string{"version"}, nil, strings.NewReader(""), panickingWriter{}, &errOut)
	if code != ExitError || !strings.Contains(errOut.String(), registrar.PanicRecovered) || !strings.Contains(errOut.String(), "failures_test.go") ||
		strings.Contains(errOut.String(), "canary") {
		t.Errorf("exit code %d: %s", code, &errOut)
	}
}

func TestRegistryCheck_RefusedConnectionNamesAccountAndAddress(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "serve.toml")
	text := fmt.Sprintf("data = %q\n[[epp]]\nname = \"acme\"\nserver = %q\nuser = \"client-1\"\npassword = \"canary-secret\"\nextensions = [\".com\"]\n", folder, address)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var errOut bytes.Buffer
	code := Run(t.Context(), []string{"registry", "check", "--config", file, "canary.com"}, nil, strings.NewReader(""), io.Discard, &errOut)
	if code != ExitError || !strings.Contains(errOut.String(), "epp: connect at acme ("+address+"): connection_refused: nothing listens there") ||
		strings.Contains(errOut.String(), "canary") {
		t.Errorf("exit code %d: %s", code, &errOut)
	}
}

func TestCountLogRecords_CountsWarningsErrorsPanics(t *testing.T) {
	t.Parallel()
	metrics := prometheus.NewRegistry()
	logger, err := countLogRecords(slog.New(slog.DiscardHandler), metrics)
	if err != nil {
		t.Fatal(err)
	}
	logger = slog.New(enabledHandler{logger.Handler()}) // a handler that discards is not enabled
	logger.Info("request")
	logger.Warn("a warning")
	logger.With("a", 1).WithGroup("b").Error(registrar.PanicRecovered)
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, family := range families {
		for _, series := range family.GetMetric() {
			got += fmt.Sprint(family.GetName(), series.GetLabel(), series.GetCounter().GetValue(), ";")
		}
	}
	for _, want := range []string{`"error"`, `"warn"`, "dotkontor_panics_total"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
	if strings.Contains(got, " 0;") || strings.Count(got, "1;") != 3 {
		t.Errorf("counted %s", got)
	}
}

type enabledHandler struct{ slog.Handler }

func (enabledHandler) Enabled(context.Context, slog.Level) bool { return true }
func (l enabledHandler) WithAttrs(a []slog.Attr) slog.Handler {
	return enabledHandler{l.Handler.WithAttrs(a)}
}
func (l enabledHandler) WithGroup(name string) slog.Handler {
	return enabledHandler{l.Handler.WithGroup(name)}
}
