package epp

import (
	"cmp"
	"context"
	"crypto/rand"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// roleContact is a contact that a registrant names for a role.
type roleContact struct {
	role Role
	id   string
	data registrar.Registrant
}

// roleContacts returns the contacts of a registrant that the registry takes, besides the
// registrant's. What the registry would reject about one is no reason to refuse a domain: the role
// then has the contact that it has without.
func (p *Policy) roleContacts(handle string, registrant registrar.Registrant) (contacts []roleContact) {
	tech, billing := registrar.ContactHandles(handle)
	for _, role := range p.Roles {
		contact := roleContact{role: role}
		switch role {
		case Tech:
			contact.id, contact.data = tech, registrant.Tech.Registrant()
		case Billing:
			contact.id, contact.data = billing, registrant.Billing.Registrant()
		case Registrant, Admin:
		}
		if contact.id != "" && contact.data != (registrar.Registrant{}) && p.takes(contact.data) {
			contacts = append(contacts, contact)
		}
	}
	return contacts
}

// takes reports whether the registry takes a contact besides the registrant. EURid wants an
// organisation.
func (p *Policy) takes(contact registrar.Registrant) bool {
	return isEncodable(contact) && len(p.Contact.problems(contact, "")) == 0 && (p.Contact.Type != TypeEURid || contact.Organisation != "")
}

// roleHandles returns the contacts for all roles but the registrant.
func (p *Policy) roleHandles(handle string, registrant registrar.Registrant) (contacts []Contact) {
	own := make(map[Role]string)
	for _, contact := range p.roleContacts(handle, registrant) {
		own[contact.role] = contact.id
	}
	for _, role := range p.Roles {
		if role != Registrant {
			contacts = append(contacts, Contact{Role: role, ID: cmp.Or(own[role], p.RegistrarContact, handle)})
		}
	}
	return contacts
}

// ensureContacts creates the contact of a registrant and those that it names, or finds them, and
// returns the id of the registrant's.
func (p *Provisioner) ensureContacts(ctx context.Context, tld, handle string, registrant registrar.Registrant, transaction string, sent bool) (id string, err error) {
	policy := p.policyOf(tld)
	create := func(id string, data registrar.Registrant, role Role, transaction string) (string, error) {
		return p.client.CreateContactOrFind(ctx, CreateContact{
			ID: id, Registrant: data, Role: role, Rule: policy.Contact, AuthInfo: rand.Text()[:authCodeLength], ClTRID: transaction,
		}, sent)
	}
	if id, err = create(handle, registrant, Registrant, transaction); err != nil {
		return "", err
	}
	for _, contact := range policy.roleContacts(id, registrant) {
		if _, err := create(contact.id, contact.data, contact.role, transaction+string(contact.role[:1])); err != nil {
			return "", err
		}
	}
	return id, nil
}

// DeleteContact deletes the unused contact of a registrant and those that it names. A missing one
// is no error.
func (p *Provisioner) DeleteContact(ctx context.Context, handle, transaction string) error {
	err := p.deleteContact(ctx, handle, transaction)
	if tech, billing := registrar.ContactHandles(handle); tech != "" {
		err = cmp.Or(err, p.deleteContact(ctx, tech, transaction+"t"), p.deleteContact(ctx, billing, transaction+"b"))
	}
	return err
}

func (p *Provisioner) deleteContact(ctx context.Context, handle, transaction string) error {
	err := p.client.DeleteContact(ctx, handle, transaction)
	if ResultCode(err) == CodeMissing {
		return nil
	}
	return mapBillingError(err)
}
