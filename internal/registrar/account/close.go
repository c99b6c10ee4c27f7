package account

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// CloseBlockers are what keeps an account from being closed: what somebody has to look after.
type CloseBlockers struct{ Domains, Orders, Refunds int }

// closedEmailSuffix is where the address of a closed account is. No mail can be sent there
// (RFC 2606), and no two accounts have the same.
const closedEmailSuffix = "@closed.invalid"

// CloseBlockers says what keeps the actor's account from being closed.
func (s *Service) CloseBlockers(ctx context.Context, actor registrar.Actor) (CloseBlockers, error) {
	account, err := s.signedInAccount(ctx, s.read(), actor)
	if err != nil {
		return CloseBlockers{}, err
	}
	return s.read().CountCloseBlockers(ctx, account.ID)
}

// Close ends the actor's account for good. Every way in, the registrant, the proof of
// identity and the means of payment go at once; orders, invoices and the audit stay
// for as long as the law wants them. The last letter goes to the address that the
// account had, which is free for another account from then on.
func (s *Service) Close(ctx context.Context, actor registrar.Actor) error {
	return s.inTx(ctx, func(t *tx) error {
		account, err := s.recentlySignedInAccount(ctx, t, actor)
		if err != nil {
			return err
		}
		if err := t.lockCredentials(ctx, account); err != nil {
			return err
		}
		// Closing removes factors and the role, so a stolen password must not be enough.
		if err := s.requireStrongOperator(ctx, t, actor, account); err != nil {
			return err
		}
		ties, err := t.CountCloseBlockers(ctx, account.ID)
		switch {
		case err != nil:
			return err
		case ties.Domains > 0:
			return fail(registrar.KindConflict, HasDomains)
		case ties.Orders > 0 || ties.Refunds > 0:
			return fail(registrar.KindConflict, HasOrders)
		}
		closed, err := t.CloseAccount(ctx, account.ID, account.ID+closedEmailSuffix, t.now)
		if err != nil {
			return err
		}
		if !closed {
			return fail(registrar.KindConflict, AccountDisabled)
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
