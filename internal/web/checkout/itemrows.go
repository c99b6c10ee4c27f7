package checkout

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

type itemRow struct {
	order.Item
	// Gross is the price as if the item were ordered alone, so that equal items have equal prices:
	// an order's VAT is rounded once, over all items.
	Gross   registrar.Cents
	WhatKey string
	Term    string
	// StateKey is the state of a paid item, ReasonKey why it failed or is no longer
	// available.
	StateKey, ReasonKey string
	Own                 string // the domain's page if the visitor already holds it
	DomainPage          string // the page of the customer's domain, on the page of the order; empty if they don't hold it
	Page                string // the path of the order's page, for the auth code form
	// Code is the field for the auth code of a transfer; HasCode reports that one is
	// stored.
	Code     *ui.Field
	HasCode  bool
	Main     bool     // the code is the next thing to enter
	Warnings []string // texts
	Locks    bool     // the registry will lock the domain against transfers
	// Removable means that the viewer can remove the item from their order.
	Removable bool
	// Until is the end of the paid term of an item that can still be paid, or of a new domain;
	// zero if unknown. Later is the price of the term after it, LaterTerm its length; zero if
	// unknown.
	Until     time.Time
	Later     registrar.Cents
	LaterTerm string
	Untaxed   bool // no VAT is charged, so no price is called gross
	// RestoreNet and RenewalNet are the net prices of a restore and of the years it adds; zero if it
	// adds none.
	RestoreNet, RenewalNet registrar.Cents

	domain string // the id of the viewer's domain that the item has provided; empty if there is none
	renews bool   // that domain renews automatically
	locked bool   // the registry locks the new domain against transfers
	// Ended is what became of the domain of a completed item; its time is zero if nothing did.
	Ended lifecycle.EndedDomain
}

// hasProblem reports whether the row says something that the customer must not miss.
func (r itemRow) hasProblem() bool { return r.ReasonKey != "" || len(r.Warnings) > 0 }

// shownItems is how many items a page shows at once. The others are in a closed part of it.
const shownItems = 10

// itemList is the table of an order's items: the first ones and every one with a problem, and
// More for the others. Locks and Rounded mean that texts below explain which of several will be
// locked, and why the gross prices don't add up to the total.
type itemList struct {
	First, More    itemTable
	Locks, Rounded bool
}

type itemTable struct {
	Rows    []itemRow
	Outcome bool // the rows show their state
	// Several means that the order has several items, Untaxed that no VAT is charged.
	Several, Untaxed bool
}

func newItemList(rows []itemRow, outcome bool) itemList {
	first := itemTable{Outcome: outcome, Several: len(rows) > 1, Untaxed: len(rows) > 0 && rows[0].Untaxed}
	more, locks := first, false
	var total, shown registrar.Cents
	for i, row := range rows {
		total, shown = total+row.Item.Gross, shown+row.Gross
		locks = locks || first.Several && row.Locks
		if i < shownItems || row.hasProblem() {
			first.Rows = append(first.Rows, row)
		} else {
			more.Rows = append(more.Rows, row)
		}
	}
	return itemList{first, more, locks, total != shown}
}

// ownDomain returns the text key and the domain's page if a name is refused because the visitor
// already holds it. Others only learn that it is taken. On an error only the reason is shown.
func (h *Handler) ownDomain(req *ui.Request, kind order.Kind, name string, why error) (key, page string) {
	if !req.SignedIn || registrar.CodeOf(why) != registrar.NameHeld {
		return "", ""
	}
	domain, held, err := h.FindDomain(req.R.Context(), req.Actor(), name)
	if err != nil {
		httpjson.RecordError(req.W, err)
	}
	if err != nil || !held {
		return "", ""
	}
	switch {
	case domain.Status != registrar.DomainPending:
		key = "reason.yours"
	case kind == order.Transfer:
		key = "reason.transferring"
	default:
		key = "reason.ordered"
	}
	return key, ui.DomainsPath + "/" + domain.ID
}

