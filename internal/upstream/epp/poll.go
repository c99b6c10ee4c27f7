package epp

import (
	"context"
	"errors"

	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
)

// Poll returns the oldest message in the registry's queue (RFC 5730, 2.9.2.3); nil
// if there is none. It stays there until it is acknowledged, so store its content
// before acknowledging it.
//
// A response that can't be parsed is a message too if it has a readable message id:
// otherwise it would block the queue for ever.
func (c *Client) Poll(ctx context.Context) (*inbox.Message, error) {
	cmd := &call{Command: Command{Verb: "poll"}, attrs: []Attr{{"op", "req"}}, safe: true}
	a, err := c.send(ctx, cmd)
	var garbled *unreadable
	switch {
	case errors.As(err, &garbled):
		if m := messageOfFrame(garbled.frame); m != nil {
			return m, nil
		}
		return nil, err
	case err != nil:
		return nil, err
	case a.code == CodeNoMessages:
		return nil, nil //nolint:nilnil // no message is not an error
	case a.queue.Attr("id") == "":
		return nil, c.unreadableError(cmd, errMissingData)
	}
	return c.messageOf(a), nil
}

// NextMessage is Poll.
func (p *Provisioner) NextMessage(ctx context.Context) (*inbox.Message, error) {
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
