package epp

import "github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"

var hostStatuses = []string{
	"clientDeleteProhibited", "clientUpdateProhibited", "linked", "ok", "pendingCreate", "pendingDelete", "pendingTransfer",
	"pendingUpdate", "serverDeleteProhibited", "serverUpdateProhibited",
}

func (s *session) hostCheck(c *command, a *answer) error {
	q := children(c.object)
	names := q.names("name")
	if refusal := q.end(); refusal != nil {
		return refusal
	}
	if _, refusal := s.extensions(c); refusal != nil {
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
	for _, of := range s.many("addr", maxElements) {
		addresses = append(addresses, s.address(of))
	}
	return addresses
}

func (s *session) hostCreate(c *command, a *answer) error {
	q := children(c.object)
	name := q.name(q.must("name"))
	addresses := q.addresses()
	if refusal := q.end(); refusal != nil {
		return refusal
	}
	if _, refusal := s.extensions(c); refusal != nil {
		return refusal
	}
	made, err := s.ledger.CreateHost(s.request(c, a), name, addresses)
	if err != nil {
		return err
	}
	a.data.begin("host:creData")
	a.data.element("host:name", made.Name)
	a.data.moment("host:crDate", made.Created)
	a.data.end()
	return nil
}

// oneHost reads a command that names a host and nothing else.
func (s *session) oneHost(c *command) (string, *ledger.Refusal) {
	q := children(c.object)
	name := q.name(q.must("name"))
	if refusal := q.end(); refusal != nil {
		return "", refusal
	}
	_, refusal := s.extensions(c)
	return name, refusal
}

func (s *session) hostInfo(c *command, a *answer) error {
	name, refusal := s.oneHost(c)
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
	w.moment("host:crDate", host.Created)
	w.optional("host:upID", host.Updater)
	w.moment("host:upDate", host.Updated)
	w.moment("host:trDate", host.Moved)
	w.end()
	return nil
}

func (s *session) hostUpdate(c *command, a *answer) error {
	q := children(c.object)
	wish := ledger.HostUpdate{Name: q.name(q.must("name"))}
	for _, edit := range []struct {
		element   string
		addresses *[]string
		statuses  *[]string
	}{{"add", &wish.AddAddresses, &wish.Add}, {"rem", &wish.RemAddress, &wish.Rem}} {
		if of := q.maybe(edit.element); of != nil {
			part := children(of)
			*edit.addresses, *edit.statuses = part.addresses(), part.statuses(7, hostStatuses)
			q.adopt(part)
		}
	}
	if chg := q.maybe("chg"); chg != nil {
		part := children(chg)
		part.name(part.must("name"))
		part.postpone(ledger.NoSuchOption, "host:chg", "", "Hosts keep their names.")
		q.adopt(part)
	}
	if refusal := q.end(); refusal != nil {
		return refusal
	}
	if _, refusal := s.extensions(c); refusal != nil {
		return refusal
	}
	return s.ledger.UpdateHost(s.request(c, a), wish)
}

func (s *session) hostDelete(c *command, a *answer) error {
	name, refusal := s.oneHost(c)
	if refusal != nil {
		return refusal
	}
	return s.ledger.DeleteHost(s.request(c, a), name)
}
