package portal

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

type domainRow struct {
	portfolio.Domain
	End      termEnd
	Unlocked bool              // it could be locked against transfers and is not
	Notices  []withdrawal.Kind // open withdrawals and terminations of its contract
	UnderWay []badge           // what is not finished about it
}

// openNotices returns, by domain, the kinds of the visitor's open withdrawals and terminations of its
// contract.
func (h *Handler) openNotices(req *ui.Request, domains []string) (map[string][]withdrawal.Kind, error) {
	if h.OpenNotices == nil || len(domains) == 0 {
		return nil, nil
	}
	return h.OpenNotices(req.R.Context(), req.Actor().Customer, domains)
}

// Values of the filter by state, besides the states themselves.
const (
	stateExpiring  = "expiring"  // within expiringDays
	stateUnlocked  = "unlocked"  // could be locked against transfers and is not
	stateAttention = "attention" // see portfolio.Filter.UrgentBefore
)

const expiringDays = 30

// listQuery is the address of a list: its filter, order and position, as in the query.
type listQuery struct {
	Part, State, TLD, Folder, AutoRenew, Sort, Size string
	after                                           map[string]string
}

func listQueryOf(req *ui.Request) listQuery {
	return listQuery{
		Part: req.Query("q"), State: req.Query("state"), TLD: req.Query("tld"), Folder: req.Query("folder"), AutoRenew: req.Query("auto"),
		Sort: req.Query("sort"), Size: req.Query("size"),
		after: map[string]string{"after": req.Query("after"), "id": req.Query("id"), "ends": req.Query("ends"), "in": req.Query("in")},
	}
}

// url returns the address of the list on a path, after a domain; nil means from the beginning.
func (q listQuery) url(path string, last *portfolio.Domain) string {
	values := map[string]string{
		"q": q.Part, "state": q.State, "tld": q.TLD, "folder": q.Folder, "auto": q.AutoRenew, "sort": q.Sort, "size": q.Size,
	}
	if last != nil {
		values["after"], values["id"], values["in"] = last.Name, last.ID, string(last.State())
		if !last.PaidUntil.IsZero() {
			values["ends"] = strconv.FormatInt(last.PaidUntil.UnixMicro(), 10)
		}
	}
	return ui.WithQuery(path, values)
}

// IsSet reports whether a filter beyond name and state is set, which the page then shows.
func (q listQuery) IsSet() bool { return q.TLD+q.Folder+q.AutoRenew+q.Sort+q.Size != "" }

// narrows reports whether a filter is set besides the one by state, which the counts of states ignore.
func (q listQuery) narrows() bool { return q.Part+q.TLD+q.Folder+q.AutoRenew != "" }

// size is the number of domains per page.
func (q listQuery) size() int {
	if n, err := strconv.Atoi(q.Size); err == nil && slices.Contains(pageSizes[:], n) {
		return n
	}
	return portfolio.PageSize
}

var pageSizes = [...]int{portfolio.PageSize, 100, portfolio.MaxPageSize}

// filter returns the filter, and what only this package can decide; nil if that is nothing.
func (h *Handler) filter(q listQuery) (filter portfolio.Filter, match func(portfolio.Domain) bool) {
	filter = portfolio.Filter{
		Part: q.Part, TLD: q.TLD, Folder: q.Folder, AutoRenew: portfolio.AutoRenew(q.AutoRenew), Sort: portfolio.Sort(q.Sort),
		AfterName: q.after["after"], AfterID: q.after["id"], AfterState: portfolio.State(q.after["in"]),
	}
	if ends, err := strconv.ParseInt(q.after["ends"], 10, 64); err == nil {
		filter.AfterEnd = time.UnixMicro(ends)
	}
	soon := h.Now().AddDate(0, 0, expiringDays)
	switch q.State {
	case stateExpiring:
		filter.Status, filter.PaidBefore = registrar.DomainActive, soon
	case stateUnlocked:
		filter.Status, filter.LacksStatus, match = registrar.DomainActive, domainchange.TransferLock, h.isUnlocked
	case stateAttention:
		filter.UrgentBefore = soon
		match = func(d portfolio.Domain) bool { return !d.IsGone(h.Now()) }
	default:
		filter.State = portfolio.State(q.State)
	}
	if filter.AutoRenew == portfolio.AutoRenewOff && q.State == "" { // nobody can turn it on for the others
		match = func(d portfolio.Domain) bool { return d.Status != registrar.DomainTransferredOut && !d.IsGone(h.Now()) }
	}
	return filter, match
}

