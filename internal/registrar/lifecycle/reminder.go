package lifecycle

import (
	"context"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
)

// Reminder is an account's reminder to check its registrant data.
type Reminder struct {
	Customer  string
	CreatedAt time.Time // of the account; only of an undated reminder
	Last      time.Time // the last reminder, or the date from which the first is counted
}

// listDueReminders returns undated reminders and those that are due.
func (s *Service) listDueReminders(ctx context.Context, limit int) ([]Reminder, error) {
	now := s.cfg.Now()
	if stopped, err := s.cfg.Brake.StoppedByClock(ctx, now); err != nil || stopped {
		return nil, err
	}
	undated, err := s.cfg.Store.ListUndatedReminders(ctx, limit)
	if err != nil || len(undated) == limit {
		return undated, err
	}
	due, err := s.cfg.Store.ListDueReminders(ctx, now.AddDate(-1, 0, 0), limit-len(undated))
	return append(undated, due...), err
}

// remind sends a reminder. An account without one gets the last anniversary of its
// opening, so that the reminders of all accounts spread over the year.
func (s *Service) remind(ctx context.Context, reminder Reminder) {
	storeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	at := s.cfg.Now()
	var mail *registrar.Mail
	var err error
	if reminder.Last.IsZero() {
		at = lastAnniversary(reminder.CreatedAt, at)
	} else {
		mail, err = s.reminderMail(storeCtx, reminder.Customer)
	}
	sent := false
	if err == nil {
		sent, err = s.cfg.Store.StoreReminder(storeCtx, reminder, at, mail, s.cfg.Clock())
	}
	switch {
	case err != nil:
		s.cfg.Logger.ErrorContext(ctx, "data reminder not stored", "customer", reminder.Customer, "error", err.Error())
	case sent && mail != nil:
		s.cfg.OnNotice(mail.Kind)
		s.cfg.MailQueued()
	}
}

func lastAnniversary(created, now time.Time) time.Time {
	at := created
	for next := created; !next.After(now); next = next.AddDate(1, 0, 0) {
		at = next
	}
	return at
}

// reminderMail shows the registrant data of the account and names the domains that it holds with
// other data; nil without any.
func (s *Service) reminderMail(ctx context.Context, customer string) (*registrar.Mail, error) {
	registrant, found, err := s.cfg.Store.GetRegistrantData(ctx, customer)
	if err != nil || !found {
		return nil, err
	}
	data := map[string]string{
		"at": dateText(s.cfg.Now()), "registrant_name": registrant.Name, "registrant_organisation": registrant.Organisation,
		"registrant_street": registrant.Street, "registrant_city": registrant.PostalCode + " " + registrant.City,
		"registrant_state": registrant.State, "registrant_country": registrant.Country, "registrant_phone": registrant.Phone,
		"registrant_email": registrant.Email,
	}
	for name := ""; ; {
		domains, err := s.cfg.Store.ListDomainsOfHolder(ctx, customer, holder.Own, name, holderBatch)
		if err != nil {
			return nil, err
		}
		for _, domain := range domains {
			if domain.Registrant != registrant {
				registrar.NameDomains(data, domain.Name)
			}
		}
		if len(domains) < holderBatch {
			break
		}
		name = domains[len(domains)-1].Name
	}
	others, err := s.cfg.Store.ListHolders(ctx, customer, 1)
	data["other_holders"] = strconv.FormatBool(len(others) > 0)
	return &registrar.Mail{Kind: registrar.MailDataReminder, Customer: customer, Data: data}, err
}

// holderBatch is how many domains are compared with the account's data at a time.
const holderBatch = 500
