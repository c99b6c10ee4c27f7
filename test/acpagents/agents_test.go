package acpagents

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/webhook"
	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
	"github.com/dotkontor/dotkontor/test/testkit"
)

func TestExampleAgent_BuysADomain(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	example := s.buildExampleAgent()
	out, err := s.runProgram(example, "--info", s.Info, "--wait", "2m")
	if err != nil || !strings.Contains(string(out), "\nstatus: completed, order: completed\nregistered: beispiel-") {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err = s.runProgram(example, "--info", s.Info, "--token", "spt_declined_1")
	if err == nil || !strings.Contains(string(out), "acp-agent: 402 payment_declined") {
		t.Errorf("a declined token: %v\n%s", err, out)
	}
	s.Reconcile(t)
}

func TestExampleScript_CompletesStartOrderOrder(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"sh", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	s := newEnv(t)
	r, address := startWebhookReceiver(t, 0)
	var hook agentCredentials
	if out := s.runCLI("agents", "rotate", s.Agent.ID, "--webhook", address, "--json"); json.Unmarshal(out, &hook) != nil || hook.WebhookSecret == "" {
		t.Fatalf("agents rotate printed %s", out)
	}
	r.setSecret(hook)
	out, err := s.runProgram("../../examples/acp-complete.sh", s.Info)
	if err != nil || !strings.Contains(string(out), "\nsession: completed\nregistered: beispiel-") {
		t.Fatalf("%v\n%s", err, out)
	}
	testkit.Eventually(s.t, "webhook about the completed order", func() bool { return r.lastAccepted().Data.Status == "completed" })
	if first := r.allEvents()[0]; first.Type != "order_create" {
		t.Errorf("the first message was %+v", first)
	}
	s.Reconcile(t)
}

// webhookReceiver is an agent's webhook endpoint.
type webhookReceiver struct {
	t      *testing.T
	secret string

	mu     sync.Mutex
	events []webhookEvent
	// rejectFirst is the number of deliveries to reject first.
	rejectFirst int
}

// webhookEvent is an accepted or rejected delivery.
type webhookEvent struct {
	id       string
	rejected bool
	Type     string `json:"type"`
	Data     struct {
		Session     string `json:"checkout_session_id"`
		Permalink   string `json:"permalink_url"`
		Status      string `json:"status"`
		Adjustments []struct {
			Status string `json:"status"`
			Amount int64  `json:"amount"`
		} `json:"adjustments"`
		Refunds []struct {
			Type   string `json:"type"`
			Amount int64  `json:"amount"`
		} `json:"refunds"`
		Lines []struct {
			Product string `json:"product_id"`
			Status  string `json:"status"`
		} `json:"line_items"`
	} `json:"data"`
}

func startWebhookReceiver(t *testing.T, refuse int) (r *webhookReceiver, address string) {
	t.Helper()
	r = &webhookReceiver{t: t, rejectFirst: refuse}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return r, server.URL + "/agentic_checkout/webhooks/order_events"
}

// setSecret sets the secret that deliveries are signed with.
func (r *webhookReceiver) setSecret(agent agentCredentials) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = agent.WebhookSecret
}

func (r *webhookReceiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	var at int64
	signature := request.Header.Get("Merchant-Signature")
	if _, scanErr := fmt.Sscanf(signature, "t=%d,v1=", &at); err != nil || scanErr != nil {
		r.t.Errorf("signed as %q: %v", signature, err)
		return
	}
	if signature != webhook.Sign(r.secret, time.Unix(at, 0), body) || time.Since(time.Unix(at, 0)).Abs() > time.Minute {
		r.t.Errorf("invalid signature %q", signature)
	}
	one := webhookEvent{id: request.Header.Get("Request-Id")}
	if err := json.Unmarshal(body, &one); err != nil {
		r.t.Error(err)
	}
	if r.rejectFirst > 0 {
		r.rejectFirst--
		one.rejected = true
		w.WriteHeader(http.StatusInternalServerError)
	}
	r.events = append(r.events, one)
}

func (r *webhookReceiver) allEvents() []webhookEvent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// lastAccepted returns the last accepted delivery.
func (r *webhookReceiver) lastAccepted() webhookEvent {
	all := slices.DeleteFunc(r.allEvents(), func(m webhookEvent) bool { return m.rejected })
	if len(all) == 0 {
		return webhookEvent{}
	}
	return all[len(all)-1]
}