func (h *Handler) domains(req *ui.Request) error { return h.showDomains(req, nil) }

// showDomains renders the list with a message about problem. Errors without a message
// are returned.
func (h *Handler) showDomains(req *ui.Request, problem error) error {
	status, message := http.StatusOK, ""
	if problem != nil {
		var known bool
		if message, known = h.problem(req, problem); !known {
			return problem
		}
		status = http.StatusConflict
	}
	asked := listQueryOf(req)
	filter, match := h.filter(asked)
	some, err := h.Portfolio.Page(req.R.Context(), req.Actor(), filter, asked.size(), match)
	if err != nil {
		return err
	}
	view := domainsView{
		Problem: message, Total: some.Total(), Query: asked, Sizes: pageSizes[:], CSV: asked.url(domainsPath+".csv", nil),
		Recent: req.SignedInRecently(), Again: ui.WithNext(ui.SignInAgainPath, asked.url(domainsPath, nil)), Orders: h.Orders != nil,
	}
	var ids []string
	for _, d := range some.Domains {
		ids = append(ids, d.ID)
	}
	notices, err := h.openNotices(req, ids)
	if err != nil {
		return err
	}
	underWay, err := h.Portfolio.UnderWay(req.R.Context(), req.Actor(), ids)
	if err != nil {
		return err
	}
	for _, d := range some.Domains {
		line := domainRow{Domain: d, End: h.termEndOf(req, d), Unlocked: h.isUnlocked(d), Notices: notices[d.ID], UnderWay: h.underWayBadges(req, d, underWay[d.ID])}
		h.hold(req, &line.End, d, line.Notices)
		view.Actions = view.Actions || line.End.Renewable
		view.Domains = append(view.Domains, line)
		view.IDs += d.ID + " "
	}
	if asked.narrows() || asked.State != "" {
		view.Found = len(some.Domains)
	}
	view.Counted = !asked.narrows()
	view.countGroups(some.Groups)
	if err := h.countFilters(req, &view); err != nil {
		return err
	}
	if err := h.addOpenRenewals(req, &view); err != nil {
		return err
	}
	if err := h.addFormer(req, &view); err != nil {
		return err
	}
	if filter.AfterName != "" {
		view.First = asked.url(domainsPath, nil)
	}
	if some.More {
		view.More = asked.url(domainsPath, &some.Domains[len(some.Domains)-1])
	}
	return h.templates.Render(req, ui.View{Name: "domains", Status: status, Title: "domains.title", Section: domainsPath, Data: view})
}

// countFilters counts the domains that the filters of stateAttention and its siblings find.
func (h *Handler) countFilters(req *ui.Request, view *domainsView) error {
	if view.Total == 0 || !view.Counted {
		return nil // the page has no filters, or shows no counts
	}
	counts, err := h.Portfolio.CountFilters(req.R.Context(), req.Actor(), h.Now().AddDate(0, 0, expiringDays), domainchange.TransferLock)
	view.Counts = map[string]int{stateAttention: 0, stateExpiring: 0, stateUnlocked: 0}
	for _, count := range counts {
		view.Counts[stateAttention] += count.Urgent
		view.Counts[stateExpiring] += count.Ending
		if h.DomainChanges.HasTransferLock(count.TLD) {
			view.Counts[stateUnlocked] += count.Lacking
		}
	}
	deleted := func(count domainCount) bool { return count.State == portfolio.State(registrar.DomainRedemption) }
	if err != nil || !slices.ContainsFunc(view.States, deleted) {
		return err
	}
	gone, _, err := h.Portfolio.ListMatching(req.R.Context(), req.Actor(), portfolio.Filter{Status: registrar.DomainRedemption},
		func(d portfolio.Domain) bool { return d.IsGone(h.Now()) })
	view.Counts[stateAttention] -= len(gone)
	return err
}

// addOpenRenewals adds the order that further renewals are added to.
func (h *Handler) addOpenRenewals(req *ui.Request, view *domainsView) error {
	if h.Orders == nil {
		return nil
	}
	open, found, err := h.Orders.OpenRenewals(req.R.Context(), req.Actor())
	if err != nil || !found {
		return err
	}
	tax, err := h.Orders.VATRate(req.R.Context(), req.Actor())
	if err == nil {
		err = open.Retax(tax)
	}
	if err != nil {
		return err
	}
	view.Open = open
	view.Pay, err = h.payPath(open)
	return err
}

