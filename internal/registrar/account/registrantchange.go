package account

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Registrant returns the account's registrant; false if there is none yet.
func (s *Service) Registrant(ctx context.Context, actor registrar.Actor) (Registrant, bool, error) {
	account, err := s.signedInAccount(ctx, s.read(), actor)
	if err != nil {
		return Registrant{}, false, err
	}
	return s.read().GetRegistrant(ctx, account.ID)
}

// SetRegistrant validates and stores the registrant. All invalid fields are reported at
// once as a *FieldError.
func (s *Service) SetRegistrant(ctx context.Context, actor registrar.Actor, registrant Registrant) error {
	return s.changeRecentlySignedIn(ctx, actor, func(t *tx, account Account) error {
		if err := s.storeRegistrant(ctx, t, actor, account.ID, registrant); err != nil {
			return err
		}
		return t.queueMail(ctx, actor, registrar.Mail{Kind: registrar.MailRegistrantChanged, Customer: account.ID})
	})
}

func (s *Service) storeRegistrant(ctx context.Context, t *tx, actor registrar.Actor, id string, registrant Registrant) error {
	checked, err := registrant.normalise()
	if err != nil {
		return err
	}
	if err := s.checkRegistrantChange(ctx, t, id, checked); err != nil {
		return err
	}
	checked.UpdatedAt = t.now
	if err := t.PutRegistrant(ctx, id, checked); err != nil {
		return err
	}
	return t.recordEvent(ctx, actor, ActionRegistrantChanged, id, "")
}

// checkRegistrantChange refuses a change while an order is being paid for the current
// registrant, and a registrant that the extension of a domain or a paid item does not
// admit. A rule is checked only if the data it concerns changes: a registrant who
// already fails one can still correct a phone number.
func (s *Service) checkRegistrantChange(ctx context.Context, t *tx, id string, registrant Registrant) error {
	// An order is priced, and an identity verified, for this registrant: neither may
	// change between opening the payment page and the payment.
	if err := t.LockCustomer(ctx, id); err != nil {
		return err
	}
	underWay, err := t.PaymentUnderWay(ctx, id)
	if err != nil {
		return err
	}
	if underWay {
		return registrar.Conflict(PaymentUnderWay)
	}
	tlds, err := t.ListRegistrantExtensions(ctx, id)
	if err != nil {
		return err
	}
	verified, err := t.VerifiedName(ctx, id)
	if err != nil {
		return err
	}
	current, _, err := t.GetRegistrant(ctx, id)
	if err != nil {
		return err
	}
	moved := registrant.Country != current.Country
	renamed := registrant.Name != current.Name || registrant.Kind != current.Kind || registrant.Organisation != current.Organisation
	return registrar.CheckExtensions(s.cfg.Extension, tlds, func(extension registrar.Extension) error {
		if moved {
			if err := extension.CheckCountry(registrant.Country); err != nil {
				return err
			}
		}
		if renamed {
			return extension.CheckIdentity(registrant.Name, verified)
		}
		return nil
	})
}
