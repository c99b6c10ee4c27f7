package orders

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
)

var keptField = regexp.MustCompile(`name="kept" value="([^"]+)"`)

func TestTransferList_GoodLinesBecomeOneOrder(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	h := s.signedInBrowser()
	page := s.base + "/umzug"
	got := h.post(page, "lines", strings.Join([]string{
		"Domain;Auth-Code",
		"transfer-eins.com auth-transfer-eins",
		"transfer-zwei.com,auth-transfer-zwei",
		"transfer-drei.de;auth-transfer-drei",
		"transfer-vier.com falscher-code",
		"transfer-eins.com auth-transfer-eins",
		"kaffee.gibtesnicht xyz12345",
		"diesen-namen-gibt-es-nicht.com abc12345",
		"transfer-fuenf.com",
		"geheim-x1y2z3 x",
		"getauscht-q7w8e9 transfer-sechs.com",
	}, "\n"))
	for _, want := range []string{
		"In Ordnung: 3. Mit Problem: 7.", "Der Auth-Code ist falsch.", "steht mehrmals in der Liste", "Diese Endung führen wir nicht.",
		"nicht registriert", "Der Auth-Code fehlt.", "Das ist keine Domain.", "Domain und Auth-Code sind vertauscht.", "Nur mit den 3 geprüften zur Kasse",
	} {
		if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.text, want) {
			t.Errorf("%d, the page has no %q", got.status, want)
		}
	}
	secrets := []string{"auth-transfer-eins", "auth-transfer-zwei", "auth-transfer-drei", "falscher-code", "xyz12345", "x1y2z3", "q7w8e9"}
	for _, secret := range secrets {
		if strings.Contains(got.text, secret) {
			t.Errorf("the page contains the code %s", secret)
		}
	}
	if orders := h.get(s.base + "/portal/orders"); strings.Contains(orders.text, "transfer-eins.com") {
		t.Error("something was ordered")
	}
	kept := keptField.FindStringSubmatch(got.text)
	if kept == nil {
		t.Fatalf("the good lines are lost:\n%s", got.text)
	}
	if other := h.post(page, "kept", kept[1]+"x", "only", "1"); other.status != http.StatusUnprocessableEntity || !strings.Contains(other.text, "gelten nicht mehr") {
		t.Errorf("a changed list: %d", other.status)
	}

	// One line is corrected; the lines from before need no code again.
	ordered := h.post(page, "kept", kept[1], "lines", "transfer-vier.com auth-transfer-vier")
	if ordered.status != http.StatusSeeOther || !strings.HasPrefix(ordered.next, s.base+"/checkout/") {
		t.Fatalf("ordering: %d %s\n%s", ordered.status, ordered.next, ordered.text)
	}
	review := h.get(ordered.next)
	if !strings.Contains(review.text, "4 Auth-Codes sind hinterlegt.") || strings.Contains(review.text, "auth-transfer-eins") {
		t.Errorf("the order's page: %s", review.text)
	}
	h.pay(ordered.next)
	var timeline pageResponse
	testkit.Eventually(t, "timeline of three pending transfers and a completed one", func() bool {
		timeline = h.get(s.base + "/portal/transfers")
		return strings.Count(timeline.text, "Bei der Registry beantragt") == 3 && strings.Contains(timeline.text, "umgezogen")
	})
	for _, want := range []string{"Laufende Umzüge", "Abgeschlossen spätestens etwa", "Bezahlt oder bestätigt", "Umgezogen"} {
		if !strings.Contains(timeline.text, want) {
			t.Errorf("the timeline has no %q:\n%s", want, timeline.text)
		}
	}
	if err := s.world.Advance(t.Context(), 6*24*time.Hour); err != nil { // the losing registrar may object for five days
		t.Fatal(err)
	}
	testkit.Eventually(t, "four completed transfers", func() bool {
		timeline = h.get(s.base + "/portal/transfers")
		return strings.Count(timeline.text, ">Umgezogen ") == 4 && strings.Contains(timeline.text, "Zurzeit läuft kein Umzug.")
	})
	// DENIC has no terms, so that of a transferred .de begins with the transfer.
	if list := h.get(s.base + "/portal/domains?q=transfer-drei"); !strings.Contains(list.text, time.Now().UTC().AddDate(1, 0, 0).Format("02.01.2006")) {
		t.Errorf("the term of the .de is another one:\n%s", list.text)
	}
	log, err := os.ReadFile(s.product.Log.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range secrets {
		if strings.Contains(string(log), secret) {
			t.Errorf("the log contains the code %s", secret)
		}
	}
	s.reconcile()
}

func TestTransferList_CSVFileIsOrdered(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	h := s.signedInBrowser()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	file, err := form.CreateFormFile("file", "domains.csv")
	if err != nil {
		t.Fatal(err)
	}
	csv := "\ufeffDomain,Auth-Code,Note\r\n\"transfer-csv-eins.com\",\"auth-transfer-csv-eins\",x\r\ntransfer-csv-zwei.org,auth-transfer-csv-zwei,\r\n"
	if _, err := file.Write([]byte(csv)); err != nil {
		t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/transfer", &body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", form.FormDataContentType())
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	response, err := h.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	next := response.Header.Get("Location")
	if response.StatusCode != http.StatusSeeOther || !strings.HasPrefix(next, "/checkout/") {
		t.Fatalf("%d %s", response.StatusCode, next)
	}
	if page := h.get(s.base + next); !strings.Contains(page.text, "transfer-csv-zwei.org") || !strings.Contains(page.text, "2 Auth-Codes sind hinterlegt.") {
		t.Errorf("%s", page.text)
	}
}

func TestTransferPage_PublicAndSignedOut(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	h := s.newBrowser()
	for path, words := range map[string][]string{
		"/umzug":    {"Was es kostet", "1 Jahr ab dem Umzug", "1 Jahr kommt dazu", "bis zu 5 Tage", "Bitte melden Sie sich zuerst an"},
		"/transfer": {"What it costs", "1 more year", "up to 5 days", "Please sign in first"},
	} {
		got := h.get(s.base + path)
		for _, want := range words {
			if got.status != http.StatusOK || !strings.Contains(got.text, want) {
				t.Errorf("%s: %d, no %q", path, got.status, want)
			}
		}
	}
	if got := h.post(s.base+"/umzug", "lines", "transfer-eins.com auth-transfer-eins"); got.status != http.StatusSeeOther || !strings.Contains(got.next, "/portal/sign-in") {
		t.Errorf("signed out: %d %s", got.status, got.next)
	}
}
