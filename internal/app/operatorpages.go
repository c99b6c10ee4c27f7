package app

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/web/operator"
)

// jobErrorTimeout bounds the write of a job error.
const jobErrorTimeout = 2 * time.Second

// openAdmin builds the operator service. Later steps report job errors to it.
func (p *App) openAdmin(context.Context) (err error) {
	p.admin, err = admin.New(admin.Config{
		Store: p.services.DB, MailQueued: p.services.mail.wake,
		Secure: func(ctx context.Context, operator registrar.Actor, customer, domain, lock string) error {
			return p.changes.Secure(ctx, operator, customer, domain, lock)
		},
		SecuredFor: func(ctx context.Context, domain, lock string) (secured, underWay bool, err error) {
			return p.changes.SecuredFor(ctx, domain, lock)
		},
		AbandonChange: func(ctx context.Context, operator registrar.Actor, change string) error {
			return p.changes.AbandonChange(ctx, operator, change)
		},
		WakeJobs: func(kind admin.JobKind) {
			switch {
			case kind == admin.JobOrder && p.orders != nil:
				p.orders.Wake()
			case kind == admin.JobMail:
				p.services.mail.wake()
			case kind == admin.JobWebhook:
				p.wakeWebhooks()
			default: // their loops poll every second
			}
		},
	})
	p.services.mail.onError = jobErrorRecorder(p.admin, admin.JobMail, p.logger)
	return err
}

// jobErrorRecorder stores the reason why a job waits. The job does not depend on it.
func jobErrorRecorder(recorder *admin.Service, kind admin.JobKind, logger *slog.Logger) func(context.Context, string, registrar.Code) {
	return func(ctx context.Context, id string, code registrar.Code) {
		if code == "" {
			code = "unknown"
		}
		writeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobErrorTimeout)
		defer cancel()
		if err := recorder.RecordJobError(writeCtx, kind, id, code); err != nil {
			logger.WarnContext(ctx, "storing a job error failed", "kind", string(kind), "id", id)
		}
	}
}

// changeRestrictions maps each change to the restriction that forbids it.
var changeRestrictions = map[domainchange.ChangeKind]admin.Restriction{
	domainchange.Nameservers: admin.Nameservers, domainchange.AddDS: admin.Nameservers, domainchange.RemoveDS: admin.Nameservers,
	domainchange.Unlock: admin.Transfer, domainchange.AuthCode: admin.Transfer, domainchange.UpdateRegistrant: admin.Transfer,
}

// changeRefusal returns why a registrant may not change a domain, or "".
func (p *App) changeRefusal(ctx context.Context, target domainchange.Domain, kind domainchange.ChangeKind) (registrar.Code, error) {
	restriction, restricted := changeRestrictions[kind]
	if !restricted {
		return "", nil
	}
	barred, err := p.admin.Forbids(ctx, target.ID, restriction)
	if err != nil || !barred {
		return "", err
	}
	return domainchange.DomainRestricted, nil
}

func (p *App) operatorPages() operator.Config {
	return operator.Config{
		Admin: p.admin, Customers: customerFiles{p.services, p.admin}, Agents: p.services.Agents,
		Prices: priceLists{p.services.DB, p.live}, ConfirmFactor: p.cfg.Catalog.ConfirmFactor,
		Upstreams: p.upstreams,
	}
}

// priceLists reads and replaces the price list.
type priceLists struct {
	db   *store.DB
	live *catalog.Live
}

var _ operator.Prices = priceLists{}

// Current returns the edition that all nodes use.
func (l priceLists) Current(ctx context.Context) (catalog.Edition, error) { return l.db.PriceList(ctx) }

// Replace stores the next edition for all nodes and applies it here at once.
func (l priceLists) Replace(ctx context.Context, by registrar.Actor, was catalog.Edition, next *catalog.Catalog) error {
	edition, err := l.db.ReplacePriceList(ctx, was, next, PriceListEvent(by, next, len(was.List.Diff(next))))
	if err != nil {
		return err
	}
	l.live.Replace(edition.List)
	return nil
}

// customerFiles gives operators audited access to customer data.
type customerFiles struct {
	services *Services
	admin    *admin.Service
}

var _ operator.Customers = customerFiles{}

// Limits of the lists in a customer's file.
const (
	fileOrders      = 20
	fileAuditEvents = 30
)

// Find returns the account of an email address, id, domain or order.
func (f customerFiles) Find(ctx context.Context, by registrar.Actor, text string) (string, error) {
	none := &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.NoSuchCustomer}
	text = strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(text, "cus_"):
		_, found, err := f.services.DB.ReadCustomers().AccountByID(ctx, text)
		if err == nil && !found {
			err = none
		}
		return text, err
	case strings.HasPrefix(text, "ord_"):
		o, found, err := f.services.DB.OrderByID(ctx, text)
		if err == nil && !found {
			err = none
		}
		return o.Customer, err
	case strings.Contains(text, "@"):
		account, err := f.services.Customers.FindByEmail(ctx, by, text)
		return account.ID, err
	}
	name, err := idna.Lookup.ToASCII(strings.TrimSuffix(strings.ToLower(text), "."))
	if err != nil {
		return "", none
	}
	held, found, err := f.services.DB.GetDomainRef(ctx, name)
	if err == nil && !found {
		err = none
	}
	return held.Customer, err
}

// Open records the access in the audit log and returns the customer's data.
func (f customerFiles) Open(ctx context.Context, by registrar.Actor, id string) (operator.CustomerRecord, error) {
	read := f.services.DB.ReadCustomers()
	account, found, err := read.AccountByID(ctx, id)
	if err == nil && !found {
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.NoSuchCustomer}
	}
	if err != nil {
		return operator.CustomerRecord{}, err
	}
	if err := f.admin.RecordAccountView(ctx, by, account.ID, ""); err != nil {
		return operator.CustomerRecord{}, err
	}
	file := operator.CustomerRecord{Account: account.Customer}
	if file.Registrant, file.HasRegistrant, err = read.GetRegistrant(ctx, account.ID); err != nil {
		return operator.CustomerRecord{}, err
	}
	if file.Domains, err = f.services.DB.ListCustomerDomains(ctx, account.ID); err != nil {
		return operator.CustomerRecord{}, err
	}
	if file.Orders, err = f.services.DB.ListOrders(ctx, account.ID, "", fileOrders); err != nil {
		return operator.CustomerRecord{}, err
	}
	file.AuditEvents, err = f.services.DB.ListAuditEvents(ctx, account.ID, "", fileAuditEvents)
	return file, err
}

// Order records the access in the audit log and returns the order.
func (f customerFiles) Order(ctx context.Context, by registrar.Actor, id string) (order.Order, error) {
	o, found, err := f.services.DB.OrderByID(ctx, id)
	if err == nil && !found {
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchOrder}
	}
	if err != nil {
		return order.Order{}, err
	}
	return o, f.admin.RecordAccountView(ctx, by, o.Customer, o.ID)
}
