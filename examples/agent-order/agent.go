package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agent is a session with the service.
type agent struct{ session *mcp.ClientSession }

// bearer sends the customer's token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func connect(ctx context.Context, endpoint, token string) (agent, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "agent-order", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: endpoint, HTTPClient: &http.Client{Transport: bearer(token), Timeout: time.Minute}, DisableStandaloneSSE: true,
	}, nil)
	return agent{session}, err
}

func (a agent) close() { _ = a.session.Close() }

// call runs a tool and decodes its result. A failure is described for a model, so the
// description is the error. If the tool asks to wait, call waits and tries again.
func call[T any](ctx context.Context, a agent, tool string, arguments any) (T, error) {
	var answer T
	for {
		result, err := a.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			return answer, fmt.Errorf("%s: %w", tool, err)
		}
		text, err := json.Marshal(result.StructuredContent)
		if err != nil {
			return answer, err
		}
		if !result.IsError {
			err = json.Unmarshal(text, &answer)
			return answer, err
		}
		var failure struct {
			Code       string `json:"code"`
			RetryAfter int    `json:"retryAfter"`
		}
		if json.Unmarshal(text, &failure) != nil || failure.Code != "rate_limited" {
			return answer, fmt.Errorf("%s: %s", tool, text)
		}
		select {
		case <-ctx.Done():
			return answer, fmt.Errorf("%s: %s", tool, text)
		case <-time.After(time.Duration(max(1, failure.RetryAfter)) * time.Second):
		}
	}
}

// order is the result of start_order, status that of get_order_status.
type order struct {
	OrderID string `json:"orderId"`
	Status  string `json:"status"`
	Totals  struct {
		Net   float64 `json:"netEur"`
		VAT   float64 `json:"vatEur"`
		Gross float64 `json:"grossEur"`
	} `json:"totals"`
	PaymentURL      string `json:"payment_url"`
	VerificationURL string `json:"verification_url"`
}

type status struct {
	Status string `json:"status"`
	Items  []struct {
		Domain string `json:"domain"`
		Status string `json:"status"`
	} `json:"items"`
}

// placeOrder orders, prints where the human has to go, and waits.
func (s settings) placeOrder(ctx context.Context, a agent, out io.Writer) error {
	for _, wanted := range s.scenario.items {
		found, err := call[struct {
			Available *bool `json:"available"`
		}](ctx, a, "domain_check", map[string]any{"domain": wanted.Domain})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "name: %s, free: %t\n", wanted.Domain, found.Available != nil && *found.Available)
	}
	dryRun, err := call[order](ctx, a, "start_order", map[string]any{"items": s.scenario.items, "dryRun": true})
	if err != nil {
		return err
	}
	made, err := call[order](ctx, a, "start_order", map[string]any{"items": s.scenario.items})
	if err != nil {
		return err
	}
	if dryRun.OrderID != "" || dryRun.PaymentURL != "" || dryRun.Totals != made.Totals {
		return errors.New("the dry run created an order or returned another price")
	}
	fmt.Fprintf(out, "order: %s\nnet: %.2f EUR, VAT: %.2f EUR, gross: %.2f EUR\n", made.OrderID, made.Totals.Net, made.Totals.VAT, made.Totals.Gross)
	fmt.Fprintf(out, "payment_url: %s\n", made.PaymentURL)
	// A verified customer is not asked again, and a customer with high recent spending
	// may be asked by any order: the agent relies on what the order says.
	instruction := s.scenario.instruction
	if made.VerificationURL != "" {
		fmt.Fprintf(out, "verification_url: %s\n", made.VerificationURL)
		instruction = "verify your identity at verification_url, then " + instruction
	} else if s.scenario.needsIdentity {
		fmt.Fprintln(out, "note: this customer's identity is already verified; a new sandbox requires it again")
	}
	fmt.Fprintf(out, "human: please %s\n", instruction)
	end, err := s.watch(ctx, a, made.OrderID, out)
	if err != nil {
		return err
	}
	if end != s.scenario.wantStatus {
		return fmt.Errorf("the order should have ended as %s", s.scenario.wantStatus)
	}
	return nil
}

// finalStatuses are the states after which only refunds happen.
var finalStatuses = []string{"completed", "partially_completed", "failed", "canceled", "expired"}

// watch prints each state that the order reaches, and returns the last one.
func (s settings) watch(ctx context.Context, a agent, id string, out io.Writer) (string, error) {
	for before := ""; ; {
		now, err := call[status](ctx, a, "get_order_status", map[string]any{"orderId": id})
		if err != nil {
			return "", err
		}
		if now.Status != before {
			fmt.Fprintf(out, "status: %s\n", now.Status)
			before = now.Status
		}
		if slices.Contains(finalStatuses, now.Status) {
			for _, item := range now.Items {
				fmt.Fprintf(out, "item: %s %s\n", item.Domain, item.Status)
			}
			return now.Status, nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(s.pollInterval):
		}
	}
}
