package portal

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/bulk"
	"github.com/dotkontor/dotkontor/internal/registrar/contactcheck"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// domainLeaving closes all changes while another registrar has requested the domain.
const domainLeaving registrar.Code = "domain_is_leaving"

type domainView struct {
	domainchange.View
	Path          string                    // the page's own path
	Listed        portfolio.Domain          // as in the list
	Closed        map[string]registrar.Code // why a kind of change is not possible
	Transfers     string                    // the page about transfers, for a pending domain
	ClosedReason  registrar.Code            // why no change is possible; empty if some are
	Expired       string                    // says what an expired domain's state is, instead of ClosedReason; empty for others
	Locking       bool                      // the transfer lock is requested and not confirmed
	Disputed      bool                      // locked because of a payment dispute
	Contact       string                    // the contact form
	Waiting       bool                      // the open change waits for its second step
	RemovedDS     []domainchange.DS         // see removedDS
	Refused       *refusedPlan              // nil unless the last nameserver change failed after its first step
	Recent        bool
	Again         string
	End           termEnd
	Offer         *renewal.Offer // of automatic renewal, if it is on
	Renewals      []renewalOption
	RenewFrom     time.Time // when it can be renewed again, if it is paid too far ahead; zero otherwise
	Restore       *restoreOffer
	Holders       []holder.Holder     // from which the customer chooses
	Holder        string              // the id of the current one
	ContactCheck  *contactcheck.Check // its holder's address is not confirmed; nil: nothing to confirm
	Holds, Locks  []admin.Lock        // operators' locks that keep it out of the DNS, and others
	HolderKept    bool                // the registry still has the holder from before the transfer to us
	History       []historyEntry
	Statuses      []registryStatus // the most urgent first
	Notices       []portfolio.Notice
	Labels        *labels     // the customer's folder and note
	Ended         []noticeRow // withdrawals and terminations of its contract
	Away          transferaway.View
	AwayRows      []outgoingRow
	AwayPage      string
	TransferLocks []transferaway.Lock // in force, the longest first

	// The customer's input and its error; NameserversProblem is a message.
	Problem            string
	Nameservers        string
	NameserversProblem string
	Immediate          bool // ticked with the input that had a problem
	DS                 ui.Field
	Code               string // set only in the response that shows an auth code
}

// noticeRow is a withdrawal or termination with what was refunded for the domain.
type noticeRow struct {
	withdrawal.Notice
	Refund order.WithdrawalRefund
	Late   bool      // a withdrawal whose deadline has passed
	End    time.Time // the day on which the contract ends, as confirmed; zero if none was
}

// Declared returns the notices to show: those of Ended without repetitions.
func (v domainView) Declared() (shown []noticeRow) {
	var notices []withdrawal.Notice
	for _, row := range v.Ended {
		notices = append(notices, row.Notice)
	}
	notices = withdrawal.WithoutRepetitions(notices, func(withdrawal.Notice) string { return "" })
	return slices.DeleteFunc(slices.Clone(v.Ended), func(row noticeRow) bool { return !slices.Contains(notices, row.Notice) })
}

// ContractEnds returns the confirmed day on which the contract ends before its term; zero if there is
// none, or the customer has renewed or kept the domain since.
func (v domainView) ContractEnds() time.Time {
	if v.End.Expire {
		for _, notice := range v.Ended {
			if !notice.End.IsZero() && notice.End.Before(v.Domain.PaidUntil.UTC().Truncate(24*time.Hour)) {
				return notice.End
			}
		}
	}
	return time.Time{}
}

type historyEntry struct {
	At time.Time
	// What and Who are text keys; Detail and By are their objects.
	What, Detail, Who, By string
	RemovedDS             []domainchange.DS
	State                 string // the text key of the result; empty if it succeeded
	Address               string
}

var dsField = ui.Field{
	ID: "ds", Name: "ds", Label: "domain_page.ds_label", Hint: "domain_page.ds_hint", Type: "text", Autocomplete: "off", MaxLength: 300,
}

func domainPath(id string) string { return domainsPath + "/" + id }

