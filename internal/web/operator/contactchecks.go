package operator

import (
	"context"
	"net/http"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/contactcheck"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// contactChecks lists registrants' addresses that are not confirmed, with their deadlines.
func (h *Handler) contactChecks(req *ui.Request, operator registrar.Actor) error {
	return h.showContactChecks(req, operator, "")
}

func (h *Handler) showContactChecks(req *ui.Request, operator registrar.Actor, problem string) error {
	checks, err := h.Contacts.ListOpen(req.R.Context(), operator)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if problem != "" {
		status = http.StatusUnprocessableEntity
	}
	return h.render(req, ui.View{Name: "contactchecks", Status: status, Section: contactsPath}, struct {
		Checks []contactcheck.Check
	}{checks}, problem)
}

// confirmAddress confirms an address by hand.
func (h *Handler) confirmAddress(req *ui.Request, operator registrar.Actor) error {
	return h.decideContact(req, operator, "contact_confirmed", func(ctx context.Context) error {
		return h.Contacts.ConfirmByHand(ctx, operator, req.R.PathValue("id"), req.Text("note"))
	})
}

// suspendAddress suspends the domains of an address that does not accept mails.
func (h *Handler) suspendAddress(req *ui.Request, operator registrar.Actor) error {
	return h.decideContact(req, operator, "contact_suspended", func(ctx context.Context) error {
		return h.Contacts.Suspend(ctx, operator, req.R.PathValue("id"))
	})
}

func (h *Handler) decideContact(req *ui.Request, operator registrar.Actor, note string, decide func(context.Context) error) error {
	err := decide(req.R.Context())
	if message, known := h.errorText(req, err); err != nil && known {
		return h.showContactChecks(req, operator, message)
	}
	if err != nil {
		return err
	}
	return req.RedirectWithFlash(note, contactsPath)
}
