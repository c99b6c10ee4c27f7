package epp

import (
	"context"
	"errors"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Client speaks for one account. It is safe for concurrent use. Close it.
type Client struct {
	account Account
	pool    *pool
	batches *batches
}

// New checks the account and makes a Client. It does no I/O: the first command
// opens the first connection.
func New(a Account) (*Client, error) {
	if err := a.validate(); err != nil {
		return nil, err
	}
	a = a.withDefaults()
	return newClient(a, dialTLS(&a)), nil
}

func newClient(a Account, dial dialer) *Client {
	c := &Client{account: a}
	c.pool = newPool(&c.account, dial)
	c.batches = newBatches(c)
	return c
}

// ClientID is the name of the account, as the registry shows it (clID).
func (c *Client) ClientID() string { return c.account.ClientID }

// Host is the server's name.
func (c *Client) Host() string { return c.account.host() }

// Close refuses new commands, lets those under way end, logs out and returns
// when every connection is closed. When ctx ends the rest is cut off.
func (c *Client) Close(ctx context.Context) { c.pool.close(ctx) }

// send carries out one command and returns a successful answer.
func (c *Client) send(ctx context.Context, cmd *call) (*answer, error) {
	if cmd.trid == "" {
		cmd.trid = newTRID(c.account.Now())
	}
	j := &job{call: cmd, priority: cmd.priority, done: make(chan struct{})}
	if err := ctx.Err(); err != nil {
		return nil, registrar.Fault(registrar.FaultTimeout, c.Host(), err)
	}
	if err := c.pool.submit(j); err != nil { //nolint:contextcheck // connections outlive the caller that they are opened for
		return nil, err
	}
	if err := c.await(ctx, j, cmd.safe); err != nil {
		return nil, err
	}
	return c.checkResponse(cmd, j.response)
}

// await waits for a job as long as the caller wants to.
func (c *Client) await(ctx context.Context, j *job, safe bool) error {
	patience := time.NewTimer(c.account.MaxQueueTime)
	defer patience.Stop()
	for {
		select {
		case <-j.done:
			return j.err
		case <-patience.C:
			if c.pool.abandon(j) {
				return registrar.Fault(registrar.FaultBusy, c.Host(), errQueueTimeout)
			}
			// It is under way, and its own time-out bounds the rest.
		case <-ctx.Done():
			if c.pool.abandon(j) {
				return registrar.Fault(registrar.FaultTimeout, c.Host(), ctx.Err())
			}
			select {
			case <-j.done: // it came in the same moment
				return j.err
			default:
			}
			if safe {
				return registrar.Fault(registrar.FaultTimeout, c.Host(), ctx.Err())
			}
			return outcomeUnknown(c.Host(), ctx.Err())
		}
	}
}

// checkResponse lets the gateway's hook see the answer and turns a refusal into an error.
func (c *Client) checkResponse(cmd *call, a *answer) (*answer, error) {
	if c.account.ProtocolExtension != nil {
		if err := c.account.ProtocolExtension.ReadExtension(cmd.Command, a.extension); err != nil {
			return nil, c.unreadableError(cmd, err)
		}
	}
	if err := a.asError(&c.account, cmd.Verb); err != nil {
		return nil, err
	}
	return a, nil
}

var errMissingData = errors.New("the answer lacks its data")

// unreadableError is the error of an answer that came and can't be used. If the
// command changed something, it did so.
func (c *Client) unreadableError(cmd *call, cause error) error {
	if cmd.safe {
		return registrar.Fault(registrar.FaultBroken, c.Host(), cause)
	}
	return outcomeUnknown(c.Host(), cause)
}
