package portal

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/steward"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

// domainView is the page of one domain.
type domainView struct {
	steward.View
	// Path is the page's own address.
	Path string
	// Closed says by kind of change why it can't be made.
	Closed map[string]registrar.Code
	// Why is the reason that closes the whole page; empty if something can be done.
	Why                   registrar.Code
	Recent                bool
	Again                 string
	Renewable, Switchable bool
	Holder                customer.Registrant
	HasHolder             bool
	History               []historyLine

	// What was typed, and what is wrong with it.
	Problem            string
	Nameservers        string
	NameserversProblem string
	DS                 page.Field
	// Code is set on the one answer that shows an auth code.
	Code string
}

// historyLine is something that happened to the domain.
type historyLine struct {
	At time.Time
	// What and Who are keys; Detail and By are what they are about.
	What, Detail, Who, By string
	// State is the key of how it ended; empty if it ended well.
	State   string
	Address string
}

var dsField = page.Field{
	ID: "ds", Name: "ds", Label: "care.ds_label", Hint: "care.ds_hint", Type: "text", Autocomplete: "off", MaxLength: 300,
}

func domainPath(id string) string { return domainsPath + "/" + id }

// domain is the page of one of the customer's domains.
func (h *Handler) domain(v *page.Visit) error {
	return h.showDomain(v, http.StatusOK, domainView{DS: dsField})
}

// showDomain fills in what the page shows beside what a form has left in the view.
func (h *Handler) showDomain(v *page.Visit, status int, view domainView) error {
	if h.steward == nil {
		return noSuchDomain()
	}
	id := v.R.PathValue("id")
	typed := view.Nameservers
	var err error
	if view.View, err = h.steward.View(v.R.Context(), v.Actor(), id); err != nil {
		return err
	}
	if view.Holder, view.HasHolder, err = h.customers.Registrant(v.R.Context(), v.Actor()); err != nil {
		return err
	}
	view.Path = domainPath(view.Domain.ID)
	view.Recent, view.Again = v.Recent(), withNext(page.SignInAgainPath, view.Path)
	state := holding.Status(view.Domain.Status)
	if h.orders != nil {
		view.Renewable = state == holding.StatusActive || state == holding.StatusExpired
		view.Switchable = switchable(state, view.Domain.AutoRenew)
	}
	view.Closed = make(map[string]registrar.Code)
	for kind, why := range view.View.Closed {
		view.Closed[string(kind)] = why
	}
	switch why := view.View.Closed[steward.Nameservers]; {
	case view.Open != nil && !view.Stuck:
		v.ReloadIn(3 * time.Second)
	case why != steward.Barred: // a lock closes what it names, and leaves the rest
		view.Why = why
	}
	if view.Nameservers = typed; view.NameserversProblem == "" {
		view.Nameservers = typedNameservers(view.Record.Nameservers)
	}
	if view.History, err = h.history(v, view.View); err != nil {
		return err
	}
	return h.views.Render(v, page.View{Name: "domain", Status: status, Title: "care.title", Section: domainsPath, Data: view})
}

func typedNameservers(servers []steward.Nameserver) string {
	var lines []string
	for _, server := range servers {
		lines = append(lines, server.String())
	}
	return strings.Join(lines, "\n")
}

// history puts changes and the rest of the audit together, the newest first.
func (h *Handler) history(v *page.Visit, view steward.View) ([]historyLine, error) {
	names, err := h.names(v)
	if err != nil {
		return nil, err
	}
	var lines []historyLine
	for _, change := range view.Changes {
		line := historyLine{
			At: change.CreatedAt, What: "change." + string(change.Kind), Who: "who." + string(change.Actor.Kind), Address: addressOf(change.Actor),
		}
		switch {
		case len(change.Wanted.Nameservers) > 0:
			line.Detail = strings.ReplaceAll(typedNameservers(change.Wanted.Nameservers), "\n", ", ")
		case change.Wanted.DS != nil:
			line.Detail = dsText(*change.Wanted.DS)
		}
		if change.State != steward.StateDone {
			line.State = "change_state." + string(change.State)
		}
		if change.Failure == steward.GivenUp {
			line.State = "change_state.given_up"
		}
		lines = append(lines, line)
	}
	for _, deed := range view.Deeds {
		entry := h.line(customer.Entry{Deed: deed}, names)
		lines = append(lines, historyLine{At: deed.At, What: entry.What, Who: entry.Who, By: entry.By, Address: addressOf(deed.Actor)})
	}
	slices.SortStableFunc(lines, func(a, b historyLine) int { return b.At.Compare(a.At) })
	return lines, nil
}

