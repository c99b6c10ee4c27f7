package web

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// requestMetrics measures requests by route and status. Both have a fixed set of
// values, so a client can't create new series.
type requestMetrics struct {
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	streams  prometheus.Gauge
	tools    *prometheus.CounterVec
	// series and toolSeries cache them by labels, whose lookup costs more than observing.
	series     sync.Map // seriesKey → prometheus.Observer
	toolSeries sync.Map // toolKey → prometheus.Counter
}

type toolKey struct{ tool, outcome string }

type seriesKey struct {
	route  string
	status int
}

func newRequestMetrics(registry prometheus.Registerer) (*requestMetrics, error) {
	m := &requestMetrics{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "dotkontor_http_request_duration_seconds",
			Help:    "Time from receiving the request headers to the end of the response, or to the start of a stream, by route and status.",
			Buckets: []float64{0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 6},
		}, []string{"route", "status"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "dotkontor_http_requests_in_flight",
			Help: "Requests being served, without streams.",
		}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "dotkontor_http_streams",
			Help: "Open page streams, which are not counted as requests in flight.",
		}),
		tools: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "dotkontor_mcp_tool_calls_total",
			Help: "MCP tool calls by tool and outcome: ok, the failure code, sign_in_required or insufficient_scope.",
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

func (m *requestMetrics) countTool(tool, outcome string) {
	key := toolKey{tool, outcome}
	counter, ok := m.toolSeries.Load(key)
	if !ok {
		counter, _ = m.toolSeries.LoadOrStore(key, m.tools.WithLabelValues(tool, outcome))
	}
	counter.(prometheus.Counter).Inc() //nolint:errcheck,forcetypeassert // the map holds nothing else
}
