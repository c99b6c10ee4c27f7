package sandbox

import (
	"net/http"
	"net/url"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// transferCommand lets another registrar of the sandbox act on a domain of ours, or on one that we
// have requested.
type transferCommand struct {
	Request transferAction `cmd:"" help:"Another registrar requests the domain. It must be unlocked and have an auth code."`
	Cancel  transferAction `cmd:"" help:"The other registrar cancels its request."`
	Reject  transferAction `cmd:"" help:"The other registrar rejects a transfer that was ordered here."`
}

func (c *transferCommand) AfterApply() error {
	c.Request.op, c.Cancel.op, c.Reject.op = "request", "cancel", "reject"
	return nil
}

type transferAction struct {
	Name string `arg:"" help:"The domain, such as teeladen.com."`
	op   string
}

func (c transferAction) Run(sandbox *Command, t *cli.Terminal) error {
	var transfer ledger.Transfer
	path := "/transfers?op=" + c.op + "&name=" + url.QueryEscape(c.Name)
	if err := sandbox.requestControl(t, "transfer", http.MethodPost, path, &transfer); err != nil {
		return err
	}
	return t.Println("%s: %s, %s", transfer.Name, transfer.Status, transfer.Decided.Format(time.RFC3339))
}
