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
)

const (
	evidenceEvents  = 200
	evidenceChanges = 200
)

// disputeEvidence returns what is stored about a disputed payment, for the bank: a summary, order,
// consents, buyer, mails, what was done at the registries, and invoices. Secrets, payment links
// and notes of operators are left out. The access is recorded in the audit log.
func (p *App) disputeEvidence(ctx context.Context, by registrar.Actor, d dispute.Dispute) ([]byte, error) {
	files := []dispute.File{{Name: "dispute.json", Value: d.Report}}
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
		dispute.File{Name: "order.json", Value: orderEvidence(record.Order)},
		dispute.File{Name: "events.json", Value: events},
		dispute.File{Name: "consent.txt", Value: consentEvidence(record.Order)})
	if known {
		files = append(files, dispute.File{Name: "buyer.json", Value: buyer})
	}
	for i, mail := range record.Notices {
		files = append(files, dispute.File{Name: fmt.Sprintf("mails/%03d-%s.txt", i+1, mail.Kind), Value: mailEvidence(mail)})
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
		files = append(files, dispute.File{Name: "domains/" + domain.Name + ".json", Value: log})
	}
	invoices, err := invoiceEvidence(record.Documents)
	if err != nil {
		return nil, err
	}
	files = append(files, invoices...)
	files = slices.Insert(files, 0, dispute.File{Name: "summary.txt", Value: summaryEvidence(d, record.Order, buyer, events, files, p.now())})
	return dispute.WriteEvidence(files, p.now())
}

// summaryEvidence is the page that a bank's clerk reads first.
func summaryEvidence(d dispute.Dispute, o order.Order, buyer account.Registrant, events []auditEvidence, files []dispute.File, now time.Time) []byte {
	var text strings.Builder
	line := func(label string, parts ...string) {
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		if len(parts) > 0 {
			fmt.Fprintf(&text, "%-14s%s\n", label, strings.Join(parts, ", "))
		}
	}
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	fmt.Fprintf(&text, "Evidence for dispute %s, compiled on %s\n\n", d.ID, at(now))
	line("Disputed", d.Amount.String()+" "+strings.ToUpper(d.Currency)+" of "+d.Charged.String(), "reason "+d.Reason, "since "+at(d.OpenedAt))
	line("Charge", d.Charge, d.Intent)
	line("Order", o.ID, "ordered "+at(o.CreatedAt), "via "+string(o.Channel))
	line("Ordered by", string(o.By.Kind), o.ByName, addressOf(o.By))
	if !o.PaidAt.IsZero() {
		line("Paid", at(o.PaidAt), o.Totals.Gross.String()+" EUR including VAT")
	}
	line("Buyer", buyer.Name, buyer.Organisation, buyer.Street, strings.TrimSpace(buyer.PostalCode+" "+buyer.City), buyer.Country)
	line("Email", o.Email)
	text.WriteString("\nItems\n")
	for _, item := range o.Items {
		fmt.Fprintf(&text, "  %s: %s, years: %d, %s EUR, %s\n", item.Name, item.Kind, item.Years, item.Gross, item.State)
	}
	if len(events) > 0 {
		text.WriteString("\nWhat happened to the order\n")
	}
	for _, e := range events {
		by := e.By
		if e.Address != "" {
			by += ", " + e.Address
		}
		fmt.Fprintf(&text, "  %s  %s by %s\n", at(e.At), e.Action, by)
	}
	text.WriteString("\nFiles in this archive\n")
	for _, file := range files {
		fmt.Fprintf(&text, "  %s\n", file.Name)
	}
	return []byte(text.String())
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

// auditEvidence is an entry of the audit log. Operators' addresses, and what they only looked
// at, are left out.
type auditEvidence struct {
	Action, By, Address string
	At                  time.Time
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
			log = append(log, auditEvidence{string(e.Action), string(e.Actor.Kind), addressOf(e.Actor), e.At})
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

type itemEvidence struct {
	Name, Kind, State string
	Years             int
	Gross             string
}

func orderEvidence(o order.Order) any {
	items := make([]itemEvidence, 0, len(o.Items))
	for _, item := range o.Items {
		items = append(items, itemEvidence{item.Name, string(item.Kind), string(item.State), item.Years, item.Gross.String()})
	}
	return struct {
		ID, Customer, Email, State, Channel, OrderedBy, Address string
		CreatedAt, PaidAt                                       time.Time
		Net, VAT, Gross                                         string
		Items                                                   []itemEvidence
		Payments                                                []order.Payment
		Refunds                                                 []order.Refund
	}{
		o.ID, o.Customer, o.Email, string(o.State), string(o.Channel), string(o.By.Kind), addressOf(o.By), o.CreatedAt, o.PaidAt,
		o.Totals.Net.String(), o.Totals.VAT.String(), o.Totals.Gross.String(), items, paymentsWithoutLinks(o.Payments), refundsWithoutNotes(o.Refunds),
	}
}

func paymentsWithoutLinks(payments []order.Payment) []order.Payment {
	payments = slices.Clone(payments)
	for i := range payments {
		payments[i].URL, payments[i].Card = "", ""
	}
	return payments
}

func refundsWithoutNotes(refunds []order.Refund) []order.Refund {
	refunds = slices.Clone(refunds)
	for i := range refunds {
		refunds[i].Note, refunds[i].By = "", ""
	}
	return refunds
}

func consentEvidence(o order.Order) []byte {
	var text strings.Builder
	if o.Consent.Given() {
		fmt.Fprintf(&text, "Immediate performance, %s, wording %s:\n%s\n\n", o.Consent.At.UTC().Format(time.RFC3339), o.Consent.Wording, o.Consent.Text())
	}
	if o.Renewal.Wording != "" {
		fmt.Fprintf(&text, "Automatic renewal, %s, wording %s, from %s:\n%s\n", o.Renewal.At.UTC().Format(time.RFC3339), o.Renewal.Wording, o.Renewal.Address, renewal.ConsentText(o.Renewal.Wording))
	}
	if text.Len() == 0 {
		text.WriteString("No consent is stored with this order.\n")
	}
	return []byte(text.String())
}

func mailEvidence(mail lifecycle.SentNotice) []byte {
	outcome := "accepted"
	if !mail.Accepted {
		outcome = "abandoned"
	}
	return fmt.Appendf(nil, "To: %s\nSubject: %s\nSent: %s\nServer: %s, %s\n\n%s", mail.Recipient, mail.Subject, mail.SentAt.UTC().Format(time.RFC3339), outcome, mail.Response, mail.Text)
}

// registryEvidence returns the last record of a domain, the commands sent and the audit log.
func (p *App) registryEvidence(ctx context.Context, domain dispute.Domain) (any, error) {
	record, _, err := p.services.DB.GetRegistryRecord(ctx, domain.ID)
	if err != nil {
		return nil, err
	}
	changes, err := p.services.DB.ListDomainChanges(ctx, domain.ID, evidenceChanges)
	if err != nil {
		return nil, err
	}
	type change struct {
		ID, Kind, State, By  string
		CreatedAt, UpdatedAt time.Time
	}
	log := struct {
		Name, Status string
		Record       any
		ReadAt       time.Time
		Changes      []change
		Events       []auditEvidence
	}{Name: domain.Name, Status: string(domain.Status), Record: record, ReadAt: record.ReadAt}
	for _, c := range changes {
		log.Changes = append(log.Changes, change{c.ID, string(c.Kind), string(c.State), string(c.Actor.Kind), c.CreatedAt, c.UpdatedAt})
	}
	log.Events, err = p.eventEvidence(ctx, domain.Customer, domain.Name, domain.ID)
	return log, err
}
