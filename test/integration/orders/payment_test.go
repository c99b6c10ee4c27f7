package orders

import (
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
	"github.com/dotkontor/dotkontor/test/testkit"
)

func TestOrder_AgentOrdersAndHumanPays(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	wanted := []item{{"buchladen-am-markt.de", "register"}, {"buchladen-am-markt.com", "register"}}
	tried, failed := s.callOrderTool("start_order", map[string]any{"items": wanted, "dryRun": true})
	if failed || tried.Status != "dry_run" || tried.OrderID != "" || tried.PaymentURL != "" || tried.Totals.GrossEUR != "23.56" {
		t.Errorf("a dry run: %+v", tried)
	}
	made := s.startOrder(wanted...)
	if made.Status != "awaiting_payment" || made.Totals.GrossEUR != "23.56" || made.VerificationURL != "" { // (6.90 + 12.90) plus 19 %
		t.Errorf("%+v", made)
	}
	if again := s.startOrder(wanted[1], wanted[0]); again.OrderID != made.OrderID || again.PaymentURL != made.PaymentURL {
		t.Errorf("the same items made another order: %+v", again)
	}
	visitor := s.newBrowser().get(made.PaymentURL)
	if found := testkit.FindPersonalData([]string{s.Demo.Email, "Petersen", "Elbblick", "Elbstraße", "22767"}, map[string]string{"payment_url": visitor.text}); len(found) > 0 {
		t.Errorf("before sign-in the page reveals %q", found)
	}
	if !strings.Contains(visitor.text, "buchladen-am-markt.com") || strings.Contains(visitor.text, `name="gross"`) {
		t.Errorf("an anonymous visitor sees:\n%s", visitor.text)
	}
	s.signedInBrowser().pay(made.PaymentURL)
	done := s.waitForStatus(made.OrderID, "completed")
	for _, item := range done.Items {
		if item.Status != "active" {
			t.Errorf("%+v", item)
		}
	}
	if !s.ownsDomain("buchladen-am-markt.de") || !s.ownsDomain("buchladen-am-markt.com") {
		t.Error("list_my_domains does not show what was bought")
	}
	s.waitForMailSubject("Bestellung")
	figures, err := s.product.Metrics(t.Context())
	if err != nil || figures.Sample(`dotkontor_orders_total{state="completed"}`) != 1 || figures.Sample("dotkontor_refunds_waiting") != 0 ||
		!strings.Contains(string(figures), "dotkontor_orders_overdue_seconds ") {
		t.Errorf("metrics lack the order: %v", err)
	}
	s.reconcile()
}

func TestOrder_PremiumNameIsInvoicedAtItsPrice(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	made := s.startOrder(item{"premium-teehaus.com", "register"})
	if made.Totals.GrossEUR != "327.25" {
		t.Errorf("the order costs %s", made.Totals.GrossEUR)
	}
	h := s.signedInBrowser()
	h.pay(made.PaymentURL)
	s.waitForStatus(made.OrderID, "completed")
	if !s.ownsDomain("premium-teehaus.com") {
		t.Error("the customer does not have the domain")
	}
	testkit.Eventually(t, "invoice over the premium price", func() bool {
		return strings.Contains(h.get(s.base+"/portal/invoices").text, "327,25")
	})
	s.reconcile()
}

func TestStartOrder_RefusedItemsHaveReasons(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	answer, failed := s.callOrderTool("start_order", map[string]any{"items": []item{
		{"google.de", "register"}, {"kaffeeladen.zz", "register"}, {"frei-und-ledig.com", "transfer"}, {"kaffeeladen.com", "register"},
	}})
	if !failed || answer.Code != "not_payable" {
		t.Fatalf("%+v", answer)
	}
	codes := make(map[string]string)
	for _, item := range answer.Items {
		codes[item.Domain] = item.Code
		if item.Message == "" {
			t.Errorf("no message for %s", item.Domain)
		}
	}
	if want := map[string]string{
		"google.de": "name_taken", "kaffeeladen.zz": "unsupported_extension", "frei-und-ledig.com": "not_registered",
	}; !maps.Equal(codes, want) {
		t.Errorf("the codes are %v, want %v", codes, want)
	}
	s.reconcile()
}

