package app

import (
	"cmp"
	"context"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/web/operator"
)

const jobErrorTimeout = 2 * time.Second

// openAdmin builds the operator service, to which jobs report their errors.
func (p *App) openAdmin(context.Context) (err error) {
	if p.refunds, err = order.NewRefunds(order.RefundsConfig{Store: p.services.DB, Now: p.now, Wake: func() {
		if p.orders != nil {
			p.orders.Wake()
		}
	}}); err != nil {
		return err
	}
	p.admin, err = admin.New(admin.Config{
		Store: p.services.DB, MailQueued: p.services.mail.Wake, Business: p.now,
		Holds: p.changes, Logger: p.logger, Secure: p.changes.Secure, SecuredFor: p.changes.SecuredFor, AbandonChange: p.changes.AbandonChange, GiveUpItem: p.provisioning.GiveUp,
		WakeJobs: func(kind admin.JobKind) {
			switch {
			case kind == admin.JobOrder && p.orders != nil:
				p.orders.Wake()
			case kind == admin.JobMail:
				p.services.mail.Wake()
			case kind == admin.JobWebhook:
				p.webhooks.Wake()
			default: // their loops poll every second
			}
		},
	})
	if err == nil {
		p.inBackground(p.admin.Run)
	}
	return err
}

// recordJobError stores the reason why a job waits. The job does not depend on it.
func (p *App) recordJobError(kind admin.JobKind) func(context.Context, string, registrar.Code) {
	return func(ctx context.Context, id string, code registrar.Code) {
		writeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobErrorTimeout)
		defer cancel()
		if err := p.admin.RecordJobError(writeCtx, kind, id, cmp.Or(code, "unknown")); err != nil {
			p.logger.WarnContext(ctx, "job error not stored", "kind", string(kind), "id", id)
		}
	}
}

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
	if err != nil || barred {
		return domainchange.DomainRestricted, err
	}
	if restriction != admin.Transfer {
		return "", nil
	}
	disputed, err := p.services.DB.IsDomainDisputed(ctx, target.ID)
	if err != nil || !disputed {
		return "", err
	}
	return domainchange.DomainDisputed, nil
}

func (p *App) operatorPages() operator.Config {
	return operator.Config{
		Refunds: p.refunds,
		Admin:   p.admin, Customers: customerFiles{p.services, p.admin}, Agents: p.services.Agents, Terms: p.terms,
		Prices: priceLists{p.services.DB, p.live, p.now}, ConfirmFactor: p.cfg.Catalog.ConfirmFactor,
		Upstreams: p.upstreams, Notices: p.notices, Inquiries: p.contact, Inbox: p.inbox, TransfersAway: p.transfersAway, Revenue: p.revenue, Margins: p.margins, BelowCost: p.belowCost, Operators: p.services.Customers.ListOperators,
		Disputes: operator.Disputes{Service: p.disputes, LastChange: p.changes.LastChangeFor, Order: p.services.DB.OrderByID, Evidence: p.disputeEvidence},
		Contacts: p.contacts, Database: p.databaseConditions, Now: p.now,
	}
}

func (p *App) databaseConditions() (all []operator.DatabaseCondition) {
	for _, d := range p.services.DB.SQL().Degraded() {
		all = append(all, operator.DatabaseCondition{State: string(d.Condition), Since: p.admin.BusinessTime(d.Since)})
	}
	return all
}

// priceLists reads and replaces the price list.
type priceLists struct {
	db   *store.DB
	live *catalog.Live
	now  func() time.Time // the business time
}

var _ operator.Prices = priceLists{}

func (l priceLists) Current(ctx context.Context) (catalog.Edition, error) { return l.db.PriceList(ctx) }

// Replace stores the next edition for all nodes and applies it here at once.
func (l priceLists) Replace(ctx context.Context, by registrar.Actor, was catalog.Edition, next *catalog.Catalog) error {
	edition, err := l.db.ReplacePriceList(ctx, was, next, PriceListEvent(by, next, len(was.List.Diff(next)), l.now()))
	if err != nil {
		return err
	}
	l.live.Replace(edition.List)
	return nil
}

type customerFiles struct {
	services *Services
	admin    *admin.Service
}

var _ operator.Customers = customerFiles{}

const (
	fileOrders      = 20
	fileAuditEvents = 30
	fileConsents    = 50
	fileNotices     = 100
	fileLocks       = 1000
	fileOrderEvents = 1000
)

