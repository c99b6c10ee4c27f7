package rdap

import "context"

// Refresh fetches the bootstrap once, for a program that asks a few questions
// and ends. A failure keeps what is there. It must not run beside Run.
func (c *Client) Refresh(ctx context.Context) error { return c.fetchBootstrap(ctx) }
