package contactcheck

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// maxNamed bounds the domains that the page of a link names.
const maxNamed = 10

// FirstMailID is the id under which the first mail of a check is queued, so that further domains
// can be added until it is sent.
func FirstMailID(check string) string { return "mail_" + strings.TrimPrefix(check, IDPrefix) }

// AgainMailID is the id under which the mail that ResentAt announces is queued, so that further
// domains can be added until it is sent.
func AgainMailID(check Check) string {
	return FirstMailID(check.ID) + "_" + strconv.FormatInt(check.ResentAt.UnixMicro(), 10)
}

// again returns a check that a domain has joined since its last mail was sent, and the mail that
// names all of its domains. To be no nuisance, these mails have resendInterval between them.
func (s *Service) again(check Check, name string, domains []Domain) (Check, registrar.Mail) {
	now := s.cfg.Now()
	if check.ResentAt.IsZero() {
		check.ResentAt = now
	} else {
		check.ResentAt = later(now, check.ResentAt.Add(resendInterval))
	}
	mail := s.mailAbout(check, name, domains)
	mail.ID, mail.Delay = AgainMailID(check), max(s.cfg.GatherFor, check.ResentAt.Sub(now))
	return check, mail
}

// AddToMail returns the Data of a queued mail of a check with another domain, for which added
// is the Data of a mail of its own.
func AddToMail(queued, added map[string]string, domain string) map[string]string {
	data := maps.Clone(queued)
	registrar.NameDomains(data, domain)
	if added[keptDomains] != "" {
		nameKept(data, domain)
	} else {
		delete(data, allKept)
	}
	return data
}

// Keys of the Data of mails about domains whose registry does not let us take them out of the DNS:
// the first names, one a line, their number, and whether the mail names no others.
const keptNames, keptDomains, allKept = "kept", "kept_domains", "all_kept"

func nameKept(data map[string]string, names ...string) {
	all, _ := strconv.Atoi(data[keptDomains]) // absent before the first one
	for _, name := range names {
		if all++; all <= maxNamed {
			data[keptNames] += name + "\n"
		}
		data[keptDomains] = strconv.Itoa(all)
	}
}

func namesOf(domains []Domain) (names []string) {
	for _, domain := range domains {
		names = append(names, domain.Name)
	}
	return names
}

func dateText(day time.Time) string { return day.Format(time.DateOnly) }

// mailTo returns the mail that asks for a confirmation.
func (s *Service) mailTo(ctx context.Context, check Check, domains []Domain) (registrar.Mail, error) {
	name, err := s.customerName(ctx, check)
	return s.mailAbout(check, name, domains), err
}

// customerName returns the name of the customer of a check; empty for a guest's own address.
func (s *Service) customerName(ctx context.Context, check Check) (string, error) {
	customer, _, err := s.cfg.Store.GetRegistrantData(ctx, check.Customer)
	if strings.EqualFold(customer.Email, check.Email) {
		return "", err
	}
	return customer.DisplayName(), err
}

// mailAbout names the domains and the customer, so that the registrant knows what the request is
// about and whose it is.
func (s *Service) mailAbout(check Check, name string, domains []Domain) registrar.Mail {
	data := map[string]string{
		"notice": strconv.Itoa(check.Notices), "due": dateText(check.LastDay()), "suspended": strconv.FormatBool(check.State == Suspended && slices.ContainsFunc(domains, func(d Domain) bool { return d.Held })),
		registrar.NoticeDomain: check.ID, "name": name,
	}
	registrar.NameDomains(data, namesOf(domains)...)
	going, kept := s.split(domains)
	if nameKept(data, namesOf(kept)...); len(going) == 0 {
		data[allKept] = "true"
	}
	return registrar.Mail{Kind: registrar.MailContactCheck, Customer: check.Customer, To: check.Email, Language: check.Language, Data: data}
}

// customerMail names the domains of a check to its customer.
func customerMail(kind registrar.MailKind, check Check, domains []Domain) registrar.Mail {
	data := map[string]string{"email": check.Email, registrar.NoticeDomain: check.ID}
	registrar.NameDomains(data, namesOf(domains)...)
	return registrar.Mail{Kind: kind, Customer: check.Customer, Data: data}
}

// reminderMails returns the next mail to the registrant and, with the last one, a warning to the
// customer: until then only the registrant knows that the domains will go offline.
func (s *Service) reminderMails(ctx context.Context, check Check) ([]registrar.Mail, error) {
	domains, err := s.listDomains(ctx, check)
	if err != nil {
		return nil, err
	}
	reminder, err := s.mailTo(ctx, check, domains)
	if err != nil || check.Notices < LastNotice {
		return []registrar.Mail{reminder}, err
	}
	own, _, err := s.cfg.Store.GetRegistrantData(ctx, check.Customer)
	if err != nil || strings.EqualFold(own.Email, check.Email) {
		return []registrar.Mail{reminder}, err
	}
	going, kept := s.split(domains)
	warning := customerMail(registrar.MailContactWarning, check, going)
	if len(going) == 0 {
		warning = customerMail(registrar.MailContactWarning, check, kept)
		warning.Data[allKept] = "true"
	}
	nameKept(warning.Data, namesOf(kept)...)
	warning.Data["due"] = dateText(check.LastDay())
	return []registrar.Mail{reminder, warning}, nil
}
