package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

// bareHandler is the least that a check could be: decode, answer.
func bareHandler(body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var question struct {
			Domain string `json:"domain"`
		}
		if err := json.NewDecoder(r.Body).Decode(&question); err != nil || question.Domain == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body) // the client may be gone; there is nobody to tell
	})
}

// serveBare answers every question with the content of a file. It ends with ctx,
// or when in ends: that is how it notices that its parent has died.
func serveBare(ctx context.Context, path string, in io.Reader, out io.Writer) error {
	body, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: bareHandler(body), ReadHeaderTimeout: 5 * time.Second}
	ctx, orphaned := context.WithCancel(ctx)
	defer orphaned()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		orphaned()
	}()
	context.AfterFunc(ctx, func() { _ = server.Close() })
	fmt.Fprintf(out, "ready http://%s\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
