package app

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestCountLogRecords_CountsWarningsErrorsPanics(t *testing.T) {
	t.Parallel()
	metrics := prometheus.NewRegistry()
	logger := slog.New(enabledHandler{countLogRecords(slog.New(slog.DiscardHandler), metrics).Handler()}) // a handler that discards is not enabled
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