func TestStartOrder_UndecidedAndReservedNamesHaveOwnCodes(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	answer, failed := s.callOrderTool("start_order", map[string]any{"items": []item{{"unknown-abc.de", "register"}}})
	if !failed || answer.Code != "upstream_failed" || len(answer.Items) != 1 || answer.Items[0].Code != "availability_unknown" {
		t.Errorf("a name without a quote: %+v", answer)
	}
	answer, failed = s.callOrderTool("start_order", map[string]any{"items": []item{{"unknown-abc.de", "register"}, {"nic.dev", "register"}}})
	if !failed || answer.Code != "not_payable" || len(answer.Items) != 2 || answer.Items[1].Code != "name_reserved" || strings.Contains(answer.Items[1].Message, "transfer") {
		t.Errorf("beside a reserved name: %+v", answer)
	}
	s.reconcile()
}

func TestStartOrder_UnsoldYearsAreRefused(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	order := func(name, kind string, years int) orderResult {
		t.Helper()
		answer, _ := s.callOrderTool("start_order", map[string]any{
			"dryRun": true, "items": []map[string]any{{"domain": name, "type": kind, "years": years}},
		})
		return answer
	}
	for _, test := range []struct {
		name, kind string
		years      int
	}{
		{"drei-jahre.de", "register", 3}, {"ein-jahr.ai", "register", 1}, {"google.com", "transfer", 2},
	} {
		answer := order(test.name, test.kind, test.years)
		if answer.Code != "invalid_input" || len(answer.Items) != 1 || answer.Items[0].Code != "years_not_sold" {
			t.Errorf("%s of %s for %d years: %+v", test.kind, test.name, test.years, answer)
		}
	}
	for _, test := range []struct {
		name  string
		years int
	}{{"ein-jahr.com", 1}, {"zwei-jahre.ai", 2}, {"zehn-jahre.com", 10}} {
		if answer := order(test.name, "register", test.years); answer.Status != "dry_run" || answer.Items[0].Years != test.years {
			t.Errorf("%s for %d years: %+v", test.name, test.years, answer)
		}
	}
	s.reconcile()
}

func TestStartOrder_RegistersForYears(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	register := func(years int) orderResult {
		t.Helper()
		answer, failed := s.callOrderTool("start_order", map[string]any{"items": []map[string]any{{"domain": "auf-lange-sicht.com", "type": "register", "years": years}}})
		if failed || answer.Items[0].Years != years {
			t.Fatalf("%+v", answer)
		}
		return answer
	}
	made := register(5)
	if again := register(5); again.OrderID != made.OrderID {
		t.Error("the same registration made another order")
	}
	if other := register(2); other.OrderID == made.OrderID {
		t.Error("another term returned the order for five years")
	}
	s.signedInBrowser().pay(made.PaymentURL)
	s.waitForStatus(made.OrderID, "completed")
	domains, _ := s.listDomains("list_my_domains")
	end, err := time.Parse(time.RFC3339, domains[0].ExpiresAt)
	if err != nil || end.Year() != time.Now().AddDate(5, 0, 0).Year() {
		t.Errorf("registered until %s, %v", domains[0].ExpiresAt, err)
	}
	s.reconcile()
}

