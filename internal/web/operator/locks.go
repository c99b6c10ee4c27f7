package operator

import (
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/office"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

// reviewIn is the date that the form proposes.
const reviewIn = 30 * 24 * time.Hour

// block is one box of the form.
type block struct {
	Name    office.Block
	Checked bool
}

// locksView is the list with the form.
type locksView struct {
	InForce, Lifted []office.Lock
	Now             time.Time
	Fields          []page.Field
	Blocks          []block
	BlockProblem    string
}

// fieldOf is the field at which a mistake is told.
var fieldOf = map[registrar.Code]string{
	office.NoSuchDomain: "domain", office.BadCause: "cause", office.BadReason: "reason", office.BadBlocks: "blocks", office.BadDeadline: "review",
}

func (h *Handler) locks(v *page.Visit, operator registrar.Actor) error {
	return h.showLocks(v, operator, nil)
}

func (h *Handler) showLocks(v *page.Visit, operator registrar.Actor, problem error) error {
	view := locksView{Now: v.Now}
	var err error
	if view.InForce, view.Lifted, err = h.Office.Locks(v.R.Context(), operator); err != nil {
		return err
	}
	sent := v.R.Method == http.MethodPost
	wrong := make(map[string]string)
	status := http.StatusOK
	if problem != nil {
		field, known := fieldOf[registrar.CodeOf(problem)]
		if !known {
			return problem
		}
		wrong[field], status = page.ProblemKey(registrar.CodeOf(problem)), http.StatusUnprocessableEntity
	}
	review := v.Text("review")
	if !sent {
		review = v.Now.Add(reviewIn).UTC().Format(time.DateOnly)
	}
	var causes []page.Choice
	for _, cause := range office.Causes() {
		causes = append(causes, page.Choice{Value: string(cause), Label: "cause." + string(cause)})
	}
	view.Fields = []page.Field{
		page.Field{Name: "domain", Label: "locks.domain", Type: "text", MaxLength: 253, Autocomplete: "off", InputMode: "url"}.With(v.Text("domain"), wrong["domain"]),
		page.Field{Name: "cause", Label: "locks.cause", Choices: causes}.With(v.Text("cause"), wrong["cause"]),
		page.Field{Name: "reason", Label: "locks.reason", Hint: "locks.reason_hint", Type: "text", MaxLength: 100, Autocomplete: "off"}.With(v.Text("reason"), wrong["reason"]),
		page.Field{Name: "reference", Label: "locks.reference", Type: "text", Optional: true, MaxLength: 60, Autocomplete: "off"}.With(v.Text("reference"), ""),
		page.Field{Name: "review", Label: "locks.review", Hint: "locks.review_hint", Type: "date"}.With(review, wrong["review"]),
	}
	for _, name := range office.Blocks() {
		view.Blocks = append(view.Blocks, block{Name: name, Checked: sent && v.Field("block_"+string(name)) != ""})
	}
	view.BlockProblem = wrong["blocks"]
	return h.render(v, page.View{Name: "locks", Status: status, Title: "locks.title", Section: locksPath}, view)
}

func (h *Handler) setLock(v *page.Visit, operator registrar.Actor) error {
	if err := recent(v); err != nil {
		return err
	}
	wish := office.Wish{Cause: office.Cause(v.Text("cause")), Reason: v.Text("reason"), Reference: v.Text("reference")}
	// What is no name at all is nobody's either.
	wish.Name, _ = idna.Lookup.ToASCII(strings.TrimSuffix(strings.ToLower(v.Text("domain")), "."))
	wish.ReviewAt, _ = time.Parse(time.DateOnly, v.Text("review"))
	for _, name := range office.Blocks() {
		if v.Field("block_"+string(name)) != "" {
			wish.Blocks = append(wish.Blocks, name)
		}
	}
	_, notSecured, err := h.Office.SetLock(v.R.Context(), operator, wish)
	if err != nil {
		return h.showLocks(v, operator, err)
	}
	note := "lock_set"
	if notSecured != nil {
		note = "lock_set_only_here"
	}
	v.Note(note)
	return v.SeeOther(locksPath)
}

func (h *Handler) liftLock(v *page.Visit, operator registrar.Actor) error {
	if err := recent(v); err != nil {
		return err
	}
	if _, err := h.Office.LiftLock(v.R.Context(), operator, v.R.PathValue("id")); err != nil {
		return err
	}
	v.Note("lock_lifted")
	return v.SeeOther(locksPath)
}

// secure asks the registry again for its own lock.
func (h *Handler) secure(v *page.Visit, operator registrar.Actor) error {
	err := h.Office.Secure(v.R.Context(), operator, v.R.PathValue("id"))
	if registrar.KindOf(err) == registrar.KindNotFound {
		return err
	}
	note := "lock_secured"
	if err != nil {
		note = "lock_not_secured"
	}
	v.Note(note)
	return v.SeeOther(locksPath)
}