func (h *Handler) domain(req *ui.Request) error {
	err := h.showDomain(req, http.StatusOK, domainView{DS: dsField})
	if registrar.CodeOf(err) == registrar.NoSuchDomain {
		return h.showFormer(req)
	}
	return err
}

// toDomain redirects to a domain's page.
func (h *Handler) toDomain(req *ui.Request) error {
	domain, err := h.Portfolio.Get(req.R.Context(), req.Actor(), req.R.PathValue("id"))
	if err != nil {
		return err
	}
	return req.SeeOther(domainPath(domain.ID))
}

// showDomain fills in the rest of a view that may contain a form's input.
func (h *Handler) showDomain(req *ui.Request, status int, view domainView) error {
	var err error
	if view.View, err = h.DomainChanges.View(req.R.Context(), req.Actor(), req.R.PathValue("id")); err != nil {
		return err
	}
	if view.Holders, err = h.Holders.List(req.R.Context(), req.Actor()); err != nil {
		return err
	}
	if err := h.addContactCheck(req, &view); err != nil {
		return err
	}
	if err := h.addLocks(req, &view); err != nil {
		return err
	}
	view.Holder = ownHolder(view.Domain.Holder)
	view.Path = domainPath(view.Domain.ID)
	req.SetFormPath(view.Path) // a change of language returns here, also after a form's error
	if view.Domain.Status == registrar.DomainPending && h.Orders != nil {
		view.Transfers = ui.TransfersPath
	}
	view.Recent, view.Again = req.SignedInRecently(), ui.WithNext(ui.SignInAgainPath, view.Path)
	if err := h.addTermEnd(req, &view); err != nil {
		return err
	}
	if view.Away, err = h.TransfersAway.View(req.R.Context(), req.Actor(), view.Domain.ID); err != nil {
		return err
	}
	view.AwayRows, view.AwayPage, view.TransferLocks = outgoingRows(view.Away.Transfers), view.Path+transferStep, h.transferLocks(view.View)
	if err := h.addPrices(req, &view); err != nil {
		return err
	}
	view.Locking = view.Open != nil && view.Open.Kind == domainchange.Lock
	view.Closed = make(map[string]registrar.Code)
	for kind, why := range view.View.Closed {
		view.Closed[string(kind)] = why
	}
	switch why := view.View.Closed[domainchange.Nameservers]; {
	case view.Open != nil && view.Open.State == domainchange.StatusWaiting:
	case view.Open != nil && !view.Stuck:
		req.RefreshAfter(3 * time.Second)
	case why != domainchange.DomainRestricted: // a lock closes only what it restricts
		view.ClosedReason = why
	}
	if view.Away.Open != nil { // the registry refuses everything but the decision
		for _, kind := range domainchange.CustomerChangeKinds() {
			view.Closed[string(kind)] = cmp.Or(view.Closed[string(kind)], domainLeaving)
		}
		view.ClosedReason = cmp.Or(view.ClosedReason, domainLeaving)
	}
	if view.ClosedReason == domainchange.IsExpired {
		view.Expired = h.expiredBanner(req, view)
	}
	for _, why := range view.Closed {
		view.Disputed = view.Disputed || why == domainchange.DomainDisputed
	}
	if view.Contact = ui.ContactPath; req.Language == "en" {
		view.Contact = ui.EnglishContactPath
	}
	view.Waiting = view.Open != nil && view.Open.State == domainchange.StatusWaiting
	view.Refused, view.RemovedDS = h.refusedPlan(req, view.View), removedDS(view.View, h.Now())
	if view.NameserversProblem == "" {
		view.Nameservers = nameserverLines(view.Record.Nameservers)
	}
	view.Statuses = registryStatuses(view.Record.Statuses)
	view.HolderKept = holderKept(view.View)
	if view.History, err = h.history(req, view.View); err != nil {
		return err
	}
	return h.templates.Render(req, ui.View{Name: "domain", Status: status, Title: "domain_page.title", TitleValue: title(view.Domain.Name), Section: domainsPath, Data: view})
}

// RegistryRenewed reports whether the registry has renewed the domain by itself, beyond what is paid.
func (v domainView) RegistryRenewed() bool {
	return lifecycle.PolicyOf(v.Domain.TLD).AtExpiry == lifecycle.RegistryRenews && v.Record.Expires.After(v.Domain.PaidUntil.AddDate(0, 0, 2))
}

