// Package rdap tests the registration data service of a running product with a third party's
// client, and its responses for personal data.
package rdap

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/openrdap/rdap"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/publicrecord"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/store"
	webrdap "github.com/dotkontor/dotkontor/internal/web/rdap"
	"github.com/dotkontor/dotkontor/test/testkit"
	"github.com/dotkontor/dotkontor/test/testkit/dbtest"
)

var binary string

func TestMain(m *testing.M) { os.Exit(testkit.Main(m, &binary)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// canary marks personal data.
const canary = "kanarienvogel"

// addHolder adds an account with a canary in every column but the public ones.
func addHolder(t *testing.T, db *store.DB, id string) {
	t.Helper()
	must(t, db.UpdateCustomers(t.Context(), func(tx account.Tx) error {
		if _, err := tx.InsertAccount(t.Context(), account.Account{
			Customer: account.Customer{ID: id, Email: canary + "-email@example.org", Language: "de", CreatedAt: time.Now(), ConfirmedAt: time.Now()},
			EmailKey: canary + "-email@example.org", UserHandle: canary + "-userhandle",
		}); err != nil {
			return err
		}
		return tx.PutRegistrant(t.Context(), id, account.Registrant{
			Kind: account.Company, Name: canary + "-name", Organisation: canary + "-organisation", Street: canary + "-street", PostalCode: canary + "-postalcode",
			City: canary + "-city", State: "Bayern", Country: "DE", Phone: canary + "-phone", VATID: canary + "-vatid", UpdatedAt: time.Now(),
		})
	}))
}

type unlimited struct{}

func (unlimited) Allow(ratelimit.Key) ratelimit.Decision { return ratelimit.Decision{Allowed: true} }

func TestResponses_ContainNoPersonalData(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), dbtest.SQLite(t))
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	const customer = "cus_" + canary
	addHolder(t, db, customer)
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: canary + "-operator"}
	domains := portfolio.New(db, time.Now)
	for _, status := range []registrar.DomainStatus{registrar.DomainActive, registrar.DomainExpired, registrar.DomainRedemption} {
		added, err := domains.Add(t.Context(), operator, portfolio.AddParams{Customer: customer, Name: registrar.NewName("public-"+string(status), ".com"), Status: status, PaidUntil: time.Now()})
		must(t, err)
		note := canary + "-note"
		must(t, db.SetLabels(t.Context(), customer, added.ID, canary+"-folder", &note, 10, registrar.AuditEvent{Actor: operator, Action: "test", Customer: customer, At: time.Now()}))
		must(t, db.PutRegistryRecord(t.Context(), added.ID, domainchange.Record{
			Statuses: []string{"clientTransferProhibited", canary + "-status"}, Nameservers: []domainchange.Nameserver{{Name: "ns1.example.net"}},
			Created: time.Now(), Expires: time.Now(), Handle: canary + "-contact", ReadAt: time.Now(),
		}))
		lock(t, db, added)
	}
	seal, err := registrar.NewSeal(registrar.SealKey{1})
	must(t, err)
	records, err := publicrecord.New(db, seal)
	must(t, err)
	handler, err := webrdap.New(webrdap.Config{
		BaseURL: "https://domains.example", Records: records, Budget: unlimited{}, Terms: "/terms", Contact: "/contact",
		Address: func(*http.Request) netip.Addr { return netip.Addr{} },
	})
	must(t, err)
	mux := http.NewServeMux()
	for _, route := range handler.Routes() {
		mux.HandleFunc(route.Method+" "+route.Path, route.Handler)
	}
	fetch := func(path string) string {
		recorder := httptest.NewRecorder()
		mux.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		text := recorder.Body.String()
		if recorder.Code != http.StatusOK || !strings.Contains(text, `"cc":"DE"`) || !strings.Contains(text, "Bayern") {
			t.Errorf("%s: %d %s", path, recorder.Code, text)
		}
		if at := strings.Index(strings.ToLower(text), canary); at >= 0 {
			t.Errorf("%s publishes %s", path, text[at:min(len(text), at+40)])
		}
		return text
	}
	for _, name := range []string{"public-active.com", "public-expired.com", "public-redemption.com"} {
		record, err := records.Domain(t.Context(), name)
		must(t, err)
		fetch("/rdap/domain/" + name)
		fetch("/rdap/entity/" + record.Handle)
	}
}

// lock locks a domain as for a dispute.
func lock(t *testing.T, db *store.DB, domain portfolio.Domain) {
	t.Helper()
	must(t, db.AddDomainLock(t.Context(), admin.Lock{
		ID: "lck_" + domain.ID, Domain: domain.ID, Name: domain.Name, Customer: domain.Customer, Reason: canary + "-reason", Reference: canary + "-reference", SetAt: time.Now(),
	}, registrar.AuditEvent{Action: admin.LockSet, Customer: domain.Customer, At: time.Now()}, registrar.Mail{Kind: registrar.MailDomainLock, Customer: domain.Customer}, time.Now()))
}