// liftsExpiry reports whether paying for an item lifts its customer's choice to let the domain
// expire. On an error the page says less.
func (h *Handler) liftsExpiry(req *ui.Request, view order.View, item order.Item) bool {
	if !view.IsOwner || !view.Order.State.Open() || !item.Kind.ForHeldDomain() {
		return false
	}
	domain, held, err := h.FindDomain(req.R.Context(), req.Actor(), item.Name)
	return err == nil && held && domain.AtTermEnd == registrar.TermEndExpire
}

// shortTermWarning warns of a term that ends too soon for the automatic renewal that a domain has already;
// empty if there is nothing to warn of.
func (h *Handler) shortTermWarning(req *ui.Request, item order.Item, until time.Time) string {
	if !item.Kind.ForHeldDomain() || until.IsZero() || !renewal.FirstChargeOf(h.Now(), until, item.TLD, 1).NextTerm {
		return ""
	}
	if _, renews := h.termEnd(req, item); !renews {
		return ""
	}
	return h.templates.Text(req.Language, "done.next_term", ui.UnicodeName(item.Name), ui.FormatDate(req.Language, until))
}

func (h *Handler) newItemRows(req *ui.Request, path string, view order.View, t formError) []itemRow {
	language := req.Language
	rows := make([]itemRow, 0, len(view.Order.Items))
	for _, item := range view.Order.Items {
		r := h.newItemRow(language, view.Order.Totals, item)
		if reason, refused := view.Refused[item.ID]; refused {
			r.ReasonKey = h.withoutLock(h.reasonKey(item.Kind, codeOf(reason)), item.TLD)
			if key, page := h.ownDomain(req, item.Kind, item.Name, reason); page != "" {
				r.ReasonKey, r.Own = key, page
			}
		}
		for _, warning := range view.Warnings {
			if key := "warning." + string(warning.Kind); warning.Item == item.ID && h.templates.Has(key) {
				r.Warnings = append(r.Warnings, h.templates.Text(language, key, warning.Similar))
			}
		}
		r.locked = !item.Kind.ForHeldDomain() && h.LocksTransfers(item.TLD)
		r.Locks = r.locked && view.Order.State.Open()
		if h.liftsExpiry(req, view, item) {
			r.Warnings = append(r.Warnings, h.templates.Text(language, "warning.expiring", ui.UnicodeName(item.Name)))
		}
		if r.Removable = view.IsOwner && view.Order.Editable() && (view.Order.IsRenewalBasket() || len(view.Order.Items) > 1) && view.Order.State.Open() && view.Order.State != order.Paying; r.Removable {
			r.Page = path
		}
		if view.IsOwner && view.Order.State.Open() {
			if r.Until = item.TermEnd.AddDate(item.Years, 0, 0); item.TermEnd.IsZero() {
				r.Until, _ = h.termEnd(req, item)
			}
			if warning := h.shortTermWarning(req, item, r.Until); warning != "" {
				r.Warnings = append(r.Warnings, warning)
			}
		}
		if view.IsOwner && (item.State == order.ItemActive || view.Order.State == order.Completed) {
			if held, ok, err := h.FindDomain(req.R.Context(), req.Actor(), item.Name); err == nil && ok {
				r.domain, r.Until, r.renews = held.ID, held.PaidUntil, held.Renews()
			}
		}
		if price, renewed := view.Renewals[item.ID]; renewed && (view.Order.State.Open() || r.domain != "" && !item.Kind.ForHeldDomain()) {
			r.Later, r.LaterTerm = price.Gross, h.term(language, price.Years)
		}
		if item.Kind == order.Transfer {
			r.Page = path
			r.HasCode = item.SealedCode != "" && !slices.Contains(view.MissingByItem[item.ID], order.MissingCode)
			r.Code = &ui.Field{
				ID: "code-" + item.ID, Name: "code", Label: "code.label", Hint: "code.hint", Type: "text", Autocomplete: "off", MaxLength: 255,
			}
			if t.item == item.ID {
				r.Code.Problem, r.Code.Focus, r.HasCode = t.problem, true, false
			}
		}
		rows = append(rows, r)
	}
	return rows
}

