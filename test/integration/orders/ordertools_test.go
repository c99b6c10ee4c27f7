package orders

import (
	"net/http"
	"strings"
	"sync"
	"testing"
)

// orderList is the result of list_orders.
type orderList struct {
	Orders               []orderResult
	Total, Limit, Offset int
}

func (s *env) listOrders(arguments map[string]any) orderList {
	s.t.Helper()
	var answer orderList
	if failed := s.callTool("list_orders", arguments, &answer); failed {
		s.t.Fatalf("list_orders failed")
	}
	return answer
}

// sessionStatus returns an order's status as a linked agent sees it.
func (s *env) sessionStatus(id string) string {
	s.t.Helper()
	session, status := s.sessionRequest(http.MethodGet, "/"+id, nil)
	if status != http.StatusOK {
		s.t.Fatalf("session: status %d", status)
	}
	return session.Status
}

func TestCancelOrder_EveryViewAgrees(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	made := s.startOrder(item{"doch-lieber-nicht.de", "register"})
	other := s.startOrder(item{"das-schon.de", "register"})
	if open := s.listOrders(map[string]any{"status": "awaiting_payment"}); open.Total != 2 || open.Orders[0].OrderID != other.OrderID ||
		open.Orders[1].PaymentURL != made.PaymentURL || open.Limit != 20 {
		t.Errorf("open orders: %+v", open)
	}
	for range 2 {
		canceled, failed := s.callOrderTool("cancel_order", map[string]any{"orderId": made.OrderID})
		if failed || canceled.Status != "canceled" || canceled.PaymentURL != "" || canceled.OrderID != made.OrderID {
			t.Fatalf("got %+v", canceled)
		}
	}
	anna := s.signedInBrowser()
	if page := anna.get(made.PaymentURL); page.status != http.StatusOK || strings.Contains(page.text, "/pay\"") || !strings.Contains(page.text, "storniert") {
		t.Errorf("payment_url still offers to pay:\n%s", page.text)
	}
	if page := anna.get(s.base + "/portal/orders/" + made.OrderID); page.status != http.StatusOK && page.status != http.StatusSeeOther {
		t.Errorf("portal: status %d", page.status)
	}
	if got := s.sessionStatus(made.OrderID); got != "canceled" {
		t.Errorf("the session is %s", got)
	}
	if page := anna.get(s.base + "/portal/activity"); strings.Count(page.text, made.OrderID) != 2 { // created, and canceled once
		t.Errorf("the activity names the order %d times", strings.Count(page.text, made.OrderID))
	}
	if got := s.listOrders(map[string]any{"status": "canceled", "limit": 1}); got.Total != 1 || got.Orders[0].OrderID != made.OrderID {
		t.Errorf("canceled orders: %+v", got)
	}
	if got := s.listOrders(map[string]any{"limit": 1, "offset": 1}); got.Total != 2 || len(got.Orders) != 1 || got.Orders[0].OrderID != made.OrderID {
		t.Errorf("second page: %+v", got)
	}
	// The same items then make a new order.
	if again := s.startOrder(item{"doch-lieber-nicht.de", "register"}); again.OrderID == made.OrderID {
		t.Error("the canceled order came back")
	}
	s.reconcile()
}

func TestCancelOrder_PaidOrPayingIsRefused(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	made := s.startOrder(item{"wird-bezahlt.de", "register"})
	anna := s.signedInBrowser()
	page := anna.submitPayment(made.PaymentURL).next
	s.waitForStatus(made.OrderID, "paying")
	refused, failed := s.callOrderTool("cancel_order", map[string]any{"orderId": made.OrderID})
	if !failed || refused.Code != "not_cancelable" || refused.Reason != "payment_in_progress" || refused.URL != made.PaymentURL {
		t.Errorf("while it is paid: %+v", refused)
	}
	anna.get(anna.post(page, "cardNumber", cardPays).next)
	s.waitForStatus(made.OrderID, "completed")
	refused, failed = s.callOrderTool("cancel_order", map[string]any{"orderId": made.OrderID})
	if !failed || refused.Code != "not_cancelable" || refused.Reason != "order_paid" || !strings.HasPrefix(refused.URL, s.base+"/portal/orders/") {
		t.Errorf("after it is paid: %+v", refused)
	}
	if page := anna.get(refused.URL); page.status >= http.StatusBadRequest {
		t.Errorf("page: status %d", page.status)
	}
	s.reconcile()
}

