package epp

import (
	"context"
	"regexp"
	"strings"
	"time"
)

// Postal is a name and an address. Local marks the registrant's own script ("loc");
// otherwise it must be ASCII ("int"; RFC 5733, 2.4).
type Postal struct {
	Local        bool
	Name         string
	Organisation string
	// Street has up to three lines.
	Street   []string
	City     string
	State    string
	PostCode string
	// Country is an ISO 3166-1 alpha-2 code in capitals.
	Country string
}

// Phone is a number like +49.301234567 and an extension. The zero value is empty.
type Phone struct{ Number, Extension string }

// ContactData is a contact's data.
type ContactData struct {
	// Postal holds one or both forms.
	Postal []Postal
	Voice  Phone
	Fax    Phone
	Email  string
	// Hide asks the registry not to publish the data (RFC 5733, 2.9).
	Hide bool
}

// CreateContact creates a contact (RFC 5733, 3.2.1).
type CreateContact struct {
	// ID is chosen by the client, 3 to 16 characters. Some gateways ignore it and
	// choose their own: see ContactCreated.
	ID string
	ContactData
	AuthInfo string
	ClTRID   string
}

// ContactCreated is the registry's confirmation.
type ContactCreated struct {
	Receipt
	ID      string
	Created time.Time
}

// CreateContact creates a contact.
func (c *Client) CreateContact(ctx context.Context, q CreateContact) (ContactCreated, error) {
	a, err := c.send(ctx, &call{
		Command: Command{Verb: "create", Object: "contact", Request: q}, trid: q.ClTRID,
		body: func(w *Writer) {
			w.Start("contact:create", Attr{"xmlns:contact", nsContact})
			w.handle("contact:id", q.ID)
			if n := len(q.Postal); n < 1 || n > 2 {
				w.Fail("contact:postalInfo", "must appear once or twice")
			}
			q.write(w, q.AuthInfo, true)
			w.End("contact:create")
		},
	})
	if err != nil {
		return ContactCreated{}, err
	}
	data := a.data.Child(nsContact, "creData")
	created := ContactCreated{Receipt: a.receipt(), ID: data.value(nsContact, "id"), Created: data.timeValue(nsContact, "crDate")}
	if created.ID == "" {
		created.ID = q.ID
	}
	return created, nil
}

// e164 is the number format of RFC 5733, 2.5.
var e164 = regexp.MustCompile(`^\+[0-9]{1,3}\.[0-9]{1,14}$`)

// write writes contact data in schema order. A create requires every field; in an
// update, empty fields stay unchanged.
func (p *ContactData) write(w *Writer, authInfo string, create bool) {
	for i := range p.Postal {
		p.Postal[i].write(w, create)
	}
	p.Voice.write(w, "contact:voice")
	p.Fax.write(w, "contact:fax")
	if create || p.Email != "" {
		w.sized("contact:email", p.Email, 1, 254)
	}
	if create || authInfo != "" {
		writeAuthInfo(w, "contact", authInfo)
	}
	if p.Hide {
		w.Start("contact:disclose", Attr{"flag", "0"})
		forms := []string{}
		for _, postal := range p.Postal {
			forms = append(forms, postal.form())
		}
		for _, field := range []string{"contact:name", "contact:org", "contact:addr"} {
			for _, form := range forms {
				w.Empty(field, Attr{"type", form})
			}
		}
		w.Empty("contact:voice")
		w.Empty("contact:fax")
		w.Empty("contact:email")
		w.End("contact:disclose")
	}
}

func (p *Postal) form() string {
	if p.Local {
		return "loc"
	}
	return "int"
}

func (p *Postal) write(w *Writer, create bool) {
	if !p.Local && !p.isASCII() {
		w.Fail("contact:postalInfo", "of type int must be ASCII")
	}
	w.Start("contact:postalInfo", Attr{"type", p.form()})
	if create || p.Name != "" {
		w.sized("contact:name", p.Name, 1, 255)
	}
	if p.Organisation != "" {
		w.sized("contact:org", p.Organisation, 1, 255)
	}
	if create || p.City != "" || p.Country != "" || len(p.Street) > 0 {
		p.writeAddress(w)
	}
	w.End("contact:postalInfo")
}