// RegistryExpires is when the term at the registry ends; zero if that is unknown, or if the registry has
// no terms (DENIC): what it reports is then not the day on which anything happens.
func (v domainView) RegistryExpires() time.Time {
	if lifecycle.PolicyOf(v.Domain.TLD).AtExpiry == lifecycle.RegistryNoTerm {
		return time.Time{}
	}
	return v.Record.Expires
}

// holderKept reports whether the registry still has the holder from before the transfer to us: it
// has refused ours, or the transfer was before we changed the holder.
func holderKept(view domainchange.View) bool {
	if !view.Capabilities.Contacts {
		return false // the registry has no holder data
	}
	received := slices.ContainsFunc(view.AuditEvents, func(event registrar.AuditEvent) bool { return event.Action == provision.ActionReceived })
	return received && !slices.ContainsFunc(view.Changes, func(change domainchange.Change) bool {
		return change.Kind == domainchange.UpdateRegistrant && change.State == domainchange.StatusDone
	})
}

// refusedPlan is a nameserver change that failed after the DS records had been removed for it.
type refusedPlan struct {
	At      time.Time
	Servers []domainchange.Nameserver
	Reason  string
	Retry   bool // the nameservers can be changed now
}

// refusedPlanDays is how long the page of a domain without DS records shows the change that removed them.
const refusedPlanDays = 30

// refusedPlan returns the domain's last nameserver change if it failed like that and the customer may
// not have decided about DNSSEC since; nil otherwise.
func (h *Handler) refusedPlan(req *ui.Request, view domainchange.View) *refusedPlan {
	change, shown := refusedAfterUnsigning(view, h.Now())
	if !shown {
		return nil
	}
	plan := &refusedPlan{
		At: change.UpdatedAt, Servers: change.Desired.Nameservers, Reason: h.templates.Text(req.Language, ui.ProblemKey(h.refusalCode(change))),
		Retry: view.Closed[domainchange.Nameservers] == "",
	}
	if len(change.Desired.RefusedServers) > 0 { // all that were requested are listed
		plan.Reason = h.withServers(req, plan.Reason, change)
	}
	return plan
}

func refusedAfterUnsigning(view domainchange.View, now time.Time) (domainchange.Change, bool) {
	for _, change := range view.Changes { // the newest first
		switch {
		case change.Kind == domainchange.AddDS && change.State == domainchange.StatusDone:
			return domainchange.Change{}, false
		case change.Kind == domainchange.Nameservers:
			recent := now.Before(change.UpdatedAt.AddDate(0, 0, refusedPlanDays))
			return change, recent && change.MayBeUnsigned() && len(view.Record.DS) == 0
		}
	}
	return domainchange.Change{}, false
}

// removedDS returns the DS records that the last nameserver change removed for nothing, because it was
// canceled or refused, and that the registry does not have: the customer may want them back. It returns
// none after another DS record was added, or some of these were removed again.
func removedDS(view domainchange.View, now time.Time) []domainchange.DS {
	last := slices.IndexFunc(view.Changes, func(change domainchange.Change) bool { return change.Kind == domainchange.Nameservers })
	if last < 0 || !view.HasRecord {
		return nil
	}
	change := view.Changes[last]
	ended := change.State == domainchange.StatusCanceled || change.State == domainchange.StatusRefused
	if !ended || !now.Before(change.UpdatedAt.AddDate(0, 0, refusedPlanDays)) {
		return nil
	}
	decided := slices.ContainsFunc(view.Changes[:last], func(later domainchange.Change) bool {
		if later.State != domainchange.StatusDone || later.Desired.DS == nil {
			return false
		}
		return (later.Kind == domainchange.AddDS) != slices.Contains(change.Desired.RemovedDS, *later.Desired.DS)
	})
	if decided {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(change.Desired.RemovedDS), func(ds domainchange.DS) bool { return slices.Contains(view.Record.DS, ds) })
}

// closing is why a change is not possible, and until when if that is known.
type closing struct {
	Code  registrar.Code
	Until time.Time
}