func TestStartOrder_RenewsOwnDomainForYears(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	made := s.startOrder(item{"jahr-fuer-jahr.com", "register"})
	anna := s.signedInBrowser()
	anna.pay(made.PaymentURL)
	s.waitForStatus(made.OrderID, "completed")
	paidUntil := func() time.Time {
		t.Helper()
		domains, _ := s.listDomains("list_my_domains")
		at := slices.IndexFunc(domains, func(d ownedDomain) bool { return d.Domain == "jahr-fuer-jahr.com" })
		if at < 0 {
			t.Fatal("the domain is not listed")
		}
		end, err := time.Parse(time.RFC3339, domains[at].ExpiresAt)
		if err != nil {
			t.Fatal(err)
		}
		return end
	}
	was := paidUntil()
	renew := func(name string, years int) (orderResult, bool) {
		t.Helper()
		return s.callOrderTool("start_order", map[string]any{"items": []map[string]any{{"domain": name, "type": "renew", "years": years}}})
	}
	for name, want := range map[string]string{"google.com": "not_your_domain", "jahr-fuer-jahr.com": "bad_term"} {
		answer, failed := renew(name, 10) // eleven years ahead
		if !failed || len(answer.Items) != 1 || answer.Items[0].Code != want {
			t.Errorf("%s: %+v", name, answer)
		}
	}
	made, failed := renew("jahr-fuer-jahr.com", 3)
	if failed || made.Items[0].Years != 3 || made.Items[0].Type != "renew" {
		t.Fatalf("%+v", made)
	}
	if again, _ := renew("jahr-fuer-jahr.com", 3); again.OrderID != made.OrderID {
		t.Errorf("the same renewal made another order: %+v", again)
	}
	if other, _ := renew("jahr-fuer-jahr.com", 2); other.OrderID == made.OrderID {
		t.Error("another term returned the order for three years")
	}
	if paidUntil() != was {
		t.Error("the term changed without a payment")
	}
	anna.pay(made.PaymentURL)
	s.waitForStatus(made.OrderID, "completed")
	if got := paidUntil(); !got.Equal(was.AddDate(3, 0, 0)) {
		t.Errorf("paid until %s, want three years after %s", got, was)
	}
	s.reconcile()
}

// start_order accepts what lookups call orderable, and refuses with the same reason.
func TestStartOrder_AgreesWithOrderableFlag(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	type listed struct {
		TLDs []struct {
			TLD       string `json:"tld"`
			Orderable bool   `json:"orderable"`
			Reason    string `json:"orderableReason"`
		} `json:"tlds"`
	}
	var list listed
	s.callTool("list_tlds", map[string]any{"limit": 500}, &list)
	reasons, wanted := make(map[string]string), []item{}
	for _, ext := range list.TLDs {
		if !ext.Orderable {
			reasons["teeladen"+ext.TLD] = ext.Reason
			wanted = append(wanted, item{"teeladen" + ext.TLD, "register"})
		}
	}
	if len(list.TLDs) != 490 || len(wanted) != 18 {
		t.Fatalf("%d of %d extensions can't be ordered: %v", len(wanted), len(list.TLDs), reasons)
	}
	answer, failed := s.callOrderTool("start_order", map[string]any{"items": wanted, "dryRun": true})
	if !failed || answer.Code != "not_payable" || len(answer.Items) != len(wanted) {
		t.Fatalf("%+v", answer)
	}
	for _, refused := range answer.Items {
		if refused.Code == "" || refused.Code != reasons[refused.Domain] {
			t.Errorf("%s: refused as %q, shown as %q", refused.Domain, refused.Code, reasons[refused.Domain])
		}
	}
	answer, failed = s.callOrderTool("start_order", map[string]any{"dryRun": true, "items": []item{
		{"teeladen-am-see.de", "register"}, {"teeladen-am-see.ai", "register"}, {"teeladen-am-see.eu", "register"},
	}})
	if failed || len(answer.Items) != 3 {
		t.Errorf("%+v", answer)
	}
	s.reconcile()
}

// ownsDomain reports whether list_my_domains has the name.
func (s *env) ownsDomain(name string) bool {
	s.t.Helper()
	answer, _ := s.listDomains("list_my_domains")
	for _, domain := range answer {
		if domain.Domain == name && domain.Status == "active" {
			return true
		}
	}
	return false
}

type ownedDomain struct {
	Domain    string `json:"domain"`
	Status    string `json:"status"`
	ExpiresAt string `json:"expiresAt"`
}

func (s *env) listDomains(tool string) ([]ownedDomain, bool) {
	s.t.Helper()
	var answer struct {
		Domains []ownedDomain `json:"domains"`
	}
	failed := s.callTool(tool, map[string]any{}, &answer)
	return answer.Domains, failed
}

// waitForMailSubject waits for a mail to the demo customer with a word in its subject.
func (s *env) waitForMailSubject(word string) {
	s.t.Helper()
	testkit.WaitForMail(s.t, s.Inbox, s.Demo.Email, func(mail testkit.Mail) bool { return strings.Contains(mail.Subject, word) })
}

