package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/invoicepdf"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/web/operator"
)

const (
	evidenceEvents  = 200
	evidenceChanges = 200
)

// disputeEvidence returns what is stored about a disputed payment, for the bank: a summary, order,
// consents, buyer, mails, what was done at the registries, and invoices. A bank's clerk reads it, so
// it has words instead of our codes; those of the provider and the registries are references and
// stay in parentheses. Secrets, payment links and notes of operators are left out. The access is
// recorded in the audit log.
func (p *App) disputeEvidence(ctx context.Context, by registrar.Actor, d dispute.Dispute) ([]byte, error) {
	files := []dispute.File{{Name: "dispute.txt", Value: reportEvidence(d)}}
	if d.Order == "" {
		return dispute.WriteEvidence(files, p.now())
	}
	record, err := customerFiles{p.services, p.admin}.Order(ctx, by, d.Order)
	if err != nil {
		return nil, err
	}
	events, err := p.eventEvidence(ctx, record.Customer, record.ID)
	if err != nil {
		return nil, err
	}
	buyer, known, err := p.services.DB.ReadCustomers().GetRegistrant(ctx, record.Customer)
	if err != nil {
		return nil, err
	}
	files = append(files,
		dispute.File{Name: "order.txt", Value: orderEvidence(record)},
		dispute.File{Name: "events.txt", Value: eventSheet(events)},
		dispute.File{Name: "consent.txt", Value: consentEvidence(record.Order)})
	if known {
		files = append(files, dispute.File{Name: "buyer.txt", Value: buyerEvidence(buyer, record.Email)})
	}
	for i, mail := range record.Notices {
		files = append(files, dispute.File{Name: fmt.Sprintf("mails/%03d-%s.txt", i+1, fileName(inWords("mail", mail.Kind))), Value: mailEvidence(mail)})
	}
	domains, err := p.services.DB.ListPaidDomains(ctx, d.Order)
	if err != nil {
		return nil, err
	}
	for _, domain := range domains {
		log, err := p.registryEvidence(ctx, domain)
		if err != nil {
			return nil, err
		}
		files = append(files, dispute.File{Name: "domains/" + domain.Name + ".txt", Value: log})
	}
	invoices, err := invoiceEvidence(record.Documents)
	if err != nil {
		return nil, err
	}
	files = append(files, invoices...)
	files = slices.Insert(files, 0, dispute.File{Name: "summary.txt", Value: summaryEvidence(d, record, buyer, events, files, p.now())})
	return dispute.WriteEvidence(files, p.now())
}

// disputedAmount is in the currency of the charge.
func disputedAmount(d dispute.Dispute, amount registrar.Cents) string {
	return amount.String() + " " + strings.ToUpper(d.Currency)
}

func yesOrNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func reportEvidence(d dispute.Dispute) []byte {
	var s sheet
	s.title("Dispute " + d.ID)
	s.line("State", withReference("dispute_status", d.Status))
	s.line("Reason", withReference("dispute_reason", d.Reason))
	s.line("Opened", evidenceTime(d.OpenedAt))
	s.line("Evidence due", evidenceTime(d.DueBy))
	s.line("Amount", disputedAmount(d, d.Amount), said("of a charge of", disputedAmount(d, d.Charged)))
	s.line("Taken back", disputedAmount(d, d.Withdrawn))
	s.line("Refunded", disputedAmount(d, d.Refunded))
	s.line("Fee", disputedAmount(d, d.Fee))
	s.line("Direct debit", yesOrNo(d.Debit))
	s.line("Charge", d.Charge, d.Intent)
	return s.bytes()
}

// summaryEvidence is the page that a bank's clerk reads first.
func summaryEvidence(d dispute.Dispute, record operator.OrderRecord, buyer account.Registrant, events []auditEvidence, files []dispute.File, now time.Time) []byte {
	var s sheet
	o := record.Order
	s.title("Evidence for dispute " + d.ID + ", compiled on " + evidenceTime(now) + "\n")
	s.line("Disputed", disputedAmount(d, d.Amount)+" of "+d.Charged.String(), said("reason:", withReference("dispute_reason", d.Reason)), said("since", evidenceTime(d.OpenedAt)))
	s.line("Charge", d.Charge, d.Intent)
	orderLines(&s, o)
	s.line("Buyer", buyer.Name, buyer.Organisation, buyer.Street, strings.TrimSpace(buyer.PostalCode+" "+buyer.City), buyer.Country)
	s.line("Email", o.Email)
	s.title("Items")
	itemLines(&s, record)
	if len(events) > 0 {
		s.title("What happened to the order")
		eventLines(&s, events)
	}
	s.title("Files in this archive")
	for _, file := range files {
		s.entry(file.Name)
	}
	return s.bytes()
}

