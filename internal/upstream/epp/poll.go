package epp

import (
	"context"
	"strings"
	"time"
)

// Message is the oldest message in the registry's queue (RFC 5730, 2.9.2.3). It
// stays there until it is acknowledged, so store its content before acknowledging
// it.
type Message struct {
	Receipt
	ID string
	// Count is the number of queued messages, including this one.
	Count  int
	Queued time.Time
	Text   string

	// PendingResult is the outcome of a pending command; nil for other messages.
	PendingResult *PendingResult
	// Transfer is a changed transfer; nil for other messages.
	Transfer *Transfer
	// Domain is a domain after a change by another party; nil for other messages.
	Domain *DomainInfo
	// Data is the complete resData element.
	Data *Node
}

// PendingResult is the outcome of a pending command (panData in RFC 5731, 3.3).
type PendingResult struct {
	// Object is domain or contact, Key its name or id.
	Object, Key string
	// Done reports whether the command was executed.
	Done bool
	// ClTRID and SvTRID identify the pending command.
	ClTRID, SvTRID string
	At             time.Time
}

// Poll requests the oldest message; nil means that there is none.
func (c *Client) Poll(ctx context.Context) (*Message, error) {
	cmd := &call{Command: Command{Verb: "poll"}, attrs: []Attr{{"op", "req"}}, safe: true}
	a, err := c.send(ctx, cmd)
	if err != nil {
		return nil, err
	}
	if a.code == CodeNoMessages {
		return nil, nil //nolint:nilnil // no message is not an error
	}
	if a.queue.Attr("id") == "" {
		return nil, c.unreadableError(cmd, errMissingData)
	}
	m := &Message{
		Receipt: a.receipt(),
		ID:      a.queue.Attr("id"), Count: int(number(a.queue.Attr("count"), 31)),
		Queued: a.queue.timeValue(nsEPP, "qDate"), Data: a.data,
	}
	if text := a.queue.Child(nsEPP, "msg"); text != nil {
		m.Text = strings.TrimSpace(allText(text))
	}
	m.PendingResult = readPendingResult(a.data)
	if data := a.data.Child(nsDomain, "trnData"); data != nil {
		transfer := readTransfer(data)
		m.Transfer = &transfer
	}
	if data := a.data.Child(nsDomain, "infData"); data != nil {
		domain := readDomain(data)
		m.Domain = &domain
	}
	return m, nil
}

func readPendingResult(data *Node) *PendingResult {
	for _, object := range []struct{ word, space, key string }{
		{"domain", nsDomain, "name"}, {"contact", nsContact, "id"}, {"host", nsHost, "name"},
	} {
		pan := data.Child(object.space, "panData")
		if pan == nil {
			continue
		}
		key, ids := pan.Child(object.space, object.key), pan.Child(object.space, "paTRID")
		return &PendingResult{
			Object: object.word, Key: key.text(),
			Done:   parseBool(key.Attr("paResult"), false),
			ClTRID: ids.value(nsEPP, "clTRID"), SvTRID: ids.value(nsEPP, "svTRID"),
			At: pan.timeValue(object.space, "paDate"),
		}
	}
	return nil
}

// Acknowledge removes a message from the queue and returns how many are left. A
// missing message is no error: an earlier acknowledgement whose response was lost
// has removed it.
func (c *Client) Acknowledge(ctx context.Context, id string) (left int, err error) {
	cmd := &call{Command: Command{Verb: "poll"}, attrs: []Attr{{"op", "ack"}, {"msgID", id}}}
	a, err := c.send(ctx, cmd)
	if ResultCode(err) == CodeMissing {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return int(number(a.queue.Attr("count"), 31)), nil
}
