package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// The link between the namespace and this machine. Nothing else uses this network.
const (
	nearAddress, farAddress = "10.213.77.1", "10.213.77.2"
	prefixLength            = "/30"
)

// namespace is a network namespace with one link to this machine's. What passes through it is
// lost while the link is down, as packets are, without a word to either end.
type namespace struct{ name, near, far string }

// newNamespace needs root.
func newNamespace(ctx context.Context) (*namespace, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("only root can create a network namespace")
	}
	name := fmt.Sprintf("dk%d", os.Getpid())
	n := &namespace{name: name, near: name + "n", far: name + "f"}
	for _, args := range [][]string{
		{"netns", "add", n.name},
		{"link", "add", n.near, "type", "veth", "peer", "name", n.far, "netns", n.name},
		{"addr", "add", nearAddress + prefixLength, "dev", n.near},
		{"link", "set", n.near, "up"},
		{"-n", n.name, "addr", "add", farAddress + prefixLength, "dev", n.far},
		{"-n", n.name, "link", "set", n.far, "up"},
	} {
		if err := ip(ctx, args...); err != nil {
			return nil, errors.Join(err, n.close()) //nolint:contextcheck // it is removed even if the run is canceled
		}
	}
	return n, nil
}

func ip(ctx context.Context, args ...string) error {
	if output, err := exec.CommandContext(ctx, "ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %v: %w: %s", args, err, output)
	}
	return nil
}

// setLink takes the link up or down.
func (n *namespace) setLink(ctx context.Context, state string) error {
	return ip(ctx, "-n", n.name, "link", "set", n.far, state)
}

func (n *namespace) close() error { return ip(context.Background(), "netns", "delete", n.name) }

// inside runs a function whose sockets belong to the namespace. They stay there afterwards.
func (n *namespace) inside(create func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		done <- func() error {
			file, err := os.Open("/run/netns/" + n.name)
			if err != nil {
				return err
			}
			defer file.Close()
			if err := unix.Setns(int(file.Fd()), unix.CLONE_NEWNET); err != nil {
				return err
			}
			return create()
		}()
	}()
	return <-done
}

// passThrough returns the address of a proxy to a server on this machine. Its connections cross
// the link twice.
func (n *namespace) passThrough(ctx context.Context, to string) (address string, proxies []*proxy, err error) {
	near, err := startProxy(ctx, nearAddress, to)
	if err != nil {
		return "", nil, err
	}
	proxies = append(proxies, near)
	err = n.inside(func() error {
		far, err := startProxy(ctx, farAddress, near.address())
		if err != nil {
			return err
		}
		far.dial = func(ctx context.Context, to string) (conn net.Conn, err error) {
			err = n.inside(func() error {
				conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", to)
				return err
			})
			return conn, err
		}
		proxies, address = append(proxies, far), far.address()
		return nil
	})
	return address, proxies, err
}
