package registry

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
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