// Find returns the account of an email address, id, domain or order.
func (f customerFiles) Find(ctx context.Context, by registrar.Actor, text string) (string, error) {
	text = strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(text, "cus_"):
		_, found, err := f.services.DB.ReadCustomers().AccountByID(ctx, text)
		return text, orNotFound(found, err, registrar.NoSuchCustomer)
	case strings.HasPrefix(text, "ord_"):
		o, found, err := f.services.DB.OrderByID(ctx, text)
		return o.Customer, orNotFound(found, err, registrar.NoSuchCustomer)
	case strings.Contains(text, "@"):
		account, err := f.services.Customers.FindByEmail(ctx, by, text)
		return account.ID, err
	}
	name, err := idna.Lookup.ToASCII(strings.TrimSuffix(strings.ToLower(text), "."))
	if err != nil {
		return "", orNotFound(false, nil, registrar.NoSuchCustomer)
	}
	held, found, err := f.services.DB.GetDomainRef(ctx, name)
	return held.Customer, orNotFound(found, err, registrar.NoSuchCustomer)
}

// orNotFound returns the error of a query, or that nothing was found.
func orNotFound(found bool, err error, code registrar.Code) error {
	if err == nil && !found {
		return &registrar.Error{Kind: registrar.KindNotFound, Code: code}
	}
	return err
}

// Open records the access in the audit log and returns the customer's data.
func (f customerFiles) Open(ctx context.Context, by registrar.Actor, id string) (operator.CustomerRecord, error) {
	read := f.services.DB.ReadCustomers()
	account, found, err := read.AccountByID(ctx, id)
	if err := orNotFound(found, err, registrar.NoSuchCustomer); err != nil {
		return operator.CustomerRecord{}, err
	}
	if err := f.admin.RecordAccountView(ctx, by, account.ID, ""); err != nil {
		return operator.CustomerRecord{}, err
	}
	file := operator.CustomerRecord{Account: account.Customer}
	if file.Registrant, file.HasRegistrant, err = read.GetRegistrant(ctx, account.ID); err != nil {
		return operator.CustomerRecord{}, err
	}
	if file.Domains, err = f.services.DB.ListDomainsPage(ctx, account.ID, portfolio.Filter{}, portfolio.MaxListed); err != nil {
		return operator.CustomerRecord{}, err
	}
	locks, err := f.services.DB.ListActiveLocksOfCustomer(ctx, account.ID, fileLocks)
	if err != nil {
		return operator.CustomerRecord{}, err
	}
	file.Locked = make(map[string]bool, len(locks))
	for _, lock := range locks {
		file.Locked[lock.Domain] = true
	}
	if file.Orders, err = f.services.DB.ListOrders(ctx, account.ID, "", fileOrders); err != nil {
		return operator.CustomerRecord{}, err
	}
	if len(file.Orders) > 0 {
		if file.Disputes, err = f.services.DB.ListCustomerDisputes(ctx, account.ID, file.Orders[len(file.Orders)-1].ID, file.Orders[0].ID); err != nil {
			return operator.CustomerRecord{}, err
		}
	}
	if file.Consents, err = f.services.DB.ListConsents(ctx, account.ID, fileConsents); err != nil {
		return operator.CustomerRecord{}, err
	}
	if file.Notices, err = f.services.DB.ListCustomerNotices(ctx, account.ID, fileNotices); err != nil {
		return operator.CustomerRecord{}, err
	}
	file.AuditEvents, err = f.services.DB.ListAuditEvents(ctx, account.ID, "", fileAuditEvents)
	return file, err
}

// Order records the access in the audit log and returns the order.
func (f customerFiles) Order(ctx context.Context, by registrar.Actor, id string) (operator.OrderRecord, error) {
	o, found, err := f.services.DB.OrderByID(ctx, id)
	if err := orNotFound(found, err, order.NoSuchOrder); err != nil {
		return operator.OrderRecord{}, err
	}
	if err := f.admin.RecordAccountView(ctx, by, o.Customer, o.ID); err != nil {
		return operator.OrderRecord{}, err
	}
	o.DueAt = f.admin.BusinessTime(o.DueAt) // to be shown
	record := operator.OrderRecord{Order: o}
	if record.Documents, err = f.services.DB.ListOrderDocuments(ctx, o.Customer, o.ID); err != nil {
		return operator.OrderRecord{}, err
	}
	if record.Jobs, err = f.admin.ListOrderJobs(ctx, by, o.Customer, o.ID); err != nil {
		return operator.OrderRecord{}, err
	}
	if record.Disputes, err = f.services.DB.ListOrderDisputes(ctx, o.ID); err != nil {
		return operator.OrderRecord{}, err
	}
	if record.Ended, err = f.services.DB.ListEndedDomains(ctx, o.ID); err != nil {
		return operator.OrderRecord{}, err
	}
	if record.Events, err = f.services.DB.ListObjectAuditEvents(ctx, o.Customer, o.ID, fileOrderEvents); err != nil {
		return operator.OrderRecord{}, err
	}
	record.Notices, err = f.services.DB.ListSentNoticesOfOrder(ctx, o.ID, fileNotices)
	return record, err
}
