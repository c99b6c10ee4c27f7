package epp

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/tracing"
)

// Client is the EPP client of one account. It is safe for concurrent use and must
// be closed.
type Client struct {
	account Account
	pool    *pool
	batches *batches
}

// New validates the account and returns its Client. It does no I/O: the first
// command opens the first connection.
func New(a Account) (*Client, error) {
	if err := a.validate(); err != nil {
		return nil, err
	}
	a = a.withDefaults()
	return newClient(a, dialTLS(&a)), nil
}

func newClient(a Account, dial dialer) *Client {
	a.offered = new(atomic.Pointer[services])
	c := &Client{account: a}
	c.pool = newPool(&c.account, dial)
	c.batches = &batches{client: c, open: make(map[batchKey]*batch)}
	return c
}

// ClientID is the account's clID.
func (c *Client) ClientID() string { return c.account.ClientID }

// Host is the server's name.
func (c *Client) Host() string { return c.account.host() }

// announced reports whether the server offered a service at the last login.
func (c *Client) announced(uri string) bool {
	has := c.account.offered.Load()
	return has != nil && (*has)[uri]
}

// Close rejects new commands, waits for those in flight, logs out and returns when
// every connection is closed. When ctx ends, remaining connections are cut.
func (c *Client) Close(ctx context.Context) { c.pool.close(ctx) }

func (c *Client) send(ctx context.Context, cmd *call) (*response, error) {
	ctx, span := c.startSpan(ctx, cmd.Verb, cmd.Object)
	a, err := c.exchange(ctx, cmd)
	if a != nil {
		span.SetInt(tracing.Result, a.code)
	}
	endSpan(span, err)
	return a, err
}

// startSpan starts the span of a command.
func (c *Client) startSpan(ctx context.Context, verb, object string) (context.Context, tracing.Span) {
	ctx, span := tracing.StartCall(ctx, "epp", verb)
	span.SetString(tracing.Account, c.account.label())
	span.SetString(tracing.Command, verb)
	span.SetString(tracing.Object, object)
	return ctx, span
}

func endSpan(span tracing.Span, err error) {
	if code := ResultCode(err); code != 0 {
		span.SetInt(tracing.Result, code)
	}
	span.End(err)
}

func (c *Client) exchange(ctx context.Context, cmd *call) (*response, error) {
	if cmd.trid == "" {
		cmd.trid = newTRID()
	}
	j := &job{call: cmd, priority: cmd.priority, done: make(chan struct{})}
	if err := ctx.Err(); err != nil {
		return nil, registrar.Fault(registrar.FaultTimeout, c.Host(), err)
	}
	if err := c.pool.submit(j); err != nil {
		return nil, err
	}
	if err := c.await(ctx, j, cmd.safe); err != nil {
		return nil, err
	}
	return c.checkResponse(cmd, j.response)
}

func (c *Client) await(ctx context.Context, j *job, safe bool) error {
	queueTimer := time.NewTimer(maxQueueTime)
	defer queueTimer.Stop()
	for {
		select {
		case <-j.done:
			return j.err
		case <-queueTimer.C:
			if c.pool.abandon(j) {
				return registrar.Fault(registrar.FaultBusy, c.Host(), errQueueTimeout)
			}
			// The command is in flight; its own timeout bounds the rest.
		case <-ctx.Done():
			if c.pool.abandon(j) {
				return registrar.Fault(registrar.FaultTimeout, c.Host(), ctx.Err())
			}
			select {
			case <-j.done: // it arrived at the same moment
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

// checkResponse passes the response to the protocol extension and turns a refusal
// into an error.
func (c *Client) checkResponse(cmd *call, a *response) (*response, error) {
	if c.account.ProtocolExtension != nil {
		err := c.account.ProtocolExtension.ReadExtension(cmd.Command, a.extension)
		a.extensionUnread = err != nil
		if err != nil && a.code != CodeAckToDequeue { // a message must not block the queue
			return nil, c.unreadableError(cmd, err)
		}
	}
	if err := a.asError(&c.account, cmd.Verb); err != nil {
		return nil, err
	}
	return a, nil
}

var errMissingData = errors.New("epp: response lacks its data")

// unreadableError is the error for a response that arrived but can't be used. A
// transform command was executed in that case.
func (c *Client) unreadableError(cmd *call, cause error) error {
	if cmd.safe {
		return registrar.Fault(registrar.FaultBroken, c.Host(), cause)
	}
	return outcomeUnknown(c.Host(), cause)
}

// newTRID generates a unique clTRID of 29 characters.
func newTRID() string { return registrar.NewID("dk-", time.Now()) }
