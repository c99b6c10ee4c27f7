package orders

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

// session is what a checkout agent reads, in the contract's own shape.
type session struct {
	ID         string `json:"id"`
	Status     string `json:"status"`
	PaymentURL string `json:"payment_url"`
}

// checkout is the agent.
func (s *stage) checkout(method, path string, message any) (answer session, status int) {
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

// forCarla is a session for somebody who has no account.
func (s *stage) forCarla(name string) session {
	s.t.Helper()
	made, status := s.checkout(http.MethodPost, "", map[string]any{
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

func token(text string) map[string]any {
	return map[string]any{"payment_data": map[string]string{"token": text, "provider": "stripe"}}
}

var claimAddress = regexp.MustCompile(`http://\S+/checkout/claim\?link=\S+`)

// claimLinks are those that were mailed to an address.
func (s *stage) claimLinks(to string) []string {
	s.t.Helper()
	got := s.stranger().get(s.Inbox + "api/mails?to=" + url.QueryEscape(to))
	var box struct {
		Mails []struct{ Text string } `json:"mails"`
	}
	if err := json.Unmarshal([]byte(got.text), &box); err != nil {
		s.t.Fatalf("the inbox: %v\n%s", err, got.text)
	}
	var links []string
	for _, mail := range box.Mails {
		if link := claimAddress.FindString(mail.Text); link != "" {
			links = append(links, link)
		}
	}
	return links
}

// claimLink waits for the first.
func (s *stage) claimLink(to string) string {
	s.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if links := s.claimLinks(to); len(links) > 0 {
			return links[0]
		}
	}
	s.t.Fatalf("no letter with a link to %s", to)
	return ""
}

func TestABuyerWithoutAnAccountClaimsWhatTheAgentBought(t *testing.T) {
	t.Parallel()
	s := open(t)
	const name = "carlas-laden.de"
	made := s.forCarla(name)
	done, status := s.checkout(http.MethodPost, "/"+made.ID+"/complete", token("spt_ok_1"))
	if status != http.StatusOK || done.Status != "completed" {
		t.Fatalf("%d %+v", status, done)
	}
	anna := s.signedIn()
	if page := anna.get(made.PaymentURL).text; !strings.Contains(page, "Noch in keinem Konto") || strings.Contains(page, "Seeweg") || strings.Contains(page, "carla@neu") {
		t.Errorf("who has the link of the order sees\n%s", page)
	}
	if s.holds(name) {
		t.Fatal("the domain is somebody's already")
	}
	link := s.claimLink("carla@neu.example")
	secret := link[strings.Index(link, "link=")+len("link="):]
	claim := s.base + "/checkout/claim"
	if got := s.stranger().post(claim, "link", secret); got.status != http.StatusSeeOther || !strings.Contains(got.next, "/portal/sign-in") {
		t.Errorf("without a sign-in: %d %s", got.status, got.next)
	}
	if page := s.stranger().get(link); page.status != http.StatusOK || !strings.Contains(page.text, name) {
		t.Errorf("the page says %d\n%s", page.status, page.text)
	}
	if got := anna.post(claim, "link", secret); got.status != http.StatusSeeOther || !strings.HasSuffix(got.next, "/portal/orders/"+made.ID) {
		t.Fatalf("claiming: %d %s\n%s", got.status, got.next, got.text)
	}
	if got := anna.post(claim, "link", secret); got.status != http.StatusNotFound {
		t.Errorf("a second time: %d", got.status)
	}
	s.becomes(made.ID, "completed")
	if !s.holds(name) {
		t.Error("the domain has not come with the order")
	}
	if seen, status := s.checkout(http.MethodGet, "/"+made.ID, nil); status != http.StatusOK || seen.Status != "completed" {
		t.Errorf("its agent sees %d %+v", status, seen)
	}
	s.books()
}

func TestAHumanClaimsAndPaysWhatATokenDidNot(t *testing.T) {
	t.Parallel()
	s := open(t)
	made := s.forCarla("carlas-bank.de")
	done, status := s.checkout(http.MethodPost, "/"+made.ID+"/complete", token("spt_human_1"))
	if status != http.StatusOK || done.Status != "not_ready_for_payment" || done.PaymentURL == "" {
		t.Fatalf("%d %+v", status, done)
	}
	link := s.claimLink("carla@neu.example")
	// Another is sent only after a while, however often it is asked for.
	for range 3 {
		if got := s.stranger().post(done.PaymentURL + "/claim"); got.status != http.StatusSeeOther {
			t.Fatalf("asking for the link: %d", got.status)
		}
	}
	anna := s.signedIn()
	if got := anna.post(s.base+"/checkout/claim", "link", link[strings.Index(link, "link=")+len("link="):]); got.status != http.StatusSeeOther {
		t.Fatalf("claiming: %d\n%s", got.status, got.text)
	}
	anna.pay(done.PaymentURL)
	s.becomes(made.ID, "completed")
	if links := s.claimLinks("carla@neu.example"); len(links) != 1 {
		t.Errorf("%d letters were sent", len(links))
	}
	s.books()
}

func TestANameThatIsTakenBeforeTheCompletionIsNotCharged(t *testing.T) {
	t.Parallel()
	s := open(t)
	made := s.forCarla("gleich-vergeben.de")
	s.take("gleich-vergeben.de", "--wait")
	if _, status := s.checkout(http.MethodPost, "/"+made.ID+"/complete", token("spt_ok_1")); status != http.StatusUnprocessableEntity {
		t.Errorf("got %d", status)
	}
	if money, err := s.provider.Money(t.Context()); err != nil || len(money.Charges) != 0 {
		t.Errorf("%+v, %v", money, err)
	}
	if seen, status := s.checkout(http.MethodGet, "/"+made.ID, nil); status != http.StatusOK || seen.Status != "not_ready_for_payment" {
		t.Errorf("afterwards: %d %+v", status, seen)
	}
	s.books()
}
