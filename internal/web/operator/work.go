package operator

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/office"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

// home is what waits for a person.
func (h *Handler) home(v *page.Visit, operator registrar.Actor) error {
	needs, err := h.Office.Needs(v.R.Context(), operator)
	if err != nil {
		return err
	}
	var troubled []Peer
	for _, peer := range h.Peers() {
		if peer.State == "resting" || peer.State == "paused" {
			troubled = append(troubled, peer)
		}
	}
	return h.render(v, page.View{Name: "home", Title: "home.title", Section: homePath}, struct {
		office.Needs
		Peers []Peer
		Quiet bool
	}{needs, troubled, len(needs.Orders)+len(needs.Lines)+len(needs.Changes)+len(needs.Refunds)+len(needs.Locks)+len(troubled) == 0})
}

// jobs is one kind of work.
func (h *Handler) jobs(v *page.Visit, operator registrar.Actor) error {
	return h.showJobs(v, operator, "")
}

func (h *Handler) showJobs(v *page.Visit, operator registrar.Actor, problem string) error {
	kind := office.JobKind(v.Query("kind"))
	if !slices.Contains(office.JobKinds(), kind) {
		kind = office.JobOrder
	}
	next := v.Query("next") != ""
	jobs, err := h.Office.Work(v.R.Context(), operator, kind, !next)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if problem != "" {
		status = http.StatusConflict
	}
	return h.renderWith(v, page.View{Name: "jobs", Status: status, Title: "jobs.title", Section: jobsPath}, struct {
		Kinds []office.JobKind
		Kind  office.JobKind
		Next  bool
		Jobs  []office.Job
	}{office.JobKinds(), kind, next, jobs}, problem)
}

// retry makes one piece of work due now.
func (h *Handler) retry(v *page.Visit, operator registrar.Actor) error {
	return h.jobDone(v, operator, "job_retried", h.Office.Retry)
}

// giveUp ends a piece of work that nobody can do any more.
func (h *Handler) giveUp(v *page.Visit, operator registrar.Actor) error {
	if err := recent(v); err != nil {
		return err
	}
	return h.jobDone(v, operator, "job_given_up", h.Office.GiveUp)
}

// jobDone does something to a job and says so. What is in the way is told above the list.
func (h *Handler) jobDone(
	v *page.Visit, operator registrar.Actor, note string,
	do func(ctx context.Context, operator registrar.Actor, kind office.JobKind, id string) error,
) error {
	kind := office.JobKind(v.R.PathValue("kind"))
	err := do(v.R.Context(), operator, kind, v.R.PathValue("id"))
	if sentence, known := h.sentence(v, err); known && registrar.KindOf(err) == registrar.KindConflict {
		return h.showJobs(v, operator, sentence)
	}
	if err != nil {
		return err
	}
	v.Note(note)
	return v.SeeOther(jobsPath + "?kind=" + url.QueryEscape(string(kind)))
}

// peerGroup is one table of the page of health.
type peerGroup struct {
	Name  string
	Peers []Peer
}

// groups are the tables, in their order.
var groups = []string{"account", "payments", "vat", "mail", "registry"}

// health is how everybody outside does.
func (h *Handler) health(v *page.Visit, _ registrar.Actor) error {
	peers := h.Peers()
	var all []peerGroup
	for _, name := range groups {
		group := peerGroup{Name: name}
		for _, peer := range peers {
			if peer.Group == name {
				group.Peers = append(group.Peers, peer)
			}
		}
		all = append(all, group)
	}
	return h.render(v, page.View{Name: "health", Title: "health.title", Section: healthPath}, all)
}