func orderLines(s *sheet, o order.Order) {
	s.line("Order", o.ID, said("ordered", evidenceTime(o.CreatedAt)), said("via", inWords("channel", o.Channel)))
	s.line("Ordered by", inWords("who", o.By.Kind), o.ByName, addressOf(o.By))
	if !o.PaidAt.IsZero() {
		s.line("Paid", evidenceTime(o.PaidAt), euros(o.Totals.Gross)+" including VAT")
	}
}

func itemLines(s *sheet, record operator.OrderRecord) {
	for _, item := range record.Items {
		state := inWords("state", item.State)
		switch end := record.EndOf(item); {
		case end.At.IsZero():
		case end.HandedOver:
			state += " until it was handed over to the registry on " + evidenceTime(end.At)
		default:
			state += " until it was deleted on " + evidenceTime(end.At)
		}
		years := fmt.Sprintf("%d years", item.Years)
		if item.Years == 1 {
			years = "1 year"
		}
		s.entry(item.Name+": "+inWords("what", item.Kind), years, euros(item.Gross), state)
	}
}

func orderEvidence(record operator.OrderRecord) []byte {
	var s sheet
	o := record.Order
	s.title("Order " + o.ID + "\n")
	orderLines(&s, o)
	s.line("State", inWords("state", o.State))
	s.line("Customer", o.Customer, o.Email)
	s.line("Net", euros(o.Totals.Net))
	s.line("VAT", euros(o.Totals.VAT))
	s.line("Gross", euros(o.Totals.Gross))
	s.title("Items")
	itemLines(&s, record)
	if len(o.Payments) > 0 {
		s.title("Payments")
	}
	for _, payment := range o.Payments {
		s.entry(evidenceTime(payment.CreatedAt)+"  "+euros(payment.Amount), inWords("payment", payment.State), inWords("payment_kind", payment.Kind), inWords("error", payment.Failure), payment.Intent)
	}
	if len(o.Refunds) > 0 {
		s.title("Refunds")
	}
	for _, refund := range o.Refunds {
		at := refund.CreatedAt
		if !refund.MadeAt.IsZero() {
			at = refund.MadeAt
		}
		s.entry(evidenceTime(at)+"  "+euros(refund.Amount), inWords("refund_state", refund.State()), inWords("refund_reason", refund.ReasonOf()), refund.Provider)
	}
	return s.bytes()
}

func buyerEvidence(buyer account.Registrant, email string) []byte {
	var s sheet
	s.title("Buyer\n")
	s.line("Name", buyer.Name)
	s.line("Organisation", buyer.Organisation)
	s.line("Street", buyer.Street)
	s.line("City", strings.TrimSpace(buyer.PostalCode+" "+buyer.City), buyer.State)
	s.line("Country", buyer.Country)
	s.line("Phone", buyer.Phone)
	s.line("VAT ID", buyer.VATID)
	s.line("Email", email)
	s.line("As of", evidenceTime(buyer.UpdatedAt))
	return s.bytes()
}

func invoiceEvidence(documents []invoice.Document) (files []dispute.File, err error) {
	if len(documents) == 0 {
		return nil, nil
	}
	renderer, err := invoicepdf.New()
	if err != nil {
		return nil, err
	}
	for _, document := range documents {
		pdf, err := renderer.PDF(document)
		if err != nil {
			return nil, &registrar.Error{Kind: registrar.KindInternal, Code: "invoice_pdf_failed", Detail: document.Number, Err: err}
		}
		files = append(files, dispute.File{Name: "invoices/" + document.Number + ".pdf", Value: pdf})
	}
	return files, nil
}

