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

// answers stands between the product and the world and notes when the world says
// something. So "after the first upstream answered" is a time that was seen, and not
// one that was computed from when somebody asked.
type answers struct {
	mu        sync.Mutex
	at        []time.Time
	listeners []net.Listener
	open      map[net.Conn]bool
	all       sync.WaitGroup
}

// upstreams finds where registries are in a configuration: RDAP hosts, and EPP.
var upstreams = regexp.MustCompile(`("[a-z0-9.-]+:443" = "http://|(?m:^  server = "))(127\.0\.0\.1:[0-9]+)"`)

// between puts a listener in front of each registry that a configuration names.
func (a *answers) between(config string) (string, error) {
	a.open = make(map[net.Conn]bool)
	var failed error
	changed := upstreams.ReplaceAllStringFunc(config, func(entry string) string {
		parts := upstreams.FindStringSubmatch(entry)
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

func (a *answers) accept(listener net.Listener, world string) {
	for {
		product, err := listener.Accept()
		if err != nil {
			return // closed
		}
		upstream, err := (&net.Dialer{Timeout: time.Second}).DialContext(context.Background(), "tcp", world)
		if err != nil {
			_ = product.Close() // the product notices
			continue
		}
		a.keep(product, upstream)
		a.all.Go(func() { pass(upstream, product) })
		a.all.Go(func() { pass(product, noting{upstream, a}) })
	}
}

func (a *answers) keep(both ...net.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range both {
		a.open[one] = true
	}
}

func pass(to net.Conn, from io.Reader) {
	_, _ = io.Copy(to, from) // whoever ends it
	_ = to.Close()
}

type noting struct {
	io.Reader
	a *answers
}

func (n noting) Read(into []byte) (int, error) {
	count, err := n.Reader.Read(into)
	if count > 0 {
		now := time.Now()
		n.a.mu.Lock()
		n.a.at = append(n.a.at, now)
		n.a.mu.Unlock()
	}
	return count, err
}

// after is the first answer to what was asked at began, of a world that takes a while.
func (a *answers) after(began time.Time, latency time.Duration) (time.Time, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, at := range a.at {
		if at.Sub(began) >= latency*9/10 { // what came earlier was no answer to it
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("no upstream has answered since %s", began)
}

func (a *answers) stop() {
	for _, listener := range a.listeners {
		_ = listener.Close() // nobody waits for more
	}
	a.mu.Lock()
	for one := range a.open {
		_ = one.Close() // most are closed already
	}
	a.mu.Unlock()
	a.all.Wait()
}