// writeAddress writes the whole address: the schema has no partial update.
func (p *Postal) writeAddress(w *Writer) {
	if len(p.Street) > 3 {
		w.Fail("contact:street", "must have no more than three lines")
	}
	w.Start("contact:addr")
	for _, line := range p.Street {
		w.sized("contact:street", line, 1, 255)
	}
	w.sized("contact:city", p.City, 1, 255)
	if p.State != "" {
		w.sized("contact:sp", p.State, 1, 255)
	}
	if p.PostCode != "" {
		w.sized("contact:pc", p.PostCode, 1, 16)
	}
	if strings.ToUpper(p.Country) != p.Country {
		w.Fail("contact:cc", "must be in capital letters")
	}
	w.sized("contact:cc", p.Country, 2, 2)
	w.End("contact:addr")
}

func (p *Postal) isASCII() bool {
	for _, text := range append([]string{p.Name, p.Organisation, p.City, p.State, p.PostCode}, p.Street...) {
		for i := range len(text) {
			if text[i] >= 0x80 {
				return false
			}
		}
	}
	return true
}

func (p Phone) write(w *Writer, tag string) {
	if p.Number == "" {
		return
	}
	if !e164.MatchString(p.Number) || len(p.Number) > 17 {
		w.Fail(tag, "must be written like +49.301234567")
	}
	if p.Extension == "" {
		w.Leaf(tag, p.Number)
		return
	}
	w.Leaf(tag, p.Number, Attr{"x", p.Extension})
}

// ContactInfo is a contact as the registry reports it.
type ContactInfo struct {
	Receipt
	ID, ROID string
	Statuses []Status
	ContactData
	Sponsor, Creator string
	Created, Updated time.Time
	AuthInfo         string
}

// InfoContact queries a contact. AuthInfo gives access to another registrar's.
type InfoContact struct {
	ID       string
	AuthInfo string
	Priority Priority
	ClTRID   string
}

// InfoContact queries a contact.
func (c *Client) InfoContact(ctx context.Context, q InfoContact) (ContactInfo, error) {
	cmd := &call{
		Command: Command{Verb: "info", Object: "contact", Request: q},
		safe:    true, priority: q.Priority, trid: q.ClTRID,
		body: func(w *Writer) {
			w.Start("contact:info", Attr{"xmlns:contact", nsContact})
			w.handle("contact:id", q.ID)
			if q.AuthInfo != "" {
				writeAuthInfo(w, "contact", q.AuthInfo)
			}
			w.End("contact:info")
		},
	}
	a, err := c.send(ctx, cmd)
	if err != nil {
		return ContactInfo{}, err
	}
	data := a.data.Child(nsContact, "infData")
	if data == nil {
		return ContactInfo{}, c.unreadableError(cmd, errMissingData)
	}
	info := ContactInfo{
		Receipt: a.receipt(),
		ID:      data.value(nsContact, "id"), ROID: data.value(nsContact, "roid"),
		Statuses: readStatuses(data, nsContact),
		ContactData: ContactData{
			Voice: readPhone(data.Child(nsContact, "voice")), Fax: readPhone(data.Child(nsContact, "fax")),
			Email: data.value(nsContact, "email"),
			Hide:  data.Child(nsContact, "disclose") != nil && !parseBool(data.Child(nsContact, "disclose").Attr("flag"), true),
		},
		Sponsor: data.value(nsContact, "clID"), Creator: data.value(nsContact, "crID"),
		Created: data.timeValue(nsContact, "crDate"), Updated: data.timeValue(nsContact, "upDate"),
		AuthInfo: data.Child(nsContact, "authInfo").value(nsContact, "pw"),
	}
	for _, postal := range data.All(nsContact, "postalInfo") {
		info.Postal = append(info.Postal, readPostal(postal))
	}
	return info, nil
}

func readPhone(n *Node) Phone { return Phone{Number: n.text(), Extension: n.Attr("x")} }

