package acp

import (
	"net/mail"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// provider is the accepted provider of payment tokens; handler is its name in the
// protocol since 2026-04-17.
const (
	provider = "stripe"
	handler  = "card_tokenized"
	currency = "eur"
	// Domains have one fulfillment option.
	fulfillment = "digital"
	optionTitle = "Registered in the holder's name"
)

// request is the parsed body of any POST operation, independent of its shape.
type request struct {
	items    []item
	hasItems bool // the list is present, even if it is empty
	contact  *order.Contact
	billing  *order.Contact // the billing address, used if there is no other
	token    string
}

// item is one requested item with its JSONPath. Its id is normalised once its name is
// parsed.
type item struct{ id, path string }

// requestedItems parses the items' ids: register:example.de, transfer:example.de.
func (r request) requestedItems(listed func(tld string) bool) ([]order.RequestedItem, error) {
	if !r.hasItems {
		return nil, nil
	}
	wanted := make([]order.RequestedItem, 0, len(r.items))
	for i, item := range r.items {
		kind, domain, _ := strings.Cut(item.id, ":")
		if kind != string(order.Register) && kind != string(order.Transfer) {
			return nil, newInvalid(codeInvalidItem, "There is no such item. Item IDs look like register:example.de or transfer:example.de.", item.path)
		}
		name, err := registrar.ParseName(domain, listed)
		switch {
		case registrar.KindOf(err) == registrar.KindUnsupported && err != nil:
			return nil, newInvalid(codeInvalidItem, "Names under this extension are not sold here.", item.path)
		case err != nil:
			return nil, newInvalid(codeInvalidItem, "This is not a domain name with one label before its extension.", item.path)
		}
		r.items[i].id = itemID(order.Kind(kind), name.ASCII()) // errors refer to this item in any notation
		wanted = append(wanted, order.RequestedItem{Name: name, Kind: order.Kind(kind)})
	}
	return wanted, nil
}

// buyerReader collects what a request says about its buyer in several places. The first
// value counts.
type buyerReader struct {
	contact order.Contact
	found   bool
}

func (p *buyerReader) setIfEmpty(field *string, value string) {
	value = strings.TrimSpace(value)
	if value == "" {
		return
	}
	p.found = true
	if *field == "" {
		*field = value
	}
}

// name splits a full name if there are no names yet: all words but the last are first
// names.
func (p *buyerReader) name(full string) {
	full = strings.TrimSpace(full)
	if full == "" || p.contact.FirstName != "" || p.contact.LastName != "" {
		return
	}
	split := strings.LastIndexByte(full, ' ')
	p.setIfEmpty(&p.contact.FirstName, full[:max(0, split)])
	p.setIfEmpty(&p.contact.LastName, full[split+1:])
}

func (p *buyerReader) email(o object, key string) {
	text := strings.TrimSpace(o.text(key))
	if text == "" {
		return
	}
	if parsed, err := mail.ParseAddress(text); err != nil || parsed.Address != text || !strings.Contains(text, ".") {
		o.form.fail(codeInvalidField, "This is not an email address.", o.pathTo(key))
	}
	p.setIfEmpty(&p.contact.Email, text)
}

func (p *buyerReader) buyer(o object) {
	p.setIfEmpty(&p.contact.FirstName, o.text("first_name"))
	p.setIfEmpty(&p.contact.LastName, o.text("last_name"))
	p.email(o, "email")
	p.setIfEmpty(&p.contact.Phone, o.text("phone_number"))
}

// address reads an address, which is the same in all shapes.
func (p *buyerReader) address(o object) {
	street := strings.TrimSpace(o.text("line_one"))
	before := p.contact.Street
	name, company := o.text("name"), o.text("company")
	line2, city, state, postal := o.text("line_two"), o.text("city"), o.text("state"), o.text("postal_code")
	country := strings.ToUpper(strings.TrimSpace(o.text("country")))
	if country != "" && (len(country) != 2 || strings.Trim(country, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
		o.form.fail(codeInvalidField, "A country must be a two-letter ISO 3166-1 code, such as DE.", o.pathTo("country"))
	}
	p.name(name)
	p.setIfEmpty(&p.contact.Organisation, company)
	if before != "" {
		return // two addresses are never mixed
	}
	p.setIfEmpty(&p.contact.Street, street)
	p.setIfEmpty(&p.contact.Street2, line2)
	p.setIfEmpty(&p.contact.City, city)
	p.setIfEmpty(&p.contact.State, state)
	p.setIfEmpty(&p.contact.PostalCode, postal)
	p.setIfEmpty(&p.contact.Country, country)
}

func (p *buyerReader) contactOrNil() *order.Contact {
	if !p.found {
		return nil
	}
	return &p.contact
}

func (r *request) readItems(o object, key string) {
	if _, present := o.value(key); !present {
		return
	}
	r.hasItems = true
	for _, entry := range o.objects(key) {
		r.items = append(r.items, item{id: entry.text("id"), path: entry.pathTo("id")})
		if !o.form.strict {
			entry.allowExactly("Items have no such field, and it would have no effect.", "id", "quantity", "name", "unit_amount")
		}
	}
	if len(r.items) == 0 && o.form.strict {
		o.form.fail(codeInvalidField, "At least one item is required.", o.pathTo(key))
	}
}

// readQuantities checks quantities after the ids, because an unknown item is the more
// helpful error.
func readQuantities(o object, key string) {
	for _, entry := range o.objects(key) {
		if isOne, present := entry.isOne("quantity"); present && !isOne {
			o.form.fail(codeQuantity, "A domain can be ordered only once: the quantity must be 1.", entry.pathTo("quantity"))
		}
	}
}

func requireProvider(o object, key string) {
	o.requireValue(key, provider, codeProvider, "The payment provider must be "+provider+".")
}

func requireFulfillmentOption(o object, key string) {
	o.requireValue(key, fulfillment, codeOption, "The only fulfillment option is "+fulfillment+".")
}
