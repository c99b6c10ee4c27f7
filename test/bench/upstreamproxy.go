package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"sync"
	"time"
)

// upstreamProxy sits between the product and the world and records when the world
// responds, so that "after the first upstream answered" is measured and not computed
// from the time of the request.
type upstreamProxy struct {
	mu            sync.Mutex
	responseTimes []time.Time
	listeners     []net.Listener
	conns         map[net.Conn]bool
	all           sync.WaitGroup
}

// registryAddress matches the addresses of registries in a configuration: RDAP hosts,
// and EPP.
var registryAddress = regexp.MustCompile(`("[a-z0-9.-]+:443" = "http://|(?m:^  server = "))(127\.0\.0\.1:[0-9]+)"`)

// rewriteConfig puts a listener in front of each registry in a configuration.
func (a *upstreamProxy) rewriteConfig(config string) (string, error) {
	a.conns = make(map[net.Conn]bool)
	var failed error
	changed := registryAddress.ReplaceAllStringFunc(config, func(entry string) string {
		parts := registryAddress.FindStringSubmatch(entry)
		listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			failed = err
			return entry
		}
		a.listeners = append(a.listeners, listener)
		a.all.Go(func() { a.accept(listener, parts[2]) })
		return parts[1] + listener.Addr().String() + `"`
	})
	if len(a.listeners) < 2 && failed == nil {
		failed = errors.New("no registry is named in the configuration")
	}
	return changed, failed
}

func (a *upstreamProxy) accept(listener net.Listener, world string) {
	for {
		product, err := listener.Accept()
		if err != nil {
			return // closed
		}
		upstream, err := (&net.Dialer{Timeout: time.Second}).DialContext(context.Background(), "tcp", world)
		if err != nil {
			_ = product.Close() // the product sees a closed connection
			continue
		}
		a.track(product, upstream)
		a.all.Go(func() { relay(upstream, product) })
		a.all.Go(func() { relay(product, timestampReader{upstream, a}) })
	}
}

func (a *upstreamProxy) track(both ...net.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range both {
		a.conns[one] = true
	}
}

func relay(to net.Conn, from io.Reader) {
	_, _ = io.Copy(to, from) // either side may close it
	_ = to.Close()
}

type timestampReader struct {
	io.Reader
	a *upstreamProxy
}

func (n timestampReader) Read(into []byte) (int, error) {
	count, err := n.Reader.Read(into)
	if count > 0 {
		now := time.Now()
		n.a.mu.Lock()
		n.a.responseTimes = append(n.a.responseTimes, now)
		n.a.mu.Unlock()
	}
	return count, err
}

// firstResponseAfter returns the first response to a request at began, in a world with
// latency.
func (a *upstreamProxy) firstResponseAfter(began time.Time, latency time.Duration) (time.Time, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, at := range a.responseTimes {
		if at.Sub(began) >= latency*9/10 { // an earlier one belongs to another request
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("no upstream has answered since %s", began)
}

func (a *upstreamProxy) stop() {
	for _, listener := range a.listeners {
		_ = listener.Close() // the proxy is shutting down
	}
	a.mu.Lock()
	for one := range a.conns {
		_ = one.Close() // most are closed already
	}
	a.mu.Unlock()
	a.all.Wait()
}
