package portal

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/bulk"
	"github.com/dotkontor/dotkontor/internal/registrar/contactcheck"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

const holdersPath = ui.HoldersPath

func holderPath(id string) string { return holdersPath + "/" + id }

// holderRoutes lists the pages about holders.
func (h *Handler) holderRoutes() []httpjson.Route {
	const get, post = http.MethodGet, http.MethodPost
	signedIn := h.Frame.SignedInPage
	return []httpjson.Route{
		{Method: get, Path: holdersPath, Handler: signedIn(holdersPath, h.holders)},
		{Method: post, Path: holdersPath, Handler: signedIn(holdersPath, h.addHolder)},
		{Method: get, Path: holdersPath + "/new", Handler: signedIn(holdersPath, h.newHolder)},
		{Method: get, Path: holdersPath + "/{id}", Handler: signedIn(holdersPath, recently(h.editHolder))},
		{Method: post, Path: holdersPath + "/{id}", Handler: signedIn(holdersPath, h.updateHolder)},
		{Method: get, Path: holdersPath + "/{id}/delete", Handler: signedIn(holdersPath, recently(h.confirmDeleteHolder))},
		{Method: post, Path: holdersPath + "/{id}/delete", Handler: signedIn(holdersPath, h.deleteHolder)},
		{Method: get, Path: holdersPath + "/{id}/domains", Handler: signedIn(holdersPath, recently(h.followHolder))},
	}
}