// auditEvidence is an entry of the audit log in words. Operators' addresses, and what they only
// looked at, are left out.
type auditEvidence struct {
	Action, By, Address string
	At                  time.Time
}

func eventLines(s *sheet, events []auditEvidence) {
	for _, e := range events {
		s.entry(evidenceTime(e.At)+"  "+e.Action+", by "+e.By, e.Address)
	}
}

func eventSheet(events []auditEvidence) []byte {
	var s sheet
	s.title("What happened to the order\n")
	eventLines(&s, events)
	return s.bytes()
}

// eventEvidence returns the audit log of objects, the oldest first.
func (p *App) eventEvidence(ctx context.Context, customer string, objects ...string) (log []auditEvidence, err error) {
	for _, object := range objects {
		events, err := p.services.DB.ListObjectAuditEvents(ctx, customer, object, evidenceEvents)
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			if e.Action == admin.AccountViewed {
				continue
			}
			log = append(log, auditEvidence{actionInWords(e.Action), inWords("who", e.Actor.Kind), addressOf(e.Actor), e.At})
		}
	}
	slices.SortStableFunc(log, func(a, b auditEvidence) int { return a.At.Compare(b.At) })
	return log, nil
}

func addressOf(actor registrar.Actor) string {
	if actor.Kind == registrar.ActorOperator || !actor.Address.IsValid() {
		return ""
	}
	return actor.Address.String()
}

func consentEvidence(o order.Order) []byte {
	var text strings.Builder
	if o.Consent.Given() {
		fmt.Fprintf(&text, "Immediate performance, %s, wording %s:\n%s\n\n", evidenceTime(o.Consent.At), o.Consent.Wording, o.Consent.Text())
	}
	if o.Renewal.Wording != "" {
		fmt.Fprintf(&text, "Automatic renewal, %s, wording %s, from %s:\n%s\n", evidenceTime(o.Renewal.At), o.Renewal.Wording, o.Renewal.Address, renewal.ConsentText(o.Renewal.Wording))
	}
	if text.Len() == 0 {
		text.WriteString("No consent is stored with this order.\n")
	}
	return []byte(text.String())
}

func mailEvidence(mail lifecycle.SentNotice) []byte {
	outcome := "The recipient's mail server accepted it"
	if !mail.Accepted {
		outcome = "It could not be delivered"
	}
	if mail.Response != "" {
		outcome += " (" + mail.Response + ")"
	}
	return fmt.Appendf(nil, "To: %s\nSubject: %s\nSent: %s\n%s.\n\n%s", mail.Recipient, mail.Subject, evidenceTime(mail.SentAt), outcome, mail.Text)
}

// registryEvidence returns the last record of a domain, the commands sent and the audit log.
func (p *App) registryEvidence(ctx context.Context, domain dispute.Domain) ([]byte, error) {
	record, _, err := p.services.DB.GetRegistryRecord(ctx, domain.ID)
	if err != nil {
		return nil, err
	}
	changes, err := p.services.DB.ListDomainChanges(ctx, domain.ID, evidenceChanges)
	if err != nil {
		return nil, err
	}
	events, err := p.eventEvidence(ctx, domain.Customer, domain.Name, domain.ID)
	if err != nil {
		return nil, err
	}
	var s sheet
	s.title(domain.Name + "\n")
	s.line("State", inWords("state", domain.Status))
	s.line("Registered", evidenceTime(record.Created))
	s.line("Expires", evidenceTime(record.Expires))
	s.line("Registry", statusesInWords(record.Statuses)...)
	for _, server := range record.Nameservers {
		s.line("Nameserver", server.Name)
	}
	s.line("As of", evidenceTime(record.ReadAt))
	if len(changes) > 0 {
		s.title("Changes at the registry")
	}
	for _, c := range changes {
		s.entry(evidenceTime(c.CreatedAt)+"  "+inWords("what", c.Kind), inWords("state", c.State), "by "+inWords("who", c.Actor.Kind), said("last changed", evidenceTime(c.UpdatedAt)))
	}
	if len(events) > 0 {
		s.title("What happened to the domain")
		eventLines(&s, events)
	}
	return s.bytes(), nil
}