// run runs the OpenRDAP command line client.
func run(server string, args ...string) (code int, out, errOut string) {
	var stdout, stderr bytes.Buffer
	code = rdap.RunCLI(append([]string{"--server", server, "--timeout", "20"}, args...), &stdout, &stderr, rdap.CLIOptions{Sandbox: true})
	return code, stdout.String(), stderr.String()
}

func TestOpenRDAP_ReadsRunningService(t *testing.T) {
	t.Parallel()
	s := testkit.NewEnv(t, binary, "DOTKONTOR_RDAP_IANA_ID=1234")
	sync := exec.CommandContext(t.Context(), binary, "registry", "sync", "--config", s.Config)
	sync.Env = testkit.Environment()
	if out, err := sync.CombinedOutput(); err != nil {
		t.Logf("sync: %v\n%s", err, out) // it reports that some demo domains differ
	}
	const name = "elbblick-roesterei.com" // the demo customer's
	code, out, errOut := run(s.Base+"/rdap", "--json", name)
	var object struct {
		ObjectClassName, LDHName string
		Status                   []string
		Nameservers              []struct{ LDHName string }
		Events                   []struct{ EventAction string }
		Entities                 []struct {
			Handle string
			Roles  []string
			Links  []struct{ Rel, Href string }
		}
	}
	if err := json.Unmarshal([]byte(out), &object); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, out, errOut)
	}
	if object.ObjectClassName != "domain" || object.LDHName != name || len(object.Status) == 0 || len(object.Events) < 4 || len(object.Nameservers) < 2 || len(object.Entities) != 2 {
		t.Errorf("the client read %+v", object)
	}
	// Its text output means that it understood every field.
	if code, out, errOut := run(s.Base+"/rdap", "--text", name); code != 0 || !strings.Contains(out, "IANA Registrar ID") || !strings.Contains(out, "Sandkasten Domainkontor GmbH") {
		t.Errorf("exit code %d\n%s%s", code, out, errOut)
	}
	for _, query := range [][]string{{"--type", "entity", "1234"}, {"--type", "help", "help"}} {
		if code, out, errOut := run(s.Base+"/rdap", query...); code != 0 {
			t.Errorf("%q: exit code %d\n%s%s", query, code, out, errOut)
		}
	}
	for _, other := range []string{"google.com", "kaffeekurse-hamburg.com", "kaffeebohne-nord.de", "roestmeister-elbe.de", "niemand-hat-das.com"} { // taken elsewhere, pending, transferred out, in transit, free
		if code, out, errOut := run(s.Base+"/rdap", other); code == 0 || !strings.Contains(errOut, "404") && !strings.Contains(strings.ToLower(errOut), "not exist") && !strings.Contains(strings.ToLower(errOut), "not found") {
			t.Errorf("%s: exit code %d\n%s%s", other, code, out, errOut)
		}
	}
}

func TestRunningService_LimitsLookupsAndLogsNoName(t *testing.T) {
	t.Parallel()
	s := testkit.NewEnv(t, binary, "DOTKONTOR_LIMITS_RDAP_PER_MINUTE=5")
	get := func(path, from string) (status int, wait string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Base+path, http.NoBody)
		must(t, err)
		request.Header.Set("X-Forwarded-For", from)
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		must(t, response.Body.Close())
		return response.StatusCode, response.Header.Get("Retry-After")
	}
	const one, other = "192.0.2.1", "192.0.2.2"
	for i, want := range []int{200, 404, 404, 400, 404, 429, 429} { // whatever their outcome, lookups count
		name := []string{"elbblick-roesterei.com", "geheimwort.com", "geheimwort.de", "geheim%20wort.de", "geheimwort.invalid", "elbblick-roesterei.com", "geheimwort.com"}[i]
		if status, wait := get("/rdap/domain/"+name, one); status != want || (wait != "") != (want == 429) {
			t.Errorf("lookup %d: %d, Retry-After %q, want %d", i+1, status, wait, want)
		}
	}
	if status, _ := get("/rdap/domain/elbblick-roesterei.com", other); status != http.StatusOK {
		t.Errorf("another address: %d", status)
	}
	if status, _ := get("/rdap/help", one); status != http.StatusOK {
		t.Errorf("help over the limit: %d", status)
	}
	var log []byte
	testkit.Eventually(t, "record of the last request", func() bool {
		var err error
		log, err = os.ReadFile(s.Log.Name())
		must(t, err)
		return strings.Contains(string(log), `"route":"/rdap/help"`)
	})
	if !strings.Contains(string(log), `"route":"/rdap/domain/{name}"`) {
		t.Error("the lookups are not logged")
	}
	for _, word := range []string{"geheim", "elbblick-roesterei"} {
		if strings.Contains(string(log), word) {
			t.Errorf("the log contains %q", word)
		}
	}
}
