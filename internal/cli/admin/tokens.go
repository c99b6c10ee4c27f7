package admin

import (
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
)

type TokensCommand struct {
	List   tokensListCommand   `cmd:"" help:"Show an account's personal access tokens, the newest first. Never their secrets: nobody has them."`
	Revoke tokensRevokeCommand `cmd:"" help:"End a token. It is refused from the next call on."`
}

type tokensListCommand struct {
	cli.ServiceFlags
	Email string `arg:"" help:"The customer's e-mail address."`
	JSON  bool   `name:"json" help:"Print one JSON array."`
}

// Run prints the tokens.
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
		list := newRowPrinter(d.Out, c.JSON, fmt.Sprintf("%-30s  %-12s  %-16s  %-16s  %s", "ID", "Status", "seit/since (UTC)", "benutzt/used", "Name"))
		for _, token := range tokens {
			if err := list.add(newTokenRow(token)); err != nil {
				return err
			}
		}
		return list.end()
	})
}

// tokenRow is one token in a list.
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
	labels := map[string]string{"active": "aktiv", "revoked": "widerrufen"}
	return fmt.Sprintf("%-30s  %s  %-16s  %-16s  %s", r.ID, cli.Pad(labels[r.Status], 12, false), formatTime(r.since), formatTime(r.used), cli.Printable(r.Name))
}

type tokensRevokeCommand struct {
	cli.ServiceFlags
	ID string `arg:"" help:"The token's id, as the list shows it (tok_…)."`
}

// Run ends the token.
func (c tokensRevokeCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		if err := d.Services.Tokens.RevokeFor(d.Ctx, d.Operator, c.ID); err != nil {
			return err
		}
		return d.PrintBilingual("widerrufen: "+c.ID, "revoked")
	})
}
