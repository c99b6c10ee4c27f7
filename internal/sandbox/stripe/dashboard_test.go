package stripe_test

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
)

// useDashboard submits a form of the dashboard, or shows it, and returns status and page.
func (s *testEnv) useDashboard(fields url.Values, header ...string) (int, string) {
	s.Helper()
	method := http.MethodPost
	if fields == nil {
		method = http.MethodGet
	}
	request, err := http.NewRequestWithContext(s.Context(), method, s.server.API()+"/", strings.NewReader(fields.Encode()))
	if err != nil {
		s.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept-Language", "en")
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := s.browser.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestDashboard_BankDisputesReturnsAndRefunds(t *testing.T) {
	t.Parallel()
	s := newEnv(t, stripe.Options{})
	if _, page := s.useDashboard(nil); !strings.Contains(page, "Nobody has paid yet") {
		t.Errorf("empty: %s", page)
	}
	for _, payment := range []string{"pay-1", "pay-2"} {
		s.payWithCard(s.createSession(payment, 1190).URL, "4242424242424242")
	}
	charges := s.server.Records().Charges
	for _, action := range []string{"dispute", "refund"} {
		if status, page := s.useDashboard(url.Values{"action": {action}, "intent": {charges[0].Intent}}, "Sec-Fetch-Site", "cross-site"); status != http.StatusForbidden {
			t.Errorf("%s from another site: %d %s", action, status, page)
		}
	}
	submit := func(want int, fields url.Values) {
		t.Helper()
		if status, page := s.useDashboard(fields, "Sec-Fetch-Site", "same-origin"); status != want {
			t.Errorf("%v: %d %s", fields, status, page)
		}
	}
	submit(http.StatusSeeOther, url.Values{"action": {"inquiry"}, "intent": {charges[0].Intent}})
	open := s.server.Disputes()[0]
	submit(http.StatusSeeOther, url.Values{"action": {"move"}, "dispute": {open.ID}, "status": {"needs_response"}})
	submit(http.StatusConflict, url.Values{"action": {"move"}, "dispute": {open.ID}, "status": {"warning_closed"}})
	submit(http.StatusConflict, url.Values{"action": {"refund"}, "intent": {charges[0].Intent}}) // it is disputed
	submit(http.StatusSeeOther, url.Values{"action": {"refund"}, "intent": {charges[1].Intent}})
	refund := s.server.Records().Refunds[0]
	submit(http.StatusSeeOther, url.Values{"action": {"return"}, "refund": {refund.ID}})
	submit(http.StatusSeeOther, url.Values{"action": {"bank_return"}, "intent": {charges[1].Intent}})
	submit(http.StatusConflict, url.Values{"action": {"explode"}})
	var statuses []string
	for _, d := range s.server.Disputes() {
		statuses = append(statuses, d.Status)
	}
	if !slices.Equal(statuses, []string{"needs_response", "lost"}) || !s.server.Records().Refunds[0].Failed {
		t.Errorf("disputes %v, refunds %+v", statuses, s.server.Records().Refunds)
	}
	_, page := s.useDashboard(nil)
	for _, want := range []string{open.ID, "evidence requested", "returned by the bank", "under review", "€11.90"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
}
