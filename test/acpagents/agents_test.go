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

	"github.com/dotkontor/dotkontor/internal/registrar/tidings"
	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
)

func TestTheExampleBuysADomain(t *testing.T) {
	t.Parallel()
	s := open(t)
	example := s.example()
	out, err := s.run(example, "--info", s.Info, "--wait", "2m")
	if err != nil || !strings.Contains(string(out), "\nstatus: completed, order: completed\nregistered: beispiel-") {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err = s.run(example, "--info", s.Info, "--token", "spt_declined_1")
	if err == nil || !strings.Contains(string(out), "acp-agent: 402 payment_declined") {
		t.Errorf("a declined token: %v\n%s", err, out)
	}
	s.Books(t)
}

func TestTheScriptCompletesAnOrderOfStartOrder(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"sh", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed; the script needs it", tool)
		}
	}
	s := open(t)
	r, address := listen(t, 0)
	var hook identity
	if out := s.do("agents", "rotate", s.Agent.ID, "--webhook", address, "--json"); json.Unmarshal(out, &hook) != nil || hook.WebhookSecret == "" {
		t.Fatalf("agents rotate said %s", out)
	}
	r.trust(hook)
	out, err := s.run("../../examples/acp-complete.sh", s.Info)
	if err != nil || !strings.Contains(string(out), "\nsession: completed\nregistered: beispiel-") {
		t.Fatalf("%v\n%s", err, out)
	}
	s.until("the agent that paid hears that the order is completed", func() bool { return r.last().Data.Status == "completed" })
	if first := r.messages()[0]; first.Type != "order_create" {
		t.Errorf("the first message was %+v", first)
	}
	s.Books(t)
}

// receiver is an agent's webhook.
type receiver struct {
	t      *testing.T
	secret string

	mu    sync.Mutex
	heard []heard
	// refuse is how many messages are refused first.
	refuse int
}

// heard is one message that was taken or refused.
type heard struct {
	id      string
	refused bool
	Type    string `json:"type"`
	Data    struct {
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

func listen(t *testing.T, refuse int) (r *receiver, address string) {
	t.Helper()
	r = &receiver{t: t, refuse: refuse}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return r, server.URL + "/agentic_checkout/webhooks/order_events"
}

// trust takes messages that are signed with an agent's secret.
func (r *receiver) trust(who identity) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = who.WebhookSecret
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	var at int64
	signature := request.Header.Get("Merchant-Signature")
	if _, scanErr := fmt.Sscanf(signature, "t=%d,v1=", &at); err != nil || scanErr != nil {
		r.t.Errorf("signed as %q: %v", signature, err)
		return
	}
	if signature != tidings.Sign(r.secret, time.Unix(at, 0), body) || time.Since(time.Unix(at, 0)).Abs() > time.Minute {
		r.t.Errorf("the signature %q is not ours", signature)
	}
	one := heard{id: request.Header.Get("Request-Id")}
	if err := json.Unmarshal(body, &one); err != nil {
		r.t.Error(err)
	}
	if r.refuse > 0 {
		r.refuse--
		one.refused = true
		w.WriteHeader(http.StatusInternalServerError)
	}
	r.heard = append(r.heard, one)
}

func (r *receiver) messages() []heard {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.heard)
}

// last is the last message that was taken.
func (r *receiver) last() heard {
	all := slices.DeleteFunc(r.messages(), func(m heard) bool { return m.refused })
	if len(all) == 0 {
		return heard{}
	}
	return all[len(all)-1]
}

func TestAnAgentHearsOfItsOrderUntilTheEnd(t *testing.T) {
	t.Parallel()
	s := open(t)
	r, address := listen(t, 1)
	who := s.admit("Hörer", "--webhook", address)
	r.trust(who)
	out, err := s.run(s.example(), "--url", s.Base, "--key", who.Key, "--secret", who.Secret)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.until("the agent hears that the order is completed", func() bool { return r.last().Data.Status == "completed" })
	all := r.messages()
	if !all[0].refused || all[0].Type != "order_create" {
		t.Errorf("the first message was %+v", all[0])
	}
	creates := 0
	for _, message := range all {
		if message.Type == "order_create" && !message.refused {
			creates++
		}
		if !strings.Contains(string(out), "session: "+message.Data.Session+"\n") || message.Data.Permalink != s.Base+"/portal/orders/"+message.Data.Session {
			t.Errorf("a message about %s at %s", message.Data.Session, message.Data.Permalink)
		}
	}
	if creates != 1 {
		t.Errorf("the order was created %d times: %+v", creates, all)
	}
	if lines := r.last().Data.Lines; len(lines) != 1 || lines[0].Status != "fulfilled" || !strings.HasPrefix(lines[0].Product, "register:beispiel-") {
		t.Errorf("got %+v", lines)
	}
	s.Books(t)
}

func TestMoneyThatGoesBackIsTold(t *testing.T) {
	t.Parallel()
	for version, returned := range map[string]func(heard) int64{
		"2026-04-17": func(m heard) int64 {
			if len(m.Data.Adjustments) == 1 && m.Data.Adjustments[0].Status == "completed" {
				return m.Data.Adjustments[0].Amount
			}
			return 0
		},
		"2025-09-29": func(m heard) int64 {
			if len(m.Data.Refunds) == 1 && m.Data.Refunds[0].Type == "original_payment" {
				return m.Data.Refunds[0].Amount
			}
			return 0
		},
	} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			r, address := listen(t, 0)
			who := s.admit("Hörer", "--webhook", address, "--webhook-version", version)
			r.trust(who)
			s.loseOne(who)
			s.until("the agent hears that money went back", func() bool { return returned(r.last()) > 0 })
			if want := map[string]string{"2026-04-17": "completed", "2025-09-29": "fulfilled"}[version]; r.last().Data.Status != want {
				t.Errorf("the order is %s", r.last().Data.Status)
			}
			s.Books(t)
		})
	}
}

// loseOne buys two names of which somebody takes the second between the last question
// and the charge.
func (s *stage) loseOne(who identity) {
	s.t.Helper()
	status, made := s.session(who, http.MethodPost, "", map[string]any{
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
	if err := s.Provider.Fault(s.t.Context(), stripe.Fault{On: "*", Do: "slow", Delay: "4s", Times: 2}); err != nil {
		s.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.complete(who, id)
	}()
	s.until("the order is being paid", func() bool {
		_, now := s.session(who, http.MethodGet, "/"+id, nil)
		return now["status"] == "in_progress"
	})
	s.do("domains", "register", "zwei-wuensche.com", "--customer", s.Demo.Email, "--manual-payment", "R-1")
	<-done
}
