package ledger

import (
	"fmt"
	"slices"
	"strings"
)

// DomainEdit is what an update adds or removes.
type DomainEdit struct {
	Nameservers []Nameserver
	Contacts    []Role
	Statuses    []string
}

func (e DomainEdit) empty() bool {
	return len(e.Nameservers)+len(e.Contacts)+len(e.Statuses) == 0
}

// DomainUpdate changes a domain.
type DomainUpdate struct {
	Name       string
	Add, Rem   DomainEdit
	Registrant *string // empty removes it
	Auth       *string // empty removes it
	// RemAllKeys, RemKeys and AddKeys are applied in this order (RFC 5910, 5.2.5).
	RemAllKeys       bool
	RemKeys, AddKeys []DS
}

// Empty reports whether the update changes nothing.
func (c DomainUpdate) Empty() bool {
	return c.Add.empty() && c.Rem.empty() && c.Registrant == nil && c.Auth == nil && !c.RemAllKeys && len(c.RemKeys)+len(c.AddKeys) == 0
}

// UpdateDomain changes a domain.
func (l *Ledger) UpdateDomain(by Request, c DomainUpdate) error {
	place, refusal := l.lookUp(c.Name)
	if refusal != nil {
		return refusal
	}
	if c.Empty() {
		return refuse(Missing, "domain:update", "", "The update changes nothing.")
	}
	return l.do(by, func(t *tx) *Refusal {
		domain, refusal := t.ownDomain(c.Name, place)
		if refusal != nil {
			return refusal
		}
		locks := []string{"serverUpdateProhibited", "clientUpdateProhibited"}
		if slices.Contains(c.Rem.Statuses, "clientUpdateProhibited") {
			locks = locks[:1]
		}
		if refusal := domain.checkNotProhibited(locks...); refusal != nil {
			return refusal
		}
		domain = domain.clone()
		for _, step := range []func(*tx, *Domain, NameEntry, DomainUpdate) *Refusal{editNameservers, editContacts, editStatuses, editKeys} {
			if refusal := step(t, domain, place, c); refusal != nil {
				return refusal
			}
		}
		if c.Auth != nil {
			if refusal := checkAuth(*c.Auth); refusal != nil {
				return refusal
			}
			domain.Auth = *c.Auth
		}
		domain.Updated, domain.Updater = t.now, t.by.Account
		t.putDomain(domain)
		return nil
	})
}

func editNameservers(t *tx, domain *Domain, place NameEntry, c DomainUpdate) *Refusal {
	for _, server := range c.Rem.Nameservers {
		at := slices.IndexFunc(domain.Nameservers, func(s Nameserver) bool { return s.Host == server.Host })
		if at < 0 {
			return refuse(PolicyForbids, "domain:hostObj", server.Host, "The domain has no such name server.")
		}
		domain.Nameservers = slices.Delete(domain.Nameservers, at, at+1)
	}
	if len(c.Add.Nameservers) == 0 {
		return nil
	}
	domain.Nameservers = append(domain.Nameservers, c.Add.Nameservers...)
	return t.checkNameservers(place, domain.Name, domain.Nameservers)
}

func editContacts(t *tx, domain *Domain, place NameEntry, c DomainUpdate) *Refusal {
	if len(c.Rem.Contacts)+len(c.Add.Contacts) == 0 && c.Registrant == nil {
		return nil
	}
	for _, role := range c.Rem.Contacts {
		at := slices.Index(domain.Contacts, role)
		if at < 0 {
			return refuse(PolicyForbids, "domain:contact", role.ID, "The domain has no such contact.")
		}
		domain.Contacts = slices.Delete(domain.Contacts, at, at+1)
	}
	domain.Contacts = append(domain.Contacts, c.Add.Contacts...)
	if c.Registrant != nil {
		domain.Registrant = *c.Registrant
	}
	return t.checkContacts(place, domain.Name, domain.Registrant, domain.Contacts)
}

// domainLocks are the client statuses of a domain.
var domainLocks = []string{
	"clientDeleteProhibited", "clientHold", "clientRenewProhibited", "clientTransferProhibited", "clientUpdateProhibited",
}

func editStatuses(_ *tx, domain *Domain, place NameEntry, c DomainUpdate) *Refusal {
	var refusal *Refusal
	if place.Policy.Personality == EURid && len(c.Add.Statuses)+len(c.Rem.Statuses) > 0 {
		return refuse(PolicyForbids, "domain:status", "", "Clients can't change statuses.")
	}
	domain.Locks, refusal = editLocks(domain.Locks, c.Add.Statuses, c.Rem.Statuses, domainLocks, "domain:status")
	return refusal
}

// editLocks adds and removes statuses; clients can change client statuses only.
func editLocks(locks, add, rem, allowed []string, element string) ([]string, *Refusal) {
	for _, status := range slices.Concat(rem, add) {
		if !slices.Contains(allowed, status) {
			return nil, refuse(PolicyForbids, element, status, "Clients can't change this status.")
		}
	}
	for _, status := range rem {
		at := slices.Index(locks, status)
		if at < 0 {
			return nil, refuse(PolicyForbids, element, status, "The status is not set.")
		}
		locks = slices.Delete(locks, at, at+1)
	}
	for _, status := range add {
		if slices.Contains(locks, status) {
			return nil, refuse(PolicyForbids, element, status, "The status is set already.")
		}
		locks = append(locks, status)
	}
	return locks, nil
}

func editKeys(_ *tx, domain *Domain, _ NameEntry, c DomainUpdate) *Refusal {
	if c.RemAllKeys {
		domain.Keys = nil
	}
	for _, key := range c.RemKeys {
		at := slices.Index(domain.Keys, key)
		if at < 0 {
			return refuse(PolicyForbids, "secDNS:keyTag", fmt.Sprint(key.KeyTag), "The domain has no such DS record.")
		}
		domain.Keys = slices.Delete(domain.Keys, at, at+1)
	}
	for _, key := range c.AddKeys {
		if slices.Contains(domain.Keys, key) {
			return refuse(PolicyForbids, "secDNS:keyTag", fmt.Sprint(key.KeyTag), "The domain already has this DS record.")
		}
		domain.Keys = append(domain.Keys, key)
	}
	if len(domain.Keys) > maxNameservers {
		return refuse(PolicyForbids, "secDNS:dsData", "", "Too many DS records.")
	}
	return CheckKeys(domain.Keys)
}

// digestLengths is the number of hex digits by digest type (RFC 4034, 4509, 6605).
var digestLengths = map[uint8]int{1: 40, 2: 64, 4: 96}

// CheckKeys rejects unusable DS records.
func CheckKeys(keys []DS) *Refusal {
	for _, key := range keys {
		if want, known := digestLengths[key.DigestType]; !known || len(key.Digest) != want || strings.Trim(key.Digest, "0123456789ABCDEF") != "" {
			return refuse(PolicyForbids, "secDNS:digest", key.Digest, "The digest does not fit its type.")
		}
	}
	return nil
}
