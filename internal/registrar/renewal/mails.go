package renewal

import (
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

// mailLine is a renewal as a mail shows it.
type mailLine struct {
	Renewal
	shown registrar.Cents // the price before, for MailRenewalPriceRise
	held  withdrawal.Kind // kind of the open notice that puts it on hold, if any

	// Of an announced charge: its mail, its price without VAT and the rate.
	kind registrar.MailKind
	net  registrar.Cents
	rate int
}

// newMail returns a mail about renewals of one customer. Data has
//
//	domain, paid_until             those of the first renewal
//	charge_at                      the earliest charge that is not on hold; empty if all are
//	items, item1_name …            each renewal: name, years, gross, was, charge_at, paid_until, held;
//	                               domain, domain_id and term_end for the evidence
//	vat_rate                       that of all prices; the caller adds it to mails with prices
//	gross                          the sum; of an announcement what is charged, with VAT rounded once,
//	                               without renewals on hold
func newMail(kind registrar.MailKind, customer string, lines []mailLine) registrar.Mail {
	data := map[string]string{"items": strconv.Itoa(len(lines)), "domain": lines[0].Name, "paid_until": dateOf(lines[0].TermEnd)}
	sum := registrar.Cents(0)
	var first time.Time
	for i, line := range lines {
		of := "item" + strconv.Itoa(i+1) + "_"
		data[of+"name"], data[of+"years"] = line.Name, strconv.Itoa(line.Years)
		data[of+"domain"], data[of+registrar.NoticeDomain], data[of+registrar.NoticeTerm] = line.Name, line.Domain, registrar.NoticeTermText(line.TermEnd)
		data[of+"gross"], data[of+"was"] = line.Gross.String(), line.shown.String()
		data[of+"charge_at"], data[of+"paid_until"] = dateOf(line.ChargeAt), dateOf(line.TermEnd)
		sum += line.Gross
		if line.held != "" {
			data[of+"held"] = string(line.held)
			continue
		}
		if first.IsZero() || !line.ChargeAt.IsZero() && line.ChargeAt.Before(first) {
			first = line.ChargeAt
		}
	}
	data["gross"], data["charge_at"] = sum.String(), dateOf(first)
	if failure := lines[0].Failure; failure != "" {
		data["failure"] = string(failure)
	}
	return registrar.Mail{Kind: kind, Customer: customer, Data: data}
}

// HeldMails returns the mails to an account about domains that are not charged while a notice about
// their contracts is open, each about at most registrar.MaxJoinedMails. The store calls it in the
// transaction that adds the notice.
func HeldMails(customer string, notice withdrawal.Notice, domains []Domain) (mails []registrar.Mail) {
	for _, d := range domains {
		mail := heldMail(customer, notice, d)
		if last := len(mails) - 1; last >= 0 {
			if joined, ok := registrar.JoinMails(mails[last].Data, mail.Data); ok {
				mails[last].Data = joined
				continue
			}
		}
		mails = append(mails, mail)
	}
	return mails
}

// VoidedMail returns the mail to an account about a domain for which a notice has voided the consent
// that was given with its order. The store calls it when the domain becomes active.
func VoidedMail(customer string, notice withdrawal.Notice, d Domain) registrar.Mail {
	mail := heldMail(customer, notice, d)
	if mail.Data["change"] = "voided"; !notice.Open() {
		mail.Data["handled"] = "true"
	}
	return mail
}

func heldMail(customer string, notice withdrawal.Notice, d Domain) registrar.Mail {
	return registrar.Mail{Kind: registrar.MailRenewalHeld, Customer: customer, Data: map[string]string{
		"number": notice.ID, "declared": string(notice.Kind), "received_at": notice.At.UTC().Format(time.RFC3339),
		"domain": d.Name, registrar.NoticeDomain: d.ID, registrar.NoticeTerm: registrar.NoticeTermText(d.PaidUntil), "paid_until": dateOf(d.PaidUntil),
	}}
}

func dateOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}
