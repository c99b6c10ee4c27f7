package acp

import (
	"net/mail"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// provider is whose payment tokens are taken; handler is the protocol's name for
// that way to pay since 2026-04-17.
const (
	provider = "stripe"
	handler  = "card_tokenized"
	currency = "eur"
	// Domains are delivered in one way.
	fulfillment = "digital"
)

// request is what any of the POST operations asks for, whatever its shape.
type request struct {
	items []item
	// told says that there are items, also if there are none of them.
	told    bool
	contact *order.Contact
	// billing is the address of the payment; it stands in where nothing else was
	// told.
	billing *order.Contact
	token   string
}

// item is one wanted item, with its place in the request. Its id is as it was written
// until its name is read; then as we write it.
type item struct{ id, path string }

// names reads the items' ids: register:example.de, transfer:example.de.
func (r request) names(listed func(tld string) bool) ([]order.Wanted, error) {
	if !r.told {
		return nil, nil
	}
	wanted := make([]order.Wanted, 0, len(r.items))
	for i, item := range r.items {
		kind, domain, _ := strings.Cut(item.id, ":")
		if kind != string(order.Register) && kind != string(order.Transfer) {
			return nil, invalid(codeInvalidItem, "There is no such item. Item ids are register:example.de and transfer:example.de.", item.path)
		}
		name, err := registrar.ParseName(domain, listed)
		switch {
		case registrar.KindOf(err) == registrar.KindUnsupported && err != nil:
			return nil, invalid(codeInvalidItem, "Names with this extension are not sold here.", item.path)
		case err != nil:
			return nil, invalid(codeInvalidItem, "This is not a domain name with one label before its extension.", item.path)
		}
		r.items[i].id = itemID(order.Kind(kind), name.ASCII()) // a refusal is for this one, however it was spelled
		wanted = append(wanted, order.Wanted{Name: name, Kind: order.Kind(kind)})
	}
	return wanted, nil
}

// person collects what a request says of its buyer in several places. What is
// told first stays.
type person struct {
	contact order.Contact
	told    bool
}

func (p *person) fill(field *string, value string) {
	value = strings.TrimSpace(value)
	if value == "" {
		return
	}
	p.told = true
	if *field == "" {
		*field = value
	}
}

// name fills both names from one text, if there are none yet: all words but the
// last are first names.
func (p *person) name(full string) {
	full = strings.TrimSpace(full)
	if full == "" || p.contact.FirstName != "" || p.contact.LastName != "" {
		return
	}
	split := strings.LastIndexByte(full, ' ')
	p.fill(&p.contact.FirstName, full[:max(0, split)])
	p.fill(&p.contact.LastName, full[split+1:])
}

func (p *person) email(o object, key string) {
	text := strings.TrimSpace(o.text(key))
	if text == "" {
		return
	}
	if parsed, err := mail.ParseAddress(text); err != nil || parsed.Address != text || !strings.Contains(text, ".") {
		o.form.refuse(codeInvalidField, "This is not an e-mail address.", o.at(key))
	}
	p.fill(&p.contact.Email, text)
}

// buyer reads the fields that the shapes' buyers have in common, and more.
func (p *person) buyer(o object) {
	p.fill(&p.contact.FirstName, o.text("first_name"))
	p.fill(&p.contact.LastName, o.text("last_name"))
	p.email(o, "email")
	p.fill(&p.contact.Phone, o.text("phone_number"))
}

// address reads an address; all shapes write it alike.
func (p *person) address(o object) {
	street := strings.TrimSpace(o.text("line_one"))
	before := p.contact.Street
	name, company := o.text("name"), o.text("company")
	line2, city, state, postal := o.text("line_two"), o.text("city"), o.text("state"), o.text("postal_code")
	country := strings.ToUpper(strings.TrimSpace(o.text("country")))
	if country != "" && (len(country) != 2 || strings.Trim(country, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
		o.form.refuse(codeInvalidField, "A country is two letters, as in ISO 3166-1: DE.", o.at("country"))
	}
	p.name(name)
	p.fill(&p.contact.Organisation, company)
	if before != "" {
		return // two addresses are never mixed
	}
	p.fill(&p.contact.Street, street)
	p.fill(&p.contact.Street2, line2)
	p.fill(&p.contact.City, city)
	p.fill(&p.contact.State, state)
	p.fill(&p.contact.PostalCode, postal)
	p.fill(&p.contact.Country, country)
}

// result is nil if nothing was told.
func (p *person) result() *order.Contact {
	if !p.told {
		return nil
	}
	return &p.contact
}

// readItems reads a list of items.
func (r *request) readItems(o object, key string) {
	if _, told := o.value(key); !told {
		return
	}
	r.told = true
	for _, entry := range o.objects(key) {
		r.items = append(r.items, item{id: entry.text("id"), path: entry.at("id")})
		if !o.form.closed {
			entry.exactly("An item does not have this field, and the order would not follow it.", "id", "quantity", "name", "unit_amount")
		}
	}
	if len(r.items) == 0 && o.form.closed {
		o.form.refuse(codeInvalidField, "At least one item must be named.", o.at(key))
	}
}

// readQuantities looks at the numbers after the ids: an item that does not exist
// is the more helpful thing to hear.
func readQuantities(o object, key string) {
	for _, entry := range o.objects(key) {
		if isOne, told := entry.one("quantity"); told && !isOne {
			o.form.refuse(codeQuantity, "A domain can be ordered once: the quantity is 1.", entry.at("quantity"))
		}
	}
}

// wantProvider checks the provider of a token.
func wantProvider(o object, key string) {
	o.want(key, provider, codeProvider, "The payment provider is "+provider+".")
}

// wantOption checks a chosen way of delivery.
func wantOption(o object, key string) {
	o.want(key, fulfillment, codeOption, "Domains are delivered in one way: "+fulfillment+".")
}
