package orders

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// reload loads pages repeatedly over several connections, at most once a second each, until
// stop is called.
func (h browser) reload(connections int, links ...string) (stop func()) {
	ctx, cancel := context.WithCancel(h.t.Context())
	var all sync.WaitGroup
	for i := range connections {
		all.Go(func() {
			pace := time.NewTicker(time.Second)
			defer pace.Stop()
			for ; ctx.Err() == nil; i++ {
				request, err := http.NewRequestWithContext(ctx, http.MethodGet, links[i%len(links)], http.NoBody)
				if err != nil {
					return
				}
				response, err := h.client.Do(request)
				if err != nil {
					continue
				}
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
				select {
				case <-pace.C:
				case <-ctx.Done():
				}
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// largeOrder creates an order of 20 names.
func (s *env) largeOrder(number int) orderResult {
	s.t.Helper()
	items := make([]item, 20)
	for i := range items {
		items[i] = item{Domain: fmt.Sprintf("large-%d-%d.de", number, i), Type: "register"}
	}
	return s.startOrder(items...)
}

// slowRegistry limits the registry account to ten commands a second, each for one name.
func slowRegistry(config string) (string, error) {
	for _, setting := range [][2]string{{"per_second = 0", "per_second = 10"}, {"check_names = 100", "check_names = 1"}} {
		if strings.Count(config, setting[0]) != 1 {
			return "", fmt.Errorf("the world's configuration does not have %q once", setting[0])
		}
		config = strings.Replace(config, setting[0], setting[1], 1)
	}
	return config, nil
}

// Reloading the pages of large orders at a slow registry delays no other customer's
// payment or registration. Budget and cache are effectively off, so that only the EPP
// priority protects them: the pages want more than the account can do. How long a payment may
// take is the product's own limit; that it waits for no page is tested in package epp.
func TestFlood_PageReloadsDelayNoPaymentOrRegistration(t *testing.T) {
	t.Parallel()
	s := newEnvBehind(t, slowRegistry, "DOTKONTOR_ORDERS_REUSE_QUOTES=1s")
	var links []string
	for number := range 4 {
		links = append(links, s.largeOrder(number).PaymentURL)
	}
	const name = "ungestoert-bezahlt.de"
	made := s.createGuestSession(name)
	anna := s.signedInBrowser()
	stop := anna.reload(40, links...)
	defer stop()
	// A page shows that it waited in vain; one whose quotes are just answered does not.
	waitUntilBusy := func() {
		for began := time.Now(); !strings.Contains(anna.get(links[0]).text, "Preise und Verfügbarkeit konnten wir gerade nicht aktualisieren."); time.Sleep(100 * time.Millisecond) {
			if time.Since(began) > waitTimeout {
				t.Fatal("the pages do not keep the registry busy")
			}
		}
	}
	waitUntilBusy()
	began := time.Now()
	done, status := s.sessionRequest(http.MethodPost, "/"+made.ID+"/complete", paymentData("spt_ok_1"))
	if status != http.StatusOK || done.Status != "completed" {
		t.Fatalf("the payment: %d %+v", status, done)
	}
	for !s.atRegistry(name) {
		if time.Since(began) > waitTimeout {
			t.Fatalf("the paid name is not registered after %s", time.Since(began))
		}
		time.Sleep(100 * time.Millisecond)
	}
	waitUntilBusy()
	stop()
	s.reconcile()
}

func (s *env) atRegistry(name string) bool {
	s.t.Helper()
	holdings, err := s.world.Holdings(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return slices.ContainsFunc(holdings.Domains, func(d *ledger.Domain) bool { return d.Name == name })
}

func TestFlood_OverLimitPagesAreStaleAndOrdersRefused(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "DOTKONTOR_LIMITS_QUOTES_PER_MINUTE=20", "DOTKONTOR_LIMITS_QUOTES_PER_HOUR=20", "DOTKONTOR_ORDERS_REUSE_QUOTES=1s",
		"DOTKONTOR_LIMITS_AGENT_QUOTES_PER_MINUTE=20", "DOTKONTOR_LIMITS_AGENT_QUOTES_PER_HOUR=20")
	items := make([]item, 20)
	for i := range items {
		items[i] = item{Domain: fmt.Sprintf("viele-%d.de", i), Type: "register"}
	}
	made := s.startOrder(items...)
	anna := s.signedInBrowser()
	page := anna.get(made.PaymentURL) // it still shows which application created the order
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline) && !strings.Contains(page.text, "Stand:"); time.Sleep(100 * time.Millisecond) {
		page = anna.get(made.PaymentURL)
	}
	if page.status != http.StatusOK || !strings.Contains(page.text, "Preise und Verfügbarkeit konnten wir gerade nicht aktualisieren.") || !strings.Contains(page.text, `name="gross"`) {
		t.Errorf("the page shows %d\n%s", page.status, page.text)
	}
	for _, dryRun := range []bool{false, true} {
		answer, failed := s.callOrderTool("start_order", map[string]any{"items": []item{{"noch-eine.de", "register"}}, "dryRun": dryRun})
		if !failed || answer.Code != "rate_limited" {
			t.Errorf("start_order, dryRun %v: %+v", dryRun, answer)
		}
	}
	anna.post(s.base+"/warenkorb/add", "item", "register:noch-eine.de")
	if got := anna.post(s.base + "/warenkorb/order"); got.status != http.StatusTooManyRequests {
		t.Errorf("basket: status %d\n%s", got.status, got.text)
	}
	// Agents have a separate budget, which creating, reading and changing sessions
	// spends.
	session := s.createGuestSession("carlas-erste.de")
	for range 30 {
		if _, status := s.sessionRequest(http.MethodPost, "/"+session.ID, map[string]any{}); status == http.StatusTooManyRequests {
			break
		}
	}
	if _, status := s.sessionRequest(http.MethodPost, "/"+session.ID, map[string]any{}); status != http.StatusTooManyRequests {
		t.Errorf("changing the session: status %d", status)
	}
	if seen, status := s.sessionRequest(http.MethodGet, "/"+session.ID, nil); status != http.StatusOK || seen.Status != "ready_for_payment" {
		t.Errorf("reading the session: %d %+v", status, seen)
	}
	// Viewing too often does not prevent paying.
	if done, status := s.sessionRequest(http.MethodPost, "/"+session.ID+"/complete", paymentData("spt_ok_1")); status != http.StatusOK || done.Status != "completed" {
		t.Errorf("the completion: %d %+v", status, done)
	}
	anna.pay(made.PaymentURL)
	s.waitForStatus(made.OrderID, "completed")
	s.reconcile()
}
