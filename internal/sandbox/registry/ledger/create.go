package ledger

import (
	"crypto/rand"
	"fmt"
	"slices"
	"time"
)

// DomainCreate is a domain to register.
type DomainCreate struct {
	Name        string
	Years       int // 0 means the minimum term
	Nameservers []Nameserver
	Registrant  string
	Contacts    []Role
	Auth        string
	Keys        []DS
	AgreedFee   *AgreedFee
}

// DomainCreated is the result of a create.
type DomainCreated struct {
	Domain  *Domain
	Years   int
	Cost    int64
	Pending bool
}

// CreateDomain registers a name.
func (l *Ledger) CreateDomain(by Request, c DomainCreate) (made DomainCreated, err error) {
	place, refusal := l.lookUp(c.Name)
	if refusal != nil {
		return made, refusal
	}
	err = l.do(by, func(t *tx) (refusal *Refusal) {
		made, refusal = t.createDomain(c, place)
		return refusal
	})
	return made, err
}

func (t *tx) createDomain(c DomainCreate, place NameEntry) (made DomainCreated, refusal *Refusal) {
	if reason := place.labelProblem(); reason != "" {
		return made, refuse(PolicyForbids, "domain:name", c.Name, reason)
	}
	if t.domain(c.Name, place) != nil {
		return made, refuse(Exists, "domain:name", c.Name, "The name is in use.")
	}
	if place.State == Reserved {
		code := PolicyForbids
		if place.Policy.makesAuth() { // RFC 5730 has two codes for it
			code = DataPolicy
		}
		return made, refuse(code, "domain:name", c.Name, "The name is reserved.")
	}
	switch {
	case place.Policy.Personality == EURid && c.Auth != "":
		return made, refuse(PolicyForbids, "domain:pw", "", "The registry makes the authInfo.")
	case place.Policy.makesAuth() && c.Auth == "":
		c.Auth = rand.Text()[:16]
	case c.Auth == "" && place.Policy.Personality != Gateway: // DENIC's are made on demand
		return made, refuse(Missing, "domain:pw", "", "A domain needs an authInfo.")
	}
	if made.Years, refusal = place.years(c.Years); refusal != nil {
		return made, refusal
	}
	for _, check := range []*Refusal{
		t.checkContacts(place, c.Name, c.Registrant, c.Contacts),
		t.checkNameservers(place, c.Name, c.Nameservers),
		checkAuth(c.Auth),
		CheckKeys(c.Keys),
	} {
		if check != nil {
			return made, check
		}
	}
	if made.Cost, refusal = t.computeCharge(place, Create, made.Years, c.AgreedFee); refusal != nil {
		return made, refusal
	}
	domain := &Domain{
		Name: c.Name, ROID: t.roid("D"), Sponsor: t.by.Account, Creator: t.by.Account,
		Created: t.now, Expires: t.now.AddDate(made.Years, 0, 0),
		Registrant: c.Registrant, Contacts: c.Contacts, Nameservers: c.Nameservers, Auth: c.Auth, Keys: c.Keys,
	}
	if !place.Policy.Gateway {
		domain.AddYears = made.Years
	}
	if isPendingLabel(place.Label) {
		made.Pending = true
		domain.Phase, domain.PhaseUntil, domain.Asked = PendingCreate, t.now.Add(t.l.pendingFor), t.by.TRID
	}
	t.putDomain(domain)
	made.Domain = domain
	return made, nil
}

// years checks the term of a create.
func (p NameEntry) years(requested int) (int, *Refusal) {
	shortest, longest := max(p.Policy.MinYears, 1), p.Policy.MaxYears
	if longest == 0 {
		longest = maxYearsAhead
	}
	if requested == 0 {
		requested = shortest
	}
	if requested < shortest || requested > longest {
		return 0, refuse(OutOfRange, "domain:period", fmt.Sprint(requested), fmt.Sprintf("The term is %d to %d years.", shortest, longest))
	}
	return requested, nil
}

// checkContacts checks the contacts of a domain against the rules of its zone.
func (t *tx) checkContacts(place NameEntry, domain, registrant string, roles []Role) *Refusal {
	rule := place.Policy.Contacts
	if rule == NoContacts {
		if registrant != "" || len(roles) > 0 {
			return refuse(PolicyForbids, "domain:contact", "", "Domains of "+place.Zone+" have no contacts.")
		}
		return nil
	}
	if registrant == "" {
		return refuse(Missing, "domain:registrant", "", "Domains of "+place.Zone+" need a registrant.")
	}
	holder := t.contact(registrant)
	if holder == nil {
		return refuse(NotFound, "domain:registrant", registrant, "There is no such contact.")
	}
	if refusal := place.Policy.checkRoles(place.Zone, roles); refusal != nil {
		return refusal
	}
	if refusal := holder.fits(place, domain, "registrant"); refusal != nil {
		return refusal
	}
	for i, role := range roles {
		contact := t.contact(role.ID)
		if contact == nil {
			return refuse(NotFound, "domain:contact", role.ID, "There is no such contact.")
		}
		if refusal := contact.fits(place, domain, role.Type); refusal != nil {
			return refusal
		}
		if slices.Contains(roles[:i], role) {
			return refuse(PolicyForbids, "domain:contact", role.ID, "The contact appears twice.")
		}
	}
	for _, required := range rule.required() {
		if !slices.ContainsFunc(roles, func(r Role) bool { return r.Type == required }) {
			return refuse(Missing, "domain:contact", "", "Domains of "+place.Zone+" need a contact of the type "+required+".")
		}
	}
	return nil
}

