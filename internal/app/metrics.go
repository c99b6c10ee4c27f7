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

// initCounters creates every combination of the given label values, in the order of the
// labels. A series that appears with its first event has no rate at that moment, so an
// alert on it would miss the event.
func initCounters(counter *prometheus.CounterVec, labels ...[]string) {
	combinations := [][]string{nil}
	for _, values := range labels {
		var longer [][]string
		for _, prefix := range combinations {
			for _, value := range values {
				longer = append(longer, append(prefix[:len(prefix):len(prefix)], value))
			}
		}
		combinations = longer
	}
	for _, values := range combinations {
		counter.WithLabelValues(values...)
	}
}

// labelValues converts constants to label values.
func labelValues[T ~string](words ...T) []string {
	texts := make([]string, 0, len(words))
	for _, word := range words {
		texts = append(texts, string(word))
	}
	return texts
}

// faultCodes returns the failure codes of upstreams as label values.
func faultCodes() []string {
	return labelValues(registrar.FaultTimeout, registrar.FaultRefused, registrar.FaultThrottled, registrar.FaultBroken, registrar.FaultBusy)
}

// registerGauges registers the build, queues, registry connections and certificates.
// They are read at each scrape.
func (p *App) registerGauges(context.Context) error {
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "dotkontor_build_info", Help: "Always 1; the labels say what runs.",
	}, []string{"version", "revision", "goversion"})
	build.WithLabelValues(Version, Revision(), runtime.Version()).Set(1)
	for _, collector := range []prometheus.Collector{
		build, &queueAges{p.services.DB}, &eppConnections{p.lookups.Registries}, certificateExpiries{p.cfg},
	} {
		if err := p.metrics.Register(collector); err != nil {
			return err
		}
	}
	return nil
}

// queueAges measures the age of due work of all nodes. Work is due by real time, even if
// a sandbox moved its business time.
type queueAges struct{ db *store.DB }

var queueAge = prometheus.NewDesc("dotkontor_queue_age_seconds",
	"How long the oldest due job of a queue has waited; 0 if none is due, -1 if the database does not answer. More than a minute means that work does not get done.",
	[]string{"queue"}, nil)

// queueQueryTimeout bounds the queries of one scrape.
const queueQueryTimeout = 2 * time.Second

// Describe implements prometheus.Collector.
func (*queueAges) Describe(descs chan<- *prometheus.Desc) { descs <- queueAge }

// Collect implements prometheus.Collector.
func (q *queueAges) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), queueQueryTimeout)
	defer cancel()
	for _, kind := range admin.JobKinds() {
		age := -1.0
		if next, err := q.db.ListJobs(ctx, kind, false, 1); err == nil {
			age = 0
			if len(next) > 0 {
				age = max(0, time.Since(next[0].DueAt).Seconds())
			}
		}
		metrics <- prometheus.MustNewConstMetric(queueAge, prometheus.GaugeValue, age, string(kind))
	}
}

// eppConnections measures the connection pools of registry accounts.
type eppConnections struct{ registries *Registries }

var (
	eppOpen    = prometheus.NewDesc("dotkontor_epp_connections", "Open connections to a registry, by account.", []string{"account"}, nil)
	eppMax     = prometheus.NewDesc("dotkontor_epp_connections_max", "Connections that an account may have.", []string{"account"}, nil)
	eppWaiting = prometheus.NewDesc("dotkontor_epp_commands_waiting", "Commands waiting for a connection, by account.", []string{"account"}, nil)
	eppUp      = prometheus.NewDesc("dotkontor_epp_up", "0 while the registry is unreachable and connecting backs off, otherwise 1, by account.", []string{"account"}, nil)
)

// Describe implements prometheus.Collector.
func (*eppConnections) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{eppOpen, eppMax, eppWaiting, eppUp} {
		descs <- desc
	}
}

// Collect implements prometheus.Collector.
func (e *eppConnections) Collect(metrics chan<- prometheus.Metric) {
	for i, client := range e.registries.Clients {
		account, state := e.registries.accounts[i].Name, client.PoolStatus()
		gauge := func(desc *prometheus.Desc, value float64) {
			metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, account)
		}
		gauge(eppOpen, float64(state.Open))
		gauge(eppMax, float64(state.MaxConnections))
		gauge(eppWaiting, float64(state.Waiting))
		up := 1.0
		if state.Cause != "" {
			up = 0
		}
		gauge(eppUp, up)
	}
}

// certificateExpiries measures the expiry of our own certificates: of the public port
// and EPP client certificates.
type certificateExpiries struct{ cfg config.Config }

var certificateExpiry = prometheus.NewDesc("dotkontor_certificate_expiry_timestamp_seconds",
	"When a certificate file of the configuration ends, as Unix time; 0 if it can't be read.", []string{"certificate"}, nil)

// Describe implements prometheus.Collector.
func (certificateExpiries) Describe(descs chan<- *prometheus.Desc) { descs <- certificateExpiry }

// Collect implements prometheus.Collector.
func (c certificateExpiries) Collect(metrics chan<- prometheus.Metric) {
	report := func(name, file string) {
		if file == "" {
			return
		}
		end := 0.0
		if expiry, err := certificateNotAfter(file); err == nil {
			end = float64(expiry.Unix())
		}
		metrics <- prometheus.MustNewConstMetric(certificateExpiry, prometheus.GaugeValue, end, name)
	}
	report("server", c.cfg.Server.TLSCert)
	for _, account := range c.cfg.EPP {
		report("epp:"+account.Name, account.Cert)
	}
}

// certificateNotAfter returns the expiry of the first certificate in a PEM file.
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
	return time.Time{}, errors.New("no certificate in PEM form")
}
