package epp

import (
	"net/netip"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

func (s *session) domainInfo(c *command, a *response) error {
	q := children(c.object)
	of := q.required("name")
	name := q.name(of, "hosts")
	which := "all"
	if given, is := of.attr("hosts"); is {
		which = q.pick("hosts", given, "all", "del", "none", "sub")
	}
	auth := value(q.auth(q.optional("authInfo"), false))
	if refusal := q.result(); refusal != nil {
		return refusal
	}
	if _, refusal := s.protocolExtensions(c); refusal != nil {
		return refusal
	}
	info, err := s.ledger.InfoDomain(s.request(c, a), name, auth)
	if err != nil {
		return err
	}
	s.writeDomain(a, info, which)
	return nil
}

// writeDomain writes the visible parts of a domain in schema order.
func (s *session) writeDomain(a *response, info ledger.DomainInfo, which string) {
	d, w := info.Domain, &a.data
	w.begin("domain:infData")
	w.element("domain:name", d.Name)
	w.element("domain:roid", d.ROID)
	for _, status := range d.Statuses() {
		w.element("domain:status", "", "s", status)
	}
	if info.Full {
		w.optional("domain:registrant", d.Registrant)
		for _, role := range d.Contacts {
			w.element("domain:contact", role.ID, "type", role.Type)
		}
	}
	if len(d.Nameservers) > 0 && (which == "all" || which == "del") {
		writeNameservers(w, d.Nameservers)
	}
	if which == "all" || which == "sub" {
		for _, host := range info.Below {
			w.element("domain:host", host)
		}
	}
	w.element("domain:clID", d.Sponsor)
	w.optional("domain:crID", d.Creator)
	w.dateTime("domain:crDate", d.Created)
	w.optional("domain:upID", d.Updater)
	w.dateTime("domain:upDate", d.Updated)
	w.dateTime("domain:exDate", d.Expires)
	w.dateTime("domain:trDate", d.Transferred)
	if info.Full && d.Auth != "" {
		w.begin("domain:authInfo")
		w.element("domain:pw", d.Auth)
		w.end()
	}
	w.end()
	if grace := d.Grace(info.Now); grace != "" && s.services[rgpSpace] {
		a.ext.begin("rgp:infData")
		a.ext.element("rgp:rgpStatus", "", "s", grace)
		a.ext.end()
	}
	if len(d.Keys) > 0 && s.services[secDNSSpace] {
		writeKeys(&a.ext, d.Keys)
	}
}

// writeNameservers writes host objects or attributes: the schema forbids mixing
// them, so one attribute makes all of them attributes.
func writeNameservers(w *writer, servers []ledger.Nameserver) {
	attributes := false
	for _, server := range servers {
		attributes = attributes || server.Attribute
	}
	w.begin("domain:ns")
	for _, server := range servers {
		if !attributes {
			w.element("domain:hostObj", server.Host)
			continue
		}
		w.begin("domain:hostAttr")
		w.element("domain:hostName", server.Host)
		for _, address := range server.Addresses {
			w.element("domain:hostAddr", address, "ip", version(address))
		}
		w.end()
	}
	w.end()
}

func version(address string) string {
	if ip, err := netip.ParseAddr(address); err == nil && ip.Is6() {
		return "v6"
	}
	return "v4"
}

// edit reads what an update adds or removes.
func (s *sequence) edit(of *node) ledger.DomainEdit {
	if of == nil {
		return ledger.DomainEdit{}
	}
	part := children(of)
	defer s.merge(part)
	return ledger.DomainEdit{
		Nameservers: part.nameservers(part.optional("ns")),
		Contacts:    part.roles(),
		Statuses:    part.statuses(11, domainStatuses),
	}
}

// statuses reads status elements, discarding their texts.
func (s *sequence) statuses(most int, known []string) []string {
	var statuses []string
	for _, of := range s.repeated("status", most) {
		s.normalised(of, 0, 1024, "s", "lang")
		status, _ := of.attr("s")
		statuses = append(statuses, s.pick("s", status, known...))
	}
	return statuses
}

func (s *session) domainUpdate(c *command, a *response) error {
	q := children(c.object)
	update := ledger.DomainUpdate{Name: q.name(q.required("name"))}
	update.Add = q.edit(q.optional("add"))
	update.Rem = q.edit(q.optional("rem"))
	if chg := q.optional("chg"); chg != nil {
		part := children(chg)
		if registrant := part.optional("registrant"); registrant != nil {
			id := part.token(registrant, 0, 16)
			update.Registrant = &id
		}
		update.Auth = part.auth(part.optional("authInfo"), true)
		q.merge(part)
	}
	if refusal := q.result(); refusal != nil {
		return refusal
	}
	ext, refusal := s.protocolExtensions(c, "fee:update", "secDNS:update", "rgp:update")
	if refusal != nil {
		return refusal
	}
	offer, refusal := ext.agreedFee("fee:update")
	if refusal != nil {
		return refusal
	}
	if refusal := ext.editKeys(&update); refusal != nil {
		return refusal
	}
	if restore := ext["rgp:update"]; restore != nil {
		return s.restore(c, a, restore, update, offer)
	}
	return s.ledger.UpdateDomain(s.request(c, a), update)
}

// restore handles the update that restores a deleted domain (RFC 3915, 4.2.5). It
// must change nothing else.
func (s *session) restore(c *command, a *response, of *node, update ledger.DomainUpdate, offer *ledger.AgreedFee) error {
	q := children(of)
	restore := q.required("restore")
	part := children(restore, "op")
	op, _ := restore.attr("op")
	part.pick("op", op, "request", "report")
	report := part.report(part.optional("report"))
	q.merge(part)
	if refusal := q.result(); refusal != nil {
		return refusal
	}
	switch {
	case !update.Empty():
		return &ledger.Refusal{Code: ledger.UseError, Element: "rgp:restore", Reason: "A restore changes nothing else."}
	case op == "report" && report == nil:
		return &ledger.Refusal{Code: ledger.Missing, Element: "rgp:report", Reason: "The report is missing."}
	case op == "request" && report != nil:
		return &ledger.Refusal{Code: ledger.UseError, Element: "rgp:report", Reason: "A request has no report."}
	}
	domain, cost, err := s.ledger.RestoreDomain(s.request(c, a), update.Name, report, offer)
	if err != nil {
		return err
	}
	if domain.Phase == ledger.PendingRestore {
		a.ext.begin("rgp:upData")
		a.ext.element("rgp:rgpStatus", "", "s", string(domain.Phase))
		a.ext.end()
		s.feeResult(&a.ext, "updData", 0, cost, 0)
	}
	return nil
}

func (s *sequence) report(of *node) *ledger.RestoreReport {
	if of == nil {
		return nil
	}
	part := children(of)
	defer s.merge(part)
	part.required("preData")
	part.required("postData")
	report := &ledger.RestoreReport{Deleted: part.dateTime(part.required("delTime"))}
	report.Restored = part.dateTime(part.required("resTime"))
	part.required("resReason")
	if len(part.repeated("statement", 2)) == 0 {
		part.required("statement")
	}
	part.optional("other")
	return report
}
