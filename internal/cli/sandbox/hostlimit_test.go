package sandbox

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/sandbox/smtp"
)

func TestHostLimit_ThrottlingHostIsPausedAndCounted(t *testing.T) {
	t.Parallel()
	list, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	world, err := registry.Start(registry.Options{Zones: zones(list)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = world.Close() })
	mailbox, err := smtp.Start(smtp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mailbox.Close() })
	cfg, err := Command{Listen: "127.0.0.1:0", Data: t.TempDir()}.newConfig(simulation{registry: world, mailbox: mailbox})
	if err != nil {
		t.Fatal(err)
	}
	p, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- p.Run(ctx, func(baseURL string) { ready <- baseURL }) }()
	baseURL := <-ready
	for _, name := range []string{"throttled-one.com", "throttled-two.com", "throttled-three.com", "throttled-four.com"} {
		response, err := http.Post(baseURL+"/api/domain/check", "application/json", strings.NewReader(`{"domain":"`+name+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusBadGateway {
			t.Errorf("%s: status %d", name, response.StatusCode)
		}
	}
	families, err := p.Metrics().Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "dotkontor_upstream_host_events_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetValue())
			}
			counted[strings.Join(labels, " ")] = metric.GetCounter().GetValue()
		}
	}
	if counted["paused rdap.verisign.com"] != 1 || counted["refused_paused rdap.verisign.com"] != 1 {
		t.Errorf("counted %v", counted)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
