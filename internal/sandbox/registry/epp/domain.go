package epp

import (
	"net/netip"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// domainStatuses are all statuses of the schema.
var domainStatuses = []string{
	"clientDeleteProhibited", "clientHold", "clientRenewProhibited", "clientTransferProhibited", "clientUpdateProhibited",
	"inactive", "ok", "pendingCreate", "pendingDelete", "pendingRenew", "pendingTransfer", "pendingUpdate",
	"serverDeleteProhibited", "serverHold", "serverRenewProhibited", "serverTransferProhibited", "serverUpdateProhibited",
}

func (s *session) domainCheck(c *command, a *response) error {
	q := children(c.object)
	names := q.names("name")
	if refusal := q.result(); refusal != nil {
		return refusal
	}
	ext, refusal := s.protocolExtensions(c, "fee:check")
	if refusal != nil {
		return refusal
	}
	var currency string
	var questions []feeQuery
	if of := ext["fee:check"]; of != nil {
		if currency, questions, refusal = feeCheck(of); refusal != nil {
			return refusal
		}
	}
	answers, err := s.ledger.CheckDomains(names)
	if err != nil {
		return err
	}
	a.data.begin("domain:chkData")
	for i, name := range names {
		a.data.available("domain:name", name, answers[i].Free, answers[i].Reason, "domain:cd", "domain:reason")
	}
	a.data.end()
	if questions != nil {
		feeAnswers(&a.ext, names, answers, currency, questions)
	}
	return nil
}

// available writes one result of a check.
func (w *writer) available(element, name string, free bool, reason, cd, because string) {
	w.begin(cd)
	if free {
		w.element(element, name, "avail", "1")
	} else {
		w.element(element, name, "avail", "0")
		w.element(because, reason)
	}
	w.end()
}

// nameservers reads domain:ns.
func (s *sequence) nameservers(of *node) []ledger.Nameserver {
	if of == nil {
		return nil
	}
	part := children(of)
	defer s.merge(part)
	var servers []ledger.Nameserver
	for _, host := range part.repeated("hostObj", maxElements) {
		servers = append(servers, ledger.Nameserver{Host: part.name(host)})
	}
	if len(servers) > 0 {
		return servers
	}
	for _, host := range part.repeated("hostAttr", maxElements) {
		sub := children(host)
		server := ledger.Nameserver{Host: sub.name(sub.required("hostName")), Attribute: true}
		for _, address := range sub.repeated("hostAddr", maxElements) {
			server.Addresses = append(server.Addresses, sub.address(address))
		}
		part.merge(sub)
		servers = append(servers, server)
	}
	if len(servers) == 0 {
		part.required("hostObj")
	}
	return servers
}

// address reads an IP address and checks its declared version.
func (s *sequence) address(of *node) string {
	text := s.token(of, 3, 45, "ip")
	version, given := of.attr("ip")
	if !given {
		version = "v4"
	}
	s.pick("ip", version, "v4", "v6")
	ip, err := netip.ParseAddr(text)
	if err != nil || ip.Is4() != (version == "v4") {
		s.deferRefusal(ledger.ValueSyntax, "host:addr", text, "This is not an IP address of the version "+version+".")
		return text
	}
	return ip.String()
}

// roles reads domain:contact elements.
func (s *sequence) roles() []ledger.Role {
	var roles []ledger.Role
	for _, of := range s.repeated("contact", maxElements) {
		kind, given := of.attr("type")
		if !given {
			s.deferRefusal(ledger.Missing, "domain:contact", "", "A contact has a type.")
		} else {
			s.pick("type", kind, "admin", "billing", "tech")
		}
		roles = append(roles, ledger.Role{Type: kind, ID: s.id(of, "type")})
	}
	return roles
}

func (s *session) domainCreate(c *command, a *response) error {
	q := children(c.object)
	update := ledger.DomainCreate{Name: q.name(q.required("name"))}
	update.Years = q.period(q.optional("period"))
	update.Nameservers = q.nameservers(q.optional("ns"))
	update.Registrant = q.id(q.optional("registrant"))
	update.Contacts = q.roles()
	update.Auth = value(q.auth(q.required("authInfo"), false))
	if refusal := q.result(); refusal != nil {
		return refusal
	}
	ext, refusal := s.protocolExtensions(c, "fee:create", "secDNS:create")
	if refusal != nil {
		return refusal
	}
	if update.Keys, refusal = ext.keys(); refusal != nil {
		return refusal
	}
	if update.AgreedFee, refusal = ext.agreedFee("fee:create"); refusal != nil {
		return refusal
	}
	made, err := s.ledger.CreateDomain(s.request(c, a), update)
	if err != nil {
		return err
	}
	if made.Pending {
		a.code = ledger.DonePending
	}
	a.data.begin("domain:creData")
	a.data.element("domain:name", made.Domain.Name)
	a.data.dateTime("domain:crDate", made.Domain.Created)
	a.data.dateTime("domain:exDate", made.Domain.Expires)
	a.data.end()
	s.feeResult(&a.ext, "creData", made.Years, made.Cost, 0)
	return nil
}

func (s *session) domainRenew(c *command, a *response) error {
	q := children(c.object)
	update := ledger.DomainRenew{Name: q.name(q.required("name")), Current: q.date(q.required("curExpDate"))}
	update.Years = q.period(q.optional("period"))
	if refusal := q.result(); refusal != nil {
		return refusal
	}
	ext, refusal := s.protocolExtensions(c, "fee:renew")
	if refusal != nil {
		return refusal
	}
	if update.AgreedFee, refusal = ext.agreedFee("fee:renew"); refusal != nil {
		return refusal
	}
	domain, years, cost, err := s.ledger.RenewDomain(s.request(c, a), update)
	if err != nil {
		return err
	}
	a.data.renewal(domain.Name, domain.Expires)
	s.feeResult(&a.ext, "renData", years, cost, 0)
	return nil
}

func (w *writer) renewal(name string, expires time.Time) {
	w.begin("domain:renData")
	w.element("domain:name", name)
	w.dateTime("domain:exDate", expires)
	w.end()
}

func (s *session) domainDelete(c *command, a *response) error {
	q := children(c.object)
	name := q.name(q.required("name"))
	if refusal := q.result(); refusal != nil {
		return refusal
	}
	if _, refusal := s.protocolExtensions(c); refusal != nil {
		return refusal
	}
	deleted, err := s.ledger.DeleteDomain(s.request(c, a), name)
	if err != nil {
		return err
	}
	if deleted.Pending {
		a.code = ledger.DonePending
	}
	if deleted.Credit > 0 {
		s.feeResult(&a.ext, "delData", 0, 0, deleted.Credit)
	}
	return nil
}

func (s *session) domainTransfer(c *command, a *response) error {
	q := children(c.object)
	update := ledger.DomainTransfer{Name: q.name(q.required("name"))}
	update.Years = q.period(q.optional("period"))
	update.Auth = value(q.auth(q.optional("authInfo"), false))
	if refusal := q.result(); refusal != nil {
		return refusal
	}
	ext, refusal := s.protocolExtensions(c, "fee:transfer")
	if refusal != nil {
		return refusal
	}
	if update.AgreedFee, refusal = ext.agreedFee("fee:transfer"); refusal != nil {
		return refusal
	}
	var last *ledger.Transfer
	var err error
	switch c.op {
	case "request":
		var result ledger.TransferResult
		if result, err = s.ledger.RequestTransfer(s.request(c, a), update); err != nil {
			return err
		}
		if last = result.Transfer; result.Pending {
			a.code = ledger.DonePending
		}
		s.feeResult(&a.ext, "trnData", 1, result.Cost, 0)
	case "query":
		last, err = s.ledger.QueryTransfer(s.request(c, a), update.Name, update.Auth)
	default:
		answer := map[string]ledger.TransferAnswer{"approve": ledger.Approve, "reject": ledger.Reject, "cancel": ledger.Cancel}[c.op]
		last, err = s.ledger.AnswerTransfer(s.request(c, a), update.Name, answer)
	}
	if err != nil {
		return err
	}
	a.data.transfer(last)
	return nil
}

func (w *writer) transfer(t *ledger.Transfer) {
	w.begin("domain:trnData")
	w.element("domain:name", t.Name)
	w.element("domain:trStatus", t.Status)
	w.element("domain:reID", t.Requester)
	w.element("domain:reDate", dateTime(t.Requested))
	w.element("domain:acID", t.Actor)
	w.element("domain:acDate", dateTime(t.Decided))
	w.dateTime("domain:exDate", t.Expires)
	w.end()
}
