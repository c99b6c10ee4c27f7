package main

import (
	"context"
	"io"
	"net"
	"sync"
)

// proxy is a TCP proxy that can stop forwarding without closing connections, as a network
// that drops packets does.
type proxy struct {
	listener net.Listener
	to       string
	dial     func(ctx context.Context, to string) (net.Conn, error)

	mu      sync.Mutex
	changed *sync.Cond
	silent  bool
}

func startProxy(ctx context.Context, host, to string) (*proxy, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", host+":0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener, to: to}
	p.dial = func(ctx context.Context, to string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", to)
	}
	p.changed = sync.NewCond(&p.mu)
	go p.accept() //nolint:contextcheck // it ends when the listener is closed
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) setSilent(silent bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = silent
	p.changed.Broadcast()
}

func (p *proxy) waitWhileSilent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.silent {
		p.changed.Wait()
	}
}

func (p *proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		go func() {
			p.waitWhileSilent()
			ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
			far, err := p.dial(ctx, p.to)
			cancel()
			if err != nil {
				_ = near.Close()
				return
			}
			go p.relay(near, far)
			p.relay(far, near)
		}()
	}
}

// relay copies one direction until either end closes.
func (p *proxy) relay(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	_, _ = io.Copy(pausingWriter{p, to}, from)
}

// pausingWriter holds back data while the proxy is silent.
type pausingWriter struct {
	proxy *proxy
	to    io.Writer
}

func (w pausingWriter) Write(data []byte) (int, error) {
	w.proxy.waitWhileSilent()
	return w.to.Write(data)
}
