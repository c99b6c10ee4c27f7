package operator

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

const defaultReviewPeriod = 30 * 24 * time.Hour

type restrictionBox struct {
	Name    admin.Restriction
	Checked bool
}

type locksView struct {
	InForce, Lifted    []admin.Lock
	Disputes           []disputeRow // that lock domains
	Now                time.Time
	Fields             []ui.Field
	Restrictions       []restrictionBox
	RestrictionProblem string
	Operators          map[string]string // their addresses by account
}

// holdView confirms a lock that takes a domain out of the DNS.
type holdView struct {
	admin.Lock
	Sent []ui.Field // what was entered, to be sent again
}

// By is who has set a lock.
func (v locksView) By(lock admin.Lock) string { return cmp.Or(v.Operators[lock.SetBy], lock.SetBy) }

// fieldByCode maps an error code to the field that shows it.
var fieldByCode = map[registrar.Code]string{
	registrar.NoSuchDomain: "domain", admin.BadCause: "cause", admin.BadReason: "reason", admin.BadRestrictions: "blocks", admin.BadReviewDate: "review",
	admin.HoldUnsupported: "blocks",
}

func (h *Handler) locks(req *ui.Request, operator registrar.Actor) error {
	return h.showLocks(req, operator, nil)
}

func (h *Handler) showLocks(req *ui.Request, operator registrar.Actor, problem error) error {
	view := locksView{Now: h.Now()}
	var err error
	if view.InForce, view.Lifted, err = h.Admin.ListLocks(req.R.Context(), operator); err != nil {
		return err
	}
	if view.Operators, err = h.operatorNames(req, operator); err != nil {
		return err
	}
	locking, err := h.Disputes.ListLocking(req.R.Context(), operator)
	if err != nil {
		return err
	}
	if view.Disputes, err = h.disputeRows(req, operator, locking); err != nil {
		return err
	}
	sent := req.R.Method == http.MethodPost
	wrong := make(map[string]string)
	status := http.StatusOK
	if problem != nil {
		field, known := fieldByCode[registrar.CodeOf(problem)]
		if !known {
			return problem
		}
		wrong[field], status = ui.ProblemKey(registrar.CodeOf(problem)), http.StatusUnprocessableEntity
	}
	review := req.Text("review")
	if !sent {
		review = h.Now().Add(defaultReviewPeriod).UTC().Format(time.DateOnly)
	}
	causes := []ui.Choice{{Label: "locks.choose"}}
	for _, cause := range admin.Causes() {
		causes = append(causes, ui.Choice{Value: string(cause), Label: "cause." + string(cause)})
	}
	view.Fields = []ui.Field{
		ui.Field{Name: "domain", Label: "table.domain", Type: "text", MaxLength: 253, Autocomplete: "off", InputMode: "url"}.With(req.Text("domain"), wrong["domain"]),
		ui.Field{Name: "cause", Label: "locks.cause", Choices: causes}.With(req.Text("cause"), wrong["cause"]),
		ui.Field{Name: "reason", Label: "locks.reason", Hint: "locks.reason_hint", Type: "text", MaxLength: 100, Autocomplete: "off"}.With(req.Text("reason"), wrong["reason"]),
		ui.Field{Name: "reference", Label: "locks.reference", Type: "text", Optional: true, MaxLength: 60, Autocomplete: "off"}.With(req.Text("reference"), ""),
		ui.Field{Name: "review", Label: "locks.review", Hint: "locks.review_hint", Type: "date"}.With(review, wrong["review"]),
	}
	for _, name := range admin.Restrictions() {
		view.Restrictions = append(view.Restrictions, restrictionBox{Name: name, Checked: sent && req.Field("block_"+string(name)) != ""})
	}
	view.RestrictionProblem = wrong["blocks"]
	return h.render(req, ui.View{Name: "locks", Status: status, Section: locksPath}, view, "")
}

func (h *Handler) setLock(req *ui.Request, operator registrar.Actor) error {
	request := admin.LockRequest{Cause: admin.Cause(req.Text("cause")), Reason: req.Text("reason"), Reference: req.Text("reference")}
	// An invalid name matches no domain.
	request.Name, _ = idna.Lookup.ToASCII(strings.TrimSuffix(strings.ToLower(req.Text("domain")), "."))
	request.ReviewAt, _ = time.Parse(time.DateOnly, req.Text("review"))
	for _, name := range admin.Restrictions() {
		if req.Field("block_"+string(name)) != "" {
			request.Restrictions = append(request.Restrictions, name)
		}
	}
	if slices.Contains(request.Restrictions, admin.Hold) && req.Field("confirmed") != "yes" {
		lock, err := h.Admin.PreviewLock(req.R.Context(), operator, request)
		if err != nil {
			return h.showLocks(req, operator, err)
		}
		view := holdView{Lock: lock}
		for _, name := range []string{"domain", "cause", "reason", "reference", "review"} {
			view.Sent = append(view.Sent, ui.Field{Name: name, Value: req.Text(name)})
		}
		for _, restriction := range lock.Restrictions {
			view.Sent = append(view.Sent, ui.Field{Name: "block_" + string(restriction), Value: "yes"})
		}
		return h.render(req, ui.View{Name: "lockconfirm", Title: "locks.hold_title", Section: locksPath}, view, "")
	}
	_, notSecured, err := h.Admin.SetLock(req.R.Context(), operator, request)
	if err != nil {
		return h.showLocks(req, operator, err)
	}
	note := "lock_set"
	if notSecured != nil {
		note = "lock_set_only_here"
	}
	return req.RedirectWithFlash(note, locksPath)
}

func (h *Handler) liftLock(req *ui.Request, operator registrar.Actor) error {
	lifted, err := h.Admin.LiftLock(req.R.Context(), operator, req.R.PathValue("id"))
	if err != nil {
		return err
	}
	inForce, _, err := h.Admin.ListLocks(req.R.Context(), operator)
	if err != nil {
		return err
	}
	note := "lock_lifted"
	if slices.ContainsFunc(inForce, func(other admin.Lock) bool { return other.Domain == lifted.Domain }) {
		note = "lock_lifted_other"
	}
	return req.RedirectWithFlash(note, locksPath)
}

// secureLock requests the registry's lock again.
func (h *Handler) secureLock(req *ui.Request, operator registrar.Actor) error {
	err := h.Admin.Secure(req.R.Context(), operator, req.R.PathValue("id"))
	if registrar.KindOf(err) == registrar.KindNotFound {
		return err
	}
	note := "lock_secured"
	if err != nil {
		note = "lock_not_secured"
	}
	return req.RedirectWithFlash(note, locksPath)
}
