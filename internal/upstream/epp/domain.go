package epp

import (
	"context"
	"net/netip"
	"strings"
	"time"
)

// Role is the role of a contact of a domain (RFC 5731, 2.2). The RFC does not count
// the registrant as one; this package does.
type Role string

// Contact roles.
const (
	Registrant Role = "registrant"
	Admin      Role = "admin"
	Tech       Role = "tech"
	Billing    Role = "billing"
)

// Contact links a contact to a domain. Role is never Registrant.
type Contact struct {
	Role Role
	ID   string
}

// Nameserver is a nameserver of a domain. Addresses are sent only to registries
// with host attributes.
type Nameserver struct {
	Name      string
	Addresses []netip.Addr
}

// Status is a status value of RFC 5731, 2.3 with the registry's remark.
type Status struct{ Value, Remark string }

// CreateDomain registers a name (RFC 5731, 3.2.1).
type CreateDomain struct {
	Name string
	// Years is 0 for the registry's default.
	Years       int
	Nameservers []Nameserver
	// HostAttributes sends the nameservers with the domain; otherwise they are
	// existing host objects.
	HostAttributes bool
	// Registrant and Contacts are empty at registries without contacts.
	Registrant string
	Contacts   []Contact
	AuthInfo   string
	DNSSEC     DNSSEC
	// AgreedFee is the fee that the client agrees to; premium names require one.
	AgreedFee *AgreedFee
	ClTRID    string
}

// DomainCreated is the registry's confirmation. If it is Pending, a poll message
// reports the outcome.
type DomainCreated struct {
	Receipt
	Name       string
	Created    time.Time
	Expires    time.Time
	ChargedFee *ChargedFee
}

// CreateDomain registers a name. See CreateOrFind for lost responses.
func (c *Client) CreateDomain(ctx context.Context, q CreateDomain) (DomainCreated, error) {
	cmd := &call{
		Command: Command{Verb: "create", Object: "domain", Request: q}, trid: q.ClTRID,
		requiredExtensions: append(q.AgreedFee.requiredExtensions(), q.DNSSEC.requiredExtensions()...),
		body:               q.write,
		writeExtension: func(w *Writer, _ services) {
			q.DNSSEC.writeCreate(w)
			q.AgreedFee.write(w, "create")
		},
	}
	a, err := c.send(ctx, cmd)
	if err != nil {
		return DomainCreated{}, err
	}
	data := a.data.Child(nsDomain, "creData")
	return DomainCreated{
		Receipt:    a.receipt(),
		Name:       data.value(nsDomain, "name"),
		Created:    data.timeValue(nsDomain, "crDate"),
		Expires:    data.timeValue(nsDomain, "exDate"),
		ChargedFee: readChargedFee(a.extension, "creData"),
	}, nil
}

func (q *CreateDomain) write(w *Writer) {
	w.Start("domain:create", Attr{"xmlns:domain", nsDomain})
	w.label("domain:name", q.Name)
	w.years("domain:period", q.Years)
	writeNameservers(w, q.Nameservers, q.HostAttributes)
	if q.Registrant != "" {
		w.handle("domain:registrant", q.Registrant)
	}
	writeContacts(w, q.Contacts)
	writeAuthInfo(w, "domain", q.AuthInfo)
	w.End("domain:create")
}

func writeNameservers(w *Writer, servers []Nameserver, attributes bool) {
	if len(servers) == 0 {
		return
	}
	w.Start("domain:ns")
	for _, server := range servers {
		if !attributes {
			w.label("domain:hostObj", server.Name)
			continue
		}
		w.Start("domain:hostAttr")
		w.label("domain:hostName", server.Name)
		for _, address := range server.Addresses {
			writeAddress(w, "domain:hostAddr", address)
		}
		w.End("domain:hostAttr")
	}
	w.End("domain:ns")
}

func writeAddress(w *Writer, tag string, address netip.Addr) {
	address = address.Unmap()
	version := "v4"
	if address.Is6() {
		version = "v6"
	}
	if !address.IsValid() || address.Zone() != "" {
		w.Fail(tag, "is not an IP address")
	}
	w.Leaf(tag, address.String(), Attr{"ip", version})
}

func writeContacts(w *Writer, contacts []Contact) {
	for _, contact := range contacts {
		switch contact.Role {
		case Admin, Tech, Billing:
			w.handle("domain:contact", contact.ID, Attr{"type", string(contact.Role)})
		default:
			w.Fail("domain:contact", "has an invalid contact role")
		}
	}
}

// writeAuthInfo writes an object's auth code. The schema requires it in a create;
// it is empty where the registry sets its own.
func writeAuthInfo(w *Writer, object, secret string) {
	w.Start(object + ":authInfo")
	w.Leaf(object+":pw", secret)
	w.End(object + ":authInfo")
}

// InfoDomain queries a domain.
type InfoDomain struct {
	Name string
	// AuthInfo gives access to another registrar's domain; it may be empty.
	AuthInfo string
	Priority Priority
	ClTRID   string
}

