package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
)

// InjectFault makes the payment provider fail as described.
func (s *Shop) InjectFault(ctx context.Context, fault stripe.Fault) error {
	return s.callProviderControl(ctx, http.MethodPost, "/faults", fault, nil)
}

// ClearFaults removes all faults. Lost webhooks stay lost.
func (s *Shop) ClearFaults(ctx context.Context) error {
	return s.callProviderControl(ctx, http.MethodDelete, "/faults", nil, nil)
}

// PendingFaults returns the faults that have not occurred yet.
func (s *Shop) PendingFaults(ctx context.Context) (left []stripe.Fault, err error) {
	err = s.callProviderControl(ctx, http.MethodGet, "/faults", nil, &left)
	return left, err
}

// Money returns the provider's charges and refunds.
func (s *Shop) Money(ctx context.Context) (stripe.Records, error) {
	var money stripe.Records
	err := s.callProviderControl(ctx, http.MethodGet, "/money", nil, &money)
	return money, err
}

// Webhooks returns the state of the provider's webhook deliveries.
func (s *Shop) Webhooks(ctx context.Context) (stripe.Webhooks, error) {
	var hooks stripe.Webhooks
	err := s.callProviderControl(ctx, http.MethodGet, "/webhooks", nil, &hooks)
	return hooks, err
}

// callProviderControl calls the control address of the simulated provider.
func (s *Shop) callProviderControl(ctx context.Context, method, path string, message, into any) error {
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
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("crash: provider control: %s", response.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(into)
}
