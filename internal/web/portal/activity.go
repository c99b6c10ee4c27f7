package portal

import (
	"net/url"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

// activityPage is how many entries one page of the audit has.
const activityPage = 50

// activityLine is one entry, with the names of what can be named.
type activityLine struct {
	customer.Entry
	// Who is a key; By is which token, application or operator it was.
	Who, By string
	// What is a key, and How one where the object is a way of doing it.
	What, Object, How string
	// Where is the address; empty if there is none to be shown.
	Where string
}

func (h *Handler) activity(v *page.Visit) error {
	ctx, actor := v.R.Context(), v.Actor()
	entries, err := h.customers.Deeds(ctx, actor, v.Query("before"), activityPage+1)
	if err != nil {
		return err
	}
	older := ""
	if len(entries) > activityPage {
		entries = entries[:activityPage]
		older = "/portal/activity?before=" + url.QueryEscape(entries[activityPage-1].ID)
	}
	names, err := h.names(v)
	if err != nil {
		return err
	}
	lines := make([]activityLine, 0, len(entries))
	for _, entry := range entries {
		lines = append(lines, h.line(entry, names))
	}
	return h.views.Render(v, page.View{Name: "activity", Title: "activity.title", Section: "/portal/activity", Data: struct {
		Lines []activityLine
		Older string
		Later bool
	}{lines, older, v.Query("before") != ""}})
}

// names are those of the customer's own things, by id.
func (h *Handler) names(v *page.Visit) (map[string]string, error) {
	tokens, err := h.access.Latest(v.R.Context(), v.Actor())
	if err != nil {
		return nil, err
	}
	names := make(map[string]string)
	for _, token := range tokens {
		names[token.ID] = token.Name
	}
	apps, err := h.applications.Apps(v.R.Context(), v.Actor())
	if err != nil {
		return nil, err
	}
	for _, app := range apps {
		for _, connection := range app.Connections {
			names[connection] = app.Label
		}
	}
	passkeys, err := h.customers.Passkeys(v.R.Context(), v.Actor())
	if err != nil {
		return nil, err
	}
	for _, passkey := range passkeys {
		names[passkey.ID] = passkey.Name
	}
	return names, nil
}

func (h *Handler) line(entry customer.Entry, names map[string]string) activityLine {
	line := activityLine{Entry: entry, Who: "who." + string(entry.Actor.Kind), What: "action." + string(entry.Action), Where: addressOf(entry.Actor)}
	if entry.Actor.Kind != registrar.ActorPerson && entry.Actor.Kind != registrar.ActorSystem {
		line.By = named(entry.Actor.Through, names)
	}
	line.Object = named(entry.Object, names)
	if key := "object." + entry.Object; h.views.Has(key) {
		line.Object, line.How = "", key
	}
	saidBefore := entry.Object == entry.Actor.Through && entry.Actor.Kind != registrar.ActorSystem
	if saidBefore || entry.Object == entry.Customer {
		line.Object = "" // it would say the same again
	}
	return line
}

func named(id string, names map[string]string) string {
	if name, ok := names[id]; ok {
		return name
	}
	return id
}