// DomainInfo is a domain as the registry reports it (RFC 5731, 3.1.2).
type DomainInfo struct {
	Receipt
	Name        string
	ROID        string
	Statuses    []Status
	Registrant  string
	Contacts    []Contact
	Nameservers []Nameserver
	// Hosts are the subordinate hosts.
	Hosts []string
	// Sponsor is the sponsoring account (clID), Creator the one that registered the
	// domain (crID).
	Sponsor, Creator, Updater string
	Created, Updated, Expires time.Time
	Transferred               time.Time
	// AuthInfo is shown to the sponsor only, and not by every registry.
	AuthInfo string
	DNSSEC   DNSSEC
	// Grace holds the RGP statuses of RFC 3915: addPeriod, redemptionPeriod ...
	Grace []string
}

// Has reports whether the domain has a status.
func (d *DomainInfo) Has(status string) bool {
	for _, s := range d.Statuses {
		if s.Value == status {
			return true
		}
	}
	return false
}

// InGrace reports whether the domain is in a grace period of RFC 3915.
func (d *DomainInfo) InGrace(period string) bool {
	for _, g := range d.Grace {
		if g == period {
			return true
		}
	}
	return false
}

// InfoDomain queries a domain.
func (c *Client) InfoDomain(ctx context.Context, q InfoDomain) (DomainInfo, error) {
	cmd := &call{
		Command: Command{Verb: "info", Object: "domain", Request: q},
		safe:    true, priority: q.Priority, trid: q.ClTRID,
		body: func(w *Writer) {
			w.Start("domain:info", Attr{"xmlns:domain", nsDomain})
			w.label("domain:name", q.Name, Attr{"hosts", "all"})
			if q.AuthInfo != "" {
				writeAuthInfo(w, "domain", q.AuthInfo)
			}
			w.End("domain:info")
		},
	}
	a, err := c.send(ctx, cmd)
	if err != nil {
		return DomainInfo{}, err
	}
	data := a.data.Child(nsDomain, "infData")
	if data == nil || !strings.EqualFold(data.value(nsDomain, "name"), q.Name) {
		return DomainInfo{}, c.unreadableError(cmd, errMissingData)
	}
	info := readDomain(data)
	info.Receipt = a.receipt()
	info.DNSSEC = readDNSSEC(a.extension.Child(nsSecDNS, "infData"))
	for _, status := range a.extension.Child(nsRGP, "infData").All(nsRGP, "rgpStatus") {
		info.Grace = append(info.Grace, status.Attr("s"))
	}
	return info, nil
}

func readDomain(data *Node) DomainInfo {
	info := DomainInfo{
		Name:        strings.ToLower(data.value(nsDomain, "name")),
		ROID:        data.value(nsDomain, "roid"),
		Statuses:    readStatuses(data, nsDomain),
		Registrant:  data.value(nsDomain, "registrant"),
		Nameservers: readNameservers(data.Child(nsDomain, "ns")),
		Sponsor:     data.value(nsDomain, "clID"),
		Creator:     data.value(nsDomain, "crID"),
		Updater:     data.value(nsDomain, "upID"),
		Created:     data.timeValue(nsDomain, "crDate"),
		Updated:     data.timeValue(nsDomain, "upDate"),
		Expires:     data.timeValue(nsDomain, "exDate"),
		Transferred: data.timeValue(nsDomain, "trDate"),
		AuthInfo:    data.Child(nsDomain, "authInfo").value(nsDomain, "pw"),
	}
	for _, contact := range data.All(nsDomain, "contact") {
		info.Contacts = append(info.Contacts, Contact{Role: Role(contact.Attr("type")), ID: contact.Text})
	}
	for _, host := range data.All(nsDomain, "host") {
		info.Hosts = append(info.Hosts, strings.ToLower(host.Text))
	}
	return info
}

func readStatuses(data *Node, space string) []Status {
	var statuses []Status
	for _, status := range data.All(space, "status") {
		statuses = append(statuses, Status{Value: status.Attr("s"), Remark: status.Text})
	}
	return statuses
}

func readNameservers(ns *Node) []Nameserver {
	var servers []Nameserver
	for _, host := range ns.All(nsDomain, "hostObj") {
		servers = append(servers, Nameserver{Name: strings.ToLower(host.Text)})
	}
	for _, host := range ns.All(nsDomain, "hostAttr") {
		servers = append(servers, Nameserver{
			Name:      strings.ToLower(host.value(nsDomain, "hostName")),
			Addresses: readAddresses(host.All(nsDomain, "hostAddr")),
		})
	}
	return servers
}

func readAddresses(nodes []*Node) []netip.Addr {
	var addresses []netip.Addr
	for _, node := range nodes {
		if address, err := netip.ParseAddr(node.Text); err == nil {
			addresses = append(addresses, address)
		}
	}
	return addresses
}
