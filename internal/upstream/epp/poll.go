package epp

import (
	"context"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// Poll returns the oldest message in the registry's queue (RFC 5730, 2.9.2.3); nil
// if there is none. It stays there until it is acknowledged, so store its content
// before acknowledging it.
func (c *Client) Poll(ctx context.Context) (*provision.Message, error) {
	cmd := &call{Command: Command{Verb: "poll"}, attrs: []Attr{{"op", "req"}}, safe: true}
	a, err := c.send(ctx, cmd)
	switch {
	case err != nil:
		return nil, err
	case a.code == CodeNoMessages:
		return nil, nil //nolint:nilnil // no message is not an error
	case a.queue.Attr("id") == "":
		return nil, c.unreadableError(cmd, errMissingData)
	}
	m := &provision.Message{
		ID: a.queue.Attr("id"), Waiting: int(number(a.queue.Attr("count"), 31)), Queued: a.queue.timeValue(nsEPP, "qDate"),
	}
	if text := a.queue.Child(nsEPP, "msg"); text != nil {
		m.Text = strings.TrimSpace(allText(text))
	}
	// The result of a pending command, a transfer, or a change by another party.
	for _, element := range []string{"panData", "trnData", "infData"} {
		if data := a.data.Child(nsDomain, element); data != nil {
			m.Name = strings.ToLower(data.value(nsDomain, "name"))
			break
		}
	}
	return m, nil
}

// NextMessage is Poll.
func (p *Provisioner) NextMessage(ctx context.Context) (*provision.Message, error) {
	m, err := p.client.Poll(ctx)
	return m, mapBillingError(err)
}

// Acknowledge removes a message from the queue. A missing message is no error: an
// earlier acknowledgement whose response was lost has removed it.
func (p *Provisioner) Acknowledge(ctx context.Context, id string) error {
	_, err := p.client.send(ctx, &call{Command: Command{Verb: "poll"}, attrs: []Attr{{"op", "ack"}, {"msgID", id}}})
	if ResultCode(err) == CodeMissing {
		return nil
	}
	return mapBillingError(err)
}
