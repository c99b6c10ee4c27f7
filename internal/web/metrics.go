package web

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// requestMetrics measures requests by route and status. Both come from our own
// lists, so a client can't make new series.
type requestMetrics struct {
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	streams  prometheus.Gauge
	tools    *prometheus.CounterVec
	// series saves the look-up of labels, which costs more than the observation.
	series sync.Map // seriesKey → prometheus.Observer
}

type seriesKey struct {
	route  string
	status int
}

func newRequestMetrics(registry prometheus.Registerer) (*requestMetrics, error) {
	m := &requestMetrics{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "dotkontor_http_request_duration_seconds",
			Help:    "Time from the head of a request to the end of its answer, by route and status; of a stream, to its beginning.",
			Buckets: []float64{0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 6},
		}, []string{"route", "status"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "dotkontor_http_requests_in_flight",
			Help: "Requests that are being answered at this moment.",
		}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "dotkontor_http_streams",
			Help: "Streams of pages that are followed at this moment, which are not among the requests under way.",
		}),
		tools: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "dotkontor_mcp_tool_calls_total",
			Help: "Calls of MCP tools by tool and outcome: ok, the code of the failure, or sign_in_required or insufficient_scope.",
		}, []string{"tool", "outcome"}),
	}
	for _, collector := range []prometheus.Collector{m.duration, m.inFlight, m.streams, m.tools} {
		if err := registry.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *requestMetrics) observe(route string, status int, duration time.Duration) {
	key := seriesKey{route: route, status: status}
	observer, ok := m.series.Load(key)
	if !ok {
		observer, _ = m.series.LoadOrStore(key, m.duration.WithLabelValues(route, strconv.Itoa(status)))
	}
	observer.(prometheus.Observer).Observe(duration.Seconds()) //nolint:errcheck,forcetypeassert // the map holds nothing else
}
