package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/invoicepdf"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
)

const (
	evidenceEvents  = 200
	evidenceChanges = 200
)

// disputeEvidence returns what is stored about a disputed payment, for the bank: order, consents,
// mails, what was done at the registries, and invoices. Secrets, payment links and notes of
// operators are left out. The access is recorded in the audit log.
func (p *App) disputeEvidence(ctx context.Context, by registrar.Actor, d dispute.Dispute) ([]byte, error) {
	files := []dispute.File{{Name: "dispute.json", Value: d.Report}}
	if d.Order == "" {
		return dispute.WriteEvidence(files, p.now())
	}
	record, err := customerFiles{p.services, p.admin}.Order(ctx, by, d.Order)
	if err != nil {
		return nil, err
	}
	files = append(files, dispute.File{Name: "order.json", Value: orderEvidence(record.Order)}, dispute.File{Name: "consent.txt", Value: consentEvidence(record.Order)})
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
	if len(record.Documents) == 0 {
		return dispute.WriteEvidence(files, p.now())
	}
	renderer, err := invoicepdf.New()
	if err != nil {
		return nil, err
	}
	for _, document := range record.Documents {
		pdf, err := renderer.PDF(document)
		if err != nil {
			return nil, &registrar.Error{Kind: registrar.KindInternal, Code: "invoice_pdf_failed", Detail: document.Number, Err: err}
		}
		files = append(files, dispute.File{Name: "invoices/" + document.Number + ".pdf", Value: pdf})
	}
	return dispute.WriteEvidence(files, p.now())
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
		o.ID, o.Customer, o.Email, string(o.State), string(o.Channel), string(o.By.Kind), o.By.Address.String(), o.CreatedAt, o.PaidAt,
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
	type event struct {
		Action, By, Address string
		At                  time.Time
	}
	log := struct {
		Name, Status string
		Record       any
		ReadAt       time.Time
		Changes      []change
		Events       []event
	}{Name: domain.Name, Status: string(domain.Status), Record: record, ReadAt: record.ReadAt}
	for _, c := range changes {
		log.Changes = append(log.Changes, change{c.ID, string(c.Kind), string(c.State), string(c.Actor.Kind), c.CreatedAt, c.UpdatedAt})
	}
	for _, object := range []string{domain.Name, domain.ID} {
		events, err := p.services.DB.ListObjectAuditEvents(ctx, domain.Customer, object, evidenceEvents)
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			address := ""
			if e.Actor.Kind != registrar.ActorOperator && e.Actor.Address.IsValid() {
				address = e.Actor.Address.String()
			}
			log.Events = append(log.Events, event{string(e.Action), string(e.Actor.Kind), address, e.At})
		}
	}
	return log, nil
}
