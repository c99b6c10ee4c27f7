package ledger

import (
	"container/heap"
	"math"
	"time"
)

// appointment is when the clock has something to do with a domain.
type appointment struct {
	at   int64
	name string
}

// agenda is a heap of appointments. One that no longer holds stays in it until
// its time comes, and is then passed over.
type agenda []appointment

func (a *agenda) add(at time.Time, name string) { heap.Push(a, appointment{at.UnixNano(), name}) }

// first is the time of the next appointment.
func (a agenda) first() int64 {
	if len(a) == 0 {
		return math.MaxInt64
	}
	return a[0].at
}

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].at < a[j].at }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }

// Push is heap's; use add.
func (a *agenda) Push(x any) {
	if next, ok := x.(appointment); ok {
		*a = append(*a, next)
	}
}

// Pop is heap's.
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// settle lets everything happen that is due, in the order in which it was. The
// caller holds the lock.
func (l *Ledger) settle(now time.Time) error {
	for l.agenda.first() <= now.UnixNano() {
		next := l.agenda[0]
		domain := l.domains[next.name]
		if domain == nil || domain.due().UnixNano() != next.at {
			heap.Pop(&l.agenda)
			continue
		}
		t := l.begin(Request{}, domain.due())
		place, found := l.table.Place(domain.Name)
		if !found { // the extension is not served any more
			heap.Pop(&l.agenda)
			continue
		}
		t.moveOn(domain.clone(), place)
		heap.Pop(&l.agenda)
		if err := l.commit(t); err != nil {
			l.agenda.add(domain.due(), domain.Name)
			return err
		}
	}
	l.nextDue.Store(l.agenda.first())
	return nil
}

// moveOn does what the clock does to a domain at the time of t.
func (t *tx) moveOn(domain *Domain, place Place) {
	switch domain.Phase {
	case PendingCreate:
		t.endCreate(domain, place)
	case Redemption:
		domain.Phase, domain.PhaseUntil = PendingDelete, t.now.Add(deletePeriod)
		t.putDomain(domain)
	case PendingRestore:
		// Without a report the name is back where it was (RFC 3915, 2).
		domain.Phase, domain.PhaseUntil = Redemption, t.now.Add(redemptionPeriod)
		t.putDomain(domain)
		t.tell(domain.Sponsor, Message{Text: "Restore report missing: the domain is in redemption again"})
	case PendingDelete:
		t.dropDomain(domain.Name)
		t.tell(domain.Sponsor, Message{
			Text:    "Domain deleted",
			Pending: &Pending{Name: domain.Name, Granted: true, Asked: domain.Asked, At: t.now},
		})
	case Transit:
		t.dropDomain(domain.Name)
	case Active:
		if domain.transferring() && !domain.Transfer.Decided.After(t.now) {
			t.move(domain, place, serverApproved)
			return
		}
		t.renewByItself(domain, place)
	}
}

func (t *tx) endCreate(domain *Domain, place Place) {
	outcome := &Pending{Name: domain.Name, Granted: !pendingFail(place.Label), Asked: domain.Asked, At: t.now}
	if !outcome.Granted {
		t.dropDomain(domain.Name)
		t.tell(domain.Sponsor, Message{Text: "Registration refused", Pending: outcome})
		return
	}
	domain.Phase, domain.PhaseUntil, domain.Asked = Active, time.Time{}, TRID{}
	t.putDomain(domain)
	t.tell(domain.Sponsor, Message{Text: "Registration completed", Pending: outcome})
}

func (t *tx) renewByItself(domain *Domain, place Place) {
	domain.Expires = domain.Expires.AddDate(1, 0, 0)
	if !place.Policy.Gateway {
		domain.AutoRenewed = t.now
	}
	t.putDomain(domain)
	t.tell(domain.Sponsor, Message{
		Text:    "Domain renewed by the registry",
		Renewal: &Renewal{Name: domain.Name, Expires: domain.Expires},
	})
}
