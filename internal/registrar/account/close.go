package account

import (
	"cmp"
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// CloseBlockers counts what keeps an account from being closed.
type CloseBlockers struct{ Domains, Orders, Refunds int }

// closedEmailSuffix ends the address of a closed account. Addresses there are
// undeliverable (RFC 2606) and unique per account.
const closedEmailSuffix = "@closed.invalid"

// CloseBlockers returns what keeps the actor's account from being closed.
func (s *Service) CloseBlockers(ctx context.Context, actor registrar.Actor) (CloseBlockers, error) {
	account, err := s.signedInAccount(ctx, s.read(), actor)
	if err != nil {
		return CloseBlockers{}, err
	}
	return s.read().CountCloseBlockers(ctx, account.ID)
}

// Close closes the actor's account permanently. Credentials, registrant data, the
// verified identity and saved payment methods are deleted at once; orders, invoices and
// the audit log are retained as long as the law requires. A final mail goes to the
// account's address, which can then be registered again.
func (s *Service) Close(ctx context.Context, actor registrar.Actor) error {
	return s.changeRecentlySignedIn(ctx, actor, func(t *tx, account Account) error {
		if err := t.lockCredentials(ctx, account); err != nil {
			return err
		}
		// Closing removes the factors and the role, so a stolen password must not be
		// enough.
		if err := s.requireStrongOperator(ctx, t, actor, account); err != nil {
			return err
		}
		ties, err := t.CountCloseBlockers(ctx, account.ID)
		switch {
		case err != nil:
			return err
		case ties.Domains > 0:
			return registrar.Conflict(HasDomains)
		case ties.Orders > 0 || ties.Refunds > 0:
			return registrar.Conflict(HasOrders)
		}
		if closed, err := t.CloseAccount(ctx, account.ID, account.ID+closedEmailSuffix, t.now); !closed {
			return cmp.Or(err, registrar.Conflict(AccountDisabled))
		}
		if err := t.DeleteSessionsExcept(ctx, account.ID, ""); err != nil {
			return err
		}
		if err := t.DeleteDevices(ctx, account.ID); err != nil {
			return err
		}
		return t.recordAndMail(ctx, actor, ActionClosed, "", registrar.Mail{
			Kind: registrar.MailAccountClosed, To: account.Email, Language: account.Language,
		})
	})
}
