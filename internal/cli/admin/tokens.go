package admin

import (
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
)

type TokensCommand struct {
	List   tokensListCommand   `cmd:"" help:"List an account's personal access tokens, newest first. Only their hashes are stored."`
	Revoke tokensRevokeCommand `cmd:"" help:"Revoke a token. It is rejected from the next call on."`
}

type tokensListCommand struct {
	cli.ServiceFlags
	Email string `arg:"" help:"The customer's email address."`
	JSON  bool   `name:"json" help:"Print one JSON array."`
}

func (c tokensListCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		account, err := d.FindCustomer(c.Email)
		if err != nil {
			return err
		}
		tokens, err := d.Services.Tokens.ListFor(d.Ctx, d.Operator, account.ID)
		if err != nil {
			return err
		}
		list := newRowPrinter(d.Out, c.JSON, fmt.Sprintf("%-30s  %-12s  %-16s  %-16s  %s", "ID", "Status", "Created (UTC)", "Last used (UTC)", "Name"))
		for _, token := range tokens {
			if err := list.add(newTokenRow(token)); err != nil {
				return err
			}
		}
		return list.end()
	})
}

type tokenRow struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Status     string     `json:"status"`
	CreatedAt  *time.Time `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	RevokedAt  *time.Time `json:"revoked_at"`

	since, used time.Time
}

func newTokenRow(token oauth.PersonalAccessToken) tokenRow {
	row := tokenRow{
		ID: token.ID, Name: token.Name, Status: "active", since: token.CreatedAt, used: token.LastUsedAt,
		CreatedAt: jsonTime(token.CreatedAt), LastUsedAt: jsonTime(token.LastUsedAt), RevokedAt: jsonTime(token.RevokedAt),
	}
	if !token.RevokedAt.IsZero() {
		row.Status = "revoked"
	}
	return row
}

func (r tokenRow) String() string {
	return fmt.Sprintf("%-30s  %-12s  %-16s  %-16s  %s", r.ID, r.Status, formatTime(r.since), formatTime(r.used), cli.Printable(r.Name))
}

type tokensRevokeCommand struct {
	cli.ServiceFlags
	ID string `arg:"" help:"The token's id, as the list shows it (tok_…)."`
}

func (c tokensRevokeCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		if err := d.Services.Tokens.RevokeFor(d.Ctx, d.Operator, c.ID); err != nil {
			return err
		}
		return d.Println("revoked: %s", c.ID)
	})
}
