package epp

import (
	"strconv"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// The EPP extensions with which registries distinguish contacts.
const (
	eurCreate   = "contact-ext:create"
	nicATCreate = "at-ext-contact:create"
)

// contactType reads the type of a new contact; nil if it has none.
func (e protocolExtensions) contactType() (*ledger.ContactType, *ledger.Refusal) {
	eur, nicAT := e[eurCreate], e[nicATCreate]
	switch {
	case eur != nil && nicAT != nil:
		return nil, &ledger.Refusal{Code: ledger.PolicyForbids, Reason: "A contact has one type."}
	case eur != nil:
		return eurType(eur)
	case nicAT != nil:
		q := children(nicAT)
		of := &ledger.ContactType{Registry: ledger.NicAT, Type: q.token(q.required("type"), 1, 64)}
		return of, q.result()
	default:
		return nil, nil
	}
}

// eurType reads contact-ext:create. Language and naturalPerson are optional in the schema
// and required by the registry.
func eurType(node *node) (*ledger.ContactType, *ledger.Refusal) {
	q := children(node)
	of := &ledger.ContactType{Registry: ledger.EURid, Type: q.token(q.required("type"), 1, 64)}
	q.token(q.optional("vat"), 1, 20)
	of.Lang = q.token(q.optional("lang"), 2, 2)
	q.token(q.optional("whoisEmail"), 1, 255)
	if person := q.optional("naturalPerson"); person != nil {
		of.Person = q.flag("naturalPerson", q.token(person, 1, 5))
	} else {
		q.deferRefusal(ledger.Missing, "contact-ext:naturalPerson", "", "The contact is a natural person or not.")
	}
	of.Citizenship = q.token(q.optional("countryOfCitizenship"), 2, 2)
	return of, q.result()
}

// writeContactType shows the type to clients that named its extension at login.
func (s *session) writeContactType(w *writer, of *ledger.ContactType) {
	switch {
	case of == nil:
	case of.Registry == ledger.EURid && s.services[eurSpace]:
		w.begin("contact-ext:infData")
		w.element("contact-ext:type", of.Type)
		w.element("contact-ext:lang", of.Lang)
		w.element("contact-ext:naturalPerson", strconv.FormatBool(of.Person))
		w.optional("contact-ext:countryOfCitizenship", of.Citizenship)
		w.end()
	case of.Registry == ledger.NicAT && s.services[nicATSpace]:
		w.begin("at-ext-contact:infData")
		w.element("at-ext-contact:type", of.Type)
		w.end()
	}
}