// required are the roles that a domain needs besides its registrant.
func (r ContactRule) required() []string {
	switch r {
	case AllContacts:
		return []string{"admin", "tech"}
	case RegistrantTech:
		return []string{"tech"}
	case FourContacts:
		return []string{"admin", "tech", "billing"}
	default:
		return nil
	}
}

// checkNameservers checks that a domain is delegated to existing hosts.
func (t *tx) checkNameservers(place NameEntry, domain string, servers []Nameserver) *Refusal {
	if refusal := place.Policy.checkHosts(domain, servers); refusal != nil {
		return refusal
	}
	if len(servers) > maxNameservers {
		return refuse(PolicyForbids, "domain:ns", "", fmt.Sprintf("A domain has at most %d name servers.", maxNameservers))
	}
	for i, server := range servers {
		if slices.ContainsFunc(servers[:i], func(s Nameserver) bool { return s.Host == server.Host }) {
			return refuse(PolicyForbids, "domain:hostObj", server.Host, "The name server appears twice.")
		}
		if !server.Attribute {
			if t.host(server.Host) == nil {
				return refuse(NotFound, "domain:hostObj", server.Host, "There is no such host.")
			}
			continue
		}
		if !place.Policy.Gateway && !place.Policy.attributesOnly() {
			return refuse(PolicyForbids, "domain:hostAttr", server.Host, "Name servers are host objects here.")
		}
		if !WellFormed(server.Host) {
			return refuse(ValueSyntax, "domain:hostName", server.Host, "This is not a host name.")
		}
		if refusal := checkAddresses(server.Addresses); refusal != nil {
			return refusal
		}
	}
	return nil
}

// checkAuth rejects authInfo of invalid length.
func checkAuth(auth string) *Refusal {
	if auth != "" && (len(auth) < 6 || len(auth) > 64) {
		return refuse(OutOfRange, "domain:pw", "", "The authInfo has 6 to 64 characters.")
	}
	return nil
}

// DomainRenew is a renewal request.
type DomainRenew struct {
	Name      string
	Current   time.Time // the current expiry date as the client knows it
	Years     int       // 0 means 1
	AgreedFee *AgreedFee
}

// RenewDomain extends a domain's term.
func (l *Ledger) RenewDomain(by Request, c DomainRenew) (renewed *Domain, years int, cost int64, err error) {
	place, refusal := l.lookUp(c.Name)
	if refusal != nil {
		return nil, 0, 0, refusal
	}
	if place.Policy.NoRenew {
		return nil, 0, 0, refuse(NoSuchCommand, "domain:name", c.Name, "Domains of this zone renew themselves.")
	}
	years = max(c.Years, 1)
	err = l.do(by, func(t *tx) (refusal *Refusal) {
		if renewed, refusal = t.ownDomain(c.Name, place); refusal != nil {
			return refusal
		}
		if refusal := renewed.checkNotProhibited("clientRenewProhibited", "serverRenewProhibited"); refusal != nil {
			return refusal
		}
		if renewed.Phase == Expired && t.now.After(renewed.Expires.AddDate(0, 0, place.Policy.RenewDays)) {
			return refuse(NotRenewable, "domain:name", c.Name, "The domain can't be renewed any more.")
		}
		if renewed.Expires.Format(time.DateOnly) != c.Current.Format(time.DateOnly) {
			return refuse(OutOfRange, "domain:curExpDate", c.Current.Format(time.DateOnly), "The domain expires on another day.")
		}
		expires := renewed.Expires.AddDate(years, 0, 0)
		if expires.After(t.now.AddDate(maxYearsAhead, 0, 0)) {
			return refuse(NotRenewable, "domain:period", fmt.Sprint(years), fmt.Sprintf("A domain is paid for at most %d years ahead.", maxYearsAhead))
		}
		if cost, refusal = t.computeCharge(place, Renew, years, c.AgreedFee); refusal != nil {
			return refusal
		}
		renewed = renewed.clone()
		renewed.Expires, renewed.Updated, renewed.Updater = expires, t.now, t.by.Account
		if renewed.Phase == Expired {
			renewed.Phase, renewed.PhaseUntil = Active, time.Time{}
		}
		if !place.Policy.Gateway {
			renewed.Renewed, renewed.RenewYears = t.now, years
		}
		t.putDomain(renewed)
		return nil
	})
	return renewed, years, cost, err
}

// ownDomain returns a domain that the account sponsors.
func (t *tx) ownDomain(name string, place NameEntry) (*Domain, *Refusal) {
	domain := t.domain(name, place)
	if domain == nil {
		return nil, refuse(NotFound, "domain:name", name, "There is no such domain.")
	}
	if domain.Sponsor != t.by.Account {
		return nil, refuse(NotAuthorised, "domain:name", name, "Another registrar sponsors the domain.")
	}
	return domain, nil
}

// checkNotProhibited refuses what a pending action or one of the locks prohibits.
func (d *Domain) checkNotProhibited(locks ...string) *Refusal {
	status := d.locked(locks...)
	switch {
	case d.Phase == PendingCreate:
		status = "pendingCreate"
	case d.Phase == Redemption || d.Phase == PendingRestore || d.Phase == PendingDelete:
		status = "pendingDelete"
	case d.transferring():
		status = "pendingTransfer"
	}
	if status == "" {
		return nil
	}
	return refuse(StatusForbids, "domain:status", status, "The status "+status+" prohibits it.")
}
