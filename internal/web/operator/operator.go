package operator

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"net/http"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/contactcheck"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/inquiry"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

//go:embed templates
var templateFS embed.FS

// Config holds the dependencies of the pages. All but ActionTexts, Database and Now are required.
type Config struct {
	// Frame is set by package web.
	Frame     *ui.Frame
	Admin     *admin.Service
	Customers Customers
	Agents    *agent.Service
	Terms     *lifecycle.Service
	Prices    Prices
	Notices   *withdrawal.Service
	Inquiries *inquiry.Service
	Inbox     *inbox.Service
	// TransfersAway are transfers of our domains to other registrars.
	TransfersAway *transferaway.Service
	Revenue       *invoice.Revenue
	Refunds       *order.Refunds
	Margins       *cost.Margins
	Disputes      Disputes
	Contacts      *contactcheck.Service
	// BelowCost returns the prices that are below what registries charge; nil means none.
	BelowCost func([]registrar.Extension) []order.PriceBelowCost
	// Operators returns the accounts with the operator role.
	Operators func(ctx context.Context, operator registrar.Actor) ([]account.Customer, error)
	// ActionTexts are the texts of audit events, as customers read them. Package web sets
	// them.
	ActionTexts ui.Texts
	// ConfirmFactor is how much a price may change without explicit confirmation.
	ConfirmFactor float64
	// Upstreams returns all upstreams in display order.
	Upstreams func() []Upstream
	// Database returns the conditions that degrade the database; nil means that it never is.
	Database func() []DatabaseCondition
	// Now is the business time, by which deadlines pass; nil means time.Now.
	Now func() time.Time
}

// DatabaseCondition is a reason why the database works only partially. Its state is that of
// /readyz and part of a text key.
type DatabaseCondition struct {
	State string
	Since time.Time
}

// Handler serves the pages. It is safe for concurrent use.
type Handler struct {
	Config
	templates *ui.Templates
}

// New parses every page.
func New(cfg Config) (*Handler, error) {
	if cfg.Frame == nil || cfg.Admin == nil || cfg.Customers == nil || cfg.Prices == nil || cfg.Upstreams == nil || cfg.Agents == nil || cfg.Terms == nil ||
		cfg.Notices == nil || cfg.Inquiries == nil || cfg.Inbox == nil || cfg.TransfersAway == nil || cfg.Revenue == nil || cfg.Refunds == nil || cfg.Margins == nil ||
		cfg.Disputes.Service == nil || cfg.Contacts == nil || cfg.Operators == nil {
		return nil, errors.New("operator: Config.Frame, Admin, Customers, Prices, Upstreams, Agents, Terms, Notices, Inquiries, Inbox, TransfersAway, Revenue, Refunds, Margins, Disputes, Contacts and Operators are required")
	}
	views, err := cfg.Frame.LoadTemplates(templateFS, texts, listTexts, inquiryTexts, messageTexts, transferTexts, refundTexts, marginTexts, disputeTexts, terminationTexts, contactCheckTexts, termTexts, customerTexts, errorTexts, cfg.ActionTexts)
	if err != nil {
		return nil, err
	}
	registrar.Default(&cfg.Now, time.Now)
	return &Handler{Config: cfg, templates: views}, nil
}

// Paths that several pages use.
const (
	homePath      = ui.OperatorPath
	jobsPath      = homePath + "/jobs"
	healthPath    = homePath + "/health"
	pricesPath    = homePath + "/prices"
	agentsPath    = homePath + "/agents"
	customersPath = homePath + "/customers"
	ordersPath    = homePath + "/orders"
	locksPath     = homePath + "/locks"
	termsPath     = homePath + "/terms"
	contactsPath  = homePath + "/contact-checks"
	noticesPath   = homePath + "/notices"
	inquiriesPath = homePath + "/inquiries"
	messagesPath  = homePath + "/registry-messages"
	transfersPath = homePath + "/outgoing-transfers"
	disputesPath  = homePath + "/disputes"
	paymentsPath  = homePath + "/payments"
	refundsPath   = homePath + "/refunds"
	revenuePath   = homePath + "/revenue"
	marginPath    = homePath + "/margin"
)

