package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dotkontor/dotkontor/test/testkit"
)

// logRecord is a line of the log.
type logRecord map[string]any

func (r logRecord) has(key, value string) bool { return r[key] == value }

// records reads the log and fails the test if it contains a canary.
func (n *node) records(canaries ...string) []logRecord {
	n.t.Helper()
	text, err := os.ReadFile(n.log)
	if err != nil {
		n.t.Fatal(err)
	}
	for _, word := range canaries {
		if bytes.Contains(text, []byte(word)) {
			n.t.Errorf("the log contains %q:\n%s", word, text)
		}
	}
	var all []logRecord
	for line := range bytes.Lines(text) {
		var one logRecord
		if json.Unmarshal(line, &one) == nil {
			all = append(all, one)
		}
	}
	return all
}

// countRecords counts the records with this message and state.
func countRecords(all []logRecord, message, state string) (n int) {
	for _, r := range all {
		if r.has("msg", message) && r.has("state", state) {
			n++
		}
	}
	return n
}

// wantRequestCause checks that the record of a request is an error with its cause.
func (n *node) wantRequestCause(all []logRecord, id string, causes ...string) {
	n.t.Helper()
	for _, r := range all {
		if !r.has("msg", "request") || !r.has("id", id) {
			continue
		}
		text, _ := r["cause"].(string)
		named := slices.ContainsFunc(causes, func(cause string) bool { return strings.Contains(text, cause) })
		if !r.has("level", "ERROR") || !strings.HasPrefix(text, "database: ") || !named {
			n.t.Errorf("the record is %v, want an error with a cause of %q", r, causes)
		}
		return
	}
	n.t.Errorf("no record has the id %q", id)
}

// readyz returns the body of /readyz, which has status 200.
func (n *node) readyz() string {
	n.t.Helper()
	answer, err := http.Get(n.base + "/readyz")
	if err != nil {
		n.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		n.t.Errorf("readyz: %d (%v)", answer.StatusCode, err)
	}
	return string(text)
}

// page requests a page and returns the request id shown on it.
func (n *node) page(method, path string, form url.Values, want int, cookies ...*http.Cookie) (id string) {
	n.t.Helper()
	request, err := http.NewRequestWithContext(n.t.Context(), method, n.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		n.t.Fatal(err)
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, cookie := range cookies {
		request.AddCookie(cookie)
	}
	answer, err := (&http.Client{Timeout: waitTimeout}).Do(request)
	if err != nil {
		n.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	id = answer.Header.Get("X-Request-Id")
	if err != nil || answer.StatusCode != want || !strings.Contains(string(text), id) || !strings.Contains(string(text), "<h1>") {
		n.t.Errorf("%s %s: got %d, want %d with the id %s (%v)\n%s", method, path, answer.StatusCode, want, id, err, text)
	}
	return id
}

// doctor returns the readiness line of dotkontor doctor.
func (n *node) doctor() string {
	n.t.Helper()
	out, _ := exec.CommandContext(n.t.Context(), suite.binary, "doctor", "--url", n.base).CombinedOutput() // it exits with 1 for findings
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "readiness") {
			return line
		}
	}
	n.t.Errorf("doctor has no line about readiness:\n%s", out)
	return ""
}