// Closing returns until when a reason applies: changes wait for one of the nameservers.
func (v domainView) Closing(why registrar.Code) closing {
	if v.Waiting && why == domainchange.ChangeInProgress {
		return closing{why, v.Open.WaitUntil}
	}
	return closing{Code: why}
}

// HolderDisputed reports whether the holder could not be set because the payment is disputed.
func (v domainView) HolderDisputed() bool {
	last := slices.IndexFunc(v.View.Changes, func(change domainchange.Change) bool { return change.Kind == domainchange.UpdateRegistrant })
	return last >= 0 && v.View.Changes[last].State == domainchange.StatusRefused && v.View.Changes[last].Failure == domainchange.DomainDisputed
}

// addTermEnd fills in what happens at the end of the term, and the notices about it.
func (h *Handler) addTermEnd(req *ui.Request, view *domainView) error {
	ctx, actor := req.R.Context(), req.Actor()
	domain, err := h.Portfolio.Get(ctx, actor, view.Domain.ID)
	if err != nil {
		return err
	}
	if view.HasRecord {
		domain.RegistryStatus = view.Record.Statuses
	}
	if domain.Status == registrar.DomainRedemption && domain.Term.DeletedAt.IsZero() {
		// Usually by the deletion; the list has it with the next comparison. But it was another change if
		// the registry offers a restore for longer.
		domain.Term.DeletedAt = view.Record.Updated
		over := lifecycle.RestoreOver(domain.TLD, domain.Term.DeletedAt, nil, h.Now())
		if over && slices.ContainsFunc(domain.RegistryStatus, lifecycle.OffersRestore) {
			domain.Term.DeletedAt = time.Time{}
		}
	}
	view.End, view.Listed = h.termEndOf(req, domain), domain
	if view.Missing != "" && domain.Status == registrar.DomainRedemption {
		view.End.Text = "" // its registry has released it
	}
	if view.Labels == nil {
		view.Labels = &labels{domain.Folder, domain.Note}
	}
	if view.End.On && h.Renewals != nil {
		offer, err := h.Renewals.Offer(ctx, actor, domain.ID)
		switch {
		case err == nil:
			view.Offer = &offer
		case registrar.CodeOf(err) != renewal.NotRenewable && registrar.KindOf(err) != registrar.KindUpstream: // a registry that can't be asked for a premium price
			return err
		}
	}
	if err := h.addContractNotices(req, view, domain); err != nil {
		return err
	}
	var receiptsOf []string
	var open []withdrawal.Kind
	for _, notice := range view.Ended {
		receiptsOf = append(receiptsOf, notice.ID)
		if notice.Open() {
			open = append(open, notice.Kind)
		}
	}
	h.hold(req, &view.End, domain, open)
	view.Notices, err = h.Portfolio.Notices(ctx, actor, domain, receiptsOf...)
	return err
}

// addContractNotices fills in the withdrawals and terminations of the domain's contract, and what was
// refunded for them.
func (h *Handler) addContractNotices(req *ui.Request, view *domainView, domain portfolio.Domain) error {
	if h.ContractNotices == nil {
		return nil
	}
	notices, err := h.ContractNotices(req.R.Context(), req.Actor().Customer, domain.ID)
	if err != nil {
		return err
	}
	var handled []string
	for _, notice := range notices {
		if !notice.Open() && notice.Kind == withdrawal.Withdrawal {
			handled = append(handled, notice.ID)
		}
	}
	var orders []order.Order
	if h.Orders != nil && len(handled) > 0 {
		if orders, err = h.Orders.ListRefundedFor(req.R.Context(), req.Actor(), handled); err != nil {
			return err
		}
	}
	for _, notice := range notices {
		row := noticeRow{Notice: notice, Late: notice.Kind == withdrawal.Withdrawal && notice.Overdue(h.Now()), End: notice.ConfirmedEnd(domain.PaidUntil)}
		for _, o := range orders {
			if refund := o.RefundOfWithdrawal(notice.ID, domain.Name); refund.Amount > 0 {
				row.Refund = refund
			}
		}
		view.Ended = append(view.Ended, row)
	}
	return nil
}

