package kill

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
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

// checkout sends what an agent would, signed.
func (s *Shop) checkout(ctx context.Context, path string, message, into any) (status int, err error) {
	body, err := json.Marshal(message)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Base+"/api/acp/checkout_sessions"+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	at := time.Now().UTC().Format(time.RFC3339Nano)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+s.agent.Key)
	request.Header.Set(signing.TimestampHeader, at)
	request.Header.Set(signing.SignatureHeader, signing.Compute(s.agent.Secret, at, body))
	response, err := s.human.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err == nil && into != nil && response.StatusCode < http.StatusMultipleChoices {
		err = json.Unmarshal(text, into)
	}
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("checkout answered %d %s", response.StatusCode, text)
	}
	return response.StatusCode, err
}

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
		_, err = s.checkout(ctx, "", map[string]any{
			"items": []map[string]any{{"id": "register:" + name, "quantity": 1}},
			"buyer": map[string]string{
				"first_name": "Carla", "last_name": "Neu", "email": "carla@" + name, "phone_number": "+4930123456",
			},
			"fulfillment_address": map[string]string{
				"name": "Carla Neu", "line_one": "Seeweg 1", "city": "Berlin", "state": "Berlin", "postal_code": "10115", "country": "DE",
			},
		}, nil)
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
