package app

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/store"
)

// label is a label of a counter with all its values, or none if they are not known beforehand.
type label struct {
	name   string
	values []string
}

func newLabel[T ~string](name string, values ...T) label {
	l := label{name: name}
	for _, value := range values {
		l.values = append(l.values, string(value))
	}
	return l
}

// newCounter registers a counter and creates every combination of its label values. A
// series that appears with its first event has no rate at that moment, so an alert on it
// would miss the event.
func newCounter(metrics prometheus.Registerer, name, help string, labels ...label) *prometheus.CounterVec {
	var names []string
	combinations := [][]string{nil}
	for _, l := range labels {
		names = append(names, l.name)
		var longer [][]string
		for _, prefix := range combinations {
			for _, value := range l.values {
				longer = append(longer, append(prefix[:len(prefix):len(prefix)], value))
			}
		}
		combinations = longer
	}
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, names)
	for _, values := range combinations {
		counter.WithLabelValues(values...)
	}
	metrics.MustRegister(counter)
	return counter
}

// newGauge registers a gauge that is read at each scrape.
func newGauge(metrics prometheus.Registerer, name, help string, read func() float64) {
	metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

// newCounterFunc registers a counter that is read at each scrape.
func newCounterFunc(metrics prometheus.Registerer, name, help string, read func() int64) {
	metrics.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(read()) }))
}

// newBacklogGauge registers a gauge that counts rows of all nodes at each scrape, -1 if
// the database does not respond.
func newBacklogGauge(metrics prometheus.Registerer, name, help string, count func(context.Context) (int, error)) {
	newGauge(metrics, name, help, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
		defer cancel()
		n, err := count(ctx)
		if err != nil {
			return -1
		}
		return float64(n)
	})
}

var faultCodes = []registrar.Code{
	registrar.FaultTimeout, registrar.FaultRefused, registrar.FaultThrottled, registrar.FaultBroken, registrar.FaultBusy,
}

// registerGauges registers the build, queues, registry connections and certificates.
func (p *App) registerGauges(context.Context) error {
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "dotkontor_build_info", Help: "Always 1; the labels describe the running version.",
	}, []string{"version", "revision", "goversion"})
	build.WithLabelValues(Version, revision(), runtime.Version()).Set(1)
	p.metrics.MustRegister(build, queueAges(p.services.DB), eppConnections(p.lookups.Registries), certificateExpiries(p.cfg)) //nolint:contextcheck // a scrape has no context
	return nil
}

// gauges collects series that are known only at a scrape. collect calls set for each.
type gauges struct {
	descs   []*prometheus.Desc
	collect func(set func(desc *prometheus.Desc, value float64, label string))
}

func (g gauges) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range g.descs {
		descs <- desc
	}
}

func (g gauges) Collect(metrics chan<- prometheus.Metric) {
	g.collect(func(desc *prometheus.Desc, value float64, label string) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, label)
	})
}

// scrapeTimeout bounds the database queries of one scrape.
const scrapeTimeout = 2 * time.Second

// queueAges measures the age of due work of all nodes. Work is due by real time, even if
// a sandbox moved its business time.
func queueAges(db *store.DB) gauges {
	desc := prometheus.NewDesc("dotkontor_queue_age_seconds",
		"How long the oldest due job of a queue has waited; 0 if none is due, -1 if the database does not respond. More than a minute means that no node processes the queue.",
		[]string{"queue"}, nil)
	return gauges{[]*prometheus.Desc{desc}, func(set func(*prometheus.Desc, float64, string)) {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
		defer cancel()
		for _, kind := range admin.JobKinds() {
			age := -1.0
			if next, err := db.ListJobs(ctx, kind, false, 1); err == nil {
				age = 0
				if len(next) > 0 {
					age = max(0, time.Since(next[0].DueAt).Seconds())
				}
			}
			set(desc, age, string(kind))
		}
	}}
}

// eppConnections measures the connection pools of registry accounts.
func eppConnections(registries *Registries) gauges {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{"account"}, nil)
	}
	open := desc("dotkontor_epp_connections", "Open connections to a registry, by account.")
	most := desc("dotkontor_epp_connections_max", "Connections that an account may have.")
	waiting := desc("dotkontor_epp_commands_waiting", "Commands waiting for a connection, by account.")
	up := desc("dotkontor_epp_up", "0 while the registry is unreachable and connecting backs off, otherwise 1, by account.")
	return gauges{[]*prometheus.Desc{open, most, waiting, up}, func(set func(*prometheus.Desc, float64, string)) {
		for i, client := range registries.Clients {
			account, state := registries.accounts[i].Name, client.PoolStatus()
			set(open, float64(state.Open), account)
			set(most, float64(state.MaxConnections), account)
			set(waiting, float64(state.Waiting), account)
			if state.Cause == "" {
				set(up, 1, account)
			} else {
				set(up, 0, account)
			}
		}
	}}
}

// certificateExpiries measures the expiry of our own certificates: of the public port
// and EPP client certificates.
func certificateExpiries(cfg config.Config) gauges {
	desc := prometheus.NewDesc("dotkontor_certificate_expiry_timestamp_seconds",
		"When a configured certificate expires, as Unix time; 0 if its file can't be read.", []string{"certificate"}, nil)
	return gauges{[]*prometheus.Desc{desc}, func(set func(*prometheus.Desc, float64, string)) {
		report := func(name, file string) {
			if file == "" {
				return
			}
			end := 0.0
			if expiry, err := certificateNotAfter(file); err == nil {
				end = float64(expiry.Unix())
			}
			set(desc, end, name)
		}
		report("server", cfg.Server.TLSCert)
		for _, account := range cfg.EPP {
			report("epp:"+account.Name, account.Cert)
		}
	}}
}

func certificateNotAfter(file string) (time.Time, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return time.Time{}, err
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return time.Time{}, err
		}
		return certificate.NotAfter, nil
	}
	return time.Time{}, errors.New("no PEM certificate")
}
