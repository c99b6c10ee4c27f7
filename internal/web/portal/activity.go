package portal

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

const activityPageSize = 50

// activityEntry is one entry with the names of its objects.
type activityEntry struct {
	account.AuditEntry
	// Who is a text key; By is the name of the token, application or operator.
	Who, By string
	// What is a text key; How is one if the object is a method.
	What, Object, How string
	Order             string // the object's id if it is an order
	Where             string // the address; empty if it must not be shown
}

func (h *Handler) activity(req *ui.Request) error {
	ctx, actor := req.R.Context(), req.Actor()
	entries, err := h.Accounts.ListAuditEvents(ctx, actor, req.Query("before"), activityPageSize+1)
	if err != nil {
		return err
	}
	older := ""
	if len(entries) > activityPageSize {
		entries = entries[:activityPageSize]
		older = "/portal/activity?before=" + url.QueryEscape(entries[activityPageSize-1].ID)
	}
	names, err := h.namesByID(req)
	if err != nil {
		return err
	}
	var orders []order.Order
	if h.Orders != nil && slices.ContainsFunc(entries, func(entry account.AuditEntry) bool { return isOrder(entry.Object) }) {
		if orders, err = h.Orders.List(ctx, actor, "", maxNamedOrders); err != nil {
			return err
		}
	}
	for _, o := range orders {
		var all []string
		for _, item := range o.Items {
			all = append(all, item.Name)
		}
		if len(all) > 0 {
			names[o.ID] = h.firstOf(req.Language, all)
		}
	}
	rows := make([]activityEntry, 0, len(entries))
	for _, entry := range entries {
		row := h.newActivityEntry(entry, names)
		if refunded := refundedNames(orders, entry.AuditEvent); len(refunded) > 0 {
			row.Object = h.firstOf(req.Language, refunded)
		}
		rows = append(rows, row)
	}
	return h.templates.Render(req, ui.View{Name: "activity", Title: "activity.title", Section: "/portal/activity", Data: struct {
		Lines []activityEntry
		Older string
		Later bool
	}{rows, older, req.Query("before") != ""}})
}

// namesByID returns the names of the customer's objects by id.
func (h *Handler) namesByID(req *ui.Request) (map[string]string, error) {
	tokens, err := h.AccessTokens.ListWithRevoked(req.R.Context(), req.Actor())
	if err != nil {
		return nil, err
	}
	names := make(map[string]string)
	for _, token := range tokens {
		names[token.ID] = token.Name
	}
	apps, err := h.Applications.ListConnectedApps(req.R.Context(), req.Actor())
	if err != nil {
		return nil, err
	}
	for _, app := range apps {
		for _, connection := range app.GrantIDs {
			names[connection] = app.Label
		}
	}
	passkeys, err := h.Accounts.Passkeys(req.R.Context(), req.Actor())
	if err != nil {
		return nil, err
	}
	for _, passkey := range passkeys {
		names[passkey.ID] = passkey.Name
	}
	holders, err := h.Holders.List(req.R.Context(), req.Actor())
	for _, holder := range holders {
		names[holder.ID] = holder.Label()
	}
	return names, err
}

// maxNamedOrders limits the newest orders, whose entries are shown with their domains; those of
// older ones have the order's id.
const maxNamedOrders = 100

// refundedNames returns the domains that an event about a refund of one of the orders is about;
// none for other events. Older events don't name their refund: it is the nearest in time, except of
// those about what an operator did about a refund days later.
func refundedNames(orders []order.Order, event registrar.AuditEvent) []string {
	at := slices.IndexFunc(orders, func(o order.Order) bool { return o.ID == event.Object })
	if at < 0 || len(orders[at].Refunds) == 0 {
		return nil
	}
	if event.Refund != "" {
		own := slices.IndexFunc(orders[at].Refunds, func(r order.Refund) bool { return r.ID == event.Refund })
		if own < 0 {
			return nil
		}
		return orders[at].RefundedNames(orders[at].Refunds[own])
	}
	happened := func(r order.Refund) time.Time { return r.CreatedAt }
	switch event.Action {
	case order.ActionRefundOrdered, order.ActionRefundBooked:
	case order.ActionRefunded:
		happened = func(r order.Refund) time.Time { return r.MadeAt }
	case order.ActionRefundReturned, order.ActionRefundRefused:
		happened = func(r order.Refund) time.Time { return r.FailedAt }
	default:
		return nil
	}
	nearest := slices.MinFunc(orders[at].Refunds, func(a, b order.Refund) int {
		return cmp.Compare(event.At.Sub(happened(a)).Abs(), event.At.Sub(happened(b)).Abs())
	})
	return orders[at].RefundedNames(nearest)
}

// firstOf returns the first of the names and the number of others.
func (h *Handler) firstOf(language string, names []string) string {
	if more := len(names) - 1; more > 0 {
		return ui.DisplayName(names[0]) + " " + h.templates.Text(language, "overview.more", more)
	}
	return ui.DisplayName(names[0])
}

// ActionTexts returns the texts of audit events, for other pages that show them.
func ActionTexts() ui.Texts {
	actions := make(ui.Texts)
	for _, table := range []ui.Texts{activityTexts, domainTexts, holderTexts} {
		for key, text := range table {
			if strings.HasPrefix(key, "action.") || strings.HasPrefix(key, "object.") {
				actions[key] = text
			}
		}
	}
	return actions
}

func (h *Handler) newActivityEntry(entry account.AuditEntry, names map[string]string) activityEntry {
	line := activityEntry{AuditEntry: entry, Who: "who." + string(entry.Actor.Kind), What: "action." + string(entry.Action), Where: visibleAddress(entry.Actor)}
	if entry.Actor.Kind != registrar.ActorPerson && entry.Actor.Kind != registrar.ActorSystem {
		line.By = nameOrID(entry.Actor.Through, names)
	}
	line.Object = nameOrID(entry.Object, names)
	if key := "object." + entry.Object; h.templates.Has(key) {
		line.Object, line.How = "", key
	}
	if key := "activity.language." + entry.Object; entry.Action == account.ActionLanguageChanged && h.templates.Has(key) {
		line.Object, line.How = "", key
	}
	if isOrder(entry.Object) {
		line.Order = entry.Object
	}
	repeatsActor := entry.Object == entry.Actor.Through && entry.Actor.Kind != registrar.ActorSystem
	if repeatsActor || entry.Object == entry.Customer {
		line.Object = "" // it would repeat the action
	}
	return line
}

func isOrder(object string) bool { return strings.HasPrefix(object, order.IDPrefix) }

// nameOrID returns the name of an object; empty if only its internal id is known, which says
// nothing to customers. Only orders are known by theirs.
func nameOrID(id string, names map[string]string) string {
	if name, ok := names[id]; ok {
		return name
	}
	if ui.IsInternalID(id) && !isOrder(id) {
		return ""
	}
	return ui.DisplayName(id)
}
