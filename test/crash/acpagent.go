package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

// agent has the credentials of the sandbox's checkout agent.
type agent struct {
	Key    string `json:"key"`
	Secret string `json:"secret"`
}

// Prefixes of payment tokens that the simulated provider knows.
const (
	TokenGood     = "spt_ok"
	TokenDeclined = "spt_declined"
	TokenHuman    = "spt_human"
)

// newToken returns a new token each time: a single-use token would hide a double charge.
func newToken(kind string) string { return kind + "_" + strconv.FormatUint(rand.Uint64(), 36) }

func newKey() string { return newToken("key") }

// postSession sends a signed request with an idempotency key. Without a response, because
// the product was killed, it repeats the request with the same key.
func (s *Shop) postSession(ctx context.Context, path string, message, into any) (status int, err error) {
	body, err := json.Marshal(message)
	if err != nil {
		return 0, err
	}
	key := newKey()
	err = RetryUntil(ctx, "an answer to "+path, func() (bool, error) {
		status, err = s.postSessionOnce(ctx, path, key, body, into)
		var timeout net.Error
		noAnswer := status == 0 && (!errors.As(err, &timeout) || !timeout.Timeout())
		return !noAnswer || ctx.Err() != nil, err
	})
	return status, err
}

// postSessionOnce sends a request. The status is 0 without a response.
func (s *Shop) postSessionOnce(ctx context.Context, path, key string, body []byte, into any) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Base+"/api/acp/checkout_sessions"+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	at := time.Now().UTC().Format(time.RFC3339Nano)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	request.Header.Set("Authorization", "Bearer "+s.agent.Key)
	request.Header.Set(signing.TimestampHeader, at)
	request.Header.Set(signing.SignatureHeader, signing.Compute(s.agent.Secret, at, body))
	response, err := s.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return 0, err
	}
	if into != nil && response.StatusCode < http.StatusMultipleChoices {
		err = json.Unmarshal(text, into)
	}
	if response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("checkout answered %d %s", response.StatusCode, text)
	}
	if response.StatusCode == http.StatusConflict && bytes.Contains(text, []byte("idempotency_in_flight")) {
		s.inFlightConflicts.Add(1)
	}
	return response.StatusCode, err
}

// InFlightConflicts counts retries that got idempotency_in_flight. A node releases its
// leases when it starts, so there should be none.
func (s *Shop) InFlightConflicts() int { return int(s.inFlightConflicts.Load()) }

// CreateSession creates a session for a buyer without an account. If the product is killed
// before it responds, the session that it has stored is used.
func (s *Shop) CreateSession(ctx context.Context, name string) (id string, err error) {
	err = RetryUntil(ctx, "a session for "+name, func() (bool, error) {
		orders, err := s.allOrders(ctx)
		if err != nil {
			return false, err
		}
		for _, o := range orders {
			if o.Agent != "" && slices.ContainsFunc(o.Items, func(i order.Item) bool { return i.Name == name }) {
				id = o.ID
				return true, nil
			}
		}
		wanted, err := json.Marshal(map[string]any{
			"items": []map[string]any{{"id": "register:" + name, "quantity": 1}},
			"buyer": map[string]string{
				"first_name": "Carla", "last_name": "Neu", "email": "carla@" + name, "phone_number": "+4930123456",
			},
			"fulfillment_address": map[string]string{
				"name": "Carla Neu", "line_one": "Seeweg 1", "city": "Berlin", "state": "Berlin", "postal_code": "10115", "country": "DE",
			},
		})
		if err == nil { // a session stored without a response is found above
			_, err = s.postSessionOnce(ctx, "", newKey(), wanted, nil)
		}
		return false, err
	})
	return id, err
}

// CompleteSession completes a session with a token of a kind, once.
func (s *Shop) CompleteSession(ctx context.Context, id, kind string) (status int, err error) {
	return s.postSession(ctx, "/"+id+"/complete", map[string]any{
		"payment_data": map[string]string{"token": newToken(kind), "provider": "stripe"},
	}, nil)
}

// CompleteWithRetry completes a session with one key and token, retries until there is a
// response, and returns the session's status.
func (s *Shop) CompleteWithRetry(ctx context.Context, id string) (session string, err error) {
	var response struct {
		Status string `json:"status"`
	}
	_, err = s.postSession(ctx, "/"+id+"/complete", map[string]any{
		"payment_data": map[string]string{"token": newToken(TokenGood), "provider": "stripe"},
	}, &response)
	return response.Status, err
}

// CompleteUntilPaid completes a session with a new token each time until the order does
// not require payment any more.
func (s *Shop) CompleteUntilPaid(ctx context.Context, id string) error {
	return RetryUntil(ctx, "the completion of "+id, func() (bool, error) {
		o, err := s.storedOrder(ctx, id)
		if err != nil || !o.State.Open() {
			return err == nil, err
		}
		_, err = s.CompleteSession(ctx, id, TokenGood)
		return false, err
	})
}

// CancelSession cancels a session, unless it is paid.
func (s *Shop) CancelSession(ctx context.Context, id string) error {
	return RetryUntil(ctx, "the end of "+id, func() (bool, error) {
		o, err := s.storedOrder(ctx, id)
		if err != nil || !o.State.Open() {
			return err == nil, err
		}
		_, err = s.postSession(ctx, "/"+id+"/cancel", struct{}{}, nil)
		return false, err
	})
}
