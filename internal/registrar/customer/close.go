package customer

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Ties are what keeps an account from being closed: what somebody has to look after.
type Ties struct{ Domains, Orders, Refunds int }

// closedHost is where the address of a closed account is. No mail can be sent there
// (RFC 2606), and no two accounts have the same.
const closedHost = "@closed.invalid"

// Ties says what keeps the actor's account from being closed.
func (s *Service) Ties(ctx context.Context, actor registrar.Actor) (Ties, error) {
	account, err := s.signedIn(ctx, s.read(), actor)
	if err != nil {
		return Ties{}, err
	}
	return s.read().TiesOf(ctx, account.ID)
}

// Close ends the actor's account for good. Every way in, the registrant, the proof of
// identity and the means of payment go at once; orders, invoices and the audit stay
// for as long as the law wants them. The last letter goes to the address that the
// account had, which is free for another account from then on.
func (s *Service) Close(ctx context.Context, actor registrar.Actor) error {
	return s.change(ctx, func(t *tx) error {
		account, err := s.recent(ctx, t, actor)
		if err != nil {
			return err
		}
		if err := t.hold(ctx, account); err != nil {
			return err
		}
		// Closing removes factors and the role, so a stolen password must not be enough.
		if err := s.requireStrongOperator(ctx, t, actor, account); err != nil {
			return err
		}
		ties, err := t.TiesOf(ctx, account.ID)
		switch {
		case err != nil:
			return err
		case ties.Domains > 0:
			return fail(registrar.KindConflict, HasDomains)
		case ties.Orders > 0 || ties.Refunds > 0:
			return fail(registrar.KindConflict, HasOrders)
		}
		closed, err := t.Close(ctx, account.ID, account.ID+closedHost, t.now)
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
		return t.tell(ctx, actor, ActionClosed, "", registrar.Letter{
			Kind: registrar.LetterAccountClosed, To: account.Email, Language: account.Language,
		})
	})
}
