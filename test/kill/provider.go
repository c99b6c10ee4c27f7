package kill

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
)

// Fault has something go wrong at the payment provider.
func (s *Shop) Fault(ctx context.Context, fault stripe.Fault) error {
	return s.provider(ctx, http.MethodPost, "/faults", fault, nil)
}

// NoFaults has everything go right from now on. What was lost stays so.
func (s *Shop) NoFaults(ctx context.Context) error {
	return s.provider(ctx, http.MethodDelete, "/faults", nil, nil)
}

// Faults are those that have not happened yet.
func (s *Shop) Faults(ctx context.Context) (left []stripe.Fault, err error) {
	err = s.provider(ctx, http.MethodGet, "/faults", nil, &left)
	return left, err
}

// Money is what the provider's books say.
func (s *Shop) Money(ctx context.Context) (stripe.Money, error) {
	var money stripe.Money
	err := s.provider(ctx, http.MethodGet, "/money", nil, &money)
	return money, err
}

// Webhooks is what became of the provider's messages.
func (s *Shop) Webhooks(ctx context.Context) (stripe.Webhooks, error) {
	var hooks stripe.Webhooks
	err := s.provider(ctx, http.MethodGet, "/webhooks", nil, &hooks)
	return hooks, err
}

// provider asks the control of the simulated provider.
func (s *Shop) provider(ctx context.Context, method, path string, message, into any) error {
	control, err := stripe.ReadControl(s.Folder)
	if err != nil {
		return err
	}
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, control.Address+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+control.Secret)
	response, err := s.human.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the provider's control answered %s", response.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(into)
}