func TestOutage_CutDatabaseIsLoggedOnceAndNamedInFailures(t *testing.T) {
	t.Parallel()
	db := newPostgres(t)
	registry := db.openFixture(t)
	_, secret := registry.newToken(registry.newCustomer("canary"))
	behind, proxy := db.behindProxy(t)
	server := behind.startNode(t)
	server.mustListDomain(secret, "canary.de")

	proxy.setState(cut)
	got := server.listDomains(secret)
	message, _ := got.content["message"].(string)
	_, toolID, _ := strings.Cut(message, "Request ID: ")
	if got.code() != "internal" || toolID == "" || toolID != got.header.Get("X-Request-Id") {
		t.Errorf("a tool: got %v", got.content)
	}
	pageID := server.page(http.MethodPost, "/portal/sign-in", url.Values{"email": {"canary@example.com"}, "password": {"canary"}}, http.StatusInternalServerError)
	// Requests may have used connections from before the cut; a new one shows the outage.
	testkit.Eventually(t, "outage on /readyz", func() bool {
		return strings.HasPrefix(server.readyz(), "ready\ndegraded database unreachable since ")
	})
	if line := server.doctor(); !strings.HasPrefix(line, "FAIL") || !strings.Contains(line, "database unreachable") {
		t.Errorf("doctor prints %s", line)
	}
	for _, command := range [][]string{{"customers", "list"}, {"tokens", "list", "canary@example.com"}} {
		said, err := behind.tryCLI(t, command...)
		if err == nil || !strings.Contains(said, "database: connect at ") || strings.Contains(said, "canary") {
			t.Errorf("%v prints %s", command, said)
		}
	}
	for range 20 { // however many requests fail
		server.listDomains(secret)
	}

	proxy.setState(connected)
	testkit.Eventually(t, "recovery", func() bool { return server.readyz() == "ready\n" })
	server.mustListDomain(secret, "canary.de")
	testkit.Eventually(t, "log records", func() bool { return countRecords(server.records(), "database recovered", "unreachable") == 1 })
	all := server.records("canary", secret, registry.t.Name()+"@")
	if countRecords(all, "database degraded", "unreachable") != 1 || countRecords(all, "database recovered", "unreachable") != 1 {
		t.Errorf("the log has %v", all)
	}
	// Connections from before the cut stay in the pool until they are used.
	server.wantRequestCause(all, toolID, ": connect at 127.0.0.1:", ": connection_closed")
	server.wantRequestCause(all, pageID, ": connect at 127.0.0.1:", ": connection_closed")
	degraded := false
	for _, r := range all { // jobs do not repeat what is already logged
		degraded = degraded || r.has("msg", "database degraded")
		cause, _ := r["cause"].(string)
		if degraded && r.has("msg", "job failed, will retry") && !strings.HasSuffix(cause, ": connection_closed") {
			t.Errorf("a job logs %v", r)
		}
	}
}

func TestOutage_FullDiskIsReportedEverywhere(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting a small disk needs root")
	}
	db := newSQLite(t)
	data := db.options.Data
	if err := syscall.Mount("tmpfs", data, "tmpfs", 0, "size=16m"); err != nil {
		t.Skip("no disk can be mounted here:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(data, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	server := db.startNode(t)
	ballast := filepath.Join(data, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 32<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	testkit.Eventually(t, "degraded state", func() bool { return strings.Contains(server.readyz(), "degraded database disk_full since ") })
	if line := server.doctor(); !strings.HasPrefix(line, "FAIL") || !strings.Contains(line, "database disk_full") {
		t.Errorf("doctor prints %s", line)
	}
	// Writes within the allocated write-ahead log succeed; larger ones fail.
	id := ""
	for i := 0; id == "" && i < 40; i++ {
		id = server.register("canary" + strings.Repeat("x", i) + "@canary.example")
	}
	said := ""
	for i := 0; !strings.Contains(said, "disk_full") && i < 40; i++ {
		said, _ = db.tryCLI(t, "customers", "add", "canary"+strings.Repeat("y", i)+"@canary.example")
	}
	if !strings.Contains(said, "database: ") || !strings.Contains(said, "disk_full (SQLite 13)") || strings.Contains(said, "canary") {
		t.Errorf("the command prints %s", said)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "recovery", func() bool { return server.readyz() == "ready\n" })
	testkit.Eventually(t, "log records", func() bool { return countRecords(server.records(), "database recovered", "disk_full") == 1 })
	all := server.records("canary")
	if countRecords(all, "database degraded", "disk_full") != 1 || countRecords(all, "database recovered", "disk_full") != 1 {
		t.Errorf("the log has %v", all)
	}
	server.wantRequestCause(all, id, "disk_full (SQLite 13)")
}

// register requests an account and returns the request id of a 500.
func (n *node) register(email string) (id string) {
	n.t.Helper()
	answer, err := http.PostForm(n.base+"/portal/register", url.Values{"email": {email}, "password": {"korrekt pferd batterie"}, "terms": {"yes"}})
	if err != nil {
		n.t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		n.t.Fatal(err)
	}
	if answer.StatusCode != http.StatusInternalServerError {
		return ""
	}
	return answer.Header.Get("X-Request-Id")
}
