package ledger

import (
	"container/heap"
	"math"
	"time"
)

// dueEntry is the time of a domain's next transition.
type dueEntry struct {
	at   int64
	name string
}

// dueQueue is a heap of transitions. Outdated entries stay in it until they are due
// and are then skipped.
type dueQueue []dueEntry

func (a *dueQueue) add(at time.Time, name string) { heap.Push(a, dueEntry{at.UnixNano(), name}) }

// first is the time of the next transition.
func (a dueQueue) first() int64 {
	if len(a) == 0 {
		return math.MaxInt64
	}
	return a[0].at
}

func (a dueQueue) Len() int           { return len(a) }
func (a dueQueue) Less(i, j int) bool { return a[i].at < a[j].at }
func (a dueQueue) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }

// Push implements heap.Interface; use add.
func (a *dueQueue) Push(x any) {
	if next, ok := x.(dueEntry); ok {
		*a = append(*a, next)
	}
}

// Pop implements heap.Interface.
func (a *dueQueue) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// processDue executes all due transitions in due order. The caller holds the lock.
func (l *Ledger) processDue(now time.Time) error {
	for l.dueQueue.first() <= now.UnixNano() {
		next := l.dueQueue[0]
		domain := l.domains[next.name]
		if domain == nil || domain.due().UnixNano() != next.at {
			heap.Pop(&l.dueQueue)
			continue
		}
		t := l.begin(Request{}, domain.due())
		place, found := l.table.Lookup(domain.Name)
		if !found { // the TLD is no longer served
			heap.Pop(&l.dueQueue)
			continue
		}
		t.advanceDomain(domain.clone(), place)
		heap.Pop(&l.dueQueue)
		if err := l.commit(t); err != nil {
			l.dueQueue.add(domain.due(), domain.Name)
			return err
		}
	}
	l.nextDue.Store(l.dueQueue.first())
	return nil
}

// advanceDomain executes the transition of a domain that is due at the time of t.
func (t *tx) advanceDomain(domain *Domain, place NameEntry) {
	switch domain.Phase {
	case PendingCreate:
		t.decideCreate(domain, place)
	case Redemption:
		domain.Phase, domain.PhaseUntil = PendingDelete, t.now.Add(deletePeriod)
		t.putDomain(domain)
	case PendingRestore:
		// Without a report the domain returns to redemption (RFC 3915, 2).
		domain.Phase, domain.PhaseUntil = Redemption, t.now.Add(place.Policy.redemption())
		t.putDomain(domain)
		t.enqueueMessage(domain.Sponsor, Message{Text: "Restore report missing: the domain is in redemption again"})
	case PendingDelete:
		t.dropDomain(domain.Name)
		t.enqueueMessage(domain.Sponsor, Message{
			Text:    "Domain deleted",
			Pending: &Pending{Name: domain.Name, Granted: true, Asked: domain.Asked, At: t.now},
		})
	case Transit, Expired:
		t.dropDomain(domain.Name)
	case Active:
		if domain.transferring() && !domain.Transfer.Decided.After(t.now) {
			t.completeTransfer(domain, place, serverApproved)
			return
		}
		if place.Policy.DropDays > 0 {
			t.expire(domain, place)
			return
		}
		t.autoRenew(domain, place)
	}
}

// expire takes a domain out of service whose zone does not renew by itself.
func (t *tx) expire(domain *Domain, place NameEntry) {
	domain.Phase, domain.PhaseUntil = Expired, domain.Expires.AddDate(0, 0, place.Policy.DropDays)
	t.putDomain(domain)
	t.enqueueMessage(domain.Sponsor, Message{Text: "Domain expired"})
}

func (t *tx) decideCreate(domain *Domain, place NameEntry) {
	outcome := &Pending{Name: domain.Name, Granted: !isPendingFailLabel(place.Label), Asked: domain.Asked, At: t.now}
	if !outcome.Granted {
		t.dropDomain(domain.Name)
		t.book(domain.Sponsor, place.Fees.Create*int64(domain.Expires.Year()-domain.Created.Year()))
		t.enqueueMessage(domain.Sponsor, Message{Text: "Registration refused", Pending: outcome})
		return
	}
	domain.Phase, domain.PhaseUntil, domain.Asked = Active, time.Time{}, TRID{}
	t.putDomain(domain)
	t.enqueueMessage(domain.Sponsor, Message{Text: "Registration completed", Pending: outcome})
}

func (t *tx) autoRenew(domain *Domain, place NameEntry) {
	domain.Expires = domain.Expires.AddDate(1, 0, 0)
	t.book(domain.Sponsor, -place.Fees.Renew) // whatever the balance is
	if !place.Policy.Gateway {
		domain.AutoRenewed = t.now
	}
	t.putDomain(domain)
	t.enqueueMessage(domain.Sponsor, Message{
		Text:    "Domain renewed by the registry",
		Renewal: &Renewal{Name: domain.Name, Expires: domain.Expires},
	})
}
