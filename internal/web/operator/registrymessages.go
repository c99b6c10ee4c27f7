package operator

import (
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// messageRow is a registry message with the operator who read it.
type messageRow struct {
	inbox.Stored
	By string
}

func newMessageRows(messages []inbox.Stored, names map[string]string) []messageRow {
	rows := make([]messageRow, 0, len(messages))
	for _, one := range messages {
		row := messageRow{Stored: one, By: one.ReadBy}
		if names[row.By] != "" {
			row.By = names[row.By]
		}
		rows = append(rows, row)
	}
	return rows
}

// messageFilter returns the chosen kind and account, and the query with them.
func (h *Handler) messageFilter(req *ui.Request) (filter inbox.Filter, query url.Values) {
	query = make(url.Values)
	if kind := inbox.Kind(req.Query("kind")); kind.Valid() {
		filter.Kind = kind
		query.Set("kind", string(kind))
	}
	if account := req.Query("account"); slices.Contains(h.Inbox.Accounts(), account) {
		filter.Account = account
		query.Set("account", account)
	}
	return filter, query
}

// filterLink is one choice of a filter.
type filterLink struct {
	Path, Label string
	Current     bool
}

// messageFilterLinks returns the links that change one parameter of the filter.
func messageFilterLinks(filter url.Values, parameter string, values []string) (links []filterLink) {
	for _, value := range append([]string{""}, values...) {
		links = append(links, filterLink{Path: messagesLink(filter, parameter, value), Label: value, Current: filter.Get(parameter) == value})
	}
	return links
}

// messagesLink returns the list with a filter in which one parameter has another value.
func messagesLink(filter url.Values, parameter, value string) string {
	query := maps.Clone(filter)
	query.Del(parameter)
	if value != "" {
		query.Set(parameter, value)
	}
	if len(query) == 0 {
		return messagesPath
	}
	return messagesPath + "?" + query.Encode()
}

func (h *Handler) messages(req *ui.Request, operator registrar.Actor) error {
	ctx := req.R.Context()
	filter, query := h.messageFilter(req)
	unread, olderUnread, err := h.Inbox.List(ctx, operator, filter, true, req.Query("unread_before"))
	if err != nil {
		return err
	}
	var next, first string
	if olderUnread != "" {
		next = messagesLink(query, "unread_before", olderUnread)
	}
	if req.Query("unread_before") != "" {
		first = messagesLink(query, "", "")
	}
	kinds := make([]string, 0, len(inbox.Kinds()))
	for _, kind := range inbox.Kinds() {
		kinds = append(kinds, string(kind))
	}
	byKind, byAccount := messageFilterLinks(query, "kind", kinds), messageFilterLinks(query, "account", h.Inbox.Accounts())
	read, older, err := h.Inbox.List(ctx, operator, filter, false, req.Query("before"))
	if err != nil {
		return err
	}
	names, err := h.operatorNames(req, operator)
	if err != nil {
		return err
	}
	newest := ""
	if len(unread) > 0 {
		newest = unread[0].Number
	}
	return h.render(req, ui.View{Name: "registrymessages", Section: messagesPath}, struct {
		ByKind, ByAccount []filterLink
		Chosen            inbox.Kind
		Marks             string // the newest message that "mark all" includes
		Unread, Read      []messageRow
		Next, First       string // lead through the unread ones
		pageLinks
	}{byKind, byAccount, filter.Kind, newest, newMessageRows(unread, nil), newMessageRows(read, names), next, first, newPageLinks(req, messagesPath, query, older)}, "")
}

func (h *Handler) message(req *ui.Request, operator registrar.Actor) error {
	return h.showMessage(req, operator, nil)
}

// showMessage shows one message. problem is why it could not be marked.
func (h *Handler) showMessage(req *ui.Request, operator registrar.Actor, problem error) error {
	one, err := h.Inbox.Get(req.R.Context(), operator, req.R.PathValue("id"))
	if err != nil {
		return err
	}
	names, err := h.operatorNames(req, operator)
	if err != nil {
		return err
	}
	status, message, fieldProblem := http.StatusOK, "", ""
	switch registrar.CodeOf(problem) {
	case inbox.AlreadyRead:
		status, message = http.StatusConflict, h.templates.Text(req.Language, "problem.registry_message_read")
	case inbox.BadNote:
		status, fieldProblem = http.StatusUnprocessableEntity, "problem.bad_read_note"
	}
	return h.render(req, ui.View{Name: "registrymessage", Status: status, Title: "message.page", TitleValue: messageSubject(one), Section: messagesPath}, struct {
		messageRow
		NewNote, Problem string
		MaxNote          int
	}{newMessageRows([]inbox.Stored{one}, names)[0], req.Text("note"), fieldProblem, inbox.MaxNote}, message)
}

// messageSubject is what the title of a message's page names: the domain it is about, or its number.
func messageSubject(message inbox.Stored) string {
	if message.Name == "" {
		return message.Number
	}
	return ui.UnicodeName(message.Name)
}

// readMessage marks a message as read.
func (h *Handler) readMessage(req *ui.Request, operator registrar.Actor) error {
	id := req.R.PathValue("id")
	err := h.Inbox.MarkRead(req.R.Context(), operator, id, req.Text("note"))
	switch registrar.CodeOf(err) {
	case inbox.AlreadyRead, inbox.BadNote:
		req.SetFormPath(messagesPath + "/" + url.PathEscape(id))
		return h.showMessage(req, operator, err)
	}
	if err != nil {
		return err
	}
	return req.RedirectWithFlash("message_read", messagesPath)
}

// readMessages marks the unread messages of a kind as read that the operator has seen.
func (h *Handler) readMessages(req *ui.Request, operator registrar.Actor) error {
	if _, err := h.Inbox.MarkKindRead(req.R.Context(), operator, inbox.Kind(req.Text("kind")), req.Text("newest")); err != nil {
		return err
	}
	return req.RedirectWithFlash("messages_read", messagesPath)
}
