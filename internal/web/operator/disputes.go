package operator

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// Disputes has the operators' pages about payment disputes.
type Disputes struct {
	*dispute.Service
	// LastChange returns the last change of two kinds that was stored for a dispute; false if there
	// is none.
	LastChange func(ctx context.Context, operator registrar.Actor, domain, dispute string, kind, or domainchange.ChangeKind) (domainchange.Change, bool, error)
	// Order returns an order, whose refunds the provider's last report may lack.
	Order func(ctx context.Context, id string) (order.Order, bool, error)
	// Evidence returns what is stored about a disputed payment as a ZIP archive.
	Evidence func(ctx context.Context, operator registrar.Actor, d dispute.Dispute) ([]byte, error)
}

// disputeRow is a dispute with the domains that its charge paid for.
type disputeRow struct {
	dispute.Dispute
	Kind    string           // inquiry, dispute or bank_return
	Domains []dispute.Domain // the first of them
	More    int              // the others
	IsLate  bool             // the time for evidence is over
}

// maxRowDomains bounds the domains that a list shows of a dispute.
const maxRowDomains = 3

func disputeKind(d dispute.Dispute) string {
	switch {
	case d.BankReturn:
		return "bank_return"
	case d.Status.Inquiry():
		return "inquiry"
	default:
		return "dispute"
	}
}

func (h *Handler) disputeRows(req *ui.Request, operator registrar.Actor, disputes []dispute.Dispute) ([]disputeRow, error) {
	rows := make([]disputeRow, 0, len(disputes))
	for _, d := range disputes {
		domains, err := h.Disputes.Domains(req.R.Context(), operator, d)
		if err != nil {
			return nil, err
		}
		shown := domains[:min(len(domains), maxRowDomains)]
		rows = append(rows, disputeRow{Dispute: d, Kind: disputeKind(d), Domains: shown, More: len(domains) - len(shown), IsLate: d.Late(h.Now())})
	}
	return rows, nil
}

func (h *Handler) disputes(req *ui.Request, operator registrar.Actor) error {
	list, err := h.Disputes.ListAudited(req.R.Context(), operator, req.Query("open_after"), req.Query("before"))
	if err != nil {
		return err
	}
	openRows, err := h.disputeRows(req, operator, list.Open)
	if err != nil {
		return err
	}
	endedRows, err := h.disputeRows(req, operator, list.Ended)
	if err != nil {
		return err
	}
	next := ""
	if list.Next != "" {
		next = disputesPath + "?" + url.Values{"open_after": {list.Next}}.Encode()
	}
	return h.render(req, ui.View{Name: "disputes", Section: disputesPath}, struct {
		Open, Ended []disputeRow
		Next        string
		listedPage
	}{openRows, endedRows, next, listedPage{newPageLinks(req, disputesPath, nil, list.Older), list.Unaudited}}, "")
}

// disputedDomain is a domain with what its registry did for the dispute; empty if nothing yet.
type disputedDomain struct {
	dispute.Domain
	Lock, Hold domainchange.ChangeStatus
	Released   bool // Hold is that of the release
}

func (h *Handler) dispute(req *ui.Request, operator registrar.Actor) error {
	return h.showDispute(req, operator, nil)
}

