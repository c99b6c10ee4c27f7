package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// webhookTimeout is how long the last webhook may take after the last purchase.
const webhookTimeout = 30 * time.Second

// webhook accepts every delivery and counts those about a new order.
type webhook struct {
	listener net.Listener
	server   *http.Server
	created  atomic.Int64
}

func newWebhook(ctx context.Context) (*webhook, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &webhook{listener: listener}
	w.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(w.receive)}
	go func() {
		if err := w.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			_ = listener.Close()
		}
	}()
	return w, nil
}

func (w *webhook) receive(answer http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		answer.WriteHeader(http.StatusBadRequest)
		return
	}
	if bytes.HasPrefix(body, []byte(`{"type":"order_create"`)) {
		w.created.Add(1)
	}
}

// waitForOrders waits for webhooks about this many orders.
func (w *webhook) waitForOrders(ctx context.Context, orders int) error {
	ctx, cancel := context.WithTimeout(ctx, webhookTimeout)
	defer cancel()
	for w.created.Load() < int64(orders) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("webhooks reported %d of %d orders", w.created.Load(), orders)
		case <-time.After(pollInterval):
		}
	}
	return nil
}

func (w *webhook) address() string { return "http://" + w.listener.Addr().String() + "/hook" }

func (w *webhook) close() { _ = w.server.Close() }
