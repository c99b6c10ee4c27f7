package epp

import "github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"

var hostStatuses = []string{
	"clientDeleteProhibited", "clientUpdateProhibited", "linked", "ok", "pendingCreate", "pendingDelete", "pendingTransfer",
	"pendingUpdate", "serverDeleteProhibited", "serverUpdateProhibited",
}

func (s *session) hostCheck(c *command, a *response) error {
	q := children(c.object)
	names := q.names("name")
	if refusal := q.result(); refusal != nil {
		return refusal
	}
	if _, refusal := s.protocolExtensions(c); refusal != nil {
		return refusal
	}
	a.data.begin("host:chkData")
	for i, free := range s.ledger.CheckHosts(names) {
		reason := "In use"
		if free && !ledger.WellFormed(names[i]) {
			free, reason = false, "Invalid name"
		}
		a.data.available("host:name", names[i], free, reason, "host:cd", "host:reason")
	}
	a.data.end()
	return nil
}

func (s *sequence) addresses() []string {
	var addresses []string
	for _, of := range s.repeated("addr", maxElements) {
		addresses = append(addresses, s.address(of))
	}
	return addresses
}

func (s *session) hostCreate(c *command, a *response) error {
	q := children(c.object)
	name := q.name(q.required("name"))
	addresses := q.addresses()
	if refusal := q.result(); refusal != nil {
		return refusal
	}
	if _, refusal := s.protocolExtensions(c); refusal != nil {
		return refusal
	}
	made, err := s.ledger.CreateHost(s.request(c, a), name, addresses)
	if err != nil {
		return err
	}
	a.data.begin("host:creData")
	a.data.element("host:name", made.Name)
	a.data.dateTime("host:crDate", made.Created)
	a.data.end()
	return nil
}

// readHostName reads a command that contains only a host name.
func (s *session) readHostName(c *command) (string, *ledger.Refusal) {
	q := children(c.object)
	name := q.name(q.required("name"))
	if refusal := q.result(); refusal != nil {
		return "", refusal
	}
	_, refusal := s.protocolExtensions(c)
	return name, refusal
}

func (s *session) hostInfo(c *command, a *response) error {
	name, refusal := s.readHostName(c)
	if refusal != nil {
		return refusal
	}
	host, linked, err := s.ledger.InfoHost(name)
	if err != nil {
		return err
	}
	w := &a.data
	w.begin("host:infData")
	w.element("host:name", host.Name)
	w.element("host:roid", host.ROID)
	for _, status := range host.Statuses(linked) {
		w.element("host:status", "", "s", status)
	}
	for _, address := range host.Addresses {
		w.element("host:addr", address, "ip", version(address))
	}
	w.element("host:clID", host.Sponsor)
	w.element("host:crID", host.Creator)
	w.dateTime("host:crDate", host.Created)
	w.optional("host:upID", host.Updater)
	w.dateTime("host:upDate", host.Updated)
	w.dateTime("host:trDate", host.Moved)
	w.end()
	return nil
}

func (s *session) hostUpdate(c *command, a *response) error {
	q := children(c.object)
	update := ledger.HostUpdate{Name: q.name(q.required("name"))}
	for _, edit := range []struct {
		element   string
		addresses *[]string
		statuses  *[]string
	}{{"add", &update.AddAddresses, &update.Add}, {"rem", &update.RemAddress, &update.Rem}} {
		if of := q.optional(edit.element); of != nil {
			part := children(of)
			*edit.addresses, *edit.statuses = part.addresses(), part.statuses(7, hostStatuses)
			q.merge(part)
		}
	}
	if chg := q.optional("chg"); chg != nil {
		part := children(chg)
		part.name(part.required("name"))
		part.deferRefusal(ledger.NoSuchOption, "host:chg", "", "Hosts can't be renamed.")
		q.merge(part)
	}
	if refusal := q.result(); refusal != nil {
		return refusal
	}
	if _, refusal := s.protocolExtensions(c); refusal != nil {
		return refusal
	}
	return s.ledger.UpdateHost(s.request(c, a), update)
}

func (s *session) hostDelete(c *command, a *response) error {
	name, refusal := s.readHostName(c)
	if refusal != nil {
		return refusal
	}
	return s.ledger.DeleteHost(s.request(c, a), name)
}