// Routes lists the pages. They do not exist for others than operators.
func (h *Handler) Routes() []httpjson.Route {
	const get, post = http.MethodGet, http.MethodPost
	page := h.operatorPage
	return []httpjson.Route{
		{Method: get, Path: homePath, Handler: page(homePath, h.home)},
		{Method: get, Path: homePath + "/{$}", Handler: page(homePath, h.home)},
		{Method: get, Path: jobsPath, Handler: page(jobsPath, h.jobs)},
		{Method: post, Path: jobsPath + "/{kind}/{id}/retry", Handler: page(jobsPath, h.retryJob)},
		{Method: post, Path: jobsPath + "/accounts/{account}/retry", Handler: page(jobsPath, h.confirmed("unfunded", "jobs.retry_all", jobsPath+"?kind="+string(admin.JobItem), h.retryUnfunded))},
		{Method: post, Path: jobsPath + "/{kind}/{id}/abandon", Handler: page(jobsPath, recently(h.abandonJob))},
		{Method: get, Path: healthPath, Handler: page(healthPath, h.health)},
		{Method: get, Path: pricesPath, Handler: page(pricesPath, h.prices)},
		{Method: post, Path: pricesPath, Handler: h.uploadPage(pricesPath, h.comparePrices)},
		{Method: get, Path: pricesPath + "/list.csv", Handler: page(pricesPath, h.listFile)},
		{Method: post, Path: pricesPath + "/apply", Handler: h.uploadPage(pricesPath, recently(h.applyPrices))},
		{Method: get, Path: agentsPath, Handler: page(agentsPath, h.agents)},
		{Method: post, Path: agentsPath, Handler: page(agentsPath, recently(h.addAgent))},
		{Method: post, Path: agentsPath + "/{id}/secret", Handler: page(agentsPath, recently(h.rotateAgent))},
		{Method: post, Path: agentsPath + "/{id}/key", Handler: page(agentsPath, recently(h.confirmed("agent_key", "agents.rekey", agentsPath, h.rekeyAgent)))},
		{Method: post, Path: agentsPath + "/{id}/remove", Handler: page(agentsPath, recently(h.confirmed("agent_removal", "agents.remove", agentsPath, h.removeAgent)))},
		{Method: get, Path: customersPath, Handler: page(customersPath, h.customers)},
		{Method: post, Path: customersPath, Handler: page(customersPath, h.findCustomer)},
		{Method: get, Path: customersPath + "/{id}", Handler: page(customersPath, h.customer)},
		{Method: get, Path: noticesPath, Handler: page(noticesPath, h.notices)},
		{Method: get, Path: noticesPath + "/{id}", Handler: page(noticesPath, h.notice)},
		{Method: post, Path: noticesPath + "/{id}/close", Handler: page(noticesPath, h.closeNotice)},
		{Method: post, Path: noticesPath + "/{id}/end", Handler: page(noticesPath, h.previewTermination)},
		{Method: post, Path: noticesPath + "/{id}/end/confirm", Handler: page(noticesPath, recently(h.endContracts))},
		{Method: get, Path: inquiriesPath, Handler: page(inquiriesPath, h.inquiries)},
		{Method: get, Path: inquiriesPath + "/{id}", Handler: page(inquiriesPath, h.inquiry)},
		{Method: post, Path: inquiriesPath + "/{id}/close", Handler: page(inquiriesPath, h.closeInquiry)},
		{Method: get, Path: messagesPath, Handler: page(messagesPath, h.messages)},
		{Method: post, Path: messagesPath, Handler: page(messagesPath, h.readMessages)},
		{Method: get, Path: messagesPath + "/{id}", Handler: page(messagesPath, h.message)},
		{Method: post, Path: messagesPath + "/{id}/read", Handler: page(messagesPath, h.readMessage)},
		{Method: get, Path: transfersPath, Handler: page(transfersPath, h.outgoingTransfers)},
		{Method: get, Path: transfersPath + "/{id}", Handler: page(transfersPath, h.outgoingTransfer)},
		{Method: post, Path: transfersPath + "/{id}/reject", Handler: page(transfersPath, recently(h.rejectTransfer))},
		{Method: post, Path: transfersPath + "/{id}/approve", Handler: page(transfersPath, recently(h.confirmed("transfer_approval", "away.approve", transfersPath, h.approveTransfer)))},
		{Method: get, Path: disputesPath, Handler: page(disputesPath, h.disputes)},
		{Method: get, Path: disputesPath + "/{id}", Handler: page(disputesPath, h.dispute)},
		{Method: get, Path: disputesPath + "/{id}/evidence.zip", Handler: page(disputesPath, h.disputeFile)},
		{Method: post, Path: disputesPath + "/{id}/decide", Handler: page(disputesPath, recently(h.decideDispute))},
		{Method: get, Path: ordersPath, Handler: page(ordersPath, h.orders)},
		{Method: post, Path: ordersPath, Handler: page(ordersPath, h.findOrders)},
		{Method: get, Path: ordersPath + "/{id}", Handler: page(ordersPath, h.order)},
		{Method: get, Path: ordersPath + "/{id}/refund", Handler: page(ordersPath, h.refundForm)},
		{Method: post, Path: ordersPath + "/{id}/refund", Handler: page(ordersPath, h.previewRefund)},
		{Method: post, Path: ordersPath + "/{id}/refund/confirm", Handler: page(ordersPath, h.orderRefund)},
		{Method: post, Path: ordersPath + "/{id}/refunds/{refund}/assign", Handler: page(ordersPath, h.decideRefund("refund_assigned", h.assignRefund))},
		{Method: post, Path: ordersPath + "/{id}/refunds/{refund}/settle", Handler: page(ordersPath, h.settleRefund)},
		{Method: post, Path: ordersPath + "/{id}/refunds/{refund}/repeat", Handler: page(ordersPath, recently(h.repeatRefund))},
		{Method: post, Path: ordersPath + "/{id}/refunds/{refund}/items/{item}/delete", Handler: page(ordersPath, recently(h.deleteRefunded))},
		{Method: post, Path: ordersPath + "/{id}/refunds/{refund}/items/{item}/keep", Handler: page(ordersPath, h.decideRefund("refund_domain_kept", h.keepRefunded))},
		{Method: get, Path: paymentsPath, Handler: page(paymentsPath, h.payments)},
		{Method: get, Path: refundsPath, Handler: page(refundsPath, h.refunds)},
		{Method: get, Path: revenuePath, Handler: page(revenuePath, h.revenue)},
		{Method: get, Path: revenuePath + ".csv", Handler: page(revenuePath, h.revenueFile)},
		{Method: get, Path: marginPath, Handler: page(marginPath, h.margin)},
		{Method: get, Path: marginPath + ".csv", Handler: page(marginPath, h.marginFile)},
		{Method: get, Path: locksPath, Handler: page(locksPath, h.locks)},
		{Method: post, Path: locksPath, Handler: page(locksPath, recently(h.setLock))},
		{Method: post, Path: locksPath + "/{id}/lift", Handler: page(locksPath, recently(h.confirmed("lock_lift", "locks.lift", locksPath, h.liftLock)))},
		{Method: post, Path: locksPath + "/{id}/secure", Handler: page(locksPath, h.secureLock)},
		{Method: get, Path: contactsPath, Handler: page(contactsPath, h.contactChecks)},
		{Method: post, Path: contactsPath + "/{id}/confirm", Handler: page(contactsPath, recently(h.confirmAddress))},
		{Method: post, Path: contactsPath + "/{id}/suspend", Handler: page(contactsPath, recently(h.confirmed("contact", "contacts.suspend", contactsPath, h.suspendAddress)))},
		{Method: get, Path: termsPath, Handler: page(termsPath, h.terms)},
		{Method: post, Path: termsPath + "/brake/confirm", Handler: page(termsPath, recently(h.confirmBrake))},
		{Method: post, Path: termsPath + "/{id}/delete", Handler: page(termsPath, recently(h.deleteUnpaid))},
		{Method: post, Path: termsPath + "/{id}/leave", Handler: page(termsPath, recently(h.confirmed("term_leave", "terms.leave", termsPath, h.leaveUnpaid)))},
		{Method: post, Path: termsPath + "/{id}/start", Handler: page(termsPath, recently(h.startOverdue))},
	}
}