func TestDecline_CancelsOrderAndPaymentPage(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	made := s.startOrder(item{"doch-nicht.de", "register"})
	anna := s.signedInBrowser()
	page := anna.submitPayment(made.PaymentURL).next
	if got := anna.post(made.PaymentURL + "/decline"); got.status != http.StatusSeeOther {
		t.Fatalf("decline: status %d:\n%s", got.status, got.text)
	}
	s.waitForStatus(made.OrderID, "canceled")
	if got := anna.post(page, "cardNumber", cardPays); got.status == http.StatusSeeOther {
		t.Errorf("the payment page of a declined order accepted the card: %s", got.next)
	}
	if money, err := s.provider.Money(t.Context()); err != nil || len(money.Charges) != 0 {
		t.Errorf("%+v, %v", money, err)
	}
	s.reconcile()
}

func TestPayment_DeclinedCardThen3DSCompletes(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	made := s.startOrder(item{"knapp-bei-kasse.de", "register"})
	anna := s.signedInBrowser()
	page := anna.submitPayment(made.PaymentURL).next
	if got := anna.post(page, "cardNumber", cardDeclined); got.status == http.StatusSeeOther && strings.HasPrefix(got.next, s.base) {
		t.Fatalf("a declined card leads to %s", got.next)
	}
	s.waitForStatus(made.OrderID, "paying")
	// Return, then pay with a card that requires authentication.
	if got := anna.get(made.PaymentURL + "/back"); got.status >= http.StatusBadRequest {
		t.Fatalf("back: status %d", got.status)
	}
	s.waitForStatus(made.OrderID, "awaiting_payment")
	page = anna.submitPayment(made.PaymentURL).next
	bank := anna.post(page, "cardNumber", cardNeeds3DS)
	if bank.status != http.StatusSeeOther || !strings.Contains(bank.next, "/bank") {
		t.Fatalf("no authentication page: %d %s", bank.status, bank.next)
	}
	back := anna.post(bank.next, "answer", "approve")
	if back.status != http.StatusSeeOther || !strings.HasPrefix(back.next, made.PaymentURL) {
		t.Fatalf("approving leads to %d %s", back.status, back.next)
	}
	anna.get(back.next)
	s.waitForStatus(made.OrderID, "completed")
	s.reconcile()
}

func TestTransfer_NeedsAuthCodeThenCompletes(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	made := s.startOrder(item{"transfer-antiquariat.com", "transfer"})
	anna := s.signedInBrowser()
	anna.wantNotPayable(made.PaymentURL)
	anna.enterAuthCode(made.PaymentURL, "wrong")
	anna.wantNotPayable(made.PaymentURL)
	anna.enterAuthCode(made.PaymentURL, "auth-transfer-antiquariat")
	anna.pay(made.PaymentURL)
	s.waitForTransfer(made.OrderID)
	if !s.ownsDomain("transfer-antiquariat.com") {
		t.Error("the domain is not listed")
	}
	s.reconcile()
}

// wantNotPayable fails if the order can be paid.
func (h browser) wantNotPayable(link string) {
	h.t.Helper()
	for _, gross := range []string{"0", "1535"} {
		if got := h.post(link+"/pay", "gross", gross, "consent", order.ConsentWording("de")); got.status == http.StatusSeeOther && !strings.HasPrefix(got.next, h.base) {
			h.t.Fatalf("it can be paid: %s", got.next)
		}
	}
}

// enterAuthCode enters the auth code of the order's only transfer.
func (h browser) enterAuthCode(link, code string) {
	h.t.Helper()
	page := h.get(link)
	_, rest, found := strings.Cut(page.text, `name="item" value="`)
	if !found {
		h.t.Fatalf("the page does not ask for an auth code:\n%s", page.text)
	}
	id, _, _ := strings.Cut(rest, `"`)
	h.post(link+"/code", "item", id, "code", code)
}