func TestCancelOrder_RaceWithPaymentHasOneWinner(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	anna := s.signedInBrowser()
	for range 5 {
		made := s.startOrder(item{"wer-ist-schneller.de", "register"})
		page := anna.get(made.PaymentURL)
		var canceled orderResult
		var failed bool
		var pressed pageResponse
		var both sync.WaitGroup
		both.Go(func() { canceled, failed = s.callOrderTool("cancel_order", map[string]any{"orderId": made.OrderID}) })
		both.Go(func() { pressed = anna.submitPaymentFrom(made.PaymentURL, page) })
		both.Wait()
		toProvider := pressed.status == http.StatusSeeOther && !strings.HasPrefix(pressed.next, s.base)
		switch {
		case !failed && canceled.Status == "canceled" && !toProvider:
		case failed && canceled.Reason == "payment_in_progress" && toProvider:
			if got := anna.post(made.PaymentURL + "/decline"); got.status != http.StatusSeeOther {
				t.Fatalf("decline: status %d", got.status)
			}
		default:
			t.Errorf("canceling: %+v, paying: %d %s", canceled, pressed.status, pressed.next)
		}
		s.waitForStatus(made.OrderID, "canceled")
	}
	s.reconcile()
}

func TestStartOrder_TooManyOpenOrdersLinksPortal(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "DOTKONTOR_ORDERS_MAX_OPEN=1")
	first := s.startOrder(item{"die-erste.de", "register"})
	refused, failed := s.callOrderTool("start_order", map[string]any{"items": []item{{"die-zweite.de", "register"}}})
	if !failed || refused.Code != "not_payable" || refused.Reason != "too_many_open_orders" || refused.URL != s.base+"/portal/orders" {
		t.Fatalf("got %+v", refused)
	}
	if _, failed := s.callOrderTool("cancel_order", map[string]any{"orderId": first.OrderID}); failed {
		t.Fatal("it can't be canceled")
	}
	s.startOrder(item{"die-zweite.de", "register"})
	s.reconcile()
}

func TestOrderStatus_OpenTransferListsRequirements(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	made := s.startOrder(item{"transfer-antiquariat.com", "transfer"})
	for name, answer := range map[string]orderResult{"start_order": made, "get_order_status": s.waitForStatus(made.OrderID, "awaiting_payment")} {
		if len(answer.Requirements) != 1 || answer.Requirements[0].Code != "auth_code" || answer.Requirements[0].Domain != "transfer-antiquariat.com" ||
			answer.Requirements[0].URL != made.PaymentURL || answer.PaymentURL != made.PaymentURL || answer.ExpiresAt == "" {
			t.Errorf("%s: %+v", name, answer)
		}
	}
	s.reconcile()
}

func TestListMyDomains_PagesSearchAndDates(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	type page struct {
		Domains []struct {
			Domain, ManageURL string
			AutoRenew         bool
			RenewEUR          *float64
			ExpiresAt         *string
		}
		Total, Limit, Offset int
	}
	ask := func(arguments map[string]any) page {
		t.Helper()
		var answer page
		if failed := s.callTool("list_my_domains", arguments, &answer); failed {
			t.Fatalf("%v failed", arguments)
		}
		return answer
	}
	all := ask(map[string]any{})
	if all.Total < 3 || len(all.Domains) != all.Total || all.Limit != 100 || all.Offset != 0 {
		t.Fatalf("got %+v", all)
	}
	anna := s.signedInBrowser()
	for _, domain := range all.Domains {
		// The demo customer has agreed to the automatic renewal of one domain.
		if domain.AutoRenew != (domain.Domain == "kaffeehaus-elbblick.de") || domain.RenewEUR == nil || *domain.RenewEUR <= 0 {
			t.Errorf("%s: %+v", domain.Domain, domain)
		}
	}
	if got := anna.get(all.Domains[0].ManageURL); got.status != http.StatusOK || !strings.Contains(got.text, all.Domains[0].Domain) {
		t.Errorf("%s: status %d", all.Domains[0].ManageURL, got.status)
	}
	second := ask(map[string]any{"limit": 1, "offset": 1})
	if second.Total != all.Total || len(second.Domains) != 1 || second.Domains[0].Domain != all.Domains[1].Domain {
		t.Errorf("second page: %+v", second)
	}
	if found := ask(map[string]any{"search": strings.ToUpper(all.Domains[1].Domain)}); found.Total != 1 || found.Domains[0].Domain != all.Domains[1].Domain {
		t.Errorf("found %+v", found)
	}
	if none := ask(map[string]any{"expiresBefore": "1990-01-01"}); none.Total != 0 || len(none.Domains) != 0 {
		t.Errorf("ended before: %+v", none)
	}
	soon := ask(map[string]any{"expiresBefore": "9999-12-31"})
	if soon.Total == 0 || soon.Total >= all.Total { // the demo customer also has a pending domain and one that was transferred out
		t.Errorf("%d of %d have a term", soon.Total, all.Total)
	}
}
