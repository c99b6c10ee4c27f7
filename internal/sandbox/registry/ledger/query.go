package ledger

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Availability is the result of a check for one name.
type Availability struct {
	Free   bool
	Reason string // at most 32 characters
	Place  NameEntry
	// Domain is set if the name is registered.
	Domain *Domain
}

// CheckDomains reports for each name whether it can be registered. A name of a TLD
// that is not served fails the whole check.
func (l *Ledger) CheckDomains(names []string) ([]Availability, error) {
	answers := make([]Availability, len(names))
	for i, name := range names {
		place, refusal := l.lookUp(name)
		switch {
		case refusal == nil:
			answers[i] = Availability{Free: true, Place: place}
		case refusal.Code == ValueSyntax:
			answers[i].Reason = "Invalid name"
		default:
			return nil, refusal
		}
	}
	l.view(func(now time.Time) {
		for i := range answers {
			answer := &answers[i]
			if !answer.Free {
				continue
			}
			if answer.Domain = l.find(names[i], answer.Place, now); answer.Domain != nil {
				answer.Free, answer.Reason = false, "In use"
				continue
			}
			if answer.Place.State == Reserved {
				answer.Free, answer.Reason = false, "Reserved"
				continue
			}
			if answer.Place.labelProblem() != "" {
				answer.Free, answer.Reason = false, "Not allowed"
			}
		}
	})
	return answers, nil
}

// DomainInfo is a domain as a registrar sees it.
type DomainInfo struct {
	Domain *Domain
	Now    time.Time
	// Below are the hosts below the domain.
	Below []string
	// Full means that the account sees everything: as sponsor, or with the
	// authInfo.
	Full bool
}

// InfoDomain shows a domain.
func (l *Ledger) InfoDomain(by Request, name, auth string) (info DomainInfo, err error) {
	place, refusal := l.lookUp(name)
	if refusal != nil {
		return info, refusal
	}
	l.view(func(now time.Time) {
		info.Domain, info.Now = l.find(name, place, now), now
		switch {
		case info.Domain == nil:
			refusal = refuse(NotFound, "domain:name", name, "There is no such domain.")
			return
		case info.Domain.Sponsor == by.Account:
			info.Full = true
		case auth != "" && auth != info.Domain.Auth:
			refusal = refuse(WrongAuthInfo, "domain:authInfo", "", "This is not the domain's authInfo.")
			return
		case auth != "":
			info.Full = true
		}
		if l.hostsBelow[name] > 0 {
			for _, host := range l.hosts {
				if host.Above == name {
					info.Below = append(info.Below, host.Name)
				}
			}
			slices.Sort(info.Below)
		}
	})
	if refusal != nil {
		return DomainInfo{}, refusal
	}
	return info, nil
}

// Public returns the public state of a name that was ever changed; known is false
// for a name unchanged since the table, and domain is nil for a deleted one.
func (l *Ledger) Public(name string) (domain *Domain, known bool) {
	l.view(func(time.Time) { domain, known = l.domains[name] })
	return domain, known
}

// Glue returns the addresses of a host below a domain of this registry.
func (l *Ledger) Glue(name string) (addresses []string) {
	l.view(func(time.Time) {
		if host := l.hosts[name]; host != nil {
			addresses = host.Addresses
		}
	})
	return addresses
}

// Sponsored lists the objects of one sponsor by name.
type Sponsored struct {
	Domains  []*Domain  `json:"domains"`
	Contacts []*Contact `json:"contacts"`
	Hosts    []*Host    `json:"hosts"`
	// Unused are the contacts without references.
	Unused []string `json:"unusedContacts"`
	// Messages counts the queued messages.
	Messages int `json:"messages"`
}

// Sponsored lists what an account sponsors, except unchanged names of the table.
func (l *Ledger) Sponsored(account string) Sponsored {
	h := Sponsored{Domains: []*Domain{}, Contacts: []*Contact{}, Hosts: []*Host{}, Unused: []string{}}
	l.view(func(time.Time) {
		for _, domain := range l.domains {
			if domain != nil && domain.Sponsor == account {
				h.Domains = append(h.Domains, domain)
			}
		}
		for _, id := range slices.Sorted(maps.Keys(l.contacts)) {
			contact := l.contacts[id]
			if contact.Sponsor != account {
				continue
			}
			h.Contacts = append(h.Contacts, contact)
			if l.contactRefs[id] == 0 {
				h.Unused = append(h.Unused, id)
			}
		}
		for _, host := range l.hosts {
			if host.Sponsor == account {
				h.Hosts = append(h.Hosts, host)
			}
		}
		h.Messages = len(l.queues[account])
	})
	slices.SortFunc(h.Domains, func(a, b *Domain) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(h.Hosts, func(a, b *Host) int { return strings.Compare(a.Name, b.Name) })
	return h
}

// Queue returns the oldest message of an account and the queue length; nil if it is
// empty.
func (l *Ledger) Queue(account string) (oldest *Message, waiting int) {
	l.view(func(time.Time) {
		queue := l.queues[account]
		if waiting = len(queue); waiting > 0 {
			oldest = queue[0]
		}
	})
	return oldest, waiting
}

// Ack removes a message from the queue.
func (l *Ledger) Ack(by Request, id uint64) error {
	return l.do(by, func(t *tx) *Refusal {
		for _, message := range l.queues[by.Account] {
			if message.ID == id {
				t.change.Acked = &acked{by.Account, id}
				return nil
			}
		}
		return refuse(NotFound, "epp:msgID", "", "There is no such message.")
	})
}

func (l *Ledger) dequeue(a acked) {
	queue := l.queues[a.Account]
	if len(queue) > 0 && queue[0].ID == a.ID {
		queue[0] = nil // release it for garbage collection
		l.queues[a.Account] = queue[1:]
		return
	}
	l.queues[a.Account] = slices.DeleteFunc(slices.Clone(queue), func(m *Message) bool { return m.ID == a.ID })
}
