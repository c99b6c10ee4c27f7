package provision_test

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// fakeRegistry is a scriptable registry.
type fakeRegistry struct {
	rules provision.Rules
	log   *eventLog
	// errors holds the results of a call by its name, consumed from the front.
	mu      sync.Mutex
	errors  map[string][]error
	pending bool
	// outcome answers queries about pending requests.
	outcome      func() (provision.Outcome, error)
	records      map[string]provision.Record
	recordErrors map[string]error
	messages     []inbox.Message
	polls        atomic.Int64
	balance      string // empty: it can't be queried
	keepMessages bool   // acknowledged messages stay queued
	availability error
	premiumFee   registrar.Money // of every name; zero means the list price
	missing      []string
	queries      []provision.AvailabilityQuery
	requests     []provision.Request
	contacts     []provision.Contact
	expires      time.Time
	fee          registrar.Money
	latency      time.Duration
}

func (o *fakeRegistry) nextError(call string) error {
	if o.latency > 0 {
		time.Sleep(o.latency)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if queue := o.errors[call]; len(queue) > 0 {
		o.errors[call] = queue[1:]
		return queue[0]
	}
	return nil
}

func (o *fakeRegistry) Rules(string) provision.Rules { return o.rules }

func (o *fakeRegistry) EnsureContact(_ context.Context, contact provision.Contact) (string, error) {
	o.log.add("contact maybe_sent=%t", contact.MaybeSent)
	o.mu.Lock()
	o.contacts = append(o.contacts, contact)
	o.mu.Unlock()
	return contact.Handle, o.nextError("contact")
}

func (o *fakeRegistry) EnsureHosts(context.Context, []string) error {
	o.log.add("hosts")
	return o.nextError("hosts")
}

func (o *fakeRegistry) Request(_ context.Context, request provision.Request) (provision.Outcome, error) {
	o.log.add("%s maybe_sent=%t", request.Kind, request.MaybeSent)
	o.mu.Lock()
	o.requests = append(o.requests, request)
	o.mu.Unlock()
	return provision.Outcome{Pending: o.pending, Expires: o.expires, Fee: o.fee}, o.nextError("request")
}

func (o *fakeRegistry) Outcome(context.Context, provision.Request) (provision.Outcome, error) {
	o.log.add("outcome")
	return o.outcome()
}

func (o *fakeRegistry) Unhold(context.Context, string, string) error {
	o.log.add("unhold")
	return o.nextError("unhold")
}

func (o *fakeRegistry) DeleteContact(context.Context, string, string) error {
	o.log.add("delete contact")
	return o.nextError("drop")
}

func (o *fakeRegistry) CheckSupported(provision.Kind, string, string, int) error { return nil }

func (o *fakeRegistry) Missing(provision.AvailabilityQuery) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.missing
}

func (o *fakeRegistry) CheckAvailability(_ context.Context, query provision.AvailabilityQuery) (provision.PremiumFees, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queries = append(o.queries, query)
	return provision.PremiumFees{Term: o.premiumFee}, o.availability
}

func (o *fakeRegistry) Record(_ context.Context, name string) (provision.Record, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.records[name], o.recordErrors[name]
}

func (o *fakeRegistry) NextMessage(context.Context) (*inbox.Message, error) {
	o.polls.Add(1)
	if err := o.nextError("poll"); err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.messages) == 0 {
		return nil, nil //nolint:nilnil // no message is no error
	}
	return &o.messages[0], nil
}

func (o *fakeRegistry) Balance(context.Context) (inbox.Balance, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.balance == "" {
		return inbox.Balance{}, &registrar.Error{Kind: registrar.KindUnsupported}
	}
	o.log.add("balance queried")
	return inbox.Balance{Available: o.balance}, nil
}

func (o *fakeRegistry) Acknowledge(_ context.Context, id string) error {
	o.log.add("acknowledged %s", id)
	if err := o.nextError("acknowledge"); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.keepMessages {
		o.messages = o.messages[1:]
	}
	return nil
}