// waitForTransfer advances the sandbox clock until a transfer ends: the losing
// registrar stays silent for five days, and the request may come after the first
// advance.
func (s *env) waitForTransfer(id string) orderResult {
	s.t.Helper()
	s.waitForStatus(id, "provisioning")
	var last orderResult
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(time.Second) {
		if err := s.world.Advance(s.t.Context(), 6*24*time.Hour); err != nil {
			s.t.Fatal(err)
		}
		if last, _ = s.callOrderTool("get_order_status", map[string]string{"orderId": id}); last.Status == "completed" {
			return last
		}
	}
	s.t.Fatalf("the transfer does not complete: %+v", last)
	return last
}

func TestTransfer_FreeOneIsConfirmedWithoutCharge(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	made := s.startOrder(item{"transfer-bergwerk.at", "transfer"})
	if made.Totals.GrossEUR != "0.00" {
		t.Fatalf("%+v", made)
	}
	anna := s.signedInBrowser()
	anna.enterAuthCode(made.PaymentURL, "auth-transfer-bergwerk")
	if got := anna.submitPayment(made.PaymentURL); !strings.HasPrefix(got.next, s.base) {
		t.Fatalf("a free order leads to %s", got.next)
	}
	if state := s.waitForTransfer(made.OrderID); state.Items[0].Status != "active" {
		t.Errorf("%+v", state)
	}
	if money, err := s.provider.Money(t.Context()); err != nil || len(money.Charges) != 0 {
		t.Errorf("%+v, %v", money, err)
	}
	s.reconcile()
}

func TestOrder_LargeAmountNeedsVerifiedIdentity(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "DOTKONTOR_ORDERS_VERIFY_OVER_EUR=20")
	made := s.startOrder(item{"grosse-sache.de", "register"}, item{"grosse-sache.com", "register"})
	if made.Status != "awaiting_verification" || made.VerificationURL == "" {
		t.Fatalf("%+v", made)
	}
	anna := s.signedInBrowser()
	anna.wantNotPayable(made.PaymentURL)
	show := func(first, last, outcome string) {
		t.Helper()
		to := anna.post(made.VerificationURL)
		if to.status != http.StatusSeeOther || strings.HasPrefix(to.next, s.base) {
			t.Fatalf("verify: %d %s\n%s", to.status, to.next, to.text)
		}
		back := anna.post(to.next, "firstName", first, "lastName", last, "outcome", outcome)
		if back.status != http.StatusSeeOther || !strings.HasPrefix(back.next, s.base) {
			t.Fatalf("after verification: %d %s", back.status, back.next)
		}
		anna.get(back.next)
	}
	show("Falsche", "Person", "verified")
	s.waitForStatus(made.OrderID, "awaiting_verification")
	anna.wantNotPayable(made.PaymentURL)
	holder := s.registrantName(anna)
	show(holder[0], holder[1], "unverified")
	s.waitForStatus(made.OrderID, "awaiting_verification")
	show(strings.ToUpper(holder[0]), holder[1], "verified")
	s.waitForStatus(made.OrderID, "awaiting_payment")
	anna.pay(made.PaymentURL)
	s.waitForStatus(made.OrderID, "completed")
	// A verified customer need not verify again.
	if again := s.startOrder(item{"noch-groesser.de", "register"}, item{"noch-groesser.com", "register"}); again.Status != "awaiting_payment" {
		t.Errorf("%+v", again)
	}
	s.reconcile()
}

func TestRegistrant_UnchangeableDuringPayment(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	anna := s.signedInBrowser()
	made := s.startOrder(item{"wem-gehoert-das.de", "register"})
	anna.submitPayment(made.PaymentURL)
	profile := s.base + "/portal/profile/registrant"
	before := s.registrantName(anna)
	change := func() pageResponse {
		return anna.post(profile, "kind", "person", "name", "Berta Beispiel", "street", "Ring 1", "postal_code", "1010",
			"city", "Wien", "country", "AT", "phone", "+43 1 5550123")
	}
	if got := change(); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.text, "läuft gerade eine Zahlung") || !strings.Contains(got.text, "Berta Beispiel") {
		t.Errorf("while the order is paid: %d\n%s", got.status, got.text)
	}
	if after := s.registrantName(anna); after[1] != before[1] {
		t.Errorf("the registrant was %v and is %v", before, after)
	}
	anna.get(made.PaymentURL + "/back")
	if got := change(); got.status != http.StatusSeeOther {
		t.Errorf("after the payment was aborted: %d\n%s", got.status, got.text)
	}
	s.waitForStatus(made.OrderID, "awaiting_payment")
	s.reconcile()
}

