package orders

import (
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// mails returns the mails to an address.
func (s *env) mails(to string) []testkit.Mail {
	s.t.Helper()
	mails, err := testkit.Mails(s.t.Context(), s.Inbox, to)
	if err != nil {
		s.t.Fatal(err)
	}
	return mails
}

// mailTexts returns the texts of the mails to an address, in one line each.
func (s *env) mailTexts(to string) (texts []string) {
	s.t.Helper()
	for _, mail := range s.mails(to) {
		texts = append(texts, strings.Join(strings.Fields(mail.Text), " "))
	}
	return texts
}

// waitForMailText waits for a mail that contains all substrings.
func (s *env) waitForMailText(to string, substrings ...string) {
	s.t.Helper()
	testkit.Eventually(s.t, fmt.Sprintf("mail to %s with %q", to, substrings), func() bool {
		return slices.ContainsFunc(s.mailTexts(to), func(text string) bool {
			return !slices.ContainsFunc(substrings, func(part string) bool { return !strings.Contains(text, part) })
		})
	})
}

// showOrderCLI returns the operator's output about an order.
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
	// A company is not asked, and no consent is recorded.
	firm := s.startOrder(item{"firma-ohne-frage.de", "register"})
	if page := anna.get(firm.PaymentURL); strings.Contains(page.text, `name="consent"`) {
		t.Error("a company is asked for consent")
	}
	anna.pay(firm.PaymentURL)
	s.waitForStatus(firm.OrderID, "completed")
	if said := s.showOrderCLI(firm.OrderID); !strings.Contains(said, "consent (UTC) - ") {
		t.Errorf("operator output about a company's order: %s", said)
	}

	if got := anna.post(s.base+"/portal/profile/registrant", "kind", "person", "name", "Berta Beispiel", "street", "Ring 1", "postal_code", "20095",
		"city", "Hamburg", "country", "DE", "phone", "+49 40 5550123"); got.status != http.StatusSeeOther {
		t.Fatalf("becoming a consumer: %d\n%s", got.status, got.text)
	}
	made := s.startOrder(item{"berta-fragt-nicht.de", "register"})
	page := anna.get(made.PaymentURL)
	gross := grossField.FindStringSubmatch(page.text)
	if gross == nil || !strings.Contains(page.text, consentText) {
		t.Fatalf("the page does not ask for consent:\n%s", page.text)
	}
	for _, form := range [][]string{{"gross", gross[1]}, {"gross", gross[1], "consent", "on"}} {
		if got := anna.post(made.PaymentURL+"/pay", form...); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.text, "consent-problem") {
			t.Errorf("%v: %d %s", form, got.status, got.next)
		}
	}
	s.waitForStatus(made.OrderID, "awaiting_payment")
	anna.pay(made.PaymentURL)
	s.waitForStatus(made.OrderID, "completed")
	if said := s.showOrderCLI(made.OrderID); !strings.Contains(said, order.ConsentWording("de")) {
		t.Errorf("operator output about a consumer's order: %s", said)
	}
	if page := anna.get(s.base + "/portal/orders/" + made.OrderID); !strings.Contains(page.text, consentText) {
		t.Errorf("the order does not show the consent:\n%s", page.text)
	}
	s.waitForMailText(s.Demo.Email, made.OrderID, consentText)
	s.reconcile()
}
