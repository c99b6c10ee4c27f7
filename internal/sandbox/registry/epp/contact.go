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

func (s *session) contactCheck(c *command, a *answer) error {
	q := children(c.object)
	nodes := q.many("id", maxElements)
	if len(nodes) == 0 {
		q.must("id")
	}
	var ids []string
	for _, of := range nodes {
		ids = append(ids, q.id(of))
	}
	if refusal := q.end(); refusal != nil {
		return refusal
	}
	if _, refusal := s.extensions(c); refusal != nil {
		return refusal
	}
	if len(ids) > maxChecked {
		return &ledger.Refusal{Code: ledger.PolicyForbids, Reason: "These are too many ids for one check."}
	}
	a.data.begin("contact:chkData")
	for i, free := range s.ledger.CheckContacts(ids) {
		a.data.available("contact:id", ids[i], free, "In use", "contact:cd", "contact:reason")
	}
	a.data.end()
	return nil
}

// address reads contact:addr into a postal address.
func (s *sequence) postalAddress(of *node, postal *ledger.Postal) {
	part := children(of)
	for _, street := range part.many("street", 3) {
		postal.Street = append(postal.Street, part.normalised(street, 0, 255))
	}
	postal.City = part.normalised(part.must("city"), 1, 255)
	postal.State = part.normalised(part.maybe("sp"), 0, 255)
	postal.Code = part.token(part.maybe("pc"), 0, 16)
	postal.Country = part.token(part.must("cc"), 2, 2)
	s.adopt(part)
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
	defer s.adopt(part)
	flag, _ := of.attr("flag")
	d := &ledger.Disclosure{Show: part.flag("flag", flag), Fields: []string{}}
	for _, name := range []string{"name", "org", "addr"} {
		for _, field := range part.many(name, 2) {
			d.Fields = append(d.Fields, name+" "+part.postalType(field))
		}
	}
	for _, name := range []string{"voice", "fax", "email"} {
		if part.maybe(name) != nil {
			d.Fields = append(d.Fields, name)
		}
	}
	return d
}

func (s *session) contactCreate(c *command, a *answer) error {
	q := children(c.object)
	wish := &ledger.Contact{ID: q.id(q.must("id"))}
	nodes := q.many("postalInfo", 2)
	if len(nodes) == 0 {
		q.must("postalInfo")
	}
	for _, of := range nodes {
		part := children(of, "type")
		postal := ledger.Postal{Type: part.postalType(of)}
		postal.Name = part.normalised(part.must("name"), 1, 255)
		postal.Org = part.normalised(part.maybe("org"), 0, 255)
		part.postalAddress(part.must("addr"), &postal)
		q.adopt(part)
		wish.Postal = append(wish.Postal, postal)
	}
	wish.Voice, wish.Fax = value(q.phone(q.maybe("voice"))), value(q.phone(q.maybe("fax")))
	wish.Email = q.token(q.must("email"), 1, 255)
	wish.Auth = value(q.auth(q.must("authInfo"), false))
	wish.Disclosure = q.disclose(q.maybe("disclose"))
	if refusal := q.end(); refusal != nil {
		return refusal
	}
	if _, refusal := s.extensions(c); refusal != nil {
		return refusal
	}
	made, err := s.ledger.CreateContact(s.request(c, a), wish)
	if err != nil {
		return err
	}
	a.data.begin("contact:creData")
	a.data.element("contact:id", made.ID)
	a.data.moment("contact:crDate", made.Created)
	a.data.end()
	return nil
}

func (s *session) contactInfo(c *command, a *answer) error {
	q := children(c.object)
	id := q.id(q.must("id"))
	auth := value(q.auth(q.maybe("authInfo"), false))
	if refusal := q.end(); refusal != nil {
		return refusal
	}
	if _, refusal := s.extensions(c); refusal != nil {
		return refusal
	}
	contact, linked, err := s.ledger.InfoContact(s.request(c, a), id, auth)
	if err != nil {
		return err
	}
	writeContact(&a.data, contact, linked)
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
	w.moment("contact:crDate", c.Created)
	w.optional("contact:upID", c.Updater)
	w.moment("contact:upDate", c.Updated)
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

func (s *session) contactUpdate(c *command, a *answer) error {
	q := children(c.object)
	wish := ledger.ContactUpdate{ID: q.id(q.must("id"))}
	wish.Add = q.contactStatuses(q.maybe("add"))
	wish.Rem = q.contactStatuses(q.maybe("rem"))
	if chg := q.maybe("chg"); chg != nil {
		part := children(chg)
		for _, of := range part.many("postalInfo", 2) {
			wish.Postal = append(wish.Postal, part.postalEdit(of))
		}
		wish.Voice, wish.Fax = part.phone(part.maybe("voice")), part.phone(part.maybe("fax"))
		if email := part.maybe("email"); email != nil {
			text := part.token(email, 1, 255)
			wish.Email = &text
		}
		wish.Auth = part.auth(part.maybe("authInfo"), false)
		wish.Disclosure = part.disclose(part.maybe("disclose"))
		q.adopt(part)
	}
	if refusal := q.end(); refusal != nil {
		return refusal
	}
	if _, refusal := s.extensions(c); refusal != nil {
		return refusal
	}
	return s.ledger.UpdateContact(s.request(c, a), wish)
}

func (s *sequence) contactStatuses(of *node) []string {
	if of == nil {
		return nil
	}
	part := children(of)
	defer s.adopt(part)
	statuses := part.statuses(7, contactStatuses)
	if len(statuses) == 0 {
		part.must("status")
	}
	return slices.Clip(statuses)
}

func (s *sequence) postalEdit(of *node) ledger.PostalEdit {
	part := children(of, "type")
	defer s.adopt(part)
	edit := ledger.PostalEdit{Type: part.postalType(of)}
	if name := part.maybe("name"); name != nil {
		text := part.normalised(name, 1, 255)
		edit.Name = &text
	}
	if org := part.maybe("org"); org != nil {
		text := part.normalised(org, 0, 255)
		edit.Org = &text
	}
	if addr := part.maybe("addr"); addr != nil {
		edit.Address = &ledger.Postal{}
		part.postalAddress(addr, edit.Address)
	}
	return edit
}

func (s *session) contactDelete(c *command, a *answer) error {
	q := children(c.object)
	id := q.id(q.must("id"))
	if refusal := q.end(); refusal != nil {
		return refusal
	}
	if _, refusal := s.extensions(c); refusal != nil {
		return refusal
	}
	return s.ledger.DeleteContact(s.request(c, a), id)
}