func nameserverLines(servers []domainchange.Nameserver) string {
	var lines []string
	for _, server := range servers {
		lines = append(lines, server.String())
	}
	return strings.Join(lines, "\n")
}

// history merges changes and audit events, newest first.
func (h *Handler) history(req *ui.Request, view domainchange.View) ([]historyEntry, error) {
	names, err := h.namesByID(req)
	if err != nil {
		return nil, err
	}
	var rows []historyEntry
	for _, change := range view.Changes {
		rows = append(rows, changeEntries(change)...)
	}
	for _, event := range view.AuditEvents {
		entry := h.newActivityEntry(account.AuditEntry{AuditEvent: event}, names)
		rows = append(rows, historyEntry{At: event.At, What: entry.What, Who: entry.Who, By: entry.By, Address: visibleAddress(event.Actor)})
	}
	slices.SortStableFunc(rows, func(a, b historyEntry) int { return b.At.Compare(a.At) })
	return rows, nil
}

// changeEntries returns the entries of a change: one, or more if DS records are removed before the
// nameservers are changed, which happens without the customer, hours or days later.
func changeEntries(change domainchange.Change) []historyEntry {
	line := historyEntry{
		At: change.CreatedAt, What: "change." + string(change.Kind), Who: "who." + string(change.Actor.Kind), Address: visibleAddress(change.Actor),
	}
	removed := line
	switch {
	case change.Kind == domainchange.UpdateRegistrant && change.Desired.Reason == holder.ReasonCorrection:
		line.What = "change.holder_data"
	case len(change.Desired.Nameservers) > 0:
		line.Detail = strings.ReplaceAll(nameserverLines(change.Desired.Nameservers), "\n", ", ")
	case change.Desired.DS != nil:
		line.Detail = change.Desired.DS.String()
	}
	if change.State != domainchange.StatusDone {
		line.What, line.State = "change.of."+string(change.Kind), "change_state."+string(change.State)
	}
	if change.State == domainchange.StatusRefused && change.Failure == domainchange.DomainDisputed {
		line.State = "change_state.disputed"
	}
	if change.Failure == domainchange.Abandoned {
		line.State = "change_state.abandoned"
	}
	removed.At = change.Desired.RemovedDSAt
	if removed.At.IsZero() {
		if len(change.Desired.RemovedDS) == 0 || change.State != domainchange.StatusDone && change.State != domainchange.StatusWaiting {
			return []historyEntry{line}
		}
		removed.At = change.CreatedAt // older changes lack the time; the first step was made at once
	}
	removed.What, removed.RemovedDS = "change."+string(domainchange.RemoveDS), change.Desired.RemovedDS
	if !change.State.Final() {
		return []historyEntry{line, removed}
	}
	planned := line
	planned.What, planned.State, line.At = "change.planned", "", change.UpdatedAt
	if change.State == domainchange.StatusDone {
		line.Who, line.Address = "who."+string(registrar.ActorSystem), ""
	}
	return []historyEntry{line, removed, planned}
}

// visibleAddress is the address of an actor; empty for operators, whose address
// customers must not see.
func visibleAddress(actor registrar.Actor) string {
	if actor.Kind == registrar.ActorOperator || !actor.Address.IsValid() {
		return ""
	}
	return actor.Address.String()
}

// change requests a domain change with the input of its form and shows the result.
func (h *Handler) change(kind domainchange.ChangeKind) ui.PageFunc {
	return func(req *ui.Request) error {
		change, code, err := h.DomainChanges.RequestChange(req.R.Context(), req.Actor(), req.R.PathValue("id"), domainchange.ChangeRequest{
			Kind: kind, Nameservers: req.Text("nameservers"), DS: req.Text("ds"), Immediate: req.Field("immediate") == "yes",
			Holder: req.Field("holder"),
		})
		switch {
		case err != nil:
			return h.changeProblem(req, kind, err)
		case change.State == domainchange.StatusRefused:
			return h.changeProblem(req, kind, &registrar.Error{Kind: registrar.KindConflict, Code: h.refusalCode(change), Err: refusedChange{change}})
		case code != "":
			return h.showDomain(req, http.StatusOK, domainView{DS: dsField, Code: code})
		}
		flash := "change_under_way"
		switch change.State {
		case domainchange.StatusDone:
			flash = "change_" + string(change.Kind)
		case domainchange.StatusWaiting:
			req.FlashAt("change_planned", change.WaitUntil)
			return req.SeeOther(domainPath(req.R.PathValue("id")))
		default:
		}
		return req.RedirectWithFlash(flash, domainPath(req.R.PathValue("id")))
	}
}

