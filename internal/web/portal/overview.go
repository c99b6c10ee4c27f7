package portal

import (
	"slices"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/overview"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// overviewLine is one row of the overview.
type overviewLine struct {
	Name      string            // a domain; empty if the line is not about one
	Held      *portfolio.Domain // the customer's domain that the line is about; nil if it is about an order
	ShowState bool              // its state is why it is listed
	More      int               // further domains of an order
	Text      string
	Until     time.Time
	Notices   []withdrawal.Kind // open withdrawals and terminations of that domain's contract
	UnderWay  []badge           // what is not finished about that domain, besides what the line says
	URL       string
	ActionKey string // the text key of the link; empty if the name is the link
}

type overviewPart struct {
	ID, TitleKey string
	Lines        []overviewLine
	More         int // lines that are not shown
	MoreKey      string
	MoreURL      string // where they are listed
	AllKey       string // the text key of a link to MoreURL; empty if there is none
}

// UntilKey is the text key of the column with Until.
func (p overviewPart) UntilKey() string {
	if p.ID == "expiring" || p.ID == "newest" {
		return "domains.paid_until"
	}
	if p.ID == "progress" {
		return "overview.expected"
	}
	return "overview.until"
}

type monthRow struct {
	Name, Short string
	Year        int
	Value       int64
}

type overviewView struct {
	overview.Overview
	Parts                 []overviewPart
	Nothing               bool // there is nothing to do
	NoWayBack             bool // there is neither a password nor a passkey to sign in with again
	SpentChart, EndsChart *ui.Chart
	SpentRows, EndRows    []monthRow
	Total                 registrar.Cents
	Transfer              string // the page on which transfers are ordered
	EmptyKey              string // the text key that replaces the parts if there are none
}

// home is the page after sign-in.
func (h *Handler) home(req *ui.Request) error {
	if !req.SignedIn {
		return req.SeeOther(ui.SignInPath)
	}
	found, err := h.Overview.Of(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	if err := h.retax(req, found.Decide, found.Unpaid); err != nil {
		return err
	}
	view := overviewView{Overview: found, Total: found.SpentTotal(), EmptyKey: "overview.empty"}
	if h.Orders != nil {
		view.Transfer = ui.InLanguage(req.Language, ui.TransferPath, ui.EnglishTransferPath)
	}
	for _, part := range []struct {
		id    string
		lines []overview.Line
		more  int
		query string // selects the others in the list of domains
	}{
		{"decide", found.Decide, found.MoreDeciding, "?state=" + stateAttention},
		{"unpaid", found.Unpaid, 0, ""},
		{"progress", found.InProgress, found.MoreChanges, ""},
		{"expiring", found.Expiring, found.MoreExpiring, ""},
	} {
		shown := overviewPart{ID: part.id, TitleKey: "overview." + part.id, More: part.more, MoreKey: "more." + part.id, MoreURL: domainsPath + part.query}
		for _, line := range part.lines {
			row, err := h.overviewLine(req, line)
			if err != nil {
				return err
			}
			shown.Lines = append(shown.Lines, row)
		}
		if len(shown.Lines) > 0 || part.more > 0 {
			view.Parts = append(view.Parts, shown)
		}
	}
	transfers, err := h.listedTransfers(req)
	if err != nil {
		return err
	}
	if transfers.Waiting() > 0 {
		text := h.templates.Text(req.Language, "line.transfers", transfers.Ready, transfers.Correct, transfers.Impossible)
		if transfers.Later > 0 {
			text += " " + h.templates.Text(req.Language, "line.transfers_later", transfers.Later)
		}
		view.addDecision(overviewLine{Text: text, URL: ui.TransfersPath, ActionKey: "do.transfers"})
	}
	expiredMethod, err := h.addExpiredMethod(req, &view)
	if err != nil {
		return err
	}
	unconfirmed, err := h.addContactChecks(req, &view)
	if err != nil {
		return err
	}
	if err := h.addNewest(req, &view); err != nil {
		return err
	}
	if err := h.addDomainBadges(req, &view); err != nil {
		return err
	}
	if !req.Visitor.Customer.HasPassword { // a buyer, who chooses one after the purchase
		passkeys, err := h.Accounts.Passkeys(req.R.Context(), req.Actor())
		if err != nil {
			return err
		}
		view.NoWayBack = len(passkeys) == 0
	}
	view.Nothing = found.Idle() && transfers.Waiting() == 0 && unconfirmed == 0 && !expiredMethod && !view.NoWayBack
	if view.Empty() {
		former, err := h.Portfolio.Former(req.R.Context(), req.Actor())
		if err != nil {
			return err
		}
		if len(former)+found.Gone > 0 {
			view.EmptyKey = "overview.empty_former"
		}
	}
	h.addCharts(req, &view)
	return h.templates.Render(req, ui.View{Name: "overview", Title: "overview.title", Section: ui.HomePath, Data: view})
}

// maxNewest limits the newest domains on the overview.
const maxNewest = 5

// addNewest adds the newest domains: a new customer looks for what they have just bought.
func (h *Handler) addNewest(req *ui.Request, view *overviewView) error {
	held := func(d portfolio.Domain) bool { return d.Status != registrar.DomainTransferredOut }
	page, err := h.Portfolio.Page(req.R.Context(), req.Actor(), portfolio.Filter{Sort: portfolio.SortAdded}, maxNewest, held)
	if err != nil || len(page.Domains) == 0 {
		return err
	}
	newest := overviewPart{ID: "newest", TitleKey: "overview.newest", MoreURL: domainsPath, AllKey: "overview.all_domains"}
	for _, domain := range page.Domains {
		if domain.Status != registrar.DomainActive && domain.Status != registrar.DomainPending {
			continue // what is left to do about it is listed above
		}
		end := h.termEndOf(req, domain)
		line := overviewLine{Name: domain.Name, Held: &domain, Text: end.Text, Until: domain.PaidUntil, URL: domainPath(domain.ID)}
		if end.Text == "" || domain.Restriction != "" {
			line.Text, line.ShowState = "", true
		}
		newest.Lines = append(newest.Lines, line)
	}
	if len(newest.Lines) > 0 {
		view.Parts = append(view.Parts, newest)
	}
	return nil
}

// addDomainBadges adds what the customer has withdrawn from or terminated, and what is not finished, to
// the lines about these domains. A line about an order is about the order, whichever domain it names.
func (h *Handler) addDomainBadges(req *ui.Request, view *overviewView) error {
	var ids []string
	for _, part := range view.Parts {
		for _, line := range part.Lines {
			if line.Held != nil {
				ids = append(ids, line.Held.ID)
			}
		}
	}
	notices, err := h.openNotices(req, ids)
	if err != nil {
		return err
	}
	underWay, err := h.Portfolio.UnderWay(req.R.Context(), req.Actor(), ids)
	for _, part := range view.Parts {
		for i, line := range part.Lines {
			if line.Held != nil {
				part.Lines[i].Notices = notices[line.Held.ID]
				open := underWay[line.Held.ID]
				if part.ID == "progress" { // the line is about the change
					open.Change = ""
				}
				part.Lines[i].UnderWay = h.underWayBadges(req, *line.Held, open)
				if end := h.termEndOf(req, *line.Held); end.Charges && end.Text == line.Text {
					h.hold(req, &end, *line.Held, notices[line.Held.ID])
					part.Lines[i].Text = end.Text
				}
			}
		}
	}
	return err
}

// Empty reports whether there is nothing to show.
func (v overviewView) Empty() bool { return v.Overview.Empty() && len(v.Parts) == 0 }

// addDecision adds a line to what waits for the customer, which comes first.
func (v *overviewView) addDecision(line overviewLine) {
	if len(v.Parts) == 0 || v.Parts[0].ID != "decide" {
		v.Parts = slices.Insert(v.Parts, 0, overviewPart{ID: "decide", TitleKey: "overview.decide"})
	}
	v.Parts[0].Lines = append(v.Parts[0].Lines, line)
}

// listedTransfers counts the transfers that the customer has entered and not ordered yet.
func (h *Handler) listedTransfers(req *ui.Request) (order.ListedCounts, error) {
	if h.Orders == nil {
		return order.ListedCounts{}, nil
	}
	list, err := h.Orders.TransferList(req.R.Context(), req.Actor())
	return order.CountListed(list), err
}

// overviewLine returns the row of a line: what it says, and where it can be done.
func (h *Handler) overviewLine(req *ui.Request, line overview.Line) (overviewLine, error) {
	text := func(key string, values ...any) string { return h.templates.Text(req.Language, key, values...) }
	row := overviewLine{Name: line.Domain.Name, URL: domainsPath + "/" + line.Domain.ID, Until: line.Until}
	switch line.Kind {
	case overview.RegistrantMissing:
		row.URL, row.Text, row.ActionKey = ui.WithNext(registrantPath, ui.HomePath), text("line.registrant"), "do.registrant"
	case overview.EmailUnconfirmed:
		row.URL, row.Text, row.ActionKey = emailPath, text("line.email", line.Email), "do.email"
	case overview.TermOver, overview.ChargeFailed, overview.Expiring:
		end := h.termEndOf(req, line.Domain)
		row.Text = end.Text
		if line.Kind != overview.Expiring {
			row.ActionKey = "do.view"
		}
		if line.Kind == overview.TermOver { // the end of the term has passed
			row.Until, row.ShowState = end.actUntil(line.Domain), true
		}
	case overview.NextTerm:
		end := h.termEndOf(req, line.Domain)
		row.Text, row.ActionKey = end.Text, "do.view"
		if end.Renewable {
			row.ActionKey = "do.renew"
		}
	case overview.Undecided:
		row.Text, row.ActionKey = text("line.undecided"), "do.decide"
		if end := h.termEndOf(req, line.Domain); end.Locked {
			row.Text, row.ActionKey = end.Text, "do.view"
		}
	case overview.Restricted:
		row.Text, row.ActionKey, row.ShowState = text("line."+string(line.Domain.State())), "do.view", true
	case overview.TransferRequested:
		row.Text, row.URL, row.ActionKey = text("line.transfer_requested"), domainPath(line.Domain.ID)+transferStep, "do.view"
	case overview.TransferEnding:
		row.Text, row.URL = text("line.transfer_ending"), domainPath(line.Domain.ID)+transferStep
	case overview.Changing:
		key := "line.changing." + line.Change
		if !h.templates.Has(key) {
			key = "line.changing"
		}
		row.Text = text(key)
	default:
		return h.orderLine(req, line)
	}
	if row.Name != "" {
		row.Held = &line.Domain
	}
	return row, nil
}

// retax sets the VAT of unpaid orders to today's.
func (h *Handler) retax(req *ui.Request, parts ...[]overview.Line) error {
	lines := slices.Concat(parts...)
	if h.Orders == nil || !slices.ContainsFunc(lines, func(line overview.Line) bool { return line.Order.ID != "" }) {
		return nil
	}
	tax, err := h.Orders.VATRate(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	for _, part := range parts {
		for i := range part {
			o := &part[i].Order
			taxed := order.Order{
				State: o.State, Channel: o.Channel, Items: []order.Item{{Net: o.Net, Gross: o.Gross}}, Totals: order.Totals{Net: o.Net, Gross: o.Gross, Rule: o.VATRule},
			}
			if err := taxed.Retax(tax); err != nil {
				return err
			}
			o.Gross = taxed.Totals.Gross
		}
	}
	return nil
}

// orderLine is overviewLine for orders.
func (h *Handler) orderLine(req *ui.Request, line overview.Line) (overviewLine, error) {
	o := line.Order
	amount := ui.FormatMoney(req.Language, o.Gross)
	row := overviewLine{Name: o.Name, More: o.Items - 1, Until: line.Until, URL: ui.OrdersPath + "/" + o.ID}
	text := func(key string, values ...any) string { return h.templates.Text(req.Language, key, values...) }
	switch {
	case line.Kind == overview.Provisioning:
		row.Text = text("line.provisioning." + string(o.Kind))
		if o.Failed > 0 {
			row.Text += " " + text("line.failed", o.Failed)
		}
		return row, nil
	case line.Kind == overview.Charging:
		row.Text = text("line.charging", amount)
		return row, nil
	case line.Kind == overview.AddressMissing:
		row.Text, row.ActionKey = text("line.address", amount), "do.registrant"
	case line.Kind == overview.VerifyIdentity:
		row.Text, row.ActionKey = text("line.verify", amount), "do.verify"
	case line.Kind == overview.PreparedOrder && o.ByName != "":
		row.Text, row.ActionKey = text("line.prepared", o.ByName, amount), "do.review"
	case line.Kind == overview.PreparedOrder:
		row.Text, row.ActionKey = text("line.prepared.unnamed", amount), "do.review"
	case o.Channel == order.ChannelRenewal:
		row.Text, row.ActionKey = text("line.unpaid.renewal", amount), "do.pay"
	default:
		row.Text, row.ActionKey = text("line.unpaid", amount), "do.pay"
	}
	if h.Orders == nil { // no order can be paid here any more
		return row, nil
	}
	path, err := h.payPath(order.Order{ID: o.ID, SealedPayLink: o.SealedPayLink})
	row.URL = path
	return row, err
}

// addCharts adds the spending of this year and the ends of terms, where there are some.
func (h *Handler) addCharts(req *ui.Request, view *overviewView) {
	month := func(year int, number time.Month, value int64) monthRow {
		return monthRow{
			Name: h.templates.Month(req.Language, number), Short: h.templates.ShortMonth(req.Language, number), Year: year, Value: value,
		}
	}
	for i, spent := range view.Spent {
		view.SpentRows = append(view.SpentRows, month(view.Year, time.Month(i+1), int64(spent)))
	}
	for _, ends := range view.Expiries {
		view.EndRows = append(view.EndRows, month(ends.Year, ends.Month, int64(ends.Domains)))
	}
	columns := func(rows []monthRow) (list []ui.ChartColumn) {
		for _, row := range rows {
			list = append(list, ui.ChartColumn{Label: row.Short, Values: []int64{row.Value}})
		}
		return list
	}
	view.SpentChart = ui.NewChart("spent", columns(view.SpentRows), 100, func(cents int64) string {
		return ui.FormatAxis(req.Language, registrar.Cents(cents))
	})
	view.EndsChart = ui.NewChart("ends", columns(view.EndRows), 1, func(count int64) string { return strconv.FormatInt(count, 10) })
}

// Money is the value as an amount.
func (m monthRow) Money() registrar.Cents { return registrar.Cents(m.Value) }
