package stripe

import (
	"crypto/rand"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/journal"
)

const (
	// keyTTL is the lifetime of an idempotency key.
	keyTTL = 24 * time.Hour
	// maxKeys and maxWaiting limit stored entries; beyond them the oldest are
	// dropped.
	maxKeys    = 200_000
	maxWaiting = 20_000
)

// table holds one kind of objects in creation order.
type table[T any] struct {
	byID  map[string]*T
	order []string
}

func (t *table[T]) get(id string) *T { return t.byID[id] }

func (t *table[T]) put(id string, object *T) {
	if t.byID == nil {
		t.byID = map[string]*T{}
	}
	if _, known := t.byID[id]; !known {
		t.order = append(t.order, id)
	}
	t.byID[id] = object
}

func (t *table[T]) all() []*T {
	all := make([]*T, 0, len(t.order))
	for _, id := range t.order {
		all = append(all, t.byID[id])
	}
	return all
}

// state is everything that the provider stores. The lock guards it; a tx never
// modifies a stored object but replaces it.
type state struct {
	now func() time.Time

	mu            sync.Mutex
	journal       *journal.Journal[change]
	settings      settings
	sessions      table[session]
	intents       table[intent]
	charges       table[charge]
	refunds       table[refund]
	disputes      table[dispute]
	customers     table[customer]
	methods       table[method]
	verifications table[verification]
	tokens        table[token]
	keys          map[string]*storedResponse
	keyOrder      []string
	// open are the sessions that can expire; nextExpiry is the earliest expiry.
	open       map[string]bool
	nextExpiry int64
	// refundsOf maps payment intents to refunds, disputesOf charges to disputes.
	refundsOf     map[string][]string
	disputesOf    map[string][]string
	pendingEvents table[event]
}

func openState(folder string, now func() time.Time) (*state, error) {
	b := &state{
		now: now, keys: map[string]*storedResponse{}, open: map[string]bool{}, refundsOf: map[string][]string{}, disputesOf: map[string][]string{}, nextExpiry: math.MaxInt64,
	}
	var err error
	if b.journal, err = journal.Open(folder, false, b.apply); err != nil {
		return nil, err
	}
	if b.journal.NeedsCompaction() {
		b.expireKeys()
		if err := b.journal.Compact(b.snapshot()); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *state) snapshot() *change {
	kept := b.settings
	all := &change{
		Sessions: b.sessions.all(), Intents: b.intents.all(), Charges: b.charges.all(), Refunds: b.refunds.all(), Disputes: b.disputes.all(),
		Customers: b.customers.all(), Methods: b.methods.all(), Verifications: b.verifications.all(), Tokens: b.tokens.all(),
		Events: b.pendingEvents.all(), Settings: &kept,
	}
	for _, key := range b.keyOrder {
		if known := b.keys[key]; known != nil {
			all.Keys = append(all.Keys, known)
		}
	}
	return all
}

// apply applies a change to memory.
func (b *state) apply(c *change) {
	for _, one := range c.Sessions {
		b.sessions.put(one.ID, one)
		if one.Status == "open" {
			b.open[one.ID] = true
			b.nextExpiry = min(b.nextExpiry, one.ExpiresAt)
		} else {
			delete(b.open, one.ID)
		}
	}
	for _, one := range c.Intents {
		b.intents.put(one.ID, one)
	}
	for _, one := range c.Charges {
		b.charges.put(one.ID, one)
	}
	for _, one := range c.Refunds {
		if b.refunds.get(one.ID) == nil {
			b.refundsOf[one.Intent] = append(b.refundsOf[one.Intent], one.ID)
		}
		b.refunds.put(one.ID, one)
	}
	for _, one := range c.Disputes {
		if b.disputes.get(one.ID) == nil {
			b.disputesOf[one.Charge] = append(b.disputesOf[one.Charge], one.ID)
		}
		b.disputes.put(one.ID, one)
	}
	for _, one := range c.Customers {
		b.customers.put(one.ID, one)
	}
	for _, one := range c.Methods {
		b.methods.put(one.ID, one)
	}
	for _, one := range c.Verifications {
		b.verifications.put(one.ID, one)
	}
	for _, one := range c.Tokens {
		b.tokens.put(one.ID, one)
	}
	for _, one := range c.Keys {
		if b.keys[one.Key] == nil {
			b.keyOrder = append(b.keyOrder, one.Key)
		}
		b.keys[one.Key] = one
	}
	for _, one := range c.Events {
		b.pendingEvents.put(one.ID, one)
	}
	for _, id := range c.Done {
		b.dropEvent(id)
	}
	for len(b.pendingEvents.order) > maxWaiting {
		b.dropEvent(b.pendingEvents.order[0])
	}
	if c.Settings != nil {
		b.settings = *c.Settings
	}
}

func (b *state) dropEvent(id string) {
	if b.pendingEvents.byID[id] == nil {
		return
	}
	delete(b.pendingEvents.byID, id)
	if at := slices.Index(b.pendingEvents.order, id); at >= 0 {
		b.pendingEvents.order = slices.Delete(b.pendingEvents.order, at, at+1)
	}
}

// expireKeys removes expired keys.
func (b *state) expireKeys() {
	before := b.now().Add(-keyTTL).Unix()
	for len(b.keyOrder) > 0 {
		key := b.keyOrder[0]
		if known := b.keys[key]; known != nil && known.Created > before && len(b.keyOrder) <= maxKeys {
			return
		}
		delete(b.keys, key)
		b.keyOrder = b.keyOrder[1:]
	}
}

// tx is one change in progress. Its put methods take copies made by the caller.
type tx struct {
	*state
	change change
	at     int64
}

func (b *state) begin() *tx { return &tx{state: b, at: b.now().Unix()} }

// commit persists the change, then makes it visible.
func (t *tx) commit() error {
	if err := t.journal.Append(&t.change); err != nil {
		return err
	}
	t.apply(&t.change)
	return nil
}

// put adds an object to the change, replacing an earlier version of it.
func put[T any](list []*T, object *T, id func(*T) string) []*T {
	list = slices.DeleteFunc(list, func(one *T) bool { return id(one) == id(object) })
	return append(list, object)
}

func (t *tx) putSession(s *session) {
	t.change.Sessions = put(t.change.Sessions, s, func(s *session) string { return s.ID })
}

func (t *tx) putIntent(i *intent) {
	t.change.Intents = put(t.change.Intents, i, func(i *intent) string { return i.ID })
}

func (t *tx) putCharge(c *charge) {
	t.change.Charges = put(t.change.Charges, c, func(c *charge) string { return c.ID })
}

// newID returns an id in Stripe's format: a prefix and random letters.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }

func copyOf[T any](object *T) *T {
	if object == nil {
		return nil
	}
	twin := *object
	return &twin
}

func cloneMetadata(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return maps.Clone(m)
}