func (h *Handler) holders(req *ui.Request) error {
	all, err := h.Holders.List(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	unconfirmed := make(map[string]contactcheck.Check) // by address, in lower case
	if h.Contacts != nil {
		checks, err := h.Contacts.ListOwn(req.R.Context(), req.Actor())
		if err != nil {
			return err
		}
		for _, check := range checks {
			unconfirmed[strings.ToLower(check.Email)] = check
		}
	}
	type row struct {
		holder.Holder
		Check *contactcheck.Check // nil: nothing to confirm
	}
	rows := make([]row, len(all))
	for i, one := range all {
		rows[i].Holder = one
		if check, open := unconfirmed[strings.ToLower(one.Email)]; open {
			rows[i].Check = &check
		}
	}
	return h.templates.Render(req, ui.View{Name: "holders", Title: "holders.title", Section: profilePath, Data: struct {
		Holders []row
		Own     string
	}{rows, holder.Own}})
}

// holderForm asks for the data of a holder; an empty id means a new one. It offers the account's
// other holders as contacts.
func (h *Handler) holderForm(req *ui.Request, id string, data account.Registrant, email string, contacts holder.Contacts) (form, error) {
	language := req.Language
	fields := slices.DeleteFunc(ui.RegistrantFields(language, data), func(f ui.Field) bool { return f.Name == account.FieldVATID })
	for i := range fields {
		fields[i].Autocomplete = "off" // a browser would fill in the customer's own data
	}
	fields = append(fields, ui.Field{
		Name: account.FieldEmail, Label: "field.email", Hint: "hint.holder_email", Type: "email", Autocomplete: "off", MaxLength: 254, Value: email,
	})
	all, err := h.Holders.List(req.R.Context(), req.Actor())
	if err != nil {
		return form{}, err
	}
	choices := []ui.Choice{{Label: "holders.contact_none"}}
	for _, other := range all {
		if other.ID != id {
			choices = append(choices, ui.Choice{Value: other.ID, Text: other.Label()})
		}
	}
	fields = append(
		fields,
		ui.Field{Name: "tech", Label: "holders.tech", Hint: "hint.holder_contacts", Choices: choices, Value: contacts.Tech, Optional: true},
		ui.Field{Name: "billing", Label: "holders.billing", Choices: choices, Value: contacts.Billing, Optional: true},
	)
	f := form{Intro: "holders.new_intro", Action: holdersPath, Submit: "holders.add", Fields: fields, Links: []pair{{"holders.back", holdersPath}}}
	if next := nextAfterHolder(req); next != "" { // they came from another page
		f.Hidden, f.Links = []pair{{"next", next}}, []pair{{"back.unsaved", next}}
	}
	if id != "" {
		f.Intro, f.Action, f.Submit = "holders.edit_intro", holderPath(id), "registrant.submit"
	}
	return f, nil
}

// submittedHolder returns what a form was submitted with.
func submittedHolder(req *ui.Request) (account.Registrant, string, holder.Contacts) {
	return ui.RegistrantOf(req.Text), req.Text(account.FieldEmail), holder.Contacts{Tech: req.Field("tech"), Billing: req.Field("billing")}
}

// showHolderForm shows a form for a holder.
func (h *Handler) showHolderForm(req *ui.Request, title, id string, data account.Registrant, email string, contacts holder.Contacts) error {
	f, err := h.holderForm(req, id, data, email, contacts)
	if err != nil {
		return err
	}
	return h.show(req, title, profilePath, f)
}

func (h *Handler) newHolder(req *ui.Request) error {
	return h.showHolderForm(req, "holders.new", "", account.Registrant{Kind: account.Person, Country: "DE"}, "", holder.Contacts{})
}

func (h *Handler) addHolder(req *ui.Request) error {
	data, email, contacts := submittedHolder(req)
	if _, err := h.Holders.Add(req.R.Context(), req.Actor(), data, email, contacts); err != nil {
		return h.showHolderAgain(req, "holders.new", "", err)
	}
	return req.RedirectWithFlash("holder_added", cmp.Or(nextAfterHolder(req), holdersPath))
}

// nextAfterHolder returns the page that asked for another holder; empty if none did.
func nextAfterHolder(req *ui.Request) string {
	return ui.LocalPath(cmp.Or(req.Query("next"), req.Field("next")), "")
}

// editableHolder returns a holder; the account's own data have a page of their own.
func (h *Handler) editableHolder(req *ui.Request) (holder.Holder, error) {
	id := req.R.PathValue("id")
	if id == holder.Own {
		return holder.Holder{}, registrar.NotFound(holder.NoSuchHolder)
	}
	return h.Holders.Get(req.R.Context(), req.Actor(), id)
}

func (h *Handler) editHolder(req *ui.Request) error {
	if req.R.PathValue("id") == holder.Own {
		return req.SeeOther(registrantPath)
	}
	found, err := h.editableHolder(req)
	if err != nil {
		return err
	}
	data := account.Registrant{
		Kind: found.Kind, Name: found.Name, Organisation: found.Organisation, Street: found.Street, PostalCode: found.PostalCode,
		City: found.City, State: found.State, Country: found.Country, Phone: found.Phone,
	}
	return h.showHolderForm(req, "holders.edit", found.ID, data, found.Email, found.Contacts)
}

func (h *Handler) updateHolder(req *ui.Request) error {
	found, err := h.editableHolder(req)
	if err != nil {
		return err
	}
	data, email, contacts := submittedHolder(req)
	if err := h.Holders.Update(req.R.Context(), req.Actor(), found.ID, data, email, contacts); err != nil {
		return h.showHolderAgain(req, "holders.edit", found.ID, err)
	}
	if next := nextAfterHolder(req); next != "" {
		return h.returnFromHolder(req, found.ID, "holder_saved", ui.HolderSavedBefore, next)
	}
	return h.redirectToFollow(req, found.ID, "holder_saved", holdersPath)
}

// showHolderAgain shows a form that was submitted, with its problem.
func (h *Handler) showHolderAgain(req *ui.Request, title, id string, err error) error {
	problem, known := h.problem(req, err)
	if !known {
		return err
	}
	data, email, contacts := submittedHolder(req)
	f, formErr := h.holderForm(req, id, data, email, contacts)
	if formErr != nil {
		return formErr
	}
	f.Problem = problem
	httpjson.RecordError(req.W, err)
	h.templates.MarkInvalid(f.Fields, err)
	return h.show(req, title, profilePath, f)
}

// redirectToFollow asks which domains follow new data of a holder, if some have others, and
// otherwise returns to a page.
func (h *Handler) redirectToFollow(req *ui.Request, id, flash, page string) error {
	domains, err := h.Holders.Domains(req.R.Context(), req.Actor(), id, "")
	if err != nil {
		return err
	}
	if len(domains.Outdated) > 0 {
		page = holderPath(id) + "/domains"
	}
	return req.RedirectWithFlash(flash, page)
}

// returnFromHolder returns to the page that asked for new data of a holder, such as an order; the
// message before tells that domains have other data.
func (h *Handler) returnFromHolder(req *ui.Request, id, flash, before, page string) error {
	domains, err := h.Holders.Domains(req.R.Context(), req.Actor(), id, "")
	if err != nil {
		return err
	}
	if len(domains.Outdated) > 0 {
		flash = before
	}
	return req.RedirectWithFlash(flash, page)
}

// followHolder lists the domains of a holder and offers to give its data to those that have
// others.
func (h *Handler) followHolder(req *ui.Request) error {
	id := req.R.PathValue("id")
	found, err := h.Holders.Get(req.R.Context(), req.Actor(), id)
	if err != nil {
		return err
	}
	page, err := h.Holders.Domains(req.R.Context(), req.Actor(), id, req.Query("after"))
	if err != nil {
		return err
	}
	next := ""
	if page.Next != "" {
		next = ui.WithQuery(holderPath(id)+"/domains", map[string]string{"after": page.Next})
	}
	unconfirmed := ""
	if slices.ContainsFunc(page.Outdated, func(d holder.Domain) bool { return !strings.EqualFold(d.Registrant.Email, found.Email) }) {
		if unconfirmed, err = h.unconfirmed(req, found.Registrant); err != nil {
			return err
		}
	}
	var outdated []domainRow
	for _, domain := range page.Outdated {
		outdated = append(outdated, domainRow{Domain: portfolio.Domain{Name: domain.Name, TLD: domain.TLD}})
	}
	refusals, err := h.holderRefusals(req, found, outdated)
	if err != nil {
		return err
	}
	return h.templates.Render(req, ui.View{Name: "holderdomains", Title: "holders.follow", TitleValue: found.DisplayName(), Section: profilePath, Data: struct {
		holder.DomainsPage
		Holder      holder.Holder
		Kind        bulk.Kind
		More        string
		Unconfirmed string // the new address if it has to be confirmed
		Days        int
		Refusals    []holderRefusal
		Locks       bool // the transfer of one may be refused after that
	}{page, found, bulk.Holder, next, unconfirmed, contactDays, refusals, slices.ContainsFunc(page.Outdated, func(d holder.Domain) bool {
		return h.locksAfterChange(d.TLD) && !d.Registrant.SameHolder(found.Registrant)
	})}})
}

func (h *Handler) confirmDeleteHolder(req *ui.Request) error {
	found, err := h.editableHolder(req)
	if err != nil {
		return err
	}
	return h.show(req, "holders.delete", profilePath, form{
		Intro: "holders.delete_intro", IntroValue: found.Label(), Action: holderPath(found.ID) + "/delete", Submit: "holders.delete_submit",
		Links: []pair{{"holders.back", holdersPath}},
	})
}

func (h *Handler) deleteHolder(req *ui.Request) error {
	if err := h.Holders.Delete(req.R.Context(), req.Actor(), req.R.PathValue("id")); err != nil {
		return err
	}
	return req.RedirectWithFlash("holder_deleted", holdersPath)
}

// changeHolder changes the holder of a domain after a page that shows the data before and after.
func (h *Handler) changeHolder(req *ui.Request) error {
	const kind = domainchange.UpdateRegistrant
	if req.Field("confirmed") == "yes" {
		return h.change(kind)(req)
	}
	if err := req.Actor().RequireRecentSignIn(req.Now); err != nil {
		return h.changeProblem(req, kind, err)
	}
	view, err := h.DomainChanges.View(req.R.Context(), req.Actor(), req.R.PathValue("id"))
	if err != nil {
		return err
	}
	chosen, err := h.Holders.Get(req.R.Context(), req.Actor(), ownHolder(req.Field("holder")))
	if err != nil {
		return h.changeProblem(req, kind, err)
	}
	unconfirmed := ""
	if !strings.EqualFold(view.Domain.Registrant.Email, chosen.Email) {
		if unconfirmed, err = h.unconfirmed(req, chosen.Registrant); err != nil {
			return err
		}
	}
	refusals, err := h.holderRefusals(req, chosen, []domainRow{{Domain: portfolio.Domain{Name: view.Domain.Name, TLD: view.Domain.TLD}}})
	if err != nil {
		return err
	}
	req.SetFormPath(domainPath(view.Domain.ID))
	return h.templates.Render(req, ui.View{Name: "holderchange", Title: "holder_change.title", TitleValue: title(view.Domain.Name), Section: domainsPath, Data: struct {
		Path          string
		Holder        string
		Before, After registrar.Registrant
		Kept          bool   // the registry still has the holder from before the transfer to us
		Same          bool   // nothing would change
		Unconfirmed   string // the new address if it has to be confirmed
		Days          int
		NoHold        bool // the registry does not let us take the domain out of the DNS
		Refusals      []holderRefusal
		Locks         bool // a transfer may be refused after that
	}{
		domainPath(view.Domain.ID), chosen.ID, view.Domain.Registrant, chosen.Registrant, holderKept(view), view.Domain.Registrant == chosen.Registrant, unconfirmed, contactDays, view.Capabilities.NoHold, refusals,
		h.locksAfterChange(view.Domain.TLD) && !view.Domain.Registrant.SameHolder(chosen.Registrant),
	}})
}

// ownHolder returns the id of a holder as forms have it: an empty one is the account's own.
func ownHolder(id string) string {
	if id == "" {
		return holder.Own
	}
	return id
}