func TestRegistrant_CannotLeaveCountriesRequiredByTLD(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	anna := s.signedInBrowser()
	before := s.registrantName(anna)
	s.registerManually("nur-in-europa.eu") // paid; its provisioning need not be finished
	move := func(country, state, city, code, phone string) pageResponse {
		return anna.post(s.base+"/portal/profile/registrant", "kind", "person", "name", strings.Join(before, " "), "street", "Main St 1",
			"postal_code", code, "city", city, "state", state, "country", country, "phone", phone)
	}
	if got := move("US", "NY", "New York", "10001", "+1 212 5550100"); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.text, "Inhabern in der EU und im EWR vorbehalten") {
		t.Errorf("to the US: %d\n%s", got.status, got.text)
	}
	if page := anna.get(s.base + "/portal/profile/registrant").text; strings.Contains(page, "New York") {
		t.Error("a refused change was stored")
	}
	if got := move("AT", "", "Wien", "1010", "+43 1 5550123"); got.status != http.StatusSeeOther {
		t.Errorf("to Austria: %d\n%s", got.status, got.text)
	}
	s.reconcile()
}

// registrantName returns the demo customer's name from the profile page.
func (s *env) registrantName(h browser) []string {
	s.t.Helper()
	page := h.get(s.base + "/portal/profile/registrant").text
	_, rest, found := strings.Cut(page, `name="name"`)
	if !found {
		s.t.Fatalf("no registrant on the page:\n%s", page)
	}
	_, rest, _ = strings.Cut(rest, `value="`)
	name, _, _ := strings.Cut(rest, `"`)
	words := strings.Fields(name)
	return []string{strings.Join(words[:len(words)-1], " "), words[len(words)-1]}
}

// registerManually makes an operator register a name for the customer.
func (s *env) registerManually(name string, flags ...string) {
	s.t.Helper()
	flags = append([]string{
		"domains", "register", name, "--customer", s.Demo.Email, "--manual-payment", "R-" + name, "--config", s.config,
	}, flags...)
	command := exec.CommandContext(s.t.Context(), binary, flags...)
	if out, err := command.CombinedOutput(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
}

func TestRefund_NameTakenDuringPayment(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	made := s.startOrder(item{"zwei-wuensche.de", "register"}, item{"zwei-wuensche.com", "register"})
	anna := s.signedInBrowser()
	page := anna.submitPayment(made.PaymentURL).next
	s.registerManually("zwei-wuensche.com")
	back := anna.post(page, "cardNumber", cardPays)
	anna.get(back.next)
	done := s.waitForStatus(made.OrderID, "partially_completed")
	if done.Items[0].Status != "active" {
		t.Errorf("%+v", done)
	}
	for deadline := time.Now().Add(waitTimeout); done.Items[1].Status != "refunded"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no refund: %+v", done)
		}
		done = s.waitForStatus(made.OrderID, "partially_completed")
	}
	if gone := done.Items[1]; gone.Failure == nil || gone.Failure.Code != "name_held" || gone.Refund == nil ||
		gone.Refund.Status != "refunded" || gone.Refund.AmountEUR != "15.35" {
		t.Errorf("the failed item is %+v", gone)
	}
	money, err := s.provider.Money(t.Context())
	if err != nil || len(money.Refunds) != 1 || money.Refunds[0].Amount != 1535 {
		t.Errorf("%+v, %v", money, err)
	}
	s.reconcile()
}

func TestPayment_FoundByPollingWithoutWebhooks(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	if err := s.provider.InjectFault(t.Context(), stripe.Fault{On: "webhook", Do: "lose"}); err != nil {
		t.Fatal(err)
	}
	made := s.startOrder(item{"stille-post.de", "register"})
	anna := s.signedInBrowser()
	if got := anna.post(anna.submitPayment(made.PaymentURL).next, "cardNumber", cardPays); got.status != http.StatusSeeOther {
		t.Fatalf("%d", got.status)
	}
	s.waitForStatus(made.OrderID, "completed") // without a return or a webhook
	s.reconcile()
}
