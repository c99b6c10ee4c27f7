package operator

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

func (h *Handler) jobs(req *ui.Request, operator registrar.Actor) error {
	return h.showJobs(req, operator, "")
}

func (h *Handler) showJobs(req *ui.Request, operator registrar.Actor, problem string) error {
	kind := admin.JobKind(req.Query("kind"))
	if !slices.Contains(admin.JobKinds(), kind) {
		kind = admin.JobOrder
	}
	next := req.Query("next") != ""
	jobs, err := h.Admin.ListJobs(req.R.Context(), operator, kind, !next)
	if err != nil {
		return err
	}
	failed, _, err := h.Admin.CountOpen(req.R.Context(), operator)
	if err != nil {
		return err
	}
	var unfunded []unfundedAccount
	if kind == admin.JobItem {
		if unfunded, err = h.unfunded(req, operator); err != nil {
			return err
		}
	}
	status := http.StatusOK
	if problem != "" {
		status = http.StatusConflict
	}
	return h.render(req, ui.View{Name: "jobs", Status: status, Section: jobsPath}, struct {
		Kinds  []admin.JobKind
		Failed map[admin.JobKind]int
		Kind   admin.JobKind
		Next   bool
		Jobs   []admin.Job
		// Unfunded are the registry accounts whose lack of funds delays items.
		Unfunded []unfundedAccount
	}{admin.JobKinds(), failed, kind, next, jobs, unfunded}, problem)
}

// unfundedAccount is a registry account whose lack of funds delays items, with its last known
// balance; nil if there is none.
type unfundedAccount struct {
	admin.Unfunded
	Balance *inbox.Stored
}

func (h *Handler) unfunded(req *ui.Request, operator registrar.Actor) (accounts []unfundedAccount, err error) {
	unfunded, err := h.Admin.ListUnfunded(req.R.Context(), operator)
	if err != nil || len(unfunded) == 0 {
		return nil, err
	}
	balances, err := h.Inbox.Balances(req.R.Context())
	if err != nil {
		return nil, err
	}
	for _, account := range unfunded {
		row := unfundedAccount{Unfunded: account}
		if i := slices.IndexFunc(balances, func(b inbox.Stored) bool { return b.Account == account.Account }); i >= 0 {
			row.Balance = &balances[i]
		}
		accounts = append(accounts, row)
	}
	return accounts, nil
}

// retryJob makes a job due now.
func (h *Handler) retryJob(req *ui.Request, operator registrar.Actor) error {
	return h.changeJob(req, operator, "job_retried", h.Admin.Retry)
}

// retryUnfunded makes all items due that wait for funds of a registry account.
func (h *Handler) retryUnfunded(req *ui.Request, operator registrar.Actor) error {
	if err := h.Admin.RetryUnfunded(req.R.Context(), operator, req.R.PathValue("account")); err != nil {
		return err
	}
	return req.RedirectWithFlash("unfunded_retried", jobsPath+"?kind="+string(admin.JobItem))
}

// abandonJob abandons a job that can't be completed any more. A paid item is refunded, so the page
// asks first.
func (h *Handler) abandonJob(req *ui.Request, operator registrar.Actor) error {
	switch {
	case admin.JobKind(req.R.PathValue("kind")) != admin.JobItem:
		return h.changeJob(req, operator, "job_abandoned", h.Admin.AbandonJob)
	case req.Field("confirmed") == "yes":
		return h.changeJob(req, operator, "item_given_up", h.Admin.AbandonJob)
	}
	paid, err := h.Admin.PaidForItem(req.R.Context(), operator, req.R.PathValue("id"))
	if err != nil {
		return err
	}
	return h.confirm(req, confirmView{Decision: "give_up", Button: "jobs.give_up", Back: jobsPath + "?kind=" + string(admin.JobItem), Refund: paid})
}

// changeJob applies an action to a job. Errors are shown above the list.
func (h *Handler) changeJob(
	req *ui.Request, operator registrar.Actor, note string,
	do func(ctx context.Context, operator registrar.Actor, kind admin.JobKind, id string) error,
) error {
	kind := admin.JobKind(req.R.PathValue("kind"))
	err := do(req.R.Context(), operator, kind, req.R.PathValue("id"))
	if message, known := h.errorText(req, err); known && registrar.KindOf(err) == registrar.KindConflict {
		return h.showJobs(req, operator, message)
	}
	if err != nil {
		return err
	}
	return req.RedirectWithFlash(note, jobsPath+"?kind="+url.QueryEscape(string(kind)))
}

// UpstreamState is the health of an upstream; its value is part of a text key.
type UpstreamState string

// The states of an upstream.
const (
	UpstreamHealthy UpstreamState = "healthy"
	UpstreamFailing UpstreamState = "failing"
	UpstreamPaused  UpstreamState = "paused"
	UpstreamUnknown UpstreamState = "unknown"
)

// Upstream is an external system and its health.
type Upstream struct {
	// Group is registry, account, payments, vat or mail; Name the host or account.
	Group, Name string
	// Until is when a failing or paused upstream is called again.
	State UpstreamState
	Until time.Time
	// Calls and Faults count the last half minute, or since the start for upstreams
	// that are rarely called; Busy counts calls that wait or are in flight.
	Calls, Faults, Busy int
	// Open and Most count connections of a pool, if there is one.
	Open, Most int
	// GoodAt and BadAt are the times of the last success and the last failure,
	// LastError the reason of the latter.
	GoodAt, BadAt time.Time
	LastError     registrar.Code
}

type upstreamGroup struct {
	Name      string
	Upstreams []Upstream
}

var upstreamGroups = []string{"account", "payments", "vat", "mail", "registry"}

func (h *Handler) health(req *ui.Request, operator registrar.Actor) error {
	low, err := h.Inbox.LowBalances(req.R.Context(), operator)
	if err != nil {
		return err
	}
	upstreams := h.Upstreams()
	var all []upstreamGroup
	for _, name := range upstreamGroups {
		group := upstreamGroup{Name: name}
		for _, upstream := range upstreams {
			if upstream.Group == name {
				group.Upstreams = append(group.Upstreams, upstream)
			}
		}
		all = append(all, group)
	}
	return h.render(req, ui.View{Name: "health", Section: healthPath}, struct {
		LowBalances []inbox.Stored
		Groups      []upstreamGroup
	}{low, all}, "")
}
