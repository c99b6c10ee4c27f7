package orders

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/signing"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// acpSession is a checkout session as the contract shapes it.
type acpSession struct {
	ID         string `json:"id"`
	Status     string `json:"status"`
	PaymentURL string `json:"payment_url"`
}

// sessionRequest sends an agent's checkout request.
func (s *env) sessionRequest(method, path string, message any) (answer acpSession, status int) {
	s.t.Helper()
	var body []byte
	if message != nil {
		var err error
		if body, err = json.Marshal(message); err != nil {
			s.t.Fatal(err)
		}
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.base+"/api/acp/checkout_sessions"+path, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	at := time.Now().UTC().Format(time.RFC3339Nano)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+s.Agent.Key)
	request.Header.Set(signing.TimestampHeader, at)
	request.Header.Set(signing.SignatureHeader, signing.Compute(s.Agent.Secret, at, body))
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		s.t.Fatal(err)
	}
	return answer, response.StatusCode
}

// createGuestSession creates a session for a buyer without an account.
func (s *env) createGuestSession(name string) acpSession {
	s.t.Helper()
	made, status := s.sessionRequest(http.MethodPost, "", map[string]any{
		"items": []map[string]any{{"id": "register:" + name, "quantity": 1}},
		"buyer": map[string]string{"first_name": "Carla", "last_name": "Neu", "email": "carla@neu.example", "phone_number": "+4930123456"},
		"fulfillment_address": map[string]string{
			"name": "Carla Neu", "line_one": "Seeweg 1", "city": "Berlin", "state": "Berlin", "postal_code": "10115", "country": "DE",
		},
	})
	if status != http.StatusCreated || made.Status != "ready_for_payment" {
		s.t.Fatalf("%d %+v", status, made)
	}
	return made
}

func paymentData(text string) map[string]any {
	return map[string]any{"payment_data": map[string]string{"token": text, "provider": "stripe"}}
}

var claimAddress = regexp.MustCompile(`http://\S+/checkout/claim\?link=\S+`)

// claimLinks returns the claim links that were mailed to an address.
func (s *env) claimLinks(to string) (links []string) {
	s.t.Helper()
	for _, mail := range s.mails(to) {
		if link := claimAddress.FindString(mail.Text); link != "" {
			links = append(links, link)
		}
	}
	return links
}

// claimLink waits for the first claim link.
func (s *env) claimLink(to string) string {
	s.t.Helper()
	testkit.Eventually(s.t, "claim link for "+to, func() bool { return len(s.claimLinks(to)) > 0 })
	return s.claimLinks(to)[0]
}

func TestGuestOrder_BuyerClaimsPaidOrder(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	const name = "carlas-laden.de"
	made := s.createGuestSession(name)
	done, status := s.sessionRequest(http.MethodPost, "/"+made.ID+"/complete", paymentData("spt_ok_1"))
	if status != http.StatusOK || done.Status != "completed" {
		t.Fatalf("%d %+v", status, done)
	}
	anna := s.signedInBrowser()
	if page := anna.get(made.PaymentURL).text; !strings.Contains(page, "Noch keinem Konto zugeordnet") || strings.Contains(page, "Seeweg") || strings.Contains(page, "carla@neu") {
		t.Errorf("with the order's link the page shows\n%s", page)
	}
	if s.ownsDomain(name) {
		t.Fatal("the domain already has an owner")
	}
	link := s.claimLink("carla@neu.example")
	secret := link[strings.Index(link, "link=")+len("link="):]
	claim := s.base + "/checkout/claim"
	if got := s.newBrowser().post(claim, "link", secret); got.status != http.StatusSeeOther || !strings.Contains(got.next, "/portal/sign-in") {
		t.Errorf("without a sign-in: %d %s", got.status, got.next)
	}
	if page := s.newBrowser().get(link); page.status != http.StatusOK || !strings.Contains(page.text, name) {
		t.Errorf("the page shows %d\n%s", page.status, page.text)
	}
	if got := anna.post(claim, "link", secret); got.status != http.StatusSeeOther || !strings.HasSuffix(got.next, "/portal/orders/"+made.ID) {
		t.Fatalf("claiming: %d %s\n%s", got.status, got.next, got.text)
	}
	if got := anna.post(claim, "link", secret); got.status != http.StatusNotFound {
		t.Errorf("a second time: %d", got.status)
	}
	s.waitForStatus(made.ID, "completed")
	if !s.ownsDomain(name) {
		t.Error("the domain was not claimed with the order")
	}
	if seen, status := s.sessionRequest(http.MethodGet, "/"+made.ID, nil); status != http.StatusOK || seen.Status != "completed" {
		t.Errorf("its agent sees %d %+v", status, seen)
	}
	s.reconcile()
}

func TestGuestOrder_HumanClaimsAndPaysUnpaidOrder(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	made := s.createGuestSession("carlas-bank.de")
	done, status := s.sessionRequest(http.MethodPost, "/"+made.ID+"/complete", paymentData("spt_human_1"))
	if status != http.StatusOK || done.Status != "not_ready_for_payment" || done.PaymentURL == "" {
		t.Fatalf("%d %+v", status, done)
	}
	link := s.claimLink("carla@neu.example")
	// Repeated requests send another mail only after the interval.
	for range 3 {
		if got := s.newBrowser().post(done.PaymentURL + "/claim"); got.status != http.StatusSeeOther {
			t.Fatalf("requesting the link: %d", got.status)
		}
	}
	anna := s.signedInBrowser()
	if got := anna.post(s.base+"/checkout/claim", "link", link[strings.Index(link, "link=")+len("link="):]); got.status != http.StatusSeeOther {
		t.Fatalf("claiming: %d\n%s", got.status, got.text)
	}
	anna.pay(done.PaymentURL)
	s.waitForStatus(made.ID, "completed")
	if links := s.claimLinks("carla@neu.example"); len(links) != 1 {
		t.Errorf("%d mails were sent", len(links))
	}
	s.reconcile()
}

func TestComplete_NameTakenMeanwhileIsNotCharged(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	made := s.createGuestSession("gleich-vergeben.de")
	s.registerManually("gleich-vergeben.de", "--wait")
	if _, status := s.sessionRequest(http.MethodPost, "/"+made.ID+"/complete", paymentData("spt_ok_1")); status != http.StatusUnprocessableEntity {
		t.Errorf("got %d", status)
	}
	if money, err := s.provider.Money(t.Context()); err != nil || len(money.Charges) != 0 {
		t.Errorf("%+v, %v", money, err)
	}
	if seen, status := s.sessionRequest(http.MethodGet, "/"+made.ID, nil); status != http.StatusOK || seen.Status != "not_ready_for_payment" {
		t.Errorf("afterwards: %d %+v", status, seen)
	}
	s.reconcile()
}
