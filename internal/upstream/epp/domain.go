package epp

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
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

// CreateDomain registers a name (RFC 5731, 3.2.1).
type CreateDomain struct {
	Name string
	// Years is 0 for the registry's default.
	Years       int
	Nameservers []domainchange.Nameserver
	// HostAttributes sends the nameservers with the domain; otherwise they are
	// existing host objects.
	HostAttributes bool
	// Registrant and Contacts are empty at registries without contacts.
	Registrant string
	Contacts   []Contact
	AuthInfo   string
	Fee        registrar.Money // the agreed fee of a premium name; zero for others
	ClTRID     string
}

// CreateDomain registers a name. See CreateOrFind for lost responses.
func (c *Client) CreateDomain(ctx context.Context, q CreateDomain) (provision.Outcome, error) {
	cmd := &call{Command: Command{Verb: "create", Object: "domain", Request: q}, trid: q.ClTRID, body: q.write}
	cmd.agreeTo(q.Fee)
	a, err := c.send(ctx, cmd)
	if err != nil {
		return provision.Outcome{}, err
	}
	return a.outcome("creData"), nil
}

// outcome reads the response to a transform command. If it is pending, a poll
// message reports the result.
func (a *response) outcome(element string) provision.Outcome {
	return provision.Outcome{
		Pending: a.code == CodePending, Expires: a.data.Child(nsDomain, element).timeValue(nsDomain, "exDate"), Fee: a.chargedFee(element),
	}
}

func (q *CreateDomain) write(w *Writer) {
	w.label("domain:name", q.Name)
	w.years("domain:period", q.Years)
	writeNameservers(w, q.Nameservers, q.HostAttributes)
	if q.Registrant != "" {
		w.handle("domain:registrant", q.Registrant)
	}
	writeContacts(w, q.Contacts)
	writeAuthInfo(w, "domain", q.AuthInfo)
}

func writeNameservers(w *Writer, servers []domainchange.Nameserver, attributes bool) {
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
		writeAddresses(w, "domain:hostAddr", server.Addresses)
		w.End("domain:hostAttr")
	}
	w.End("domain:ns")
}

func writeAddresses(w *Writer, tag string, addresses []netip.Addr) {
	for _, address := range addresses {
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
}

// DomainInfo is a domain as the registry reports it (RFC 5731, 3.1.2).
type DomainInfo struct {
	Name        string
	Statuses    []string
	Registrant  string
	Contacts    []Contact
	Nameservers []domainchange.Nameserver
	// Sponsor is the sponsoring account (clID), Creator the one that registered the
	// domain (crID).
	Sponsor, Creator                       string
	Created, Updated, Expires, Transferred time.Time
	// AuthInfo is shown to the sponsor only, and not by every registry.
	AuthInfo string
	DS       []domainchange.DS
	// Grace holds the RGP statuses of RFC 3915: addPeriod, redemptionPeriod ...
	Grace []string
}

// Has reports whether the domain has a status.
func (d *DomainInfo) Has(status string) bool { return slices.Contains(d.Statuses, status) }

// InfoDomain queries a domain.
func (c *Client) InfoDomain(ctx context.Context, q InfoDomain) (DomainInfo, error) {
	cmd := &call{
		Command: Command{Verb: "info", Object: "domain", Request: q}, safe: true, priority: q.Priority,
		body: func(w *Writer) {
			w.label("domain:name", q.Name, Attr{"hosts", "all"})
			if q.AuthInfo != "" {
				writeAuthInfo(w, "domain", q.AuthInfo)
			}
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
	return readDomain(data, a.extension), nil
}

func readDomain(data, extension *Node) DomainInfo {
	info := DomainInfo{
		Name:        strings.ToLower(data.value(nsDomain, "name")),
		Registrant:  data.value(nsDomain, "registrant"),
		Sponsor:     data.value(nsDomain, "clID"),
		Creator:     data.value(nsDomain, "crID"),
		Created:     data.timeValue(nsDomain, "crDate"),
		Updated:     data.timeValue(nsDomain, "upDate"),
		Expires:     data.timeValue(nsDomain, "exDate"),
		Transferred: data.timeValue(nsDomain, "trDate"),
		AuthInfo:    data.Child(nsDomain, "authInfo").value(nsDomain, "pw"),
		DS:          readDS(extension.Child(nsSecDNS, "infData")),
	}
	for _, status := range data.All(nsDomain, "status") {
		info.Statuses = append(info.Statuses, status.Attr("s"))
	}
	for _, contact := range data.All(nsDomain, "contact") {
		info.Contacts = append(info.Contacts, Contact{Role: Role(contact.Attr("type")), ID: contact.Text})
	}
	ns := data.Child(nsDomain, "ns")
	for _, host := range ns.All(nsDomain, "hostObj") {
		info.Nameservers = append(info.Nameservers, domainchange.Nameserver{Name: strings.ToLower(host.Text)})
	}
	for _, host := range ns.All(nsDomain, "hostAttr") {
		info.Nameservers = append(info.Nameservers, domainchange.Nameserver{
			Name:      strings.ToLower(host.value(nsDomain, "hostName")),
			Addresses: readAddresses(host.All(nsDomain, "hostAddr")),
		})
	}
	for _, status := range extension.Child(nsRGP, "infData").All(nsRGP, "rgpStatus") {
		info.Grace = append(info.Grace, status.Attr("s"))
	}
	return info
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
