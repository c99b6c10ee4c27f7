package epp

import (
	"net/netip"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

func (s *session) domainInfo(c *command, a *answer) error {
	q := children(c.object)
	of := q.must("name")
	name := q.name(of, "hosts")
	which := "all"
	if given, is := of.attr("hosts"); is {
		which = q.pick("hosts", given, "all", "del", "none", "sub")
	}
	auth := value(q.auth(q.maybe("authInfo"), false))
	if refusal := q.end(); refusal != nil {
		return refusal
	}
	if _, refusal := s.extensions(c); refusal != nil {
		return refusal
	}
	info, err := s.ledger.InfoDomain(s.request(c, a), name, auth)
	if err != nil {
		return err
	}
	s.writeDomain(a, info, which)
	return nil
}

// writeDomain writes what the asker may see of a domain, in the order of the
// schema.
func (s *session) writeDomain(a *answer, info ledger.DomainInfo, which string) {
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
	w.moment("domain:crDate", d.Created)
	w.optional("domain:upID", d.Updater)
	w.moment("domain:upDate", d.Updated)
	w.moment("domain:exDate", d.Expires)
	w.moment("domain:trDate", d.Transferred)
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

// writeNameservers writes host objects or attributes: the schema does not let
// them stand together, so one attribute makes all of them attributes.
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

// edit reads what an update adds or takes away.
func (s *sequence) edit(of *node) ledger.DomainEdit {
	if of == nil {
		return ledger.DomainEdit{}
	}
	part := children(of)
	defer s.adopt(part)
	return ledger.DomainEdit{
		Nameservers: part.nameservers(part.maybe("ns")),
		Contacts:    part.roles(),
		Statuses:    part.statuses(11, domainStatuses),
	}
}

// statuses reads status elements, whose texts are not kept.
func (s *sequence) statuses(most int, known []string) []string {
	var statuses []string
	for _, of := range s.many("status", most) {
		s.normalised(of, 0, 1024, "s", "lang")
		status, _ := of.attr("s")
		statuses = append(statuses, s.pick("s", status, known...))
	}
	return statuses
}

func (s *session) domainUpdate(c *command, a *answer) error {
	q := children(c.object)
	wish := ledger.DomainUpdate{Name: q.name(q.must("name"))}
	wish.Add = q.edit(q.maybe("add"))
	wish.Rem = q.edit(q.maybe("rem"))
	if chg := q.maybe("chg"); chg != nil {
		part := children(chg)
		if registrant := part.maybe("registrant"); registrant != nil {
			id := part.token(registrant, 0, 16)
			wish.Registrant = &id
		}
		wish.Auth = part.auth(part.maybe("authInfo"), true)
		q.adopt(part)
	}
	if refusal := q.end(); refusal != nil {
		return refusal
	}
	ext, refusal := s.extensions(c, "fee:update", "secDNS:update", "rgp:update")
	if refusal != nil {
		return refusal
	}
	offer, refusal := ext.offer("fee:update")
	if refusal != nil {
		return refusal
	}
	if refusal := ext.editKeys(&wish); refusal != nil {
		return refusal
	}
	if restore := ext["rgp:update"]; restore != nil {
		return s.restore(c, a, restore, wish, offer)
	}
	return s.ledger.UpdateDomain(s.request(c, a), wish)
}

// restore handles the update by which a deleted domain comes back (RFC 3915,
// 4.2.5). It changes nothing else.
func (s *session) restore(c *command, a *answer, of *node, wish ledger.DomainUpdate, offer *ledger.Offer) error {
	q := children(of)
	restore := q.must("restore")
	part := children(restore, "op")
	op, _ := restore.attr("op")
	part.pick("op", op, "request", "report")
	report := part.report(part.maybe("report"))
	q.adopt(part)
	if refusal := q.end(); refusal != nil {
		return refusal
	}
	switch {
	case !wish.Empty():
		return &ledger.Refusal{Code: ledger.UseError, Element: "rgp:restore", Reason: "A restore changes nothing else."}
	case op == "report" && report == nil:
		return &ledger.Refusal{Code: ledger.Missing, Element: "rgp:report", Reason: "The report is missing."}
	case op == "request" && report != nil:
		return &ledger.Refusal{Code: ledger.UseError, Element: "rgp:report", Reason: "A request has no report."}
	}
	domain, cost, err := s.ledger.RestoreDomain(s.request(c, a), wish.Name, report, offer)
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

func (s *sequence) report(of *node) *ledger.Report {
	if of == nil {
		return nil
	}
	part := children(of)
	defer s.adopt(part)
	part.must("preData")
	part.must("postData")
	report := &ledger.Report{Deleted: part.dateTime(part.must("delTime"))}
	report.Restored = part.dateTime(part.must("resTime"))
	part.must("resReason")
	if len(part.many("statement", 2)) == 0 {
		part.must("statement")
	}
	part.maybe("other")
	return report
}
