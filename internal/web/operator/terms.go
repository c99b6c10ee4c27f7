package operator

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// maxPreviewed bounds the rows of the preview on the page; its number is exact.
const maxPreviewed = 200

type termsView struct {
	lifecycle.OpenTerms
	Preview lifecycle.Preview
	Shown   []lifecycle.PlannedAction
	Online  []lifecycle.PlannedAction // the first of Preview.Online
}

// HandsOver reports whether the registry takes over an unpaid domain of the TLD.
func (termsView) HandsOver(tld string) bool {
	return lifecycle.PolicyOf(tld).Unpaid == lifecycle.UnpaidTransit
}

// terms shows the brake, what would happen, and unpaid domains that need a decision.
func (h *Handler) terms(req *ui.Request, operator registrar.Actor) error {
	return h.showTerms(req, operator, "")
}

func (h *Handler) showTerms(req *ui.Request, operator registrar.Actor, problem string) error {
	var view termsView
	var err error
	if view.OpenTerms, err = h.Terms.ListOpen(req.R.Context(), operator); err != nil {
		return err
	}
	if view.Preview, err = h.Terms.Preview(req.R.Context(), operator); err != nil {
		return err
	}
	view.Shown = view.Preview.Planned[:min(len(view.Preview.Planned), maxPreviewed)]
	view.Online = view.Preview.Online[:min(len(view.Preview.Online), maxPreviewed)]
	status := http.StatusOK
	if problem != "" {
		status = http.StatusConflict
	}
	return h.render(req, ui.View{Name: "terms", Status: status, Section: termsPath}, view, problem)
}

// confirmBrake releases the brake for what the operator has seen.
func (h *Handler) confirmBrake(req *ui.Request, operator registrar.Actor) error {
	seen, err := strconv.Atoi(req.Field("actions"))
	if err != nil {
		seen = 0
	}
	return h.decideTerm(req, operator, "brake_confirmed", func(ctx context.Context) error { return h.Terms.Confirm(ctx, operator, seen) })
}

// termConfirmView asks whether to start or to end the procedure of a domain.
type termConfirmView struct {
	Decision string // start, delete or hand_over: part of text keys and, but for the last, of the path
	Domain   string
	Name     string
	End      time.Time
}

// Path is where the decision is confirmed.
func (v termConfirmView) Path() string {
	if v.Decision == "start" {
		return termsPath + "/" + v.Domain + "/start"
	}
	return termsPath + "/" + v.Domain + "/delete"
}

// confirmTerm asks for a confirmation that names the domain.
func (h *Handler) confirmTerm(req *ui.Request, view termConfirmView) error {
	return h.render(req, ui.View{Name: "termconfirm", Title: "term_confirm." + view.Decision, Section: termsPath}, view, "")
}

func (h *Handler) deleteUnpaid(req *ui.Request, operator registrar.Actor) error {
	if req.Field("confirmed") != "yes" {
		open, err := h.Terms.ListOpen(req.R.Context(), operator)
		if err != nil {
			return err
		}
		for _, term := range slices.Concat(open.Waiting, open.Left) {
			if term.Domain == req.R.PathValue("id") {
				view := termConfirmView{Decision: "delete", Domain: term.Domain, Name: term.Name, End: term.End}
				if (termsView{}).HandsOver(term.TLD) {
					view.Decision = "hand_over"
				}
				return h.confirmTerm(req, view)
			}
		}
		return &registrar.Error{Kind: registrar.KindNotFound, Code: lifecycle.NoSuchTerm}
	}
	return h.decideTerm(req, operator, "term_deleted", func(ctx context.Context) error {
		return h.Terms.Delete(ctx, operator, req.R.PathValue("id"))
	})
}

func (h *Handler) leaveUnpaid(req *ui.Request, operator registrar.Actor) error {
	return h.decideTerm(req, operator, "term_left", func(ctx context.Context) error {
		return h.Terms.Leave(ctx, operator, req.R.PathValue("id"))
	})
}

// startOverdue starts the usual procedure for a domain from before the first run.
func (h *Handler) startOverdue(req *ui.Request, operator registrar.Actor) error {
	open, err := h.Terms.ListOpen(req.R.Context(), operator)
	if err != nil {
		return err
	}
	for _, domain := range open.Overdue {
		if domain.ID == req.R.PathValue("id") && req.Field("confirmed") != "yes" {
			return h.confirmTerm(req, termConfirmView{Decision: "start", Domain: domain.ID, Name: domain.Name, End: domain.PaidUntil})
		}
		if domain.ID == req.R.PathValue("id") {
			return h.decideTerm(req, operator, "term_started", func(ctx context.Context) error {
				return h.Terms.Adopt(ctx, operator, domain.ID, domain.Customer, domain.Name)
			})
		}
	}
	return &registrar.Error{Kind: registrar.KindNotFound, Code: lifecycle.NoSuchTerm}
}

// decideTerm applies a decision. Errors are shown above the list.
func (h *Handler) decideTerm(req *ui.Request, operator registrar.Actor, note string, decide func(context.Context) error) error {
	err := decide(req.R.Context())
	if message, known := h.errorText(req, err); known && registrar.KindOf(err) == registrar.KindConflict {
		return h.showTerms(req, operator, message)
	}
	if err != nil {
		return err
	}
	return req.RedirectWithFlash(note, termsPath)
}
