// Package monitoring checks the files in deploy/monitoring: that Prometheus accepts and tests
// the rules, that every metric in rules, dashboards and documents exists, and that every
// metric and alert is documented.
package monitoring

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v4"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/config"
)

var (
	folder    = filepath.Join("..", "..", "deploy", "monitoring")
	testFiles = []string{"alerts_test.yml", "alerts_slow_test.yml"}
)

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// registeredMetrics returns the names of a service with every part that has metrics. They are
// read from the descriptions, because a vector without a series is not in a scrape.
func registeredMetrics(t *testing.T) map[string]bool {
	t.Helper()
	cfg := config.Default()
	cfg.Data, cfg.BaseURL = t.TempDir(), "http://127.0.0.1:0"
	cfg.Server.Listen, cfg.Server.MetricsListen = "127.0.0.1:0", "off"
	cfg.Stripe.SecretKey = "sk_test_unused"
	cfg.Shared.URL = "redis://127.0.0.1:1" // nobody listens there, and the metrics exist anyway
	service, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = service.Abort(nil) })
	all, ok := service.Metrics().(prometheus.Collector)
	if !ok {
		t.Fatal("the registry does not describe its metrics")
	}
	descs := make(chan *prometheus.Desc)
	go func() {
		all.Describe(descs)
		close(descs)
	}()
	name := regexp.MustCompile(`fqName: "(\w+)"`)
	names := make(map[string]bool)
	for desc := range descs {
		names[name.FindStringSubmatch(desc.String())[1]] = true
	}
	if len(names) < 40 {
		t.Fatalf("only %d metrics are registered", len(names))
	}
	return names
}

var metricName = regexp.MustCompile(`\bdotkontor_[a-z0-9_]+`)

// isRegistered also accepts the series of a histogram.
func isRegistered(names map[string]bool, used string) bool {
	if names[used] {
		return true
	}
	for _, suffix := range []string{"_bucket", "_count", "_sum"} {
		if base, found := strings.CutSuffix(used, suffix); found && names[base] {
			return true
		}
	}
	return false
}

func TestMetrics_UsedNamesExistAndAllAreDocumented(t *testing.T) {
	t.Parallel()
	names := registeredMetrics(t)
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	docs := filepath.Join("..", "..", "docs")
	files = append(files, filepath.Join(docs, "operating.md"), filepath.Join(docs, "slo.md"))
	used := 0
	for _, file := range files {
		for _, metric := range metricName.FindAllString(read(t, file), -1) {
			used++
			if !isRegistered(names, metric) {
				t.Errorf("%s uses %s, which does not exist", filepath.Base(file), metric)
			}
		}
	}
	if used < 200 {
		t.Errorf("only %d uses were found", used)
	}
	operating := read(t, docs, "operating.md")
	for metric := range names {
		if strings.HasPrefix(metric, "dotkontor_") && !strings.Contains(operating, "`"+metric) {
			t.Errorf("docs/operating.md does not explain %s", metric)
		}
	}
}

type ruleFile struct {
	Groups []struct {
		Rules []struct {
			Record, Alert, Expr string
			Labels, Annotations map[string]string
		}
	}
}

type ruleTests struct {
	Tests []struct {
		AlertRuleTest []struct {
			AlertName string           `yaml:"alertname"`
			ExpAlerts []map[string]any `yaml:"exp_alerts"`
		} `yaml:"alert_rule_test"`
	}
}

func TestAlerts_EachIsTestedBothWaysAndHasRunbook(t *testing.T) {
	t.Parallel()
	var rules ruleFile
	if err := yaml.Unmarshal([]byte(read(t, folder, "alerts.yml")), &rules); err != nil {
		t.Fatal(err)
	}
	fires, silent := make(map[string]bool), make(map[string]bool)
	for _, file := range testFiles {
		var tests ruleTests
		if err := yaml.Unmarshal([]byte(read(t, folder, file)), &tests); err != nil {
			t.Fatal(err)
		}
		for _, test := range tests.Tests {
			for _, one := range test.AlertRuleTest {
				fires[one.AlertName] = fires[one.AlertName] || len(one.ExpAlerts) > 0
				silent[one.AlertName] = silent[one.AlertName] || len(one.ExpAlerts) == 0
			}
		}
	}
	_, runbooks, found := strings.Cut(read(t, "..", "..", "docs", "operating.md"), "\n### Alerts\n")
	if !found {
		t.Fatal("docs/operating.md has no section Alerts")
	}
	alerts := 0
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "" {
				continue
			}
			alerts++
			if !fires[rule.Alert] || !silent[rule.Alert] {
				t.Errorf("%s: a test in which it fires: %t, in which it is silent: %t", rule.Alert, fires[rule.Alert], silent[rule.Alert])
			}
			if !strings.Contains(runbooks, "\n| `"+rule.Alert+"` |") {
				t.Errorf("%s has no row in docs/operating.md, section Alerts", rule.Alert)
			}
			if !slices.Contains([]string{"critical", "warning"}, rule.Labels["severity"]) || rule.Annotations["summary"] == "" || rule.Annotations["runbook"] == "" {
				t.Errorf("%s: labels %v, annotations %v", rule.Alert, rule.Labels, rule.Annotations)
			}
		}
	}
	if alerts < 20 || alerts != strings.Count(runbooks, "\n| `Dotkontor") {
		t.Errorf("%d alerts, %d rows in docs/operating.md", alerts, strings.Count(runbooks, "\n| `Dotkontor"))
	}
}

// promtool runs Prometheus's tool in the folder of the rules.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is missing (Debian: prometheus): the rules are not checked by Prometheus itself")
	}
	command := exec.CommandContext(t.Context(), path, args...)
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestRules_PassTheirTests(t *testing.T) {
	t.Parallel()
	promtool(t, "check", "rules", "alerts.yml")
	promtool(t, "check", "config", "prometheus.yml")
	promtool(t, append([]string{"test", "rules"}, testFiles...)...)
}

type dashboard struct {
	Title, UID string
	Panels     []struct {
		ID      int
		Title   string
		Targets []struct{ Expr string }
	}
}

func TestDashboards_HaveValidQueries(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%v, %v", files, err)
	}
	recorded := read(t, folder, "alerts.yml")
	var rules strings.Builder
	rules.WriteString("groups:\n- name: dashboards\n  rules:\n")
	queries := 0
	for _, file := range files {
		var board dashboard
		if err := json.Unmarshal([]byte(read(t, file)), &board); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if board.UID != strings.TrimSuffix(filepath.Base(file), ".json") || board.Title == "" {
			t.Errorf("%s: UID %q, title %q", file, board.UID, board.Title)
		}
		seen := make(map[int]bool)
		for _, panel := range board.Panels {
			if seen[panel.ID] || len(panel.Targets) == 0 {
				t.Errorf("%s: panel %q has the ID %d and %d queries", file, panel.Title, panel.ID, len(panel.Targets))
			}
			seen[panel.ID] = true
			for _, target := range panel.Targets {
				queries++
				expr := strings.ReplaceAll(target.Expr, "$__rate_interval", "5m")
				fmt.Fprintf(&rules, "  - record: query%d\n    expr: %q\n", queries, expr)
				for _, name := range regexp.MustCompile(`dotkontor:[a-z0-9_:]+`).FindAllString(expr, -1) {
					if !strings.Contains(recorded, "- record: "+name+"\n") {
						t.Errorf("%s: no rule records %s", file, name)
					}
				}
			}
		}
	}
	path := filepath.Join(t.TempDir(), "queries.yml")
	if err := os.WriteFile(path, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", path)
}