func readPostal(n *Node) Postal {
	address := n.Child(nsContact, "addr")
	p := Postal{
		Local: n.Attr("type") == "loc",
		Name:  n.value(nsContact, "name"), Organisation: n.value(nsContact, "org"),
		City: address.value(nsContact, "city"), State: address.value(nsContact, "sp"),
		PostCode: address.value(nsContact, "pc"), Country: address.value(nsContact, "cc"),
	}
	for _, line := range address.All(nsContact, "street") {
		p.Street = append(p.Street, line.Text)
	}
	return p
}

// UpdateContact changes a contact. Empty fields stay unchanged.
type UpdateContact struct {
	ID string
	ContactData
	AuthInfo string
	// AddStatuses and RemoveStatuses are values such as clientUpdateProhibited.
	AddStatuses, RemoveStatuses []string
	ClTRID                      string
}

// UpdateContact changes a contact.
func (c *Client) UpdateContact(ctx context.Context, q UpdateContact) (Receipt, error) {
	return c.sendForReceipt(ctx, &call{
		Command: Command{Verb: "update", Object: "contact", Request: q}, trid: q.ClTRID,
		body: func(w *Writer) {
			w.Start("contact:update", Attr{"xmlns:contact", nsContact})
			w.handle("contact:id", q.ID)
			writeStatuses(w, "contact", "add", q.AddStatuses)
			writeStatuses(w, "contact", "rem", q.RemoveStatuses)
			before := len(w.buf)
			w.Start("contact:chg")
			inside := len(w.buf)
			q.write(w, q.AuthInfo, false)
			if len(w.buf) == inside {
				w.buf = w.buf[:before]
			} else {
				w.End("contact:chg")
			}
			w.End("contact:update")
		},
	})
}

// writeStatuses adds or removes client statuses of contacts and hosts (RFC 5732,
// 2.3; RFC 5733, 2.2).
func writeStatuses(w *Writer, object, what string, statuses []string) {
	if len(statuses) == 0 {
		return
	}
	w.Start(object + ":" + what)
	for _, status := range statuses {
		if !clientStatuses[status] || status == "clientHold" || status == "clientRenewProhibited" {
			w.Fail(object+":status", "is not a status that a registrar may set")
		}
		w.Empty(object+":status", Attr{"s", status})
	}
	w.End(object + ":" + what)
}

// DeleteContact deletes a contact that no domain uses.
func (c *Client) DeleteContact(ctx context.Context, id, clTRID string) (Receipt, error) {
	return c.sendForReceipt(ctx, &call{
		Command: Command{Verb: "delete", Object: "contact", Request: id}, trid: clTRID,
		body: func(w *Writer) {
			w.Start("contact:delete", Attr{"xmlns:contact", nsContact})
			w.handle("contact:id", id)
			w.End("contact:delete")
		},
	})
}

// CheckContacts reports which ids are available, in the order of the ids.
func (c *Client) CheckContacts(ctx context.Context, ids ...string) ([]CheckResult, error) {
	return c.checkObjects(ctx, "contact", nsContact, "id", ids)
}

// checkObjects checks contacts or hosts.
func (c *Client) checkObjects(ctx context.Context, object, space, element string, ids []string) ([]CheckResult, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	cmd := &call{
		Command: Command{Verb: "check", Object: object}, safe: true,
		body: func(w *Writer) {
			w.Start(object+":check", Attr{"xmlns:" + object, space})
			for _, key := range ids {
				if element == "id" {
					w.handle(object+":id", key)
				} else {
					w.label(object+":name", key)
				}
			}
			w.End(object + ":check")
		},
	}
	a, err := c.send(ctx, cmd)
	if err != nil {
		return nil, err
	}
	found := make(map[string]CheckResult)
	for _, cd := range a.data.Child(space, "chkData").All(space, "cd") {
		if key := cd.Child(space, element); key != nil {
			found[strings.ToLower(key.Text)] = CheckResult{
				Name: key.Text, Available: parseBool(key.Attr("avail"), false), Reason: cd.value(space, "reason"),
			}
		}
	}
	answers := make([]CheckResult, 0, len(ids))
	for _, key := range ids {
		checked, ok := found[strings.ToLower(key)]
		if !ok {
			return nil, c.unreadableError(cmd, errMissingData)
		}
		answers = append(answers, checked)
	}
	return answers, nil
}
