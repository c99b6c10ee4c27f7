package orders

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// mailTexts are the texts that were mailed to an address, in one line each.
func (s *env) mailTexts(to string) (texts []string) {
	s.t.Helper()
	got := s.newBrowser().get(s.Inbox + "api/mails?to=" + url.QueryEscape(to))
	var box struct {
		Mails []struct{ Text string } `json:"mails"`
	}
	if err := json.Unmarshal([]byte(got.text), &box); err != nil {
		s.t.Fatalf("the inbox: %v\n%s", err, got.text)
	}
	for _, mail := range box.Mails {
		texts = append(texts, strings.Join(strings.Fields(mail.Text), " "))
	}
	return texts
}

// waitForMailText waits for a letter that has all the words.
func (s *env) waitForMailText(to string, substrings ...string) {
	s.t.Helper()
	var texts []string
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		texts = s.mailTexts(to)
		for _, text := range texts {
			all := true
			for _, word := range substrings {
				all = all && strings.Contains(text, word)
			}
			if all {
				return
			}
		}
	}
	s.t.Errorf("no letter to %s says %q:\n%s", to, substrings, strings.Join(texts, "\n"))
}

// showOrderCLI is what an operator reads of an order.
func (s *env) showOrderCLI(id string) string {
	s.t.Helper()
	out, err := exec.CommandContext(s.t.Context(), binary, "orders", "show", id, "--config", s.config).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	return strings.Join(strings.Fields(string(out)), " ")
}

func TestConsent_ConsumerMustRequestImmediateStart(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	anna, consentText := s.signedInBrowser(), order.ConsentText(order.ConsentWording("de"))
	// As a company nobody is asked, and nothing is noted.
	firm := s.startOrder(item{"firma-ohne-frage.de", "register"})
	if page := anna.get(firm.PaymentURL); strings.Contains(page.text, `name="consent"`) {
		t.Error("a company is asked")
	}
	anna.pay(firm.PaymentURL)
	s.waitForStatus(firm.OrderID, "completed")
	if said := s.showOrderCLI(firm.OrderID); !strings.Contains(said, "consent (UTC) - ") {
		t.Errorf("of a company's order the operator reads %s", said)
	}

	if got := anna.post(s.base+"/portal/profile/registrant", "kind", "person", "name", "Berta Beispiel", "street", "Ring 1", "postal_code", "20095",
		"city", "Hamburg", "country", "DE", "phone", "+49 40 5550123"); got.status != http.StatusSeeOther {
		t.Fatalf("becoming a consumer: %d\n%s", got.status, got.text)
	}
	made := s.startOrder(item{"berta-fragt-nicht.de", "register"})
	page := anna.get(made.PaymentURL)
	gross := grossField.FindStringSubmatch(page.text)
	if gross == nil || !strings.Contains(page.text, consentText) {
		t.Fatalf("the page does not ask:\n%s", page.text)
	}
	for _, form := range [][]string{{"gross", gross[1]}, {"gross", gross[1], "consent", "on"}} {
		if got := anna.post(made.PaymentURL+"/pay", form...); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.text, "consent-problem") {
			t.Errorf("%v: %d %s", form, got.status, got.next)
		}
	}
	s.waitForStatus(made.OrderID, "awaiting_payment")
	anna.pay(made.PaymentURL)
	s.waitForStatus(made.OrderID, "completed")
	if said := s.showOrderCLI(made.OrderID); !strings.Contains(said, "2026-11-de") {
		t.Errorf("of a consumer's order the operator reads %s", said)
	}
	if page := anna.get(s.base + "/portal/orders/" + made.OrderID); !strings.Contains(page.text, consentText) {
		t.Errorf("the order does not show it:\n%s", page.text)
	}
	s.waitForMailText(s.Demo.Email, made.OrderID, consentText)
	s.reconcile()
}
