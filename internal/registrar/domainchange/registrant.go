package domainchange

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
)

// desiredHolder returns the desired state of a change of the holder. Its registrant is added when
// the extension's rules have been checked.
func (w ChangeRequest) desiredHolder(domain Domain) (DesiredState, error) {
	desired := DesiredState{Holder: w.Holder, Reason: w.Reason}
	if desired.Holder == holder.Own {
		desired.Holder = ""
	}
	switch desired.Reason {
	case holder.ReasonCorrection, holder.ReasonNewHolder:
	case "":
		desired.Reason = holder.ReasonNewHolder
		if desired.Holder == domain.Holder {
			desired.Reason = holder.ReasonCorrection
		}
	default:
		return DesiredState{}, registrar.Invalid(BadReason)
	}
	return desired, nil
}

// replaceRegistrant makes a change replace the registrant that a domain has.
func (c *Change) replaceRegistrant(domain Domain, capabilities Capabilities) {
	c.Replaces, c.Handle = domain.RegistrantSince, domain.Handle
	if capabilities.Contacts {
		c.Handle, c.OldHandle = registrar.NewContactHandle(*c.Desired.Registrant), domain.Handle
	}
}

// eligibleRegistrant returns the data of a customer's holder if the TLD admits them.
func (s *Service) eligibleRegistrant(ctx context.Context, customer, id, tld string) (registrar.Registrant, error) {
	registrant, err := s.cfg.Holder(ctx, customer, id)
	if err != nil {
		return registrar.Registrant{}, err
	}
	return registrant, s.cfg.CheckEligibility(ctx, customer, tld, registrant)
}

// CheckHolder returns why a TLD does not admit a holder of the actor; nil if it does. A change
// checks it again.
func (s *Service) CheckHolder(ctx context.Context, actor registrar.Actor, tld, id string) error {
	if err := actor.RequirePerson(); err != nil {
		return err
	}
	if id == holder.Own {
		id = ""
	}
	_, err := s.eligibleRegistrant(ctx, actor.Customer, id, tld)
	return err
}

// desiredRegistrant returns the registrant of a change, if the TLD still admits them. A change
// that an earlier version stored has none and uses the account's.
func (s *Service) desiredRegistrant(ctx context.Context, change Change) (registrar.Registrant, error) {
	if change.Desired.Registrant == nil {
		return s.eligibleRegistrant(ctx, change.Customer, "", change.TLD)
	}
	if change.Desired.Reason == holder.ReasonTransfer { // checked when it was paid
		return *change.Desired.Registrant, nil
	}
	return *change.Desired.Registrant, s.cfg.CheckEligibility(ctx, change.Customer, change.TLD, *change.Desired.Registrant)
}

// currentRegistrant returns a domain's registrant, which may be the account's data; zero if the
// account has none.
func (s *Service) currentRegistrant(ctx context.Context, domain Domain) (registrar.Registrant, error) {
	if domain.Registrant != (registrar.Registrant{}) {
		return domain.Registrant, nil
	}
	own, _, err := s.cfg.Store.GetRegistrantData(ctx, domain.Customer)
	return own, err
}

// addRegistrants adds the new and the former registrant to a change of the holder that was made,
// and the notices to both. A pending change that the registry has decided has its registrant in
// Desired.
func (s *Service) addRegistrants(ctx context.Context, done *Transition, sent registrar.Registrant) error {
	change := done.From
	if sent == (registrar.Registrant{}) && change.Desired.Registrant != nil {
		sent = *change.Desired.Registrant
	}
	domain, found, err := s.cfg.Store.GetCustomerDomain(ctx, change.Customer, change.Domain)
	if err != nil || !found { // a claim may give it another customer meanwhile
		return &registrar.Error{Kind: registrar.KindInternal, Code: "domain_unreadable", Err: err}
	}
	done.Registrant = sent
	if done.PastRegistrant, err = s.currentRegistrant(ctx, domain); err != nil {
		return err
	}
	if change.Desired.ThenLock {
		done.NextLock = registrar.NewID("chg_", s.cfg.Now())
	}
	if change.Actor.Kind == registrar.ActorSystem {
		return nil
	}
	own, _, err := s.cfg.Store.GetRegistrantData(ctx, change.Customer)
	if err != nil {
		return err
	}
	if !strings.EqualFold(sent.Email, done.PastRegistrant.Email) {
		if done.Unconfirmed, err = s.cfg.Store.AwaitsConfirmation(ctx, change.Customer, sent.Email); err != nil {
			return err
		}
	}
	for i, address := range []string{done.PastRegistrant.Email, sent.Email} {
		known := address == "" || strings.EqualFold(address, own.Email) || i > 0 && strings.EqualFold(address, done.PastRegistrant.Email)
		if !known {
			notice := registrantNotice(change, address, done.PastRegistrant, sent)
			s.addTransferLock(&notice, *done)
			if i > 0 && done.Unconfirmed {
				notice.Data["confirm"] = "true"
			}
			done.Notices = append(done.Notices, notice)
		}
	}
	return nil
}

// addTransferLock adds until when a transfer to another registrar may be refused because of the change.
// A correction of other data, such as the street, is no reason.
func (s *Service) addTransferLock(mail *registrar.Mail, done Transition) {
	if done.PastRegistrant.SameHolder(done.Registrant) {
		return
	}
	now := s.cfg.Now()
	for _, lock := range transferaway.LocksOf(done.From.TLD, map[transferaway.Event]time.Time{transferaway.EventRegistrantChange: now}, now) {
		mail.Data["locked_until"] = lock.Until.UTC().Format(time.DateOnly)
	}
}

// registrantNotice tells a registrant who is not the customer about a change. Both learn of each
// other only by name.
func registrantNotice(change Change, address string, before, after registrar.Registrant) registrar.Mail {
	mail := registrar.Mail{Kind: registrar.MailHolderNotice, Customer: change.Customer, To: address, Data: map[string]string{
		"domain": change.Name, "before": before.DisplayName(), "after": after.DisplayName(), "reason": string(change.Desired.Reason),
		registrar.MailOccurredAt: change.UpdatedAt.UTC().Format(time.RFC3339),
	}}
	if change.Bulk != "" { // one mail for what was requested together
		sum := sha256.Sum256([]byte(strings.ToLower(address)))
		mail.ID = "mail_" + change.Bulk + "_" + hex.EncodeToString(sum[:6])
		mail.Join, mail.Delay = mail.ID, bulkMailDelay
	}
	return mail
}
