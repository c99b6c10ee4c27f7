package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	apiVersion   = "2026-04-17"
	sessionsPath = "/api/acp/checkout_sessions"
	// maxResponseBytes bounds what is read of a response.
	maxResponseBytes = 1 << 20
	// maxAttempts is how often a request without a response is sent.
	maxAttempts = 5
)

// client speaks the protocol.
type client struct {
	base, key, secret string
	http              *http.Client
}

func newClient(base, key, secret string) *client {
	return &client{base: strings.TrimSuffix(base, "/"), key: key, secret: secret, http: &http.Client{Timeout: time.Minute}}
}

// apiError is an error response of the service.
type apiError struct {
	Status  int    `json:"-"`
	Type    string `json:"type"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Param   string `json:"param"`
}

func (p *apiError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("%d %s: %s %s", p.Status, p.Code, p.Message, p.Param))
}

// sign proves that we sent this body just now: an HMAC-SHA256 over the time, a full
// stop and the exact bytes of the body.
func sign(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// post sends a request that changes something. A retry uses the same Idempotency-Key,
// so that nothing happens twice if only the response was lost.
func (c *client) post(ctx context.Context, path string, request any) (session, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return session{}, err
	}
	idempotencyKey := rand.Text()
	for attempt := 1; ; attempt++ {
		got, retryable, err := c.send(ctx, http.MethodPost, path, body, idempotencyKey)
		if err == nil || !retryable || attempt == maxAttempts {
			return got, err
		}
		select {
		case <-ctx.Done():
			return session{}, ctx.Err()
		case <-time.After(time.Duration(attempt) * time.Second):
		}
	}
}

func (c *client) get(ctx context.Context, id string) (session, error) {
	got, _, err := c.send(ctx, http.MethodGet, sessionsPath+"/"+id, nil, "")
	return got, err
}

// send sends one request; again means that it is worth retrying.
func (c *client) send(ctx context.Context, method, path string, body []byte, idempotencyKey string) (got session, retryable bool, err error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return session{}, false, err
	}
	request.Header.Set("API-Version", apiVersion)
	request.Header.Set("Authorization", "Bearer "+c.key)
	if method == http.MethodPost {
		timestamp := time.Now().UTC().Format(time.RFC3339)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", idempotencyKey)
		request.Header.Set("Timestamp", timestamp)
		request.Header.Set("Signature", sign(c.secret, timestamp, body))
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return session{}, true, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxResponseBytes))
	if err != nil {
		return session{}, true, err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		failed := &apiError{Status: answer.StatusCode}
		if json.Unmarshal(text, failed) != nil {
			failed.Message = http.StatusText(answer.StatusCode)
		}
		busy := failed.Code == "idempotency_in_flight" || answer.StatusCode == http.StatusTooManyRequests
		return session{}, busy || answer.StatusCode >= http.StatusInternalServerError, failed
	}
	err = json.Unmarshal(text, &got)
	return got, false, err
}
