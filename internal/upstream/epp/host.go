package epp

import (
	"context"
	"net/netip"
	"strings"
	"time"
)

// CreateHost creates a host object (RFC 5732, 3.2.1). Addresses (glue) are for
// hosts below a TLD of this registry and are rejected for others.
type CreateHost struct {
	Name      string
	Addresses []netip.Addr
	ClTRID    string
}

// CreateHost creates a host object.
func (c *Client) CreateHost(ctx context.Context, q CreateHost) (Receipt, error) {
	return c.sendForReceipt(ctx, &call{
		Command: Command{Verb: "create", Object: "host", Request: q}, trid: q.ClTRID,
		body: func(w *Writer) {
			w.Start("host:create", Attr{"xmlns:host", nsHost})
			w.label("host:name", q.Name)
			for _, address := range q.Addresses {
				writeAddress(w, "host:addr", address)
			}
			w.End("host:create")
		},
	})
}

// HostInfo is a host object as the registry reports it.
type HostInfo struct {
	Receipt
	Name, ROID       string
	Statuses         []Status
	Addresses        []netip.Addr
	Sponsor, Creator string
	Created, Updated time.Time
}

// InfoHost queries a host object.
func (c *Client) InfoHost(ctx context.Context, name string) (HostInfo, error) {
	cmd := &call{
		Command: Command{Verb: "info", Object: "host", Request: name}, safe: true,
		body: func(w *Writer) {
			w.Start("host:info", Attr{"xmlns:host", nsHost})
			w.label("host:name", name)
			w.End("host:info")
		},
	}
	a, err := c.send(ctx, cmd)
	if err != nil {
		return HostInfo{}, err
	}
	data := a.data.Child(nsHost, "infData")
	if data == nil {
		return HostInfo{}, c.unreadableError(cmd, errMissingData)
	}
	return HostInfo{
		Receipt: a.receipt(),
		Name:    strings.ToLower(data.value(nsHost, "name")), ROID: data.value(nsHost, "roid"),
		Statuses: readStatuses(data, nsHost), Addresses: readAddresses(data.All(nsHost, "addr")),
		Sponsor: data.value(nsHost, "clID"), Creator: data.value(nsHost, "crID"),
		Created: data.timeValue(nsHost, "crDate"), Updated: data.timeValue(nsHost, "upDate"),
	}, nil
}

// UpdateHost changes a host object.
type UpdateHost struct {
	Name            string
	AddAddresses    []netip.Addr
	RemoveAddresses []netip.Addr
	// NewName renames the host; empty keeps its name.
	NewName string
	ClTRID  string
}

// UpdateHost changes a host object.
func (c *Client) UpdateHost(ctx context.Context, q UpdateHost) (Receipt, error) {
	return c.sendForReceipt(ctx, &call{
		Command: Command{Verb: "update", Object: "host", Request: q}, trid: q.ClTRID,
		body: func(w *Writer) {
			w.Start("host:update", Attr{"xmlns:host", nsHost})
			w.label("host:name", q.Name)
			writeHostParts(w, "host:add", q.AddAddresses)
			writeHostParts(w, "host:rem", q.RemoveAddresses)
			if q.NewName != "" {
				w.Start("host:chg")
				w.label("host:name", q.NewName)
				w.End("host:chg")
			}
			w.End("host:update")
		},
	})
}

func writeHostParts(w *Writer, tag string, addresses []netip.Addr) {
	if len(addresses) == 0 {
		return
	}
	w.Start(tag)
	for _, address := range addresses {
		writeAddress(w, "host:addr", address)
	}
	w.End(tag)
}

// DeleteHost deletes a host object that no domain uses.
func (c *Client) DeleteHost(ctx context.Context, name, clTRID string) (Receipt, error) {
	return c.sendForReceipt(ctx, &call{
		Command: Command{Verb: "delete", Object: "host", Request: name}, trid: clTRID,
		body: func(w *Writer) {
			w.Start("host:delete", Attr{"xmlns:host", nsHost})
			w.label("host:name", name)
			w.End("host:delete")
		},
	})
}

// CheckHosts reports which host objects do not exist yet (Available), in the order
// of the names.
func (c *Client) CheckHosts(ctx context.Context, names ...string) ([]CheckResult, error) {
	return c.checkObjects(ctx, "host", nsHost, "name", names)
}