// pageFunc is a page with the operator who requests it.
type pageFunc func(req *ui.Request, operator registrar.Actor) error

// operatorPage requires an operator. Others get 404.
func (h *Handler) operatorPage(formPath string, show pageFunc) http.HandlerFunc {
	return h.Frame.Page(h.requireOperator(formPath, show))
}

// uploadPage is operatorPage for a file upload, which is read for operators only.
func (h *Handler) uploadPage(formPath string, show pageFunc) http.HandlerFunc {
	return h.Frame.UploadPage(maxListBytes, h.requireOperator(formPath, func(req *ui.Request, operator registrar.Actor) error {
		if err := req.ReadForm(); err != nil {
			return err
		}
		return show(req, operator)
	}))
}

// recently is a page that requires a sign-in within the last minutes.
func recently(show pageFunc) pageFunc {
	return func(req *ui.Request, operator registrar.Actor) error {
		if err := req.Actor().RequireRecentSignIn(req.Now); err != nil {
			return err
		}
		return show(req, operator)
	}
}

// confirmView asks before a decision that can't be undone, or not by the operator alone.
type confirmView struct {
	Decision, Button string // the texts confirm.DECISION and confirm_about.DECISION, and the key of the button's
	Subject          string // as the form that led here named it; it decides nothing
	Path, Back       string
	Detail           string          // the key of a text below the subject; empty if none
	Refund           registrar.Cents // that the decision causes; 0 if none or unknown
	Sent             []ui.Field      // the form that led here
}