func (h *Handler) newItemRow(language string, totals order.Totals, item order.Item) itemRow {
	r := itemRow{Item: item, Gross: billing.Gross(item.Net, totals.RateBasisPoints), WhatKey: "kind." + string(item.Kind), Term: h.term(language, item.Years), Untaxed: totals.RateBasisPoints == 0}
	if item.Kind == order.Transfer {
		r.Term = h.templates.Text(language, transferTermKey(item.TLD, item.Years), item.Years)
	}
	if ext, listed := h.Extension(item.TLD); listed && item.Kind == order.Restore && item.Years > 0 && item.Net == order.NetPrice(ext, order.Restore, item.Years) {
		r.RestoreNet, r.RenewalNet = ext.Restore, item.Net-ext.Restore
	}
	switch item.State {
	case order.ItemProvisioning, order.ItemActive:
		r.StateKey = "item." + string(item.State) + "." + string(item.Kind)
	case order.ItemFailed, order.ItemRefunded:
		r.StateKey = "item." + string(item.State)
		if item.Gross == 0 {
			r.StateKey = "item.failed.free"
		}
		r.ReasonKey = h.withoutLock(h.reasonKey(item.Kind, item.Failure), item.TLD)
	case order.ItemWaiting:
	}
	return r
}

func (h *Handler) term(language string, years int) string {
	switch years {
	case 0:
		return h.templates.Text(language, "term.none")
	case 1:
		return h.templates.Text(language, "term.one")
	default:
		return h.templates.Text(language, "term.many", strconv.Itoa(years))
	}
}

// failureTexts are the texts of codes without one of their own.
var failureTexts = map[registrar.FailureReason]string{
	registrar.FailureTaken:  "reason.name_taken",
	registrar.FailureHeld:   "reason.transfer_held",
	registrar.FailureCode:   "reason.auth_code_wrong",
	registrar.FailureLocked: "reason.registry_locked",
	registrar.FailureGone:   "reason.registry_gone",
	registrar.FailureOurs:   "reason.registry_billing",
	registrar.FailureFee:    "reason.registry_fee_raised",
	registrar.FailureDenied: "reason.registry_denied",
	registrar.FailureLoser:  "reason.transfer_rejected",
	registrar.FailureOther:  "reason.other",
}

// reasonKey returns the text key of why an item can't be ordered or has failed, or a generic one.
func (h *Handler) reasonKey(kind order.Kind, code registrar.Code) string {
	reason := registrar.FailureReasonOf(code, kind == order.Transfer)
	if key := "reason." + string(code) + "." + string(kind); h.templates.Has(key) {
		return key
	}
	if key := "reason." + string(code); reason != registrar.FailureHeld && h.templates.Has(key) {
		return key
	}
	return failureTexts[reason]
}

// noLock ends the keys of reasons that mention no lock.
const noLock = ".no_lock"

// withoutLock replaces a reason that asks to remove a lock if the extension has none: what keeps the
// domain from moving there, only its provider knows.
func (h *Handler) withoutLock(key, tld string) string {
	if h.templates.Has(key+noLock) && !h.LocksTransfers(tld) {
		return key + noLock
	}
	return key
}

// wrongCodeLocked is provision.WrongCode for a domain that is also locked: the customer needs to fix both.
const wrongCodeLocked = provision.WrongCode + "_locked"

// codeOf returns the code of why an item can't be ordered.
func codeOf(reason error) registrar.Code {
	if code := registrar.CodeOf(reason); code != provision.WrongCode || !errors.Is(reason, &registrar.Error{Code: provision.Locked}) {
		return code
	}
	return wrongCodeLocked
}
