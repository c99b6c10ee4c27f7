package ledger

import (
	"net/netip"
	"slices"
	"strings"
	"time"
)

// HostUpdate changes a host.
type HostUpdate struct {
	Name                     string
	AddAddresses, RemAddress []string
	Add, Rem                 []string // statuses
}

// CreateHost stores a host. One below a domain of this registry belongs to the
// domain's sponsor; all others have no addresses here.
func (l *Ledger) CreateHost(by Request, name string, addresses []string) (made *Host, err error) {
	if !WellFormed(name) || strings.Count(name, ".") < 1 {
		return nil, refuse(ValueSyntax, "host:name", name, "This is not a host name.")
	}
	if refusal := checkAddresses(addresses); refusal != nil {
		return nil, refusal
	}
	err = l.do(by, func(t *tx) *Refusal {
		if t.host(name) != nil {
			return refuse(Exists, "host:name", name, "The host exists.")
		}
		above, refusal := t.parentDomain(name, len(addresses) > 0)
		if refusal != nil {
			return refusal
		}
		made = &Host{
			Name: name, ROID: t.roid("H"), Addresses: addresses, Above: above,
			Sponsor: by.Account, Creator: by.Account, Created: t.now,
		}
		t.putHost(made)
		return nil
	})
	return made, err
}

// parentDomain returns the domain of this registry that a host is below. Any
// account can create hosts below a name of the table, such as google.com.
func (t *tx) parentDomain(name string, addressed bool) (string, *Refusal) {
	place, found := t.l.table.Lookup(name)
	if !found {
		if addressed {
			return "", refuse(PolicyForbids, "host:addr", "", "Hosts of other registries have no addresses here.")
		}
		return "", nil
	}
	label := place.Label[strings.LastIndexByte(place.Label, '.')+1:]
	domainName := label + place.Zone
	if place, found = t.l.table.Lookup(domainName); !found {
		return "", refuse(PolicyForbids, "host:name", name, "The name is the registry's own.")
	}
	domain := t.domain(domainName, place)
	_, ours := t.l.domains[domainName]
	switch {
	case domain == nil:
		return "", refuse(NotFound, "host:name", name, "The domain of the host does not exist.")
	case domain.Sponsor == t.by.Account:
		if domain.Phase != Active {
			return "", refuse(StatusForbids, "host:name", name, "The domain of the host is not active.")
		}
		return domainName, nil
	case !ours && !addressed:
		return "", nil
	}
	return "", refuse(NotAuthorised, "host:name", name, "Another registrar sponsors the domain of the host.")
}

func checkAddresses(addresses []string) *Refusal {
	if len(addresses) > maxNameservers {
		return refuse(PolicyForbids, "host:addr", "", "Too many addresses.")
	}
	for i, address := range addresses {
		ip, err := netip.ParseAddr(address)
		switch {
		case err != nil || ip.Zone() != "":
			return refuse(ValueSyntax, "host:addr", address, "This is not an IP address.")
		case ip.IsUnspecified() || ip.IsMulticast():
			return refuse(PolicyForbids, "host:addr", address, "No name server has this address.")
		case slices.Contains(addresses[:i], address):
			return refuse(PolicyForbids, "host:addr", address, "The address appears twice.")
		}
	}
	return nil
}

// CheckHosts reports for each name whether it is available.
func (l *Ledger) CheckHosts(names []string) []bool {
	free := make([]bool, len(names))
	l.view(func(time.Time) {
		for i, name := range names {
			free[i] = l.hosts[name] == nil
		}
	})
	return free
}

// InfoHost shows a host. linked reports whether a domain is delegated to it.
func (l *Ledger) InfoHost(name string) (host *Host, linked bool, err error) {
	l.view(func(time.Time) { host, linked = l.hosts[name], l.hostRefs[name] > 0 })
	if host == nil {
		return nil, false, refuse(NotFound, "host:name", name, "There is no such host.")
	}
	return host, linked, nil
}

func (t *tx) ownHost(name string) (*Host, *Refusal) {
	host := t.host(name)
	if host == nil {
		return nil, refuse(NotFound, "host:name", name, "There is no such host.")
	}
	if host.Sponsor != t.by.Account {
		return nil, refuse(NotAuthorised, "host:name", name, "Another registrar sponsors the host.")
	}
	return host, nil
}

var hostLocks = []string{"clientDeleteProhibited", "clientUpdateProhibited"}

// UpdateHost changes a host.
func (l *Ledger) UpdateHost(by Request, c HostUpdate) error {
	if len(c.AddAddresses)+len(c.RemAddress)+len(c.Add)+len(c.Rem) == 0 {
		return refuse(Missing, "host:update", "", "The update changes nothing.")
	}
	return l.do(by, func(t *tx) *Refusal {
		old, refusal := t.ownHost(c.Name)
		if refusal != nil {
			return refusal
		}
		if slices.Contains(old.Locks, "clientUpdateProhibited") && !slices.Contains(c.Rem, "clientUpdateProhibited") {
			return refuse(StatusForbids, "host:status", "clientUpdateProhibited", "The status clientUpdateProhibited prohibits it.")
		}
		host := *old
		if host.Locks, refusal = editLocks(slices.Clone(old.Locks), c.Add, c.Rem, hostLocks, "host:status"); refusal != nil {
			return refusal
		}
		host.Addresses = slices.Clone(old.Addresses)
		for _, address := range c.RemAddress {
			at := slices.Index(host.Addresses, address)
			if at < 0 {
				return refuse(PolicyForbids, "host:addr", address, "The host has no such address.")
			}
			host.Addresses = slices.Delete(host.Addresses, at, at+1)
		}
		host.Addresses = append(host.Addresses, c.AddAddresses...)
		if len(host.Addresses) > 0 && host.Above == "" {
			return refuse(PolicyForbids, "host:addr", "", "Hosts of other registries have no addresses here.")
		}
		if refusal := checkAddresses(host.Addresses); refusal != nil {
			return refusal
		}
		host.Updated, host.Updater = t.now, by.Account
		t.putHost(&host)
		return nil
	})
}

// DeleteHost deletes a host without delegations.
func (l *Ledger) DeleteHost(by Request, name string) error {
	return l.do(by, func(t *tx) *Refusal {
		host, refusal := t.ownHost(name)
		switch {
		case refusal != nil:
			return refusal
		case slices.Contains(host.Locks, "clientDeleteProhibited"):
			return refuse(StatusForbids, "host:status", "clientDeleteProhibited", "The status clientDeleteProhibited prohibits it.")
		case l.hostRefs[name] > 0:
			return refuse(StillUsed, "host:name", name, "Domains are delegated to the host.")
		}
		put(&t.change.Hosts, name, nil)
		return nil
	})
}
