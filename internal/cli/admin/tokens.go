package admin

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

type TokensCommand struct {
	List   tokensListCommand   `cmd:"" help:"List an account's personal access tokens, newest first. Only their hashes are stored."`
	Revoke tokensRevokeCommand `cmd:"" help:"Revoke a token. It is rejected from the next call on."`
}

type tokensListCommand struct {
	Email string `arg:"" help:"The customer's email address."`
	listFlags
}

func (c tokensListCommand) Run(t *cli.Terminal) error {
	return c.WithCustomer(t, c.Email, func(d cli.Session, account account.Customer) error {
		tokens, err := d.Services.Tokens.ListFor(d.Ctx, d.Operator, account.ID)
		if err != nil {
			return err
		}
		list := newList(t, c.JSON, "%-30s  %-12s  %-16s  %-16s  %s", "ID", "Status", "Created (UTC)", "Last used (UTC)", "Name")
		for _, token := range tokens {
			status := "active"
			if !token.RevokedAt.IsZero() {
				status = "revoked"
			} else if token.Expired(time.Now()) {
				status = "expired"
			}
			list.add(struct {
				ID         string     `json:"id"`
				Name       string     `json:"name"`
				Status     string     `json:"status"`
				CreatedAt  *time.Time `json:"created_at"`
				LastUsedAt *time.Time `json:"last_used_at"`
				RevokedAt  *time.Time `json:"revoked_at"`
				ExpiresAt  *time.Time `json:"expires_at"`
			}{token.ID, token.Name, status, jsonTime(token.CreatedAt), jsonTime(token.LastUsedAt), jsonTime(token.RevokedAt), jsonTime(token.ExpiresAt)},
				token.ID, status, formatTime(token.CreatedAt), formatTime(token.LastUsedAt), cli.Printable(token.Name))
		}
		return list.end(nil)
	})
}

type tokensRevokeCommand struct {
	cli.ServiceFlags
	ID string `arg:"" help:"The token's ID, as shown by list (tok_…)."`
}

func (c tokensRevokeCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		return d.Report(d.Services.Tokens.RevokeFor(d.Ctx, d.Operator, c.ID), "revoked: %s", c.ID)
	})
}