// showDispute shows one dispute. problem is why a decision was not stored.
func (h *Handler) showDispute(req *ui.Request, operator registrar.Actor, problem error) error {
	ctx := req.R.Context()
	d, err := h.Disputes.Get(ctx, operator, req.R.PathValue("id"))
	if err != nil {
		return err
	}
	held, err := h.Disputes.Domains(ctx, operator, d)
	if err != nil {
		return err
	}
	domains := make([]disputedDomain, 0, len(held))
	for _, domain := range held {
		row := disputedDomain{Domain: domain}
		lock, _, err := h.Disputes.LastChange(ctx, operator, domain.ID, d.ID, domainchange.Lock, domainchange.Secure)
		if err != nil {
			return err
		}
		hold, _, err := h.Disputes.LastChange(ctx, operator, domain.ID, d.ID, domainchange.Hold, domainchange.Release)
		if err != nil {
			return err
		}
		row.Lock, row.Hold, row.Released = lock.State, hold.State, hold.Kind == domainchange.Release
		if lock.Kind == domainchange.Secure && lock.State == domainchange.StatusDone {
			row.Lock = "secured" // the registry has no lock
		}
		domains = append(domains, row)
	}
	releases := (d.Lock == dispute.LockDenying || d.Lock == dispute.LockDenied) && slices.ContainsFunc(held, dispute.Domain.TakenOut)
	names, err := h.operatorNames(req, operator)
	if err != nil {
		return err
	}
	var decisions []dispute.Decision
	for _, decision := range dispute.Decisions() {
		if d.Allows(decision) {
			decisions = append(decisions, decision)
		}
	}
	status, message, fieldProblem := http.StatusOK, "", ""
	switch registrar.CodeOf(problem) {
	case dispute.NotDecidable:
		status, message = http.StatusConflict, h.templates.Text(req.Language, "problem.dispute_not_decided")
	case dispute.BadDecision, dispute.NoteMissing:
		status, fieldProblem = http.StatusUnprocessableEntity, ui.ProblemKey(registrar.CodeOf(problem))
	}
	if d.Order != "" {
		stored, found, err := h.Disputes.Order(ctx, d.Order)
		if err != nil {
			return err
		}
		if found {
			d.Refunded = max(d.Refunded, refundedOf(stored, d.Payment))
		}
	}
	by := d.DecidedBy
	if names[by] != "" {
		by = names[by]
	}
	return h.render(req, ui.View{Name: "dispute", Status: status, Title: "dispute.page." + disputeKind(d), TitleValue: d.ID, Section: disputesPath}, struct {
		dispute.Dispute
		Kind          string
		IsLate        bool
		Held          []disputedDomain
		Decisions     []dispute.Decision
		Releases      bool // ending the denial puts domains back into the DNS
		By            string
		NewNote       string
		Chosen        dispute.Decision
		Problem       string
		MaxNote       int
		ReturnedTwice bool // more was refunded and taken back than was charged
	}{
		d, disputeKind(d), d.Late(h.Now()), domains, decisions, releases, by, req.Text("note"), dispute.Decision(req.Field("decision")), fieldProblem, dispute.MaxNote,
		d.Withdrawn > 0 && d.Refunded+d.Withdrawn > d.Charged,
	}, message)
}

// decideDispute stores a decision about a lost dispute. Denying transfers takes domains out of the
// DNS, so the page asks first.
func (h *Handler) decideDispute(req *ui.Request, operator registrar.Actor) error {
	id := req.R.PathValue("id")
	page := disputesPath + "/" + url.PathEscape(id)
	req.SetFormPath(page)
	version, _ := strconv.ParseInt(req.Field("version"), 10, 64) // an invalid one matches no dispute
	decision, note := dispute.Decision(req.Field("decision")), req.Text("note")
	asks := decision == dispute.Deny && req.Field("confirmed") != "yes"
	var domains []dispute.Domain
	var err error
	if asks {
		domains, err = h.Disputes.PreviewDecision(req.R.Context(), operator, id, version, decision, note)
	} else {
		err = h.Disputes.Decide(req.R.Context(), operator, id, version, decision, note)
	}
	switch code := registrar.CodeOf(err); {
	case code == dispute.NotDecidable || code == dispute.BadDecision || code == dispute.NoteMissing:
		return h.showDispute(req, operator, err)
	case err != nil:
		return err
	case asks:
		return h.confirmDenial(req, denialView{Back: page, Version: version, Note: note}, domains)
	}
	return req.RedirectWithFlash("dispute_decided", page)
}

// denialView asks whether to deny transfers.
type denialView struct {
	Back            string
	Version         int64
	Note            string
	TakenOut, Stays []dispute.Domain // of the DNS
}

func (h *Handler) confirmDenial(req *ui.Request, view denialView, domains []dispute.Domain) error {
	for _, domain := range domains {
		if domain.TakenOut() {
			view.TakenOut = append(view.TakenOut, domain)
		} else {
			view.Stays = append(view.Stays, domain)
		}
	}
	return h.render(req, ui.View{Name: "disputeconfirm", Title: "dispute.deny_title", Section: disputesPath}, view, "")
}

// disputeFile serves the evidence. It is recorded as an access to the order.
func (h *Handler) disputeFile(req *ui.Request, operator registrar.Actor) error {
	d, err := h.Disputes.Get(req.R.Context(), operator, req.R.PathValue("id"))
	if err != nil {
		return err
	}
	archive, err := h.Disputes.Evidence(req.R.Context(), operator, d)
	if err != nil {
		return err
	}
	// Stripe's ids are letters, digits and underscores.
	req.W.Header().Set("Content-Disposition", `attachment; filename="`+d.ID+`.zip"`)
	httpjson.WriteBytes(req.W, http.StatusOK, []string{"application/zip"}, archive)
	return nil
}