func TestWebhook_DeliversOrderEventsUntilCompleted(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	r, address := startWebhookReceiver(t, 1)
	agent := s.addAgent("Hörer", "--webhook", address)
	r.setSecret(agent)
	out, err := s.runProgram(s.buildExampleAgent(), "--url", s.Base, "--key", agent.Key, "--secret", agent.Secret)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	testkit.Eventually(s.t, "webhook about the completed order", func() bool { return r.lastAccepted().Data.Status == "completed" })
	all := r.allEvents()
	if !all[0].rejected || all[0].Type != "order_create" {
		t.Errorf("the first message was %+v", all[0])
	}
	creates := 0
	for _, message := range all {
		if message.Type == "order_create" && !message.rejected {
			creates++
		}
		if !strings.Contains(string(out), "session: "+message.Data.Session+"\n") || message.Data.Permalink != s.Base+"/portal/orders/"+message.Data.Session {
			t.Errorf("a message about %s at %s", message.Data.Session, message.Data.Permalink)
		}
	}
	if creates != 1 {
		t.Errorf("the order was created %d times: %+v", creates, all)
	}
	if lines := r.lastAccepted().Data.Lines; len(lines) != 1 || lines[0].Status != "fulfilled" || !strings.HasPrefix(lines[0].Product, "register:beispiel-") {
		t.Errorf("got %+v", lines)
	}
	s.Reconcile(t)
}

func TestWebhook_ReportsRefund(t *testing.T) {
	t.Parallel()
	for version, returned := range map[string]func(webhookEvent) int64{
		"2026-04-17": func(m webhookEvent) int64 {
			if len(m.Data.Adjustments) == 1 && m.Data.Adjustments[0].Status == "completed" {
				return m.Data.Adjustments[0].Amount
			}
			return 0
		},
		"2025-09-29": func(m webhookEvent) int64 {
			if len(m.Data.Refunds) == 1 && m.Data.Refunds[0].Type == "original_payment" {
				return m.Data.Refunds[0].Amount
			}
			return 0
		},
	} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t)
			r, address := startWebhookReceiver(t, 0)
			agent := s.addAgent("Hörer", "--webhook", address, "--webhook-version", version)
			r.setSecret(agent)
			s.buyTwoAndLoseOne(agent)
			testkit.Eventually(s.t, "webhook about the refund", func() bool { return returned(r.lastAccepted()) > 0 })
			if want := map[string]string{"2026-04-17": "completed", "2025-09-29": "fulfilled"}[version]; r.lastAccepted().Data.Status != want {
				t.Errorf("the order is %s", r.lastAccepted().Data.Status)
			}
			s.Reconcile(t)
		})
	}
}

// buyTwoAndLoseOne buys two names. The second is taken between the last check and the
// charge.
func (s *env) buyTwoAndLoseOne(agent agentCredentials) {
	s.t.Helper()
	status, made := s.requestSession(agent, http.MethodPost, "", map[string]any{
		"items": []map[string]any{{"id": "register:zwei-wuensche.de", "quantity": 1}, {"id": "register:zwei-wuensche.com", "quantity": 1}},
		"buyer": map[string]any{"first_name": "Erika", "last_name": "Mustermann", "email": "erika@example.org", "phone_number": "+49.30123456"},
		"fulfillment_address": map[string]any{
			"name": "Erika Mustermann", "line_one": "Musterweg 1", "city": "Berlin", "state": "BE", "postal_code": "10115", "country": "DE",
		},
	})
	if status != http.StatusCreated {
		s.t.Fatalf("%d: %v", status, made)
	}
	id, _ := made["id"].(string)
	if err := s.Provider.InjectFault(s.t.Context(), stripe.Fault{On: "*", Do: "slow", Delay: "4s", Times: 2}); err != nil {
		s.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.completeSession(agent, id)
	}()
	testkit.Eventually(s.t, "payment in progress", func() bool {
		_, now := s.requestSession(agent, http.MethodGet, "/"+id, nil)
		return now["status"] == "in_progress"
	})
	s.runCLI("domains", "register", "zwei-wuensche.com", "--customer", s.Demo.Email, "--manual-payment", "R-1")
	<-done
}
