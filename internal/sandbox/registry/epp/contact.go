package epp

import (
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

var contactStatuses = []string{
	"clientDeleteProhibited", "clientTransferProhibited", "clientUpdateProhibited", "linked", "ok", "pendingCreate", "pendingDelete",
	"pendingTransfer", "pendingUpdate", "serverDeleteProhibited", "serverTransferProhibited", "serverUpdateProhibited",
}

func (s *session) contactCheck(c *command, a *response) error {
	q := children(c.object)
	nodes := q.repeated("id", maxElements)
	if len(nodes) == 0 {
		q.required("id")
	}
	var ids []string
	for _, of := range nodes {
		ids = append(ids, q.id(of))
	}
	if refusal := q.result(); refusal != nil {
		return refusal
	}
	if _, refusal := s.protocolExtensions(c); refusal != nil {
		return refusal
	}
	if len(ids) > MaxChecked {
		return &ledger.Refusal{Code: ledger.PolicyForbids, Reason: "These are too many ids for one check."}
	}
	a.data.begin("contact:chkData")
	for i, free := range s.ledger.CheckContacts(ids) {
		a.data.available("contact:id", ids[i], free, "In use", "contact:cd", "contact:reason")
	}
	a.data.end()
	return nil
}

// postalAddress reads contact:addr.
func (s *sequence) postalAddress(of *node, postal *ledger.Postal) {
	part := children(of)
	for _, street := range part.repeated("street", 3) {
		postal.Street = append(postal.Street, part.normalised(street, 0, 255))
	}
	postal.City = part.normalised(part.required("city"), 1, 255)
	postal.State = part.normalised(part.optional("sp"), 0, 255)
	postal.Code = part.token(part.optional("pc"), 0, 16)
	postal.Country = part.token(part.required("cc"), 2, 2)
	s.merge(part)
}

func (s *sequence) postalType(of *node) string {
	kind, _ := of.attr("type")
	return s.pick("type", kind, "loc", "int")
}

// phone reads a number (RFC 5733, 2.5).
func (s *sequence) phone(of *node) *ledger.Phone {
	if of == nil {
		return nil
	}
	phone := &ledger.Phone{Number: s.token(of, 0, 17, "x")}
	phone.Ext, _ = of.attr("x")
	if phone.Number == "" {
		return phone
	}
	code, number, found := strings.Cut(strings.TrimPrefix(phone.Number, "+"), ".")
	if !found || phone.Number[0] != '+' || len(code) < 1 || len(code) > 3 || len(number) < 1 || len(number) > 14 ||
		strings.Trim(code+number, "0123456789") != "" {
		s.fail(syntax("A telephone number is written like +49.301234567."))
	}
	return phone
}

func (s *sequence) disclose(of *node) *ledger.Disclosure {
	if of == nil {
		return nil
	}
	part := children(of, "flag")
	defer s.merge(part)
	flag, _ := of.attr("flag")
	d := &ledger.Disclosure{Show: part.flag("flag", flag), Fields: []string{}}
	for _, name := range []string{"name", "org", "addr"} {
		for _, field := range part.repeated(name, 2) {
			d.Fields = append(d.Fields, name+" "+part.postalType(field))
		}
	}
	for _, name := range []string{"voice", "fax", "email"} {
		if part.optional(name) != nil {
			d.Fields = append(d.Fields, name)
		}
	}
	return d
}

func (s *session) contactCreate(c *command, a *response) error {
	q := children(c.object)
	update := &ledger.Contact{ID: q.id(q.required("id"))}
	nodes := q.repeated("postalInfo", 2)
	if len(nodes) == 0 {
		q.required("postalInfo")
	}
	for _, of := range nodes {
		part := children(of, "type")
		postal := ledger.Postal{Type: part.postalType(of)}
		postal.Name = part.normalised(part.required("name"), 1, 255)
		postal.Org = part.normalised(part.optional("org"), 0, 255)
		part.postalAddress(part.required("addr"), &postal)
		q.merge(part)
		update.Postal = append(update.Postal, postal)
	}
	update.Voice, update.Fax = value(q.phone(q.optional("voice"))), value(q.phone(q.optional("fax")))
	update.Email = q.token(q.required("email"), 1, 255)
	update.Auth = value(q.auth(q.required("authInfo"), false))
	update.Disclosure = q.disclose(q.optional("disclose"))
	if refusal := q.result(); refusal != nil {
		return refusal
	}
	ext, refusal := s.protocolExtensions(c, eurCreate, nicATCreate)
	if refusal != nil {
		return refusal
	}
	if update.Typed, refusal = ext.contactType(); refusal != nil {
		return refusal
	}
	made, err := s.ledger.CreateContact(s.request(c, a), update)
	if err != nil {
		return err
	}
	a.data.begin("contact:creData")
	a.data.element("contact:id", made.ID)
	a.data.dateTime("contact:crDate", made.Created)
	a.data.end()
	return nil
}

func (s *session) contactInfo(c *command, a *response) error {
	q := children(c.object)
	id := q.id(q.required("id"))
	auth := value(q.auth(q.optional("authInfo"), false))
	if refusal := q.result(); refusal != nil {
		return refusal
	}
	if _, refusal := s.protocolExtensions(c); refusal != nil {
		return refusal
	}
	contact, linked, err := s.ledger.InfoContact(s.request(c, a), id, auth)
	if err != nil {
		return err
	}
	writeContact(&a.data, contact, linked)
	s.writeContactType(&a.ext, contact.Typed)
	return nil
}

func writeContact(w *writer, c *ledger.Contact, linked bool) {
	w.begin("contact:infData")
	w.element("contact:id", c.ID)
	w.element("contact:roid", c.ROID)
	for _, status := range c.Statuses(linked) {
		w.element("contact:status", "", "s", status)
	}
	for _, p := range c.Postal {
		w.begin("contact:postalInfo", "type", p.Type)
		w.element("contact:name", p.Name)
		w.optional("contact:org", p.Org)
		w.begin("contact:addr")
		for _, street := range p.Street {
			w.element("contact:street", street)
		}
		w.element("contact:city", p.City)
		w.optional("contact:sp", p.State)
		w.optional("contact:pc", p.Code)
		w.element("contact:cc", p.Country)
		w.end()
		w.end()
	}
	w.phone("contact:voice", c.Voice)
	w.phone("contact:fax", c.Fax)
	w.element("contact:email", c.Email)
	w.element("contact:clID", c.Sponsor)
	w.element("contact:crID", c.Creator)
	w.dateTime("contact:crDate", c.Created)
	w.optional("contact:upID", c.Updater)
	w.dateTime("contact:upDate", c.Updated)
	w.begin("contact:authInfo")
	w.element("contact:pw", c.Auth)
	w.end()
	if d := c.Disclosure; d != nil {
		show := "0"
		if d.Show {
			show = "1"
		}
		w.begin("contact:disclose", "flag", show)
		for _, field := range d.Fields {
			if name, kind, typed := strings.Cut(field, " "); typed {
				w.element("contact:"+name, "", "type", kind)
			} else {
				w.element("contact:"+field, "")
			}
		}
		w.end()
	}
	w.end()
}

func (w *writer) phone(element string, phone ledger.Phone) {
	switch {
	case phone.Number == "":
	case phone.Ext == "":
		w.element(element, phone.Number)
	default:
		w.element(element, phone.Number, "x", phone.Ext)
	}
}

func (s *session) contactUpdate(c *command, a *response) error {
	q := children(c.object)
	update := ledger.ContactUpdate{ID: q.id(q.required("id"))}
	update.Add = q.contactStatuses(q.optional("add"))
	update.Rem = q.contactStatuses(q.optional("rem"))
	if chg := q.optional("chg"); chg != nil {
		part := children(chg)
		for _, of := range part.repeated("postalInfo", 2) {
			update.Postal = append(update.Postal, part.postalEdit(of))
		}
		update.Voice, update.Fax = part.phone(part.optional("voice")), part.phone(part.optional("fax"))
		if email := part.optional("email"); email != nil {
			text := part.token(email, 1, 255)
			update.Email = &text
		}
		update.Auth = part.auth(part.optional("authInfo"), false)
		update.Disclosure = part.disclose(part.optional("disclose"))
		q.merge(part)
	}
	if refusal := q.result(); refusal != nil {
		return refusal
	}
	if _, refusal := s.protocolExtensions(c); refusal != nil {
		return refusal
	}
	return s.ledger.UpdateContact(s.request(c, a), update)
}

func (s *sequence) contactStatuses(of *node) []string {
	if of == nil {
		return nil
	}
	part := children(of)
	defer s.merge(part)
	statuses := part.statuses(7, contactStatuses)
	if len(statuses) == 0 {
		part.required("status")
	}
	return slices.Clip(statuses)
}

func (s *sequence) postalEdit(of *node) ledger.PostalEdit {
	part := children(of, "type")
	defer s.merge(part)
	edit := ledger.PostalEdit{Type: part.postalType(of)}
	if name := part.optional("name"); name != nil {
		text := part.normalised(name, 1, 255)
		edit.Name = &text
	}
	if org := part.optional("org"); org != nil {
		text := part.normalised(org, 0, 255)
		edit.Org = &text
	}
	if addr := part.optional("addr"); addr != nil {
		edit.Address = &ledger.Postal{}
		part.postalAddress(addr, edit.Address)
	}
	return edit
}

func (s *session) contactDelete(c *command, a *response) error {
	q := children(c.object)
	id := q.id(q.required("id"))
	if refusal := q.result(); refusal != nil {
		return refusal
	}
	if _, refusal := s.protocolExtensions(c); refusal != nil {
		return refusal
	}
	return s.ledger.DeleteContact(s.request(c, a), id)
}
