package ledger

import (
	"net/mail"
	"slices"
	"strings"
	"time"
)

// ContactUpdate changes a contact; nil or empty fields stay unchanged.
type ContactUpdate struct {
	ID         string
	Add, Rem   []string // statuses
	Postal     []PostalEdit
	Voice, Fax *Phone
	Email      *string
	Auth       *string
	Disclosure *Disclosure
}

// PostalEdit changes one form of an address.
type PostalEdit struct {
	Type    string
	Name    *string
	Org     *string
	Address *Postal // street to country only
}

// CreateContact stores a contact. Only the fields that a client can set are used.
func (l *Ledger) CreateContact(by Request, c *Contact) (made *Contact, err error) {
	if refusal := c.check(); refusal != nil {
		return nil, refusal
	}
	err = l.do(by, func(t *tx) *Refusal {
		if t.contact(c.ID) != nil {
			return refuse(Exists, "contact:id", c.ID, "The id is in use.")
		}
		copied := *c
		made = &copied
		made.ROID, made.Sponsor, made.Creator, made.Created = t.roid("C"), by.Account, by.Account, t.now
		t.putContact(made)
		return nil
	})
	return made, err
}

// check rejects addresses that the schema allows but that are undeliverable.
func (c *Contact) check() *Refusal {
	if len(c.Postal) == 2 && c.Postal[0].Type == c.Postal[1].Type {
		return refuse(PolicyForbids, "contact:postalInfo", c.Postal[0].Type, "There is one address of each type.")
	}
	for _, postal := range c.Postal {
		if len(postal.Country) != 2 || strings.Trim(postal.Country, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			return refuse(ValueSyntax, "contact:cc", postal.Country, "A country is two capital letters.")
		}
		if postal.Type == "int" && !isASCII(postal.Name+postal.Org+postal.City+postal.State+postal.Code+strings.Join(postal.Street, "")) {
			return refuse(ValueSyntax, "contact:postalInfo", "int", "An international address is written in ASCII.")
		}
	}
	if address, err := mail.ParseAddress(c.Email); err != nil || address.Address != c.Email {
		return refuse(ValueSyntax, "contact:email", c.Email, "This is not an email address.")
	}
	if refusal := c.checkType(); refusal != nil {
		return refusal
	}
	return checkAuth(c.Auth)
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// CheckContacts reports for each id whether it is available.
func (l *Ledger) CheckContacts(ids []string) []bool {
	free := make([]bool, len(ids))
	l.view(func(time.Time) {
		for i, id := range ids {
			free[i] = l.contacts[id] == nil
		}
	})
	return free
}

// InfoContact shows a contact to its sponsor and to accounts that know its
// authInfo. linked reports whether a domain refers to it.
func (l *Ledger) InfoContact(by Request, id, auth string) (contact *Contact, linked bool, err error) {
	var refusal *Refusal
	l.view(func(time.Time) {
		contact, linked = l.contacts[id], l.contactRefs[id] > 0
		switch {
		case contact == nil:
			refusal = refuse(NotFound, "contact:id", id, "There is no such contact.")
		case contact.Sponsor == by.Account:
		case auth == "":
			refusal = refuse(NotAuthorised, "contact:id", id, "Another registrar sponsors the contact.")
		case auth != contact.Auth:
			refusal = refuse(WrongAuthInfo, "contact:authInfo", "", "This is not the contact's authInfo.")
		}
	})
	if refusal != nil {
		return nil, false, refusal
	}
	return contact, linked, nil
}

// ownContact returns a contact that the account sponsors.
func (t *tx) ownContact(id string) (*Contact, *Refusal) {
	contact := t.contact(id)
	if contact == nil {
		return nil, refuse(NotFound, "contact:id", id, "There is no such contact.")
	}
	if contact.Sponsor != t.by.Account {
		return nil, refuse(NotAuthorised, "contact:id", id, "Another registrar sponsors the contact.")
	}
	return contact, nil
}

var contactLocks = []string{"clientDeleteProhibited", "clientTransferProhibited", "clientUpdateProhibited"}

// UpdateContact changes a contact.
func (l *Ledger) UpdateContact(by Request, c ContactUpdate) error {
	if len(c.Add)+len(c.Rem)+len(c.Postal) == 0 && c.Voice == nil && c.Fax == nil && c.Email == nil && c.Auth == nil && c.Disclosure == nil {
		return refuse(Missing, "contact:update", "", "The update changes nothing.")
	}
	return l.do(by, func(t *tx) *Refusal {
		old, refusal := t.ownContact(c.ID)
		if refusal != nil {
			return refusal
		}
		if slices.Contains(old.Locks, "clientUpdateProhibited") && !slices.Contains(c.Rem, "clientUpdateProhibited") {
			return refuse(StatusForbids, "contact:status", "clientUpdateProhibited", "The status clientUpdateProhibited prohibits it.")
		}
		contact := *old
		if contact.Locks, refusal = editLocks(append([]string(nil), old.Locks...), c.Add, c.Rem, contactLocks, "contact:status"); refusal != nil {
			return refusal
		}
		contact.Postal = append([]Postal(nil), old.Postal...)
		for _, edit := range c.Postal {
			if refusal := contact.editPostal(edit); refusal != nil {
				return refusal
			}
		}
		set(&contact.Voice, c.Voice)
		set(&contact.Fax, c.Fax)
		set(&contact.Email, c.Email)
		set(&contact.Auth, c.Auth)
		if c.Disclosure != nil {
			contact.Disclosure = c.Disclosure
		}
		if refusal := contact.check(); refusal != nil {
			return refusal
		}
		contact.Updated, contact.Updater = t.now, by.Account
		t.putContact(&contact)
		return nil
	})
}

func (c *Contact) editPostal(edit PostalEdit) *Refusal {
	at := 0
	for at < len(c.Postal) && c.Postal[at].Type != edit.Type {
		at++
	}
	if at == len(c.Postal) {
		if edit.Name == nil || edit.Address == nil {
			return refuse(Missing, "contact:postalInfo", edit.Type, "An address that is new has to be complete.")
		}
		c.Postal = append(c.Postal, Postal{Type: edit.Type})
	}
	postal := c.Postal[at]
	set(&postal.Name, edit.Name)
	set(&postal.Org, edit.Org)
	if a := edit.Address; a != nil {
		postal.Street, postal.City, postal.State, postal.Code, postal.Country = a.Street, a.City, a.State, a.Code, a.Country
	}
	c.Postal[at] = postal
	return nil
}

func set[T any](target, value *T) {
	if value != nil {
		*target = *value
	}
}

// DeleteContact deletes a contact without references.
func (l *Ledger) DeleteContact(by Request, id string) error {
	return l.do(by, func(t *tx) *Refusal {
		contact, refusal := t.ownContact(id)
		switch {
		case refusal != nil:
			return refusal
		case slices.Contains(contact.Locks, "clientDeleteProhibited"):
			return refuse(StatusForbids, "contact:status", "clientDeleteProhibited", "The status clientDeleteProhibited prohibits it.")
		case l.contactRefs[id] > 0:
			return refuse(StillUsed, "contact:id", id, "Domains refer to the contact.")
		}
		put(&t.change.Contacts, id, nil)
		return nil
	})
}

// Statuses returns the EPP statuses of a contact (RFC 5733, 2.2).
func (c *Contact) Statuses(linked bool) []string { return objectStatuses(c.Locks, linked) }

// Statuses returns the EPP statuses of a host (RFC 5732, 2.3).
func (h *Host) Statuses(linked bool) []string { return objectStatuses(h.Locks, linked) }

func objectStatuses(locks []string, linked bool) []string {
	statuses := append([]string(nil), locks...)
	if len(statuses) == 0 {
		statuses = append(statuses, "ok")
	}
	if linked {
		statuses = append(statuses, "linked")
	}
	return statuses
}
