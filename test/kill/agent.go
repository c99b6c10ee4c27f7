package kill

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

// agent is how the sandbox says that its checkout agent shows who it is.
type agent struct {
	Key    string `json:"key"`
	Secret string `json:"secret"`
}

// Tokens of the simulated provider, by how they begin.
const (
	TokenGood     = "spt_ok"
	TokenDeclined = "spt_declined"
	TokenHuman    = "spt_human"
)

// freshToken is another one each time: a token that pays once would hide that
// somebody charges twice.
func freshToken(kind string) string { return kind + "_" + strconv.FormatUint(rand.Uint64(), 36) }

func freshKey() string { return freshToken("key") }

// checkout sends what an agent would, signed and with a key. What got no answer,
// because the product died, is sent again with the same key until there is one.
func (s *Shop) checkout(ctx context.Context, path string, message, into any) (status int, err error) {
	body, err := json.Marshal(message)
	if err != nil {
		return 0, err
	}
	key := freshKey()
	err = Insist(ctx, "an answer to "+path, func() (bool, error) {
		status, err = s.checkoutOnce(ctx, path, key, body, into)
		var timeout net.Error
		noAnswer := status == 0 && (!errors.As(err, &timeout) || !timeout.Timeout())
		return !noAnswer || ctx.Err() != nil, err
	})
	return status, err
}

// checkoutOnce sends a request. The status is 0 if there was no answer.
func (s *Shop) checkoutOnce(ctx context.Context, path, key string, body []byte, into any) (status int, err error) {
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
	response, err := s.human.Do(request)
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
		s.inFlight.Add(1)
	}
	return response.StatusCode, err
}

// InFlight is how often a retry heard that its request still runs. A node that starts
// gives back the keys that it held when it died, so it never should.
func (s *Shop) InFlight() int { return int(s.inFlight.Load()) }

// Session has an agent order a name for somebody without an account. If the product
// dies before it answers, the session that it has made is the one.
func (s *Shop) Session(ctx context.Context, name string) (id string, err error) {
	err = Insist(ctx, "a session for "+name, func() (bool, error) {
		orders, err := s.orders(ctx)
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
		if err == nil { // a session that was made without an answer is found above
			_, err = s.checkoutOnce(ctx, "", freshKey(), wanted, nil)
		}
		return false, err
	})
	return id, err
}

// Complete completes a session with a token of a kind, once.
func (s *Shop) Complete(ctx context.Context, id, kind string) (status int, err error) {
	return s.checkout(ctx, "/"+id+"/complete", map[string]any{
		"payment_data": map[string]string{"token": freshToken(kind), "provider": "stripe"},
	}, nil)
}

// Retry completes a session with one key and token until there is an answer, however
// often the product dies, and returns the session's status.
func (s *Shop) Retry(ctx context.Context, id string) (session string, err error) {
	var told struct {
		Status string `json:"status"`
	}
	_, err = s.checkout(ctx, "/"+id+"/complete", map[string]any{
		"payment_data": map[string]string{"token": freshToken(TokenGood), "provider": "stripe"},
	}, &told)
	return told.Status, err
}

// CompleteAtLast completes a session again and again, with another token each time,
// until the order does not want money any more.
func (s *Shop) CompleteAtLast(ctx context.Context, id string) error {
	return Insist(ctx, "the completion of "+id, func() (bool, error) {
		o, err := s.order(ctx, id)
		if err != nil || !o.State.Open() {
			return err == nil, err
		}
		_, err = s.Complete(ctx, id, TokenGood)
		return false, err
	})
}

// Cancel ends a session, unless it turns out to be paid.
func (s *Shop) Cancel(ctx context.Context, id string) error {
	return Insist(ctx, "the end of "+id, func() (bool, error) {
		o, err := s.order(ctx, id)
		if err != nil || !o.State.Open() {
			return err == nil, err
		}
		_, err = s.checkout(ctx, "/"+id+"/cancel", struct{}{}, nil)
		return false, err
	})
}
