package app

import (
	"context"
	"maps"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Only what is certain may make a client throw its token away.
func TestMCPTokens_InvalidOnlyWhenDatabaseConfirms(t *testing.T) {
	t.Parallel()
	services := openTestServices(t)
	unknown, _ := registrar.NewSecret(registrar.PersonalToken)
	metrics := prometheus.NewRegistry()
	tokens := newMCPTokens(services.Tokens, metrics)
	for _, bearer := range []string{unknown, "nonsense"} {
		if _, err := tokens.Verify(t.Context(), bearer); err == nil || registrar.KindOf(err) != registrar.KindUnauthenticated {
			t.Errorf("%s: got %v", bearer[:4], err)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := services.Close(); err != nil {
		t.Fatal(err)
	}
	for _, ctx := range []context.Context{t.Context(), stopped} {
		if _, err := tokens.Verify(ctx, unknown); err == nil || registrar.KindOf(err) != registrar.KindInternal {
			t.Errorf("without the database: got %v", err)
		}
	}
	if _, err := tokens.Verify(t.Context(), "nonsense"); err == nil || registrar.KindOf(err) != registrar.KindUnauthenticated {
		t.Errorf("nonsense without the database: got %v", err)
	}
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := make(map[string]float64)
	for _, metric := range families[0].GetMetric() {
		counted[metric.GetLabel()[0].GetValue()] = metric.GetCounter().GetValue()
	}
	if want := map[string]float64{"good": 0, "bad": 3, "unchecked": 2}; !maps.Equal(counted, want) {
		t.Errorf("counted are %v, want %v", counted, want)
	}
}
