package operator

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// Customers reads customer records. Every access is recorded in the customer's audit
// log first.
type Customers interface {
	// Find returns the account of an email address, an id, a domain or an order.
	Find(ctx context.Context, operator registrar.Actor, text string) (id string, err error)
	Open(ctx context.Context, operator registrar.Actor, id string) (CustomerRecord, error)
	Order(ctx context.Context, operator registrar.Actor, id string) (OrderRecord, error)
}

// OrderRecord is one order with what belongs to it.
type OrderRecord struct {
	order.Order
	Documents []invoice.Document
	// Jobs are unfinished; mails that wait to be sent are among them.
	Jobs []admin.Job
	// Notices are the mails about it and its domains that are kept as evidence.
	Notices  []lifecycle.SentNotice
	Disputes []dispute.Dispute
	// Events are the audit events about it, the newest first.
	Events []registrar.AuditEvent
	// Operators has the addresses of the operators by account.
	Operators map[string]string
	// Declared are the open withdrawals and terminations of its contracts, whoever sent them.
	Declared []noticeRow
	// Ended has the domains that were deleted or handed over since, by item.
	Ended map[string]lifecycle.EndedDomain
	// Undecided are the domains that order.TaskDomains is about.
	Undecided []order.UndecidedDomain
}

// EndOf is what became of the domain of an item; its time is zero if nothing did.
func (r OrderRecord) EndOf(item order.Item) lifecycle.EndedDomain { return r.Ended[item.ID] }

// OperatorOf is who decided on a refund: an operator's address, or a user at the command line.
func (r OrderRecord) OperatorOf(refund order.Refund) string {
	return cmp.Or(r.Operators[refund.By], refund.By)
}

// CustomerRecord is one customer.
type CustomerRecord struct {
	Account account.Customer
	// Registrant is the registrant of domains, if HasRegistrant.
	Registrant    account.Registrant
	HasRegistrant bool
	Domains       []portfolio.Domain
	Locked        map[string]bool // the domains with an operator's lock, by id
	Orders        []order.Order
	AuditEvents   []account.AuditEntry
	Consents      []renewal.RecordedConsent // to automatic renewal
	Declared      []noticeRow               // the open withdrawals and terminations of its contracts, and those that it sent
	Handled       []noticeRow               // those of Notices that are handled
	Notices       []withdrawal.Notice       // that it sent, the newest first
	Disputes      []dispute.Dispute         // of the payments of Orders
}

// openNoticesAbout returns the open notices about some orders, whoever sent them, and those that are such.
func (h *Handler) openNoticesAbout(req *ui.Request, operator registrar.Actor, orders []order.Order, such func(withdrawal.Notice) bool) ([]noticeRow, error) {
	open, err := h.openNotices(req, operator)
	if err != nil {
		return nil, err
	}
	var contracts []withdrawal.Contract
	for _, o := range orders {
		for _, item := range o.Items {
			contracts = append(contracts, withdrawal.Contract{Domain: item.ID, Name: item.Name, Orders: []string{o.ID}, Since: o.CreatedAt})
		}
	}
	return slices.DeleteFunc(open, func(row noticeRow) bool {
		return !such(row.Notice) && len(withdrawal.NoticesAbout([]withdrawal.Notice{row.Notice}, contracts...)) == 0
	}), nil
}

// OrderOf returns the order that an entry of the log is about; nil if it is not among the newest.
func (r CustomerRecord) OrderOf(object string) *admin.OrderEntry {
	for _, o := range r.Orders {
		if o.ID == object && len(o.Items) > 0 {
			return &admin.OrderEntry{ID: o.ID, Subject: admin.Subject{Name: o.Items[0].Name, Items: len(o.Items)}}
		}
	}
	return nil
}

// OrderFor returns the newest of the orders that has an item for a domain; empty without one.
func (r CustomerRecord) OrderFor(domain portfolio.Domain) string {
	newest := ""
	for _, o := range r.Orders {
		if o.ID > newest && slices.ContainsFunc(o.Items, func(item order.Item) bool { return item.Name == domain.Name }) {
			newest = o.ID
		}
	}
	return newest
}

// Readable returns what an entry is about or came through; empty if it is only an internal id, for
// example that of a session.
func (r CustomerRecord) Readable(text string) string {
	if ui.IsInternalID(text) && !strings.HasPrefix(text, order.IDPrefix) {
		return ""
	}
	return text
}

func (h *Handler) customers(req *ui.Request, _ registrar.Actor) error {
	return h.showSearch(req, http.StatusOK, "")
}

func (h *Handler) showSearch(req *ui.Request, status int, problem string) error {
	field := ui.Field{
		Name: "q", Label: "customers.find", Hint: "customers.find_hint", Type: "search", MaxLength: 254, Autocomplete: "off", Focus: true,
	}.With(req.Text("q"), "")
	return h.render(req, ui.View{Name: "customers", Status: status, Section: customersPath}, field, problem)
}

// findCustomer redirects to the account found. It is a POST, so that no personal
// address appears in a URL.
func (h *Handler) findCustomer(req *ui.Request, operator registrar.Actor) error {
	id, err := h.Customers.Find(req.R.Context(), operator, req.Text("q"))
	if registrar.KindOf(err) == registrar.KindNotFound || registrar.KindOf(err) == registrar.KindInvalid {
		return h.showSearch(req, http.StatusNotFound, h.templates.Text(req.Language, ui.ProblemKey(registrar.NoSuchCustomer)))
	}
	if err != nil {
		return err
	}
	return req.SeeOther(customersPath + "/" + url.PathEscape(id))
}

func (h *Handler) customer(req *ui.Request, operator registrar.Actor) error {
	record, err := h.Customers.Open(req.R.Context(), operator, req.R.PathValue("id"))
	if err != nil {
		return err
	}
	record.Declared, err = h.openNoticesAbout(req, operator, record.Orders, func(n withdrawal.Notice) bool {
		return n.Customer == record.Account.ID || strings.EqualFold(n.Email, record.Account.Email)
	})
	if err != nil {
		return err
	}
	names, err := h.operatorNames(req, operator)
	if err != nil {
		return err
	}
	handled := slices.DeleteFunc(slices.Clone(record.Notices), withdrawal.Notice.Open)
	record.Handled = newNoticeRows(handled, h.Notices.Now(), names)
	return h.render(req, ui.View{Name: "customer", Title: "customer.page", TitleValue: record.Account.ID, Section: customersPath}, record, "")
}
