package registry

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

func TestControl_RequiresSecretToAdvanceClock(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	r := startWorld(t, Options{Now: frozenClock, Data: folder})
	control, err := ReadControl(folder)
	if err != nil || control != r.Control() {
		t.Fatalf("the control file says %v, %v", control, err)
	}
	bearer := map[string]string{"Authorization": "Bearer " + control.Secret}
	for _, test := range []struct {
		method, path string
		header       map[string]string
		status       int
		says         string
	}{
		{"GET", "/clock", nil, http.StatusUnauthorized, ""},
		{"POST", "/clock/advance?by=1d", map[string]string{"Authorization": "Bearer "}, http.StatusUnauthorized, ""},
		{"GET", "/clock", bearer, http.StatusOK, "2027-03-01T12:00:00Z"},
		{"POST", "/clock/advance?by=-1h", bearer, http.StatusBadRequest, ""},
		{"POST", "/clock/advance?by=many", bearer, http.StatusBadRequest, ""},
		{"POST", "/clock/advance", bearer, http.StatusBadRequest, ""},
		{"GET", "/clock/advance?by=1d", bearer, http.StatusMethodNotAllowed, ""},
		{"POST", "/clock/advance?by=2w1d12h", bearer, http.StatusOK, "2027-03-17T00:00:00Z"},
		{"GET", "/objects?of=dotkontor", bearer, http.StatusOK, `"domains":[]`},
	} {
		answer, err := doHTTP(t, answerTimeout, test.method, control.Address+test.path, test.header)
		if err != nil || answer.status != test.status || !strings.Contains(answer.body, test.says) {
			t.Errorf("%s %s: %d %s %v", test.method, test.path, answer.status, answer.body, err)
		}
	}
	if got := r.Now(); !got.Equal(epoch.Add(15*24*time.Hour + 12*time.Hour)) {
		t.Errorf("the sandbox time is %v", got)
	}
	if _, err := Start(Options{Zones: someZones, Data: folder}); err == nil || !strings.Contains(err.Error(), "another sandbox") {
		t.Errorf("a second sandbox on the same folder: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadControl(folder); err == nil {
		t.Error("the control file outlives the sandbox")
	}
	again := startWorld(t, Options{Now: frozenClock, Data: folder})
	if got := again.Now(); !got.Equal(epoch.Add(15*24*time.Hour + 12*time.Hour)) {
		t.Errorf("after a restart the sandbox time is %v", got)
	}
}

func TestParseDuration_DaysAndWeeks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"1y": "8760h0m0s", "30d": "720h0m0s", "2w": "336h0m0s", "1w1d1h": "193h0m0s", "90m": "1h30m0s", "0d": "0s"} {
		if got, err := ParseDuration(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s is %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "-1d", "1.5d", "30", "1d-1h", "99999999d", "x"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestAdvance_StepsAtMostHalfADayIfAServiceFollows(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{Now: frozenClock})
	var seen []time.Duration
	r.FollowClock(func() { seen = append(seen, r.Now().Sub(epoch)) })
	if err := r.Advance(30 * time.Hour); err != nil {
		t.Fatal(err)
	}
	if want := []time.Duration{12 * time.Hour, 24 * time.Hour, 30 * time.Hour}; !slices.Equal(seen, want) {
		t.Errorf("the service settled at %v, want %v", seen, want)
	}
	if err := r.Advance(-time.Hour); err == nil || len(seen) != 3 {
		t.Errorf("backwards: %v, settled %d times", err, len(seen))
	}
}

func TestControl_AnotherRegistrarRequestsAndCancelsTransfer(t *testing.T) {
	t.Parallel()
	r := startEPPWorld(t, Options{Now: frozenClock})
	ours := logIn(t, r, "dotkontor")
	ours.mustReturn("1000", domainCreate("wandern.com"))
	post := func(query string, status int, says string) {
		t.Helper()
		answer, err := doHTTP(t, answerTimeout, "POST", r.Control().Address+"/transfers?"+query, map[string]string{"Authorization": "Bearer " + r.Control().Secret})
		if err != nil || answer.status != status || !strings.Contains(answer.body, says) {
			t.Errorf("%s: %d %s %v", query, answer.status, answer.body, err)
		}
	}
	post("op=request&name=", http.StatusConflict, "missing or malformed")
	post("op=steal&name=wandern.com", http.StatusConflict, "must be request, cancel or reject")
	post("op=request&name=niemand.com", http.StatusConflict, "no such domain")
	post("op=cancel&name=wandern.com", http.StatusConflict, "not your transfer")
	post("op=request&name=wandern.com", http.StatusOK, `"status":"pending"`)
	if message := ours.poll(); !strings.Contains(message, "<domain:reID>andere<") || !strings.Contains(message, "<domain:acDate>2027-03-06T12:00:00") {
		t.Errorf("the message: %s", message)
	}
	post("op=cancel&name=wandern.com", http.StatusOK, `"status":"clientCancelled"`)
	if message := ours.poll(); !strings.Contains(message, "clientCancelled") {
		t.Errorf("the message: %s", message)
	}
	post("op=request&name=wandern.com", http.StatusOK, `"status":"pending"`)
	advance(t, r, "5d")
	if answer := ours.mustReturn("1000", domainTransfer("query", "wandern.com", "")); !answer.has("serverApproved") {
		t.Errorf("after five days: %s", answer.text)
	}
}

func TestTransfer_AddsYearOnlyWhereRegistriesDo(t *testing.T) {
	t.Parallel()
	for tld, adds := range map[string]bool{".com": true, ".uk": false, ".nl": false, ".at": false, ".ch": false, ".se": false} {
		policy := ledger.PolicyOf(tld)
		if policy.TransferKeepsTerm == adds {
			t.Errorf("%s adds a year: %t", tld, !policy.TransferKeepsTerm)
		}
	}
	now := epoch
	r := startWorld(t, Options{Now: frozenClock, Zones: []Zone{{TLD: ".ch"}, {TLD: ".com"}}, Seeds: []SeedDomain{
		{Name: "bleibt.ch", Registrar: ProductName, Created: now.AddDate(-1, 0, 0), Expires: now.AddDate(0, 6, 0)},
		{Name: "waechst.com", Registrar: ProductName, Created: now.AddDate(-1, 0, 0), Expires: now.AddDate(0, 6, 0)},
	}})
	ours := logIn(t, r, "dotkontor")
	for name, want := range map[string]time.Time{"bleibt.ch": now.AddDate(0, 6, 0), "waechst.com": now.AddDate(1, 6, 0)} {
		ours.mustReturn("1000", objectCommand("domain", "update", `<:name>`+name+`</:name><:chg><:authInfo><:pw>secret-1</:pw></:authInfo></:chg>`))
		transfer, err := r.TransferAway(name, "request")
		if err != nil || !transfer.Expires.Equal(want) {
			t.Errorf("%s expires %v after the transfer, want %s, %v", name, transfer, want, err)
		}
	}
}