// isUnlocked reports whether a domain lacks the transfer lock that its registry offers,
// according to the statuses read last.
func (h *Handler) isUnlocked(domain portfolio.Domain) bool {
	held := domain.Status == registrar.DomainActive || domain.Status == registrar.DomainExpired
	return held && len(domain.RegistryStatus) > 0 &&
		!domainchange.Record{Statuses: domain.RegistryStatus}.Locked() && h.DomainChanges.HasTransferLock(domain.TLD)
}

type domainsView struct {
	Domains []domainRow
	IDs     string // of all of them
	Actions bool   // orders are possible
	Problem string
	Total   int
	Query   listQuery
	// States, TLDs and Folders are the options of the filter.
	States        []domainCount
	TLDs, Folders []string
	Counts        map[string]int // of the states in listOptions
	Counted       bool           // counts of states are shown
	Found         int            // the domains of this page that a filter has found
	Sizes         []int
	CSV           string // the address of this list as a file
	// First and More are URLs of other pages of the list; empty if there are none.
	First, More string
	Recent      bool // the visitor may change nameservers and locks; otherwise Again is where to sign in
	Again       string
	Orders      bool // renewals can be ordered
	// Open is the unpaid order of renewals and Pay where to pay it; zero if there is none.
	Open order.Order
	Pay  string
	// Former are the domains that were deleted or handed over, the last to end first.
	Former []portfolio.Former
}

type domainCount struct {
	State portfolio.State
	Count int
}

func (v *domainsView) countGroups(groups []portfolio.Group) {
	counts := make(map[portfolio.State]int)
	for _, group := range groups {
		counts[group.State] += group.Domains
		v.TLDs = append(v.TLDs, group.TLD)
		if group.Folder != "" {
			v.Folders = append(v.Folders, group.Folder)
		}
	}
	for _, state := range portfolio.States() {
		if count := counts[state]; count > 0 {
			v.States = append(v.States, domainCount{state, count})
		}
	}
	v.TLDs, v.Folders = sortedSet(v.TLDs), sortedSet(v.Folders)
}

func sortedSet(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// setLabels stores the folder and the note of a domain.
func (h *Handler) setLabels(req *ui.Request) error {
	id := req.R.PathValue("id")
	if err := h.Portfolio.SetLabels(req.R.Context(), req.Actor(), id, req.Text("folder"), req.Field("note")); err != nil {
		message, known := h.problem(req, err)
		if !known {
			return err
		}
		return h.showDomain(req, http.StatusUnprocessableEntity, domainView{
			DS: dsField, Problem: message, Labels: &labels{Folder: req.Text("folder"), Note: req.Field("note")},
		})
	}
	return req.RedirectWithFlash("labels_saved", domainPath(id))
}

// labels are what a customer has written about a domain.
type labels struct{ Folder, Note string }

func noSuchDomain() error {
	return &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.NoSuchDomain}
}

// title names a domain in the reader's script.
func title(name string) string { return cmp.Or(ui.UnicodeName(name), name) }

// option is an entry of a filter; Text is a text key.
type option struct {
	Value, Text string
	Chosen      bool
}

// listOptions are the entries of the filters whose values don't depend on the domains.
var listOptions = map[string][]option{
	"state": {
		{Value: stateAttention, Text: "domains.attention"}, {Value: stateExpiring, Text: "domains.expiring"}, {Value: stateUnlocked, Text: "domains.unlocked"},
	},
	"sort": {
		{Value: string(portfolio.SortName), Text: "domains.sort_name"},
		{Value: string(portfolio.SortTerm), Text: "domains.sort_term"},
		{Value: string(portfolio.SortStatus), Text: "domains.sort_status"},
		{Value: string(portfolio.SortAdded), Text: "domains.sort_added"},
	},
	"auto": {
		{Text: "domains.all"}, {Value: string(portfolio.AutoRenewOn), Text: "domains.auto_on"}, {Value: string(portfolio.AutoRenewOff), Text: "domains.auto_off"},
	},
}

// Choices returns the entries of a filter, for the template.
func (v domainsView) Choices(filter string) []option {
	chosen := map[string]string{"state": v.Query.State, "sort": v.Query.Sort, "auto": v.Query.AutoRenew}[filter]
	options := slices.Clone(listOptions[filter])
	for i := range options {
		options[i].Chosen = options[i].Value == chosen
	}
	return options
}
