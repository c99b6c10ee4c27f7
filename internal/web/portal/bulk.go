package portal

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/bulk"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// bulkPath is not below that of the domains, whose pages end in other words.
const bulkPath = "/portal/domain-actions"

// bulkView is the page that asks what an action needs to know.
type bulkView struct {
	Kind    bulk.Kind
	Domains []domainRow
	Problem string
	// Nameservers and Folder are the input.
	Nameservers, Folder string
	Holders             []holder.Holder
	Holder              string // the chosen one
	Unconfirmed         string // its address if it has to be confirmed within Days
	RefusedHolder       []holderRefusal
	Days                int
	Locks               bool // the transfer of one may be refused after the change of its holder
	Offers              []bulkOffer
	Refused             []refusedDomain // that the action does not change
	Ended               []string        // names of withdrawn or terminated contracts, which can't renew
	Method              string          // the default payment method; empty if there is none
	Wording, Text       string
}

// refusedDomain is a domain with the reason why an action does not change it.
type refusedDomain struct{ Name, Reason string }

// bulkOffer is an offer of automatic renewal and its value in the form.
type bulkOffer struct {
	renewal.Offer
	Value string
}

// bulkAction applies an action to the selected domains. Some actions ask for more first. What
// happened is shown on a page of its own, which can be reloaded.
func (h *Handler) bulkAction(req *ui.Request) error {
	kind, ids := bulk.Kind(req.Field("action")), selectedDomains(req)
	if err := bulk.Check(ids); err != nil {
		return h.showDomains(req, err)
	}
	if kind.NeedsRecentSignIn() {
		if err := req.Actor().RequireRecentSignIn(req.Now); err != nil {
			return err
		}
	}
	if kind == bulk.AutoRenewOn && req.Field("methods") != "" {
		return h.chooseMethodFor(req, ids)
	}
	request := bulk.Request{Kind: kind, Domains: ids, Nameservers: req.Text("nameservers"), Folder: req.Text("folder"), Holder: req.Field("holder")}
	asks := kind == bulk.Holder || kind == bulk.Nameservers || kind == bulk.Folder || kind == bulk.AutoRenewOn || kind == bulk.Unlock || kind == bulk.AutoRenewOff
	if asks && req.Field("confirmed") != "yes" {
		return h.showBulk(req, request, nil)
	}
	if kind == bulk.Nameservers && !sameServers(req.Field("asked"), request.Nameservers) {
		return h.confirmNameservers(req, request)
	}
	if kind == bulk.Holder && req.Field("asked") != ownHolder(request.Holder) {
		if warned, err := h.warnsAboutHolder(req, request); err != nil || warned {
			return h.showBulk(req, request, err)
		}
	}
	if kind == bulk.AutoRenewOn {
		if req.Field("agree") != "on" {
			return h.showBulk(req, request, registrar.Invalid(agreeMissing))
		}
		request.Agreements = agreements(req)
	}
	action, err := h.Bulk.Run(req.R.Context(), req.Actor(), request)
	switch {
	case err != nil && asks:
		return h.showBulk(req, request, err)
	case err != nil:
		return h.showDomains(req, err)
	case kind == bulk.Renew && action.Order != "" && refusedOf(action) == 0:
		order, err := h.Orders.Get(req.R.Context(), req.Actor(), action.Order)
		if err != nil {
			return err
		}
		return h.redirectToPay(req, order)
	}
	return req.SeeOther(bulkPath + "/" + action.ID)
}

// chooseMethodFor leads to the payment methods and back to the same domains.
func (h *Handler) chooseMethodFor(req *ui.Request, ids []string) error {
	kept, err := h.Bulk.Keep(req.R.Context(), req.Actor(), bulk.AutoRenewOn, ids)
	if err != nil {
		return err
	}
	return req.SeeOther(ui.WithQuery(methodsPath, map[string]string{forActionQuery: kept}))
}

func refusedOf(action bulk.Action) (refused int) {
	for _, result := range action.Results {
		if result.Code != "" {
			refused++
		}
	}
	return refused
}