func dsText(ds steward.DS) string {
	return fmt.Sprintf("%d %d %d %s", ds.KeyTag, ds.Algorithm, ds.DigestType, ds.Digest)
}

// addressOf is where somebody was who did something to the customer's account. Where
// operators sit is not the customer's business; that they did it is.
func addressOf(actor registrar.Actor) string {
	if actor.Kind == registrar.ActorOperator || !actor.Address.IsValid() {
		return ""
	}
	return actor.Address.String()
}

// change has the steward carry a wish out and shows how that went. retry puts what
// was typed back into the page, with the key of what is wrong.
func (h *Handler) change(v *page.Visit, wish steward.Wish, retry func(view *domainView, problem string) bool) error {
	if h.steward == nil {
		return noSuchDomain()
	}
	path := domainPath(v.R.PathValue("id"))
	change, code, err := h.steward.Ask(v.R.Context(), v.Actor(), v.R.PathValue("id"), wish)
	if err != nil {
		return h.changeProblem(v, err, retry)
	}
	switch {
	case change.State == steward.StateRefused:
		return h.changeProblem(v, &registrar.Error{Kind: registrar.KindConflict, Code: h.refusal(change)}, retry)
	case code != "":
		return h.showDomain(v, http.StatusOK, domainView{DS: dsField, Code: code})
	case change.State == steward.StateDone:
		v.Note("change_" + string(change.Kind))
	default:
		v.Note("change_under_way")
	}
	return v.SeeOther(path)
}

// refusal is the code that has a sentence about the registry's refusal. What it
// says of objects is about nameservers only where those were to be changed.
func (h *Handler) refusal(change steward.Change) registrar.Code {
	aboutHosts := change.Failure == "epp_missing" || change.Failure == "epp_not_allowed"
	if change.Failure == steward.Barred { // a lock came while it was under way
		return change.Failure
	}
	if !h.views.Has(page.ProblemKey(change.Failure)) || aboutHosts && change.Kind != steward.Nameservers {
		return steward.Denied
	}
	return change.Failure
}

func (h *Handler) changeProblem(v *page.Visit, err error, retry func(*domainView, string) bool) error {
	key, known := h.problemKey(err)
	if closed := "closed." + string(registrar.CodeOf(err)); !known && h.views.Has(closed) {
		key, known = closed, true
	}
	if registrar.CodeOf(err) == registrar.SignInAgain {
		v.FormOn(domainPath(v.R.PathValue("id"))) // it is the visitor's own, so its address may be kept
		return err
	}
	if !known {
		return err
	}
	view, status := domainView{DS: dsField}, http.StatusConflict
	if registrar.KindOf(err) == registrar.KindInvalid {
		status = http.StatusUnprocessableEntity
	}
	if retry == nil || !retry(&view, key) {
		view.Problem = h.views.Text(v.Language, key)
	}
	return h.showDomain(v, status, view)
}

func (h *Handler) setNameservers(v *page.Visit) error {
	typed := v.Text("nameservers")
	return h.change(v, steward.Wish{Kind: steward.Nameservers, Nameservers: typed}, func(view *domainView, problem string) bool {
		view.Nameservers, view.NameserversProblem = typed, problem
		return true
	})
}

func (h *Handler) addDS(v *page.Visit) error {
	typed := v.Text("ds")
	return h.change(v, steward.Wish{Kind: steward.AddDS, DS: typed}, func(view *domainView, problem string) bool {
		view.DS = dsField.With(typed, problem)
		return true
	})
}

func (h *Handler) removeDS(v *page.Visit) error {
	return h.change(v, steward.Wish{Kind: steward.RemoveDS, DS: v.Text("ds")}, nil)
}

func (h *Handler) setLock(v *page.Visit) error {
	kind := steward.Unlock
	if v.Field("on") == "yes" {
		kind = steward.Lock
	}
	return h.change(v, steward.Wish{Kind: kind}, nil)
}

func (h *Handler) showAuthCode(v *page.Visit) error {
	return h.change(v, steward.Wish{Kind: steward.AuthCode}, nil)
}

func (h *Handler) takeHolder(v *page.Visit) error {
	return h.change(v, steward.Wish{Kind: steward.TakeHolder}, nil)
}
