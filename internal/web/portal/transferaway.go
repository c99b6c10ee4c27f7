package portal

import (
	"context"
	"net/http"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

const transferStep = "/transfer"

// statementMissing (KindInvalid): the sentence was not confirmed.
const statementMissing registrar.Code = "transfer_statement_missing"

// stoppedTooLate (KindConflict): the domain had left before the objection reached the registry.
const stoppedTooLate registrar.Code = "transfer_stopped_too_late"

// transferDecision is one of the two buttons.
type transferDecision struct {
	name   string // of the form's path, and of its texts
	decide func(s *transferaway.Service, ctx context.Context, actor registrar.Actor, domain, statement string) (transferaway.Transfer, error)
}

var (
	stopTransfer    = transferDecision{"stop", (*transferaway.Service).Stop}
	approveTransfer = transferDecision{"approve", (*transferaway.Service).Approve}
)

// outgoingEvent is an entry of the timeline. A planned one has not happened yet.
type outgoingEvent struct {
	Key, Detail string // a text key and what it names
	At          time.Time
	Planned     bool
}

// outgoingRow is a transfer to another registrar with its timeline.
type outgoingRow struct {
	transferaway.Transfer
	StateKey string
	Events   []outgoingEvent
}

type transferAwayView struct {
	transferaway.View
	Domain        portfolio.Domain
	Path, Page    string // of the domain and of this page
	Rows          []outgoingRow
	CanDecide     bool
	Recent        bool
	Again         string
	Stop, Approve string // the sentences to confirm
	Problem       string
}

// outgoingRows returns the timelines of a domain's transfers.
func outgoingRows(transfers []transferaway.Transfer) (rows []outgoingRow) {
	for _, t := range transfers {
		row := outgoingRow{Transfer: t, StateKey: "away_state." + string(t.State)}
		if !t.RequestedAt.IsZero() {
			row.Events = append(row.Events, outgoingEvent{Key: "away_event.requested", Detail: t.Gaining, At: t.RequestedAt})
		}
		if !t.DecidedAt.IsZero() {
			key := "away_event.approval"
			switch {
			case t.Reason == transferaway.ReasonObjection && t.Actor.Kind != registrar.ActorOperator:
				key = "away_event.objection"
			case t.Reason != "":
				key = "away_event.rejection"
			}
			row.Events = append(row.Events, outgoingEvent{Key: key, At: t.DecidedAt})
		}
		switch {
		case t.State.Final():
			row.Events = append(row.Events, outgoingEvent{Key: "away_event." + string(t.State), Detail: t.Gaining, At: t.EndedAt})
		case !t.ActsAt.IsZero():
			row.Events = append(row.Events, outgoingEvent{Key: "away_event.acts", At: t.ActsAt, Planned: true})
		}
		rows = append(rows, row)
	}
	return rows
}

// transferLocks returns the periods in which a transfer of the domain may be refused.
func (h *Handler) transferLocks(view domainchange.View) []transferaway.Lock {
	events := make(map[transferaway.Event]time.Time)
	if view.HasRecord {
		events[transferaway.EventRegistration] = view.Record.Created
	}
	for _, event := range view.AuditEvents {
		if event.Action == provision.ActionReceived && event.At.After(events[transferaway.EventTransfer]) {
			events[transferaway.EventTransfer] = event.At
		}
	}
	replacedBy := view.Domain.Registrant
	for _, past := range view.PastRegistrants { // the newest first
		if !past.Registrant.SameHolder(replacedBy) {
			events[transferaway.EventRegistrantChange] = past.Until
			break
		}
		replacedBy = past.Registrant
	}
	return transferaway.LocksOf(view.Domain.TLD, events, h.Now())
}

// locksAfterChange reports whether a transfer of a domain may be refused for a time after its
// registrant has changed.
func (h *Handler) locksAfterChange(tld string) bool {
	return len(transferaway.LocksOf(tld, map[transferaway.Event]time.Time{transferaway.EventRegistrantChange: h.Now()}, h.Now())) > 0
}

func (h *Handler) transferAway(req *ui.Request) error { return h.showTransferAway(req, nil) }

// showTransferAway shows the transfers of a domain. problem is why a decision was not taken.
func (h *Handler) showTransferAway(req *ui.Request, problem error) error {
	status, message := http.StatusOK, ""
	if problem != nil {
		var known bool
		if message, known = h.problem(req, problem); !known {
			return problem
		}
		if status = http.StatusConflict; registrar.KindOf(problem) == registrar.KindInvalid {
			status = http.StatusUnprocessableEntity
		}
		httpjson.RecordError(req.W, problem)
	}
	ctx, id := req.R.Context(), req.R.PathValue("id")
	domain, err := h.Portfolio.Get(ctx, req.Actor(), id)
	if err != nil {
		return err
	}
	away, err := h.TransfersAway.View(ctx, req.Actor(), id)
	if err != nil {
		return err
	}
	view := transferAwayView{View: away, Domain: domain, Path: domainPath(domain.ID), Page: domainPath(domain.ID) + transferStep, Rows: outgoingRows(away.Transfers), Problem: message}
	req.SetFormPath(view.Page)
	view.Recent, view.Again = req.SignedInRecently(), ui.WithNext(ui.SignInAgainPath, view.Page)
	view.Stop, view.Approve = h.transferStatement(req, stopTransfer, domain.Name), h.transferStatement(req, approveTransfer, domain.Name)
	if away.Open != nil {
		view.CanDecide = away.Open.State == transferaway.StatePending && away.Rules.Answer
		if away.Open.State != transferaway.StatePending {
			req.RefreshAfter(3 * time.Second)
		}
	}
	return h.templates.Render(req, ui.View{Name: "transferaway", Status: status, Title: "away.title", TitleValue: title(domain.Name), Section: domainsPath, Data: view})
}

// transferStatement is the sentence that the customer confirms. It is stored as evidence.
func (h *Handler) transferStatement(req *ui.Request, decision transferDecision, name string) string {
	return h.templates.Text(req.Language, "away."+decision.name+"_statement", title(name))
}

// decideTransfer stops or approves a transfer and shows what has become of it.
func (h *Handler) decideTransfer(decision transferDecision) ui.PageFunc {
	return func(req *ui.Request) error {
		ctx, id := req.R.Context(), req.R.PathValue("id")
		page := domainPath(id) + transferStep
		req.SetFormPath(page) // the path is the visitor's own, so it may be kept
		if req.Field("confirm") != "yes" {
			return h.showTransferAway(req, registrar.Invalid(statementMissing))
		}
		domain, err := h.Portfolio.Get(ctx, req.Actor(), id)
		if err != nil {
			return err
		}
		after, err := decision.decide(h.TransfersAway, ctx, req.Actor(), id, h.transferStatement(req, decision, domain.Name))
		switch {
		case registrar.CodeOf(err) == registrar.SignInAgain:
			return err
		case err != nil:
			return h.showTransferAway(req, err)
		case after.State.Left() && decision.name == stopTransfer.name:
			return h.showTransferAway(req, registrar.Conflict(stoppedTooLate))
		case after.State == transferaway.StatePending:
			return req.SeeOther(page) // which says that the registry refused
		}
		return req.RedirectWithFlash(transferNote(after.State), page)
	}
}

// transferNote says what a decision has led to, which need not be what it was for.
func transferNote(state transferaway.State) string {
	switch {
	case state.Left():
		return "away_left"
	case state == transferaway.StateStopped, state == transferaway.StateStopping, state == transferaway.StateApproving:
		return "away_" + string(state)
	default:
		return "away_over"
	}
}
