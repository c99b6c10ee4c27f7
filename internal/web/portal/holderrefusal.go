package portal

import (
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/bulk"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// holderRefusal says why domains of an extension can't get a holder.
type holderRefusal struct {
	Names  []string
	Reason string
}

// holderRefusals returns which of some domains can't get a holder, by extension.
func (h *Handler) holderRefusals(req *ui.Request, chosen holder.Holder, domains []domainRow) (refusals []holderRefusal, err error) {
	names := make(map[string][]string) // by extension
	for _, domain := range domains {
		names[domain.TLD] = append(names[domain.TLD], domain.Name)
	}
	for _, domain := range domains {
		if names[domain.TLD] == nil {
			continue
		}
		err := h.DomainChanges.CheckHolder(req.R.Context(), req.Actor(), domain.TLD, chosen.ID)
		if err != nil && registrar.KindOf(err) != registrar.KindConflict {
			return nil, err
		}
		if err != nil {
			refusals = append(refusals, holderRefusal{names[domain.TLD], h.refusedHolder(req, registrar.CodeOf(err), &chosen)})
		}
		names[domain.TLD] = nil
	}
	return refusals, nil
}

// refusedHolder explains the refusal of a holder; nil means that the page does not know the holder.
func (h *Handler) refusedHolder(req *ui.Request, code registrar.Code, chosen *holder.Holder) string {
	key := "holder_refused." + string(code)
	switch {
	case !h.templates.Has(key):
		return h.codeText(req, bulk.Holder, code)
	case chosen == nil:
		return h.templates.Text(req.Language, key, h.templates.Text(req.Language, "holder_refused.chosen"))
	default:
		return h.templates.Text(req.Language, key, chosen.DisplayName()+" ("+registrar.CountryName(req.Language, chosen.Country)+")")
	}
}

// Changed returns how many of the domains can get the chosen holder.
func (v bulkView) Changed() int {
	changed := len(v.Domains)
	for _, refusal := range v.RefusedHolder {
		changed -= len(refusal.Names)
	}
	return changed
}

// addHolderChoice fills in the holders to choose from, and what the choice of one entails; an empty id
// means that none is chosen yet.
func (h *Handler) addHolderChoice(req *ui.Request, view *bulkView, id string) (err error) {
	if view.Holders, err = h.Holders.List(req.R.Context(), req.Actor()); err != nil || id == "" {
		return err
	}
	chosen, err := h.Holders.Get(req.R.Context(), req.Actor(), id)
	if err != nil {
		return err
	}
	view.Holder = chosen.ID
	if view.Unconfirmed, err = h.unconfirmed(req, chosen.Registrant); err != nil {
		return err
	}
	view.RefusedHolder, err = h.holderRefusals(req, chosen, view.Domains)
	return err
}

// warnsAboutHolder reports whether the choice of a holder has consequences that its page has to name.
func (h *Handler) warnsAboutHolder(req *ui.Request, request bulk.Request) (bool, error) {
	domains, err := h.selectedRows(req, request.Domains)
	if err != nil {
		return false, err
	}
	view := bulkView{Domains: domains}
	err = h.addHolderChoice(req, &view, ownHolder(request.Holder))
	return view.Unconfirmed != "" || len(view.RefusedHolder) > 0, err
}
