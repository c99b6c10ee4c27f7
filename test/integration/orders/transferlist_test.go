package orders

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
)

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
		"https://www.transfer-zwei.com/ auth-transfer-anders",
		"kaffee.gibtesnicht xyz12345",
		"diesen-namen-gibt-es-nicht.com abc12345",
		"transfer-fuenf.com",
		"geheim-x1y2z3 x",
		"getauscht-q7w8e9 transfer-sechs.com",
	}, "\n"))
	for _, want := range []string{
		"Domains auf Ihrer Umzugsliste: 3 bereit, 3 zu korrigieren, 2 nicht möglich.", "Nicht übernommene Zeilen: 2.", "Der Auth-Code ist falsch.", "mit verschiedenen Auth-Codes in der Liste", "Diese Endung führen wir nicht.",
		"nicht registriert", "Der Auth-Code fehlt.", "Das ist keine Domain.", "Mit diesen 3 zur Kasse",
		`1 Jahr kommt dazu</td><td class="amount" data-label="Netto">12,90`, `1 Jahr ab dem Umzug</td><td class="amount" data-label="Netto">5,90`,
		">15,35\u00a0€<", ">7,02\u00a0€<", ">37,72\u00a0€<", // of each good line, and their sum
	} {
		if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.text, want) {
			t.Errorf("%d, the page has no %q", got.status, want)
		}
	}
	if bad, unlisted, separate := strings.Cut(got.text, "Nicht übernommene Zeilen (2)"); !separate || !strings.Contains(bad, "Noch nicht bereit (5)") ||
		strings.Contains(bad, "mit verschiedenen Auth-Codes in der Liste") || strings.Contains(bad, "Das ist keine Domain.") || !strings.Contains(unlisted, "Bereit (3)") {
		t.Errorf("lines that are not on the list are among those to correct:\n%s", got.text)
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
	if list := h.get(s.base + "/portal/transfers"); !strings.Contains(list.text, "3 bereit, 3 zu korrigieren, 2 nicht möglich.") || !strings.Contains(list.text, "Für Sie zu tun (6 Domains)") || !strings.Contains(list.text, "Umzug nicht möglich (2)") || !strings.Contains(list.text, "Geprüft und in Ordnung, aber noch nicht bestellt.") {
		t.Errorf("the list is lost:\n%s", list.text)
	}
	if signedOut := s.newBrowser(); strings.Contains(signedOut.get(page).text, "transfer-eins.com") {
		t.Error("everyone sees the list")
	}
	if removed := h.post(page, "remove", "diesen-namen-gibt-es-nicht.com"); removed.status != http.StatusSeeOther || strings.Contains(h.get(page).text, "diesen-namen") {
		t.Errorf("removing a line: %d", removed.status)
	}

	// The good ones are ordered; the others stay, and one is corrected afterwards.
	first := h.post(page, "only", "1")
	if first.status != http.StatusSeeOther || !strings.Contains(h.get(first.next).text, "3 Auth-Codes sind hinterlegt.") {
		t.Fatalf("ordering the good ones: %d %s\n%s", first.status, first.next, first.text)
	}
	rest := h.get(page)
	if strings.Contains(rest.text, "<strong>transfer-eins.com") || !strings.Contains(rest.text, "<strong>transfer-vier.com") || !strings.Contains(rest.text, "Der Auth-Code ist falsch.") {
		t.Errorf("after ordering, the list is:\n%s", rest.text)
	}
	if list := h.get(s.base + "/portal/transfers"); !strings.Contains(list.text, "transfer-eins.com und 2 weitere") || !strings.Contains(list.text, "Bestellte Domains: 3 unbezahlt") {
		t.Errorf("the unpaid order is not named:\n%s", list.text)
	}
	for _, name := range []string{"transfer-fuenf.com", "transfer-sechs.com", "kaffee.gibtesnicht"} {
		h.post(page, "remove", name)
	}
	ordered := h.post(page, "code.transfer-vier.com", "auth-transfer-vier")
	if ordered.status != http.StatusSeeOther || !strings.HasPrefix(ordered.next, s.base+"/checkout/") {
		t.Fatalf("ordering: %d %s\n%s", ordered.status, ordered.next, ordered.text)
	}
	h.pay(first.next)
	review := h.get(ordered.next)
	if !strings.Contains(review.text, "Der Auth-Code ist hinterlegt.") || strings.Contains(review.text, "auth-transfer-vier") {
		t.Errorf("the order's page: %s", review.text)
	}
	h.pay(ordered.next)
	var timeline pageResponse
	testkit.Eventually(t, "timeline of three pending transfers and a completed one", func() bool {
		timeline = h.get(s.base + "/portal/transfers")
		return strings.Count(timeline.text, "Bei der Registry beantragt") == 3 && strings.Contains(timeline.text, "umgezogen")
	})
	for _, want := range []string{"In Arbeit (3)", "Umgezogen (1)", "Voraussichtlich abgeschlossen bis", "Bezahlt"} {
		if !strings.Contains(timeline.text, want) {
			t.Errorf("the timeline has no %q:\n%s", want, timeline.text)
		}
	}
	if err := s.world.Advance(t.Context(), 6*24*time.Hour); err != nil { // the losing registrar may object for five days
		t.Fatal(err)
	}
	testkit.Eventually(t, "four completed transfers", func() bool {
		timeline = h.get(s.base + "/portal/transfers")
		return strings.Count(timeline.text, "<br>Umgezogen ") == 4 && strings.Contains(timeline.text, "Zurzeit läuft kein Umzug.")
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
	csv := "\ufeffDomain,Expiry,Auth code,Note\r\n\"transfer-csv-eins.com\",2027-01-31,\"auth-transfer-csv-eins\",x\r\ntransfer-csv-zwei.org,,auth-transfer-csv-zwei,\r\n"
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

// The order goes on for days after one of its transfers has failed.
func TestTransfer_RejectedOneIsExplainedEverywhereAndMailedAtOnce(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	h := s.signedInBrowser()
	ordered := h.post(s.base+"/umzug", "lines", "transfer-bleibt.com auth-transfer-bleibt\ntransfer-kommt.com auth-transfer-kommt")
	h.pay(ordered.next)
	testkit.Eventually(t, "pending transfers", func() bool {
		return strings.Count(h.get(s.base+"/portal/transfers").text, "Bei der Registry beantragt") == 2
	})
	if err := s.world.TransferAway(t.Context(), "transfer-bleibt.com", "reject"); err != nil {
		t.Fatal(err)
	}
	const why, denied = "bisheriger Anbieter hat dem Umzug widersprochen. Fragen Sie dort nach dem Grund", "Die Registry hat"
	page := ""
	testkit.Eventually(t, "refunded transfer", func() bool {
		page = h.get(s.base + "/portal/transfers").text
		return strings.Contains(page, "erstattet") && strings.Contains(page, "In Arbeit (1)")
	})
	if !strings.Contains(page, why) || strings.Contains(page, denied) {
		t.Errorf("transfers:\n%s", page)
	}
	_, id, _ := strings.Cut(page, `href="/portal/orders/ord_`)
	id, _, _ = strings.Cut(id, `"`)
	id = "ord_" + id
	if page = h.get(s.base + "/portal/orders/" + id).text; !strings.Contains(page, why) || strings.Contains(page, denied) {
		t.Errorf("order:\n%s", page)
	}
	if got := s.showOrderCLI(id); !strings.Contains(got, "transfer_rejected") {
		t.Errorf("operator: %s", got)
	}
	s.waitForMailText(s.Demo.Email, "hat etwas nicht geklappt", "transfer-bleibt.com Umzug nicht möglich: Ihr "+why, "Wir erstatten 15,35 EUR.")
	if got := h.get(s.base + "/portal/transfers").text; !strings.Contains(got, "In Arbeit (1)") {
		t.Errorf("the order has ended before the mail:\n%s", got)
	}
	if err := s.world.Advance(t.Context(), 6*24*time.Hour); err != nil {
		t.Fatal(err)
	}
	s.waitForMailText(s.Demo.Email, "ist zum Teil ausgeführt.", "transfer-kommt.com ist zu uns umgezogen", "15,35 EUR haben wir am")
	for _, text := range s.mailTexts(s.Demo.Email) {
		if strings.Contains(text, "zum Teil ausgeführt") && strings.Contains(text, "erstatten wir") {
			t.Errorf("a refund is announced again: %s", text)
		}
	}
	s.reconcile()
}