// confirmed shows a page that asks first; its button sends the request to show.
func (h *Handler) confirmed(decision, button, section string, show pageFunc) pageFunc {
	return func(req *ui.Request, operator registrar.Actor) error {
		if req.Field("confirmed") == "yes" {
			return show(req, operator)
		}
		return h.confirm(req, confirmView{Decision: decision, Button: button, Back: section})
	}
}

func (h *Handler) confirm(req *ui.Request, view confirmView) error {
	view.Subject, view.Path = req.Text("subject"), req.R.URL.Path
	return h.render(req, ui.View{Name: "confirm", Title: "confirm." + view.Decision, Section: view.Back}, view, "")
}

func (h *Handler) requireOperator(formPath string, show pageFunc) ui.PageFunc {
	return func(req *ui.Request) error {
		req.SetFormPath(formPath)
		if !req.SignedIn || !req.Visitor.Customer.Operator {
			return &registrar.Error{Kind: registrar.KindNotFound, Code: ui.NoSuchPage}
		}
		operator, strong := req.Visitor.Operator(req.Actor().Address)
		if !strong {
			return h.render(req, ui.View{Name: "secondfactor", Status: http.StatusForbidden, Title: "weak.title"}, nil, "")
		}
		return show(req, operator)
	}
}

// pageData is the data of every template of this package.
type pageData struct {
	Menu    []menuGroup
	Recent  bool   // the sign-in is recent enough for sensitive actions
	Again   string // renews the sign-in
	Problem string // a message about what failed
	Page    any
}

// render renders a page with the operators' menu and a message about what failed. Its
// title is that of its menu entry, if it has no other.
func (h *Handler) render(req *ui.Request, view ui.View, data any, problem string) error {
	here := cmp.Or(req.FormPath(), view.Section)
	if req.R.Method == http.MethodGet {
		here = req.R.URL.RequestURI()
	}
	s := pageData{Recent: req.SignedInRecently(), Again: ui.WithNext(ui.SignInAgainPath, here), Problem: problem, Page: data}
	if view.Name != "secondfactor" {
		open, err := h.countOpen(req)
		if err != nil {
			return err
		}
		var title string
		s.Menu, title = newMenu(view.Section, open)
		view.Title = cmp.Or(view.Title, title)
	}
	view.Section, view.Data = homePath, s
	return h.templates.Render(req, view)
}

// countOpen returns how much work waits on each page. Outgoing transfers are the registrants'
// decisions and not counted.
func (h *Handler) countOpen(req *ui.Request) (map[string]openWork, error) {
	operator, _ := req.Visitor.Operator(req.Actor().Address)
	ctx, open := req.R.Context(), make(map[string]int)
	for path, count := range map[string]func(context.Context, registrar.Actor) (int, error){
		noticesPath: h.Notices.CountOpen, inquiriesPath: h.Inquiries.CountOpen, messagesPath: h.Inbox.CountUnread,
		disputesPath: h.Disputes.CountOpen,
	} {
		var err error
		if open[path], err = count(ctx, operator); err != nil {
			return nil, err
		}
	}
	terms, err := h.Terms.ListOpen(ctx, operator)
	if err != nil {
		return nil, err
	}
	open[termsPath] = len(terms.Waiting) + len(terms.Overdue)
	if terms.Brake.Engaged() {
		open[termsPath]++
	}
	contacts, err := h.urgentContacts(req, operator)
	if err != nil {
		return nil, err
	}
	open[contactsPath] = len(contacts)
	locks, err := h.Admin.ListDueLocks(ctx, operator)
	if err != nil {
		return nil, err
	}
	open[locksPath] = len(locks)
	jobs, refunds, err := h.Admin.CountOpen(ctx, operator)
	for _, failed := range jobs {
		open[jobsPath] += failed
	}
	open[refundsPath] = refunds
	if err != nil {
		return nil, err
	}
	work := make(map[string]openWork)
	for path, count := range open {
		if count == 0 {
			continue
		}
		late, err := h.isLate(req, operator, path)
		if err != nil {
			return nil, err
		}
		work[path] = openWork{count, late}
	}
	return work, nil
}

// errorText returns the message for an error; false if the frame's error page should be
// shown.
func (h *Handler) errorText(req *ui.Request, err error) (string, bool) {
	key := ui.ProblemKey(registrar.CodeOf(err))
	return h.templates.Text(req.Language, key), h.templates.Has(key)
}
