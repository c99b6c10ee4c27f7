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
	if err := a.check(); err != nil {
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
	j := &job{call: cmd, class: cmd.class, done: make(chan struct{})}
	if err := ctx.Err(); err != nil {
		return nil, registrar.Fault(registrar.FaultTimeout, c.Host(), err)
	}
	if err := c.pool.submit(j); err != nil { //nolint:contextcheck // connections outlive the caller that they are opened for
		return nil, err
	}
	if err := c.wait(ctx, j, cmd.safe); err != nil {
		return nil, err
	}
	return c.read(cmd, j.answer)
}

// wait waits for a job as long as the caller wants to.
func (c *Client) wait(ctx context.Context, j *job, safe bool) error {
	patience := time.NewTimer(c.account.MaxQueueTime)
	defer patience.Stop()
	for {
		select {
		case <-j.done:
			return j.err
		case <-patience.C:
			if c.pool.leave(j) {
				return registrar.Fault(registrar.FaultBusy, c.Host(), errTooLate)
			}
			// It is under way, and its own time-out bounds the rest.
		case <-ctx.Done():
			if c.pool.leave(j) {
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

// read lets the gateway's hook see the answer and turns a refusal into an error.
func (c *Client) read(cmd *call, a *answer) (*answer, error) {
	if c.account.Extender != nil {
		if err := c.account.Extender.Read(cmd.Command, a.ext); err != nil {
			return nil, c.unreadable(cmd, err)
		}
	}
	if err := a.refusal(&c.account, cmd.Verb); err != nil {
		return nil, err
	}
	return a, nil
}

var errNoData = errors.New("the answer lacks its data")

// unreadable is the error of an answer that came and can't be used. If the
// command changed something, it did so.
func (c *Client) unreadable(cmd *call, cause error) error {
	if cmd.safe {
		return registrar.Fault(registrar.FaultBroken, c.Host(), cause)
	}
	return outcomeUnknown(c.Host(), cause)
}
