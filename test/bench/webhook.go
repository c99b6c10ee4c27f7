package main

import (
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// deafWebhook takes every message and does nothing with it.
type deafWebhook struct {
	listener net.Listener
	server   *http.Server
}

func newDeafWebhook() (*deafWebhook, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &deafWebhook{listener: listener, server: &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, largestAnswer)) // what it says is of no interest
		}),
	}}
	go func() {
		if err := w.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			_ = listener.Close()
		}
	}()
	return w, nil
}

func (w *deafWebhook) address() string { return "http://" + w.listener.Addr().String() + "/hook" }

func (w *deafWebhook) close() { _ = w.server.Close() }
