package testkit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
)

// Provider controls the simulated payment provider of a world in another process.
type Provider struct{ control stripe.Control }

// FindProvider reads the control address from the world's data folder.
func FindProvider(data string) (Provider, error) {
	control, err := stripe.ReadControl(data)
	return Provider{control}, err
}

// Money returns the provider's charges and refunds.
func (p Provider) Money(ctx context.Context) (stripe.Records, error) {
	var all stripe.Records
	err := p.call(ctx, http.MethodGet, "/money", nil, &all)
	return all, err
}

// Webhooks returns the state of the provider's webhook deliveries.
func (p Provider) Webhooks(ctx context.Context) (stripe.Webhooks, error) {
	var all stripe.Webhooks
	err := p.call(ctx, http.MethodGet, "/webhooks", nil, &all)
	return all, err
}

// InjectFault makes the provider fail as described.
func (p Provider) InjectFault(ctx context.Context, fault stripe.Fault) error {
	return p.call(ctx, http.MethodPost, "/faults", fault, nil)
}

// PendingFaults returns the faults that have not occurred yet.
func (p Provider) PendingFaults(ctx context.Context) (left []stripe.Fault, err error) {
	err = p.call(ctx, http.MethodGet, "/faults", nil, &left)
	return left, err
}

// SaveCard saves a card for a new customer with an address, as a purchase would.
func (p Provider) SaveCard(ctx context.Context, email, behaves string) (saved stripe.SavedCard, err error) {
	err = p.call(ctx, http.MethodPut, "/cards", stripe.SavedCard{Email: email, Behaves: behaves}, &saved)
	return saved, err
}

// ChangeCards makes the saved cards behave like a test number; empty as before.
func (p Provider) ChangeCards(ctx context.Context, number string) error {
	return p.call(ctx, http.MethodPost, "/cards", stripe.SavedCard{Behaves: number}, nil)
}

// Dispute opens a dispute, an inquiry or a bank return of a payment.
func (p Provider) Dispute(ctx context.Context, request stripe.DisputeRequest) (made stripe.Dispute, err error) {
	err = p.call(ctx, http.MethodPost, "/disputes", request, &made)
	return made, err
}

// Disputes returns all disputes, oldest first.
func (p Provider) Disputes(ctx context.Context) (all []stripe.Dispute, err error) {
	err = p.call(ctx, http.MethodGet, "/disputes", nil, &all)
	return all, err
}

// MoveDispute changes the status of a dispute.
func (p Provider) MoveDispute(ctx context.Context, id, status string) error {
	return p.call(ctx, http.MethodPut, "/disputes", map[string]string{"id": id, "status": status}, nil)
}

// ClearFaults removes all faults. Lost webhooks stay lost.
func (p Provider) ClearFaults(ctx context.Context) error {
	return p.call(ctx, http.MethodDelete, "/faults", nil, nil)
}

// Redeliver sends pending and lost webhooks now.
func (p Provider) Redeliver(ctx context.Context) error {
	return p.call(ctx, http.MethodPost, "/redeliver", nil, nil)
}

// RefundPayment refunds a payment as an operator does in the provider's dashboard; an amount of
// 0 means all that is left.
func (p Provider) RefundPayment(ctx context.Context, intent string, amount registrar.Cents) (made stripe.Refund, err error) {
	err = p.call(ctx, http.MethodPost, "/refunds", stripe.RefundControl{Intent: intent, Amount: int64(amount)}, &made)
	return made, err
}

// ReturnRefund lets a refund fail after it succeeded, as if the bank returned the money.
func (p Provider) ReturnRefund(ctx context.Context, id string) error {
	return p.call(ctx, http.MethodPost, "/refunds", stripe.RefundControl{Refund: id}, nil)
}

// SetWebhookURL sets the endpoint for webhooks by the product's base URL.
func (p Provider) SetWebhookURL(ctx context.Context, baseURL string) error {
	return p.call(ctx, http.MethodPost, "/endpoint", map[string]string{"url": strings.TrimSuffix(baseURL, "/") + "/api/stripe/webhook"}, nil)
}

func (p Provider) call(ctx context.Context, method, path string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, p.control.Address+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+p.control.Secret)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 64<<20))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("testkit: provider control: %s: %s", response.Status, strings.TrimSpace(string(answer)))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}
