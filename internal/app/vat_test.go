package app

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
)

func TestVAT_FollowsBuyerData(t *testing.T) {
	t.Parallel()
	down := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(down.Close)
	services := openTestServices(t)
	metrics := prometheus.NewRegistry()
	p := &App{
		cfg: config.Config{VAT: config.VAT{OSS: true, VIESURL: down.URL, WarnAtEUR: 8000}}, services: services, lookups: &Lookups{},
		now: time.Now, logger: slog.New(slog.DiscardHandler), metrics: metrics,
	}
	taxes, monitor, err := p.openVAT()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name  string
		party billing.Party
		want  billing.Assessment
	}{
		{"nothing told yet", billing.Party{}, billing.Assessment{RateBasisPoints: 1900, Rule: "unknown_country", Country: "DE", VAT: []registrar.Cents{190, 10}}},
		{"a consumer", billing.Party{Country: "AT"}, billing.Assessment{RateBasisPoints: 2000, Rule: "eu_consumer_oss", Country: "AT", VAT: []registrar.Cents{200, 10}}},
		{"by postal code", billing.Party{Country: "ES", PostalCode: "35001"}, billing.Assessment{Rule: "outside_eu", Country: "ES", VAT: []registrar.Cents{0, 0}}},
		{"an id that can't be checked", billing.Party{Country: "AT", VATID: "ATU12345678"}, billing.Assessment{RateBasisPoints: 2000, Rule: "eu_consumer_oss", Country: "AT", Unchecked: true, VAT: []registrar.Cents{200, 10}}},
	}
	for _, test := range tests {
		got, err := taxes.Assess(t.Context(), test.party, []registrar.Cents{1000, 50}, at)
		if err != nil || got.RateBasisPoints != test.want.RateBasisPoints || got.Rule != test.want.Rule || got.Country != test.want.Country ||
			got.VATID != test.want.VATID || got.Unchecked != test.want.Unchecked || !slices.Equal(got.VAT, test.want.VAT) {
			t.Errorf("%s: %+v, %v; want %+v", test.name, got, err, test.want)
		}
	}
	if monitor.WarnAt != 8_000_00 || !monitor.OSS {
		t.Errorf("the watch is %+v", monitor)
	}
	monitor.OnSales(billing.Threshold)
	families, err := metrics.Gather()
	if err != nil || len(families) != 1 || !strings.Contains(families[0].String(), "10000") {
		t.Errorf("the metric is %v, %v", families, err)
	}
}