// refusedChange is the cause of an error about a change that the registry refused.
type refusedChange struct{ domainchange.Change }

func (refusedChange) Error() string { return "change refused" }

// withServers adds to the reason of a refusal the nameservers that the registry names, or else all that
// were requested if it means some of them.
func (h *Handler) withServers(req *ui.Request, reason string, change domainchange.Change) string {
	about := h.refusalCode(change)
	switch {
	case change.Kind != domainchange.Nameservers:
		return reason
	case len(change.Desired.RefusedServers) > 0:
		return h.templates.Text(req.Language, "problem.refused_servers", reason, strings.Join(change.Desired.RefusedServers, ", "))
	case about == registrar.EPPMissing || about == registrar.EPPNotAllowed:
		names := make([]string, len(change.Desired.Nameservers))
		for i, server := range change.Desired.Nameservers {
			names[i] = server.Name
		}
		return h.templates.Text(req.Language, "problem.with_servers", reason, strings.Join(names, ", "))
	default:
		return reason
	}
}

// cancelChange cancels a nameserver change that waits for its second step.
func (h *Handler) cancelChange(req *ui.Request) error {
	if err := h.DomainChanges.CancelChange(req.R.Context(), req.Actor(), req.R.PathValue("id")); err != nil {
		return h.changeProblem(req, "", err)
	}
	return req.RedirectWithFlash("change_canceled", domainPath(req.R.PathValue("id")))
}

func (h *Handler) setLock(req *ui.Request) error {
	if req.Field("on") == "yes" {
		return h.change(domainchange.Lock)(req)
	}
	return h.change(domainchange.Unlock)(req)
}

// refusalCode returns the code whose text explains the registry's refusal. Codes about
// objects concern nameservers only if those were to be changed.
func (h *Handler) refusalCode(change domainchange.Change) registrar.Code {
	aboutHosts := change.Failure == registrar.EPPMissing || change.Failure == registrar.EPPNotAllowed
	if change.Failure == domainchange.DomainRestricted || change.Failure == domainchange.DomainDisputed { // locked while the change was in progress
		return change.Failure
	}
	if !h.templates.Has(ui.ProblemKey(change.Failure)) || aboutHosts && change.Kind != domainchange.Nameservers {
		return registrar.RegistryDenied
	}
	return change.Failure
}

// changeProblem shows the input again, with an error at its field or above the page.
func (h *Handler) changeProblem(req *ui.Request, kind domainchange.ChangeKind, err error) error {
	key, known := h.problemKey(err)
	if closed := "closed." + string(registrar.CodeOf(err)); !known && h.templates.Has(closed) {
		key, known = closed, true
	}
	if registrar.CodeOf(err) == registrar.SignInAgain {
		req.SetFormPath(domainPath(req.R.PathValue("id"))) // the path is the visitor's own, so it may be kept
		return err
	}
	if !known {
		return err
	}
	view, status := domainView{DS: dsField}, http.StatusConflict
	if registrar.KindOf(err) == registrar.KindInvalid {
		status = http.StatusUnprocessableEntity
	}
	switch kind {
	case domainchange.Nameservers:
		view.Nameservers, view.NameserversProblem, view.Immediate = req.Text("nameservers"), h.errorMessage(req, key, err), req.Field("immediate") == "yes"
	case domainchange.AddDS:
		view.DS = focused(dsField.With(req.Text("ds"), key))
	case domainchange.UpdateRegistrant:
		view.Problem = h.codeText(req, bulk.Holder, registrar.CodeOf(err))
	default:
		view.Problem = h.templates.Text(req.Language, key)
	}
	return h.showDomain(req, status, view)
}
