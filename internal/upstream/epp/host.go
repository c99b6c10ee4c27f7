package epp

import (
	"context"
	"net/netip"
)

// CreateHost creates a host object (RFC 5732, 3.2.1). Addresses (glue) are for
// hosts below a TLD of this registry and are rejected for others.
type CreateHost struct {
	Name      string
	Addresses []netip.Addr
}

func (c *Client) createHost(ctx context.Context, q CreateHost) error {
	_, err := c.send(ctx, &call{
		Command: Command{Verb: "create", Object: "host", Request: q},
		body: func(w *Writer) {
			w.label("host:name", q.Name)
			writeAddresses(w, "host:addr", q.Addresses)
		},
	})
	return err
}

// infoHost returns the addresses of a host object.
func (c *Client) infoHost(ctx context.Context, name string) ([]netip.Addr, error) {
	cmd := &call{
		Command: Command{Verb: "info", Object: "host", Request: name}, safe: true,
		body: func(w *Writer) { w.label("host:name", name) },
	}
	a, err := c.send(ctx, cmd)
	if err != nil {
		return nil, err
	}
	data := a.data.Child(nsHost, "infData")
	if data == nil {
		return nil, c.unreadableError(cmd, errMissingData)
	}
	return readAddresses(data.All(nsHost, "addr")), nil
}

// UpdateHost changes the addresses of a host object.
type UpdateHost struct {
	Name        string
	Add, Remove []netip.Addr
}

func (c *Client) updateHost(ctx context.Context, q UpdateHost) error {
	_, err := c.send(ctx, &call{
		Command: Command{Verb: "update", Object: "host", Request: q},
		body: func(w *Writer) {
			w.label("host:name", q.Name)
			writeHostAddresses(w, "host:add", q.Add)
			writeHostAddresses(w, "host:rem", q.Remove)
		},
	})
	return err
}

func writeHostAddresses(w *Writer, tag string, addresses []netip.Addr) {
	if len(addresses) > 0 {
		w.Start(tag)
		writeAddresses(w, "host:addr", addresses)
		w.End(tag)
	}
}
