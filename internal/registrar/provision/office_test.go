package provision_test

import (
	"context"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// office is a registry that answers as it is told.
type office struct {
	rules provision.Rules
	log   *diary
	// refuse is the answer to a call by its name, used up from the front.
	mu      sync.Mutex
	refuse  map[string][]error
	pending bool
	// decided is the answer about what is pending.
	decided  func() (provision.Outcome, error)
	records  map[string]provision.Record
	recErr   map[string]error
	messages []provision.Message
	keeps    bool // messages that were acknowledged
	offer    error
	missing  []string
	wishes   []provision.Wish
	requests []provision.Request
	contacts []provision.Contact
	expires  time.Time
	takes    time.Duration
}

func (o *office) answer(call string) error {
	if o.takes > 0 {
		time.Sleep(o.takes)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if queue := o.refuse[call]; len(queue) > 0 {
		o.refuse[call] = queue[1:]
		return queue[0]
	}
	return nil
}

func (o *office) Rules(string) provision.Rules { return o.rules }

func (o *office) EnsureContact(_ context.Context, contact provision.Contact) (string, error) {
	o.log.write("contact asked=%t", contact.Asked)
	o.mu.Lock()
	o.contacts = append(o.contacts, contact)
	o.mu.Unlock()
	return contact.Handle, o.answer("contact")
}

func (o *office) EnsureHosts(context.Context, []string) error {
	o.log.write("hosts")
	return o.answer("hosts")
}

func (o *office) Request(_ context.Context, request provision.Request) (provision.Outcome, error) {
	o.log.write("%s asked=%t", request.Kind, request.Asked)
	o.mu.Lock()
	o.requests = append(o.requests, request)
	o.mu.Unlock()
	return provision.Outcome{Pending: o.pending, Expires: o.expires}, o.answer("request")
}

func (o *office) Outcome(context.Context, provision.Request) (provision.Outcome, error) {
	o.log.write("outcome")
	return o.decided()
}

func (o *office) Unhold(context.Context, string, string) error {
	o.log.write("unhold")
	return o.answer("unhold")
}

func (o *office) DropContact(context.Context, string, string) error {
	o.log.write("drop contact")
	return o.answer("drop")
}

func (o *office) Sells(provision.Kind, string, string, int) error { return nil }

func (o *office) Missing(provision.Wish) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.missing
}

func (o *office) Offer(_ context.Context, wish provision.Wish) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wishes = append(o.wishes, wish)
	return o.offer
}

func (o *office) Record(_ context.Context, name string) (provision.Record, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.records[name], o.recErr[name]
}

func (o *office) NextMessage(context.Context) (*provision.Message, error) {
	if err := o.answer("poll"); err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.messages) == 0 {
		return nil, nil //nolint:nilnil // no message is no error
	}
	return &o.messages[0], nil
}

func (o *office) Acknowledge(_ context.Context, id string) error {
	o.log.write("acknowledged %s", id)
	if err := o.answer("acknowledge"); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.keeps {
		o.messages = o.messages[1:]
	}
	return nil
}
