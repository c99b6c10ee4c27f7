package admin

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

type ACPCommand struct {
	Sign acpSignCommand `cmd:"" help:"Print the headers that sign a request body, for 'curl -H @FILE'."`
}

type acpSignCommand struct {
	Body       string `arg:"" optional:"" default:"-" help:"File with the body, byte for byte as it will be sent ('curl --data-binary @FILE'). Default: - for standard input."`
	SecretFile string `help:"File with the agent's secret. Default: the variable ${secret_variable}." placeholder:"FILE"`
	Timestamp  string `help:"Timestamp to sign and send. Default: now." placeholder:"TIME"`
	Profile    string `default:"ours" enum:"ours,body,canonical" help:"Which bytes are signed: ours, body or canonical."`
	Method     string `default:"POST" help:"For the profile canonical: the method."`
	Path       string `help:"For the profile canonical: the path, such as /api/acp/checkout_sessions." placeholder:"PATH"`
}

func (c acpSignCommand) Run(t *cli.Terminal) error {
	profile := signing.Profile(c.Profile)
	if profile == signing.Canonical && c.Path == "" {
		return cli.UsageError("the profile canonical signs the path: set --path")
	}
	if c.Body == "-" && c.SecretFile == "-" {
		return cli.UsageError("body and secret can't both come from standard input")
	}
	secret, err := t.ReadSecret(c.SecretFile)
	if err != nil {
		return err
	}
	if secret = cmp.Or(secret, t.Getenv(cli.SecretVariable)); secret == "" {
		return errors.New("the agent's secret is missing: use --secret-file FILE, or set " + cli.SecretVariable)
	}
	body, err := t.ReadFile(c.Body)
	if err != nil {
		return fmt.Errorf("read body: %w", err)
	}
	c.Timestamp = cmp.Or(c.Timestamp, time.Now().UTC().Format(time.RFC3339))
	signature := profile.Compute(secret, signing.Request{Timestamp: c.Timestamp, Method: c.Method, Path: c.Path, Body: body})
	return t.Println("%s: %s\n%s: %s", signing.TimestampHeader, c.Timestamp, signing.SignatureHeader, signature)
}