// selectedDomains returns the ids that were ticked, or all of the page. On the page that asks
// for a consent, they are those of the offers.
func selectedDomains(req *ui.Request) (ids []string) {
	all := req.R.PostForm["id"]
	for _, offer := range req.R.PostForm["offer"] {
		id, _, _ := strings.Cut(offer, ".")
		all = append(all, id)
	}
	if req.Field("all") == "yes" {
		all = strings.Fields(req.Field("page"))
	}
	for _, id := range all {
		if id = ownDomainID(id); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// showBulk asks for what an action needs: nameservers, a folder, a consent or a confirmation.
func (h *Handler) showBulk(req *ui.Request, request bulk.Request, problem error) error {
	status, view := http.StatusOK, bulkView{Kind: request.Kind, Days: contactDays, Nameservers: request.Nameservers, Folder: request.Folder}
	if problem != nil {
		var known bool
		if view.Problem, known = h.problem(req, problem); !known {
			return problem
		}
		status = http.StatusUnprocessableEntity
		httpjson.RecordError(req.W, problem)
	}
	var err error
	if view.Domains, err = h.selectedRows(req, request.Domains); err != nil {
		return err
	}
	if len(view.Domains) == 0 {
		return noSuchDomain()
	}
	switch request.Kind {
	case bulk.AutoRenewOn:
		req.AllowExternalFormAction() // a payment method is added at the provider
		if err := h.addOffers(req, &view); err != nil {
			return err
		}
	case bulk.AutoRenewOff:
		notices, err := h.openNotices(req, request.Domains)
		if err != nil {
			return err
		}
		view.confirm(func(row *domainRow) (unchanged string) {
			row.End = h.termEndOf(req, row.Domain)
			h.hold(req, &row.End, row.Domain, notices[row.ID])
			switch {
			case row.End.CanTurnOff:
				return ""
			case row.End.On:
				return h.codeText(req, request.Kind, domainchange.StatusRefusal(row.Status))
			default:
				return h.templates.Text(req.Language, "bulk.before.auto_renew_off")
			}
		})
	case bulk.Unlock:
		view.confirm(func(row *domainRow) (unchanged string) {
			switch why := domainchange.StatusRefusal(row.Status); {
			case why != "":
				return h.codeText(req, request.Kind, why)
			case h.DomainChanges.LacksTransferLock(row.TLD):
				return h.codeText(req, request.Kind, domainchange.NoTransferLock)
			case !h.DomainChanges.HasTransferLock(row.TLD):
				return h.codeText(req, request.Kind, registrar.NoRegistryAccount)
			case h.isUnlocked(row.Domain):
				return h.templates.Text(req.Language, "bulk.before.unlock")
			default:
				return ""
			}
		})
	case bulk.Holder:
		chosen := request.Holder
		if problem != nil {
			chosen = ""
		}
		view.Locks = slices.ContainsFunc(view.Domains, func(row domainRow) bool { return h.locksAfterChange(row.TLD) })
		if err := h.addHolderChoice(req, &view, chosen); err != nil {
			return err
		}
	case bulk.Lock, bulk.Nameservers, bulk.Renew, bulk.Folder: // shown as selected
	}
	return h.templates.Render(req, ui.View{Name: "bulk", Status: status, Title: "bulk.title." + string(request.Kind), Section: domainsPath, Data: view})
}

// selectedRows returns those of the domains that the customer holds.
func (h *Handler) selectedRows(req *ui.Request, ids []string) (rows []domainRow, err error) {
	for _, id := range ids {
		domain, err := h.Portfolio.Get(req.R.Context(), req.Actor(), id)
		switch {
		case registrar.KindOf(err) == registrar.KindNotFound:
			continue
		case err != nil:
			return nil, err
		}
		rows = append(rows, domainRow{Domain: domain})
	}
	return rows, nil
}

// confirm leaves the domains that an action changes. Of the others, unchanged returns the reason.
func (v *bulkView) confirm(unchanged func(*domainRow) string) {
	all := v.Domains
	v.Domains = nil
	for _, row := range all {
		if reason := unchanged(&row); reason == "" {
			v.Domains = append(v.Domains, row)
		} else {
			v.Refused = append(v.Refused, refusedDomain{row.Name, reason})
		}
	}
}

// addOffers adds the offers of automatic renewal. Domains that renew already are left out.
func (h *Handler) addOffers(req *ui.Request, view *bulkView) error {
	if h.Renewals == nil {
		return noSuchDomain()
	}
	view.Wording = renewal.ConsentWording(req.Language)
	view.Text = renewal.ConsentText(view.Wording)
	methods, err := h.Renewals.Methods(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	view.Method = methods.Default().Label
	for _, domain := range view.Domains {
		offer, err := h.Renewals.Offer(req.R.Context(), req.Actor(), domain.ID)
		switch {
		case registrar.CodeOf(err) == renewal.NotRenewable, registrar.KindOf(err) == registrar.KindNotFound: // or it has left
			view.Refused = append(view.Refused, refusedDomain{domain.Name, h.noRenewalReason(req, domain.Domain)})
		case registrar.CodeOf(err) == withdrawal.NoticeOpen:
			view.Ended = append(view.Ended, domain.Name)
		case err != nil:
			return err
		case !offer.On:
			value := strings.Join([]string{offer.Domain, strconv.FormatInt(int64(offer.Gross), 10), offer.ChargeAt.UTC().Format(time.DateOnly)}, ".")
			view.Offers = append(view.Offers, bulkOffer{offer, value})
		}
	}
	return nil
}

// noRenewalReason says why a domain can't renew automatically.
func (h *Handler) noRenewalReason(req *ui.Request, d portfolio.Domain) string {
	key := ui.ProblemKey(renewal.NotRenewable)
	switch {
	case d.Status == registrar.DomainExpired:
		key = "bulk.reason_auto.expired"
	case d.Status != registrar.DomainActive:
		return h.codeText(req, bulk.AutoRenewOn, domainchange.StatusRefusal(d.Status))
	case d.PaidUntil.IsZero():
		key = "bulk.reason_auto.no_term"
	case !h.sold(d.TLD):
		key = "bulk.reason_renew.no_registry_account"
	}
	return h.templates.Text(req.Language, key)
}

// agreements are the offers that the customer saw.
func agreements(req *ui.Request) map[string]renewal.Agreement {
	agreed := make(map[string]renewal.Agreement)
	for _, offer := range req.R.PostForm["offer"] {
		parts := strings.Split(offer, ".")
		if len(parts) != 3 {
			continue
		}
		gross, err := strconv.ParseInt(parts[1], 10, 64)
		day, wrong := time.Parse(time.DateOnly, parts[2])
		if err == nil && wrong == nil {
			agreed[parts[0]] = renewal.Agreement{Wording: req.Field("wording"), Gross: registrar.Cents(gross), ChargeAt: day, Method: req.Field("method")}
		}
	}
	return agreed
}

// bulkResultView is the page that says what happened to each domain.
type bulkResultView struct {
	Kind    bulk.Kind
	Rows    []bulkRow
	Pay     string // where renewals are paid; empty if there are none or they are paid
	Summary []bulkSum
}

// bulkSum is a sentence of the summary: a text key, and the domains with that result.
type bulkSum struct{ Key, Domains string }

// bulkRow is a domain with its result: a text key with its colour, and what there is to say
// about it.
type bulkRow struct {
	Domain, Name    string
	Tone, Key, Text string
	Notices         []withdrawal.Kind // of a renewal: open withdrawals and terminations of its contract
}

func (h *Handler) bulkResult(req *ui.Request) error {
	action, outcomes, err := h.Bulk.Get(req.R.Context(), req.Actor(), req.R.PathValue("id"))
	if err != nil {
		return err
	}
	if kept := action.Kept(); len(kept) > 0 {
		return h.showBulk(req, bulk.Request{Kind: action.Kind, Domains: kept}, nil)
	}
	view, working := bulkResultView{Kind: action.Kind}, false
	var done, locked, waiting, refused, canceled, unlockable []string // names; unlockable have an extension without a transfer lock to set
	notices, err := h.noticesIn(req, action.Kind, outcomes)
	if err != nil {
		return err
	}
	for _, outcome := range outcomes {
		row := h.bulkRow(req, action.Kind, outcome)
		row.Notices = notices[outcome.Domain]
		switch {
		case row.Key == lockedBefore:
			locked = append(locked, row.Name)
		case row.Key == canceledChange:
			canceled = append(canceled, row.Name)
		case row.Tone == "good":
			done = append(done, row.Name)
		case row.Tone == "bad":
			refused = append(refused, row.Name)
		case row.Tone == "":
			unlockable = append(unlockable, row.Name)
		default:
			waiting = append(waiting, row.Name)
			working = working || row.Tone == "wait"
		}
		view.Rows = append(view.Rows, row)
	}
	for _, sum := range []struct {
		key   string
		names []string
	}{{doneKey(action.Kind), done}, {"bulk.sum.locked", locked}, {"bulk.sum.waiting", waiting}, {"bulk.sum.refused", refused}, {"bulk.sum.canceled", canceled}, {"bulk.sum.unlockable", unlockable}} {
		if len(sum.names) > 0 {
			view.Summary = append(view.Summary, bulkSum{sum.key, h.namesInSummary(req.Language, sum.names)})
		}
	}
	if working {
		req.RefreshAfter(3 * time.Second)
	}
	if action.Order != "" && h.Orders != nil {
		order, err := h.Orders.Get(req.R.Context(), req.Actor(), action.Order)
		if err != nil {
			return err
		}
		if order.State.Open() {
			if view.Pay, err = h.payPath(order); err != nil {
				return err
			}
		}
	}
	return h.templates.Render(req, ui.View{Name: "bulkresult", Title: "bulk.result." + string(action.Kind), Section: domainsPath, Data: view})
}

// doneKey is the text of the summary about what was done. Nothing is renewed before it is paid.
func doneKey(kind bulk.Kind) string {
	if kind == bulk.Renew {
		return "bulk.sum.ordered"
	}
	return "bulk.sum.done"
}

// maxSummedNames bounds the domains that a sentence about several of them names.
const maxSummedNames = 3

// namesInSummary names a few domains; of more, their number and the first ones. Names that the
// account does not hold are empty and only counted.
func (h *Handler) namesInSummary(language string, names []string) string {
	var shown []string
	for _, name := range names {
		if name != "" && len(shown) < maxSummedNames {
			shown = append(shown, ui.UnicodeName(name))
		}
	}
	switch list := strings.Join(shown, ", "); {
	case len(shown) == len(names):
		return list
	case len(shown) == 0:
		return strconv.Itoa(len(names))
	default:
		return h.templates.Text(language, "bulk.sum.many", len(names), list)
	}
}

// noticesIn returns, by domain, the withdrawals and terminations that a renewal contradicts.
func (h *Handler) noticesIn(req *ui.Request, kind bulk.Kind, outcomes []bulk.Outcome) (map[string][]withdrawal.Kind, error) {
	if kind != bulk.Renew {
		return nil, nil
	}
	var ids []string
	for _, outcome := range outcomes {
		ids = append(ids, outcome.Domain)
	}
	return h.openNotices(req, ids)
}

// bulkRow says what happened to one domain.
func (h *Handler) bulkRow(req *ui.Request, kind bulk.Kind, outcome bulk.Outcome) bulkRow {
	row := bulkRow{Domain: outcome.Domain, Name: outcome.Name, Tone: "good", Key: "bulk.done." + string(kind)}
	refuse := func(code registrar.Code) {
		row.Tone, row.Key, row.Text = "bad", "bulk.refused", h.codeText(req, kind, code)
	}
	change := outcome.Change
	switch {
	case outcome.Code == domainchange.NoTransferLock && kind == bulk.Lock: // nothing went wrong
		row.Tone, row.Key, row.Text = "", "bulk.no_lock", h.codeText(req, kind, outcome.Code)
	case outcome.Code == domainchange.IsRedemption && kind == bulk.Renew:
		refuse(outcome.Code)
		if text, restorable := h.restoreText(req, outcome.Domain); restorable {
			row.Text = text
		}
	case outcome.Code == provision.NotRenewable && kind == bulk.Renew:
		domain, err := h.Portfolio.Get(req.R.Context(), req.Actor(), outcome.Domain)
		if refuse(outcome.Code); err == nil && renewalRefusal(domain) != renewalRefused {
			row.Text = h.codeText(req, kind, renewalRefusal(domain))
		}
	case outcome.Code != "":
		refuse(outcome.Code)
	case outcome.Locked && change.State == domainchange.StatusDone:
		row.Key = lockedBefore
	case outcome.ChangeID == "" || change.State == domainchange.StatusDone:
	case change.State == domainchange.StatusRefused:
		refuse(h.refusalCode(change))
		row.Text = h.withServers(req, row.Text, change)
	case change.State == domainchange.StatusWaiting:
		row.Tone, row.Key = "warn", "change_state.waiting"
		row.Text = h.templates.Text(req.Language, "bulk.planned", ui.FormatDate(req.Language, change.WaitUntil))
	case change.State == domainchange.StatusCanceled:
		row.Tone, row.Key = "warn", canceledChange
	case outcome.Locked:
		row.Key = lockedBefore
	default:
		row.Tone, row.Key = "wait", "bulk.working"
	}
	return row
}

// canceledChange is the result for a domain whose change the customer has canceled.
const canceledChange = "change_state.canceled"

// lockedBefore is the result for a domain that was locked already.
const lockedBefore = "bulk.locked_before"

// codeText explains why nothing was done about a domain.
func (h *Handler) codeText(req *ui.Request, kind bulk.Kind, code registrar.Code) string {
	automatic := code == renewal.NotRenewable // its text is about automatic renewal
	if kind == bulk.Holder && h.templates.Has("holder_refused."+string(code)) {
		return h.refusedHolder(req, code, nil)
	}
	if key := "bulk.reason_renew." + string(code); kind == bulk.Renew && h.templates.Has(key) {
		return h.templates.Text(req.Language, key)
	}
	for _, key := range []string{"bulk.reason." + string(code), ui.ProblemKey(code), "closed." + string(code)} {
		if h.templates.Has(key) && (kind != bulk.Renew || !automatic) {
			return h.codeMessage(req, key, code)
		}
	}
	if kind == bulk.Renew {
		return h.templates.Text(req.Language, ui.ProblemKey(renewalRefused))
	}
	return h.templates.Text(req.Language, ui.ProblemKey(registrar.RegistryDenied))
}
