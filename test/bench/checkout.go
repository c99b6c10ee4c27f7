package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

// The requests of a purchase, in order.
const (
	createSession   = "create session"
	completeSession = "complete session"
	readSession     = "read session"
)

// checkoutAgents is large enough that no agent reaches its limit of new sessions, which
// is not raised.
const checkoutAgents = 40

// benchCheckout has agents buy for people without an account: each purchase creates a
// session, completes it with a signature and a payment token, and polls it until the
// domain is registered. Each has its own buyer, who gets mails, and each agent has a
// webhook. The simulated world has no latency.
func benchCheckout(ctx context.Context, b bench) ([]measurement, error) {
	return benchSales(ctx, b, saleScenario{
		name: "checkout", unit: "purchases", firstStep: createSession, kinds: []string{createSession, completeSession, readSession},
		note: "agents and their webhooks, product, registry, payment provider and database share the cores",
		setUp: func(ctx context.Context, b bench, at deployment) (*workload, error) {
			hook, err := newWebhook(ctx)
			if err != nil {
				return nil, err
			}
			agents, err := addAgents(ctx, b, at, checkoutAgents, hook.address())
			if err != nil {
				hook.close()
				return nil, err
			}
			shop := newShopClient(at.running.Server.Ready)
			m := newWorkload(func(ctx context.Context, number int64, note func(string, time.Duration)) error {
				return shop.checkout(ctx, agents[int(number)%len(agents)], number, note)
			}, func() { shop.close(); hook.close() })
			m.check = hook.waitForOrders
			return m, nil
		},
	})
}

// checkoutAgent has an agent's credentials.
type checkoutAgent struct {
	Key    string `json:"key"`
	Secret string `json:"secret"`
}

// addAgents registers agents, as an operator does.
func addAgents(ctx context.Context, b bench, at deployment, count int, hook string) ([]checkoutAgent, error) {
	agents := make([]checkoutAgent, count)
	for i := range agents {
		add := exec.CommandContext(ctx, b.binary, "agents", "add", fmt.Sprintf("Bench %d", i), "--json", "--webhook", hook, "--config", at.running.World.Ready)
		add.Env = append(os.Environ(), at.settings...)
		var problems bytes.Buffer
		add.Stderr = &problems
		text, err := add.Output()
		if err != nil {
			return nil, fmt.Errorf("agents add: %w\n%s", err, problems.Bytes())
		}
		if err := json.Unmarshal(text, &agents[i]); err != nil {
			return nil, err
		}
	}
	return agents, nil
}

// checkoutSession is the part of a session that agents read.
type checkoutSession struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Order  struct {
		Status string `json:"status"`
	} `json:"order"`
}

// checkout buys a name and returns when it is registered.
func (s *shopClient) checkout(ctx context.Context, who checkoutAgent, number int64, note func(string, time.Duration)) error {
	email := fmt.Sprintf("kaeufer-%d@example.org", number)
	session, err := s.sessionRequest(ctx, who, createSession, http.MethodPost, "", map[string]any{
		"items": []map[string]any{{"id": "register:" + domainName(number), "quantity": 1}},
		"buyer": map[string]any{"first_name": "Erika", "last_name": "Mustermann", "email": email, "phone_number": "+49.30123456"},
		"fulfillment_address": map[string]any{
			"name": "Erika Mustermann", "line_one": "Musterweg 1", "city": "Berlin", "state": "BE", "postal_code": "10115", "country": "DE",
		},
	}, http.StatusCreated, note)
	if err != nil {
		return err
	}
	id := session.ID
	session, err = s.sessionRequest(ctx, who, completeSession, http.MethodPost, "/"+id+"/complete", map[string]any{
		"payment_data": map[string]any{"token": fmt.Sprintf("spt_ok_%d", number), "provider": "stripe"},
	}, http.StatusOK, note)
	for {
		if err != nil {
			return err
		}
		if session.Status != "completed" || session.Order.Status != "completed" && session.Order.Status != "provisioning" {
			return fmt.Errorf("the session is %s and its order %s", session.Status, session.Order.Status)
		}
		if session.Order.Status == "completed" {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollInterval):
		}
		session, err = s.sessionRequest(ctx, who, readSession, http.MethodGet, "/"+id, nil, http.StatusOK, note)
	}
}

// sessionRequest is a request of an agent with its key, signed if it changes something.
func (s *shopClient) sessionRequest(ctx context.Context, who checkoutAgent, kind, method, path string, body any, status int, note func(string, time.Duration)) (checkoutSession, error) {
	var (
		text []byte
		read checkoutSession
		err  error
	)
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return read, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, s.address+"/api/acp/checkout_sessions"+path, bytes.NewReader(text))
	if err != nil {
		return read, err
	}
	request.Header.Set("Authorization", "Bearer "+who.Key)
	if method == http.MethodPost {
		timestamp := time.Now().UTC().Format(time.RFC3339Nano)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set(signing.TimestampHeader, timestamp)
		request.Header.Set(signing.SignatureHeader, signing.Compute(who.Secret, timestamp, text))
		request.Header.Set("Idempotency-Key", kind+path+timestamp)
	}
	answer, _, err := s.do(request, kind, status, note)
	if err != nil {
		return read, err
	}
	err = json.Unmarshal(answer, &read)
	return read, err
}
