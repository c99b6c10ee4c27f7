package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/test/testkit"
)

func readMetrics(t *testing.T, on *target) string {
	t.Helper()
	status, text, err := fetch(t.Context(), on.metricsURL+"/metrics")
	if err != nil || status != http.StatusOK {
		t.Fatalf("/metrics: %d, %v", status, err)
	}
	return string(text)
}

func linesContaining(text, word string) string {
	var found strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			found.WriteString(line)
		}
	}
	return found.String()
}

func TestMetrics_ByRouteAndStatusWithoutDomainNames(t *testing.T) {
	t.Parallel()
	on := startOwnServe(t, "measured")
	client := newCaller(t, on)
	client.check(marker + "-metrik.de")
	client.check("refused-" + marker + ".com")
	client.check("-" + marker + ".de")
	client.search(marker)
	client.get("/api/" + marker)
	client.send(request{method: strings.ToUpper(marker), path: checkPath})
	testkit.Eventually(t, "metric for every request", func() bool {
		text := readMetrics(t, on)
		for _, series := range []string{
			`{route="/api/domain/check",status="200"} 1`, `{route="/api/domain/check",status="502"} 1`,
			`{route="/api/domain/check",status="400"} 1`, `{route="/api/domain/check",status="405"} 1`,
			`{route="/api/domain/search",status="200"} 1`, `{route="/",status="404"} 1`,
		} {
			if !strings.Contains(text, "dotkontor_http_request_duration_seconds_count"+series+"\n") {
				return false
			}
		}
		return true
	})
	text := readMetrics(t, on)
	for _, word := range []string{marker, strings.ToUpper(marker), client.addr.String()} {
		if found := linesContaining(text, word); found != "" {
			t.Errorf("the metrics contain %q:\n%s", word, found)
		}
	}
}

func TestMetrics_SeriesExistBeforeFirstEvent(t *testing.T) {
	t.Parallel()
	text := readMetrics(t, startOwnServe(t, "fresh-metrics"))
	for _, series := range []string{
		`dotkontor_build_info{goversion="go`,
		`dotkontor_order_items_finished_total{kind="register",state="failed"} 0`,
		`dotkontor_order_items_waiting_total{code="registry_billing"} 0`,
		`dotkontor_mails_total{kind="order_ended",outcome="failed"} 0`,
		`dotkontor_orders_total{state="completed"} 0`,
		`dotkontor_refunds_total{reason="unmatched"} 0`,
		`dotkontor_orders_waiting_total{code="timeout",what="charge"} 0`,
		`dotkontor_invoices_total{kind="correction"} 0`,
		`dotkontor_webhook_deliveries_total{outcome="abandoned"} 0`,
		`dotkontor_expiry_notices_total{kind="expired"} 0`,
		`dotkontor_domain_changes_total{kind="lock",state="refused"} 0`,
		`dotkontor_registry_drift_total{what="missing"} 0`,
		`dotkontor_queue_age_seconds{queue="order"} `,
		`dotkontor_queue_age_seconds{queue="mail"} `,
		`dotkontor_epp_connections{account="sandbox"} `,
		`dotkontor_epp_connections_max{account="sandbox"} 4`,
		`dotkontor_epp_commands_waiting{account="sandbox"} `,
		`dotkontor_epp_up{account="sandbox"} 1`,
	} {
		if !strings.Contains(text, "\n"+series) {
			t.Errorf("missing: %s", series)
		}
	}
}

func TestLog_StartsWithBuildAndConfiguration(t *testing.T) {
	t.Parallel()
	on := startOwnServe(t, "logged-start")
	text, err := os.ReadFile(on.log)
	if err != nil {
		t.Fatal(err)
	}
	var record map[string]any
	for line := range strings.Lines(string(text)) {
		if err := json.Unmarshal([]byte(line), &record); err == nil && record["msg"] == "starting" {
			break
		}
	}
	for _, field := range []string{"version", "revision", "node", "base_url", "listen", "schema", "extensions"} {
		if record[field] == nil {
			t.Errorf("no %s in %v", field, record)
		}
	}
	accounts, _ := record["epp_accounts"].([]any)
	if len(accounts) != 1 || !strings.HasPrefix(fmt.Sprint(accounts[0]), "sandbox@127.0.0.1:") || record["database"] != "sqlite" {
		t.Errorf("got %v", record)
	}
}

func TestMetrics_NotOnPublicPort(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		wantErrorResponse(t, "/metrics", newCaller(t, on).get("/metrics"), http.StatusNotFound)
	})
}

func TestHealth_RunningProductIsHealthyAndReady(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, path := range []string{"/healthz", "/readyz"} {
			if got := newCaller(t, on).get(path); got.status != http.StatusOK {
				t.Errorf("%s: got %s", path, got)
			}
			if on.metricsURL == "" {
				continue
			}
			if status, _, err := fetch(t.Context(), on.metricsURL+path); err != nil || status != http.StatusOK {
				t.Errorf("%s on the private port: %d, %v", path, status, err)
			}
		}
	})
}

func TestSIGTERM_ExitsWithCode0(t *testing.T) {
	t.Parallel()
	sandbox, err := startSandbox("sandbox-to-stop")
	if err != nil {
		t.Fatal(err)
	}
	serve, err := startServe("serve-to-stop")
	if err != nil {
		t.Fatal(err)
	}
	world, err := start("world-to-stop", nil, "sandbox", "--world-only", "--listen", "127.0.0.1:0",
		"--data", filepath.Join(suite.folder, "world-to-stop"))
	if err != nil {
		t.Fatal(err)
	}
	for _, on := range []*target{sandbox, serve} {
		// An idle connection does not delay shutdown.
		wantResponse(t, on.name, newCaller(t, on).check("google.de"), http.StatusOK, nil)
	}
	for _, p := range []*process{sandbox.process, serve.process, world} {
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	}
}

func TestDrain_AnswersRequestsWhileNotReady(t *testing.T) {
	t.Parallel()
	on := startOwnServe(t, "draining", "DOTKONTOR_SERVER_DRAIN_DELAY=4s")
	client := newCaller(t, on)
	if err := on.process.terminate(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "failing readiness", func() bool {
		return client.get("/readyz").status == http.StatusServiceUnavailable
	})
	if status, _, err := fetch(t.Context(), on.metricsURL+"/readyz"); err != nil || status != http.StatusServiceUnavailable {
		t.Errorf("/readyz on the private port: %d, %v", status, err)
	}
	if got := client.get("/healthz"); got.status != http.StatusOK {
		t.Errorf("/healthz: got %s", got)
	}
	wantResponse(t, "a request while draining", newCaller(t, on).check("google.de"), http.StatusOK, wantFields{"available": "false"})
	if err := on.process.wait(3 * stopTimeout); err != nil {
		t.Error(err)
	}
}

func TestShutdown_FinishesRunningRequest(t *testing.T) {
	t.Parallel()
	on := startOwnServe(t, "finishing")
	client := newCaller(t, on)
	slow := make(chan apiResponse, 1)
	go func() { slow <- client.check("timeout-" + marker + ".de") }()
	testkit.Eventually(t, "request in progress", func() bool {
		return strings.Contains(readMetrics(t, on), "dotkontor_http_requests_in_flight 1\n")
	})
	if err := on.process.terminate(); err != nil {
		t.Fatal(err)
	}
	wantErrorResponse(t, "the slow request", <-slow, http.StatusBadGateway)
	if err := on.process.wait(2 * stopTimeout); err != nil {
		t.Error(err)
	}
}
