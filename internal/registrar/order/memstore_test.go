package order_test

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// memStore is an in-memory Store.
type memStore struct {
	mu         sync.Mutex
	orders     map[string]order.Order
	buyers     map[string]order.Buyer
	identities map[string]order.Identity
	spent      registrar.Cents
	held       map[string]bool
	events     []registrar.AuditEvent
	mails      []registrar.Mail
	methods    map[string]order.PaymentMethod
	updates    int
	problems   []string // transitions that doc.go does not allow
	// unbounded counts calls without a deadline.
	unbounded int
	// beforeUpdate is another node's change just before an update, once.
	beforeUpdate func(stored *order.Order)
	// tearRead modifies the next order found by its link, as if it changed between the
	// queries for its rows.
	tearRead func(read *order.Order)
	// linked has customers by agent, claims guest accounts by claim link.
	linked map[string]string
	claims map[registrar.SecretHash]string
	// onSpent is called after each SpentSince.
	onSpent  func()
	termEnds map[string]time.Time // by the name of a domain
	// onRead is called before each OrderByID, which fails with its error.
	onRead func() error
	// transfers has sealed lists by customer.
	transfers map[string]string
	// acquired are the names that every customer holds or is getting.
	acquired []string
	// beforeReplace is another window's change just before a list is replaced, once.
	beforeReplace func()
}

var _ order.Store = (*memStore)(nil)

func cloneOrder(o order.Order) order.Order {
	o.Items, o.Payments, o.Refunds = slices.Clone(o.Items), slices.Clone(o.Payments), slices.Clone(o.Refunds)
	return o
}

func (m *memStore) GetBuyer(_ context.Context, customer string) (order.Buyer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	buyer, found := m.buyers[customer]
	if !found {
		return order.Buyer{}, &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.NoSuchCustomer}
	}
	return buyer, nil
}

func (m *memStore) GetTransferList(_ context.Context, customer string, _ time.Time) (string, error) {
	return m.transfers[customer], nil
}

func (m *memStore) ReplaceTransferList(_ context.Context, customer, seen, _, sealed string, _, _ time.Time) (bool, error) {
	if before := m.beforeReplace; before != nil {
		m.beforeReplace = nil
		before()
	}
	if m.transfers[customer] != seen {
		return false, nil
	}
	if m.transfers == nil {
		m.transfers = make(map[string]string)
	}
	m.transfers[customer] = sealed
	return true, nil
}

func (m *memStore) ListAcquiredNames(context.Context, string, []string) ([]string, error) {
	return m.acquired, nil
}

func (m *memStore) GetPaymentMethod(_ context.Context, customer string) (order.PaymentMethod, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	method, saved := m.methods[customer]
	return method, saved, nil
}

// StartRenewals stores the order; package renewal tests the renewals with real databases.
func (m *memStore) StartRenewals(_ context.Context, start order.RenewalStart) (bool, []order.UnfitRenewal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.orders[start.Order.ID] = cloneOrder(start.Order)
	m.events = append(m.events, start.AuditEvent)
	return true, nil, nil
}

func (m *memStore) AddOrder(_ context.Context, o order.Order, limit int, event registrar.AuditEvent) (order.Order, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	open := 0
	for _, other := range m.orders {
		if other.Customer != o.Customer || !other.State.Open() {
			continue
		}
		if other.ItemsKey == o.ItemsKey {
			return cloneOrder(other), false, nil
		}
		open++
	}
	if open >= limit {
		return order.Order{}, false, &registrar.Error{Kind: registrar.KindConflict, Code: order.TooManyOpen}
	}
	m.orders[o.ID] = cloneOrder(o)
	m.events = append(m.events, event)
	return cloneOrder(o), true, nil
}

func (m *memStore) ListOpenRenewalOrders(_ context.Context, customer string) (open []order.Order, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range m.orders {
		if o.Customer == customer && o.State.Open() && o.IsRenewalBasket() {
			open = append(open, cloneOrder(o))
		}
	}
	return open, nil
}

func (m *memStore) CheckOpenOrderLimit(_ context.Context, o order.Order, limit int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	open := 0
	for _, other := range m.orders {
		if other.Customer != o.Customer || !other.State.Open() {
			continue
		}
		if other.ItemsKey == o.ItemsKey {
			return nil
		}
		open++
	}
	if open >= limit {
		return &registrar.Error{Kind: registrar.KindConflict, Code: order.TooManyOpen}
	}
	return nil
}

func (m *memStore) find(is func(order.Order) bool) (order.Order, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range m.orders {
		if is(o) {
			return cloneOrder(o), true, nil
		}
	}
	return order.Order{}, false, nil
}

func (m *memStore) OrderByID(ctx context.Context, id string) (order.Order, bool, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		m.mu.Lock()
		m.unbounded++
		m.mu.Unlock()
	}
	if m.onRead != nil {
		if err := m.onRead(); err != nil {
			return order.Order{}, false, err
		}
	}
	return m.find(func(o order.Order) bool { return o.ID == id })
}

func (m *memStore) GetCustomerOrder(_ context.Context, customer, id string) (order.Order, bool, error) {
	return m.find(func(o order.Order) bool { return o.ID == id && o.Customer == customer })
}

func (m *memStore) OrderByPayLink(_ context.Context, link registrar.SecretHash) (order.Order, bool, error) {
	o, found, err := m.find(func(o order.Order) bool { return o.PayLink == link })
	if m.tearRead != nil {
		m.tearRead(&o)
		m.tearRead = nil
	}
	return o, found, err
}

func (m *memStore) OrderByVerifyLink(_ context.Context, link registrar.SecretHash) (order.Order, bool, error) {
	return m.find(func(o order.Order) bool { return o.VerifyLink == link })
}

func (m *memStore) OrderBySession(_ context.Context, session string) (order.Order, bool, error) {
	return m.find(func(o order.Order) bool {
		return slices.ContainsFunc(o.Payments, func(p order.Payment) bool { return p.Session == session })
	})
}

func (m *memStore) OrderByIntent(_ context.Context, intent string) (order.Order, bool, error) {
	return m.find(func(o order.Order) bool {
		return slices.ContainsFunc(o.Payments, func(p order.Payment) bool { return p.Intent == intent })
	})
}

func (m *memStore) ListOrders(_ context.Context, customer, before string, limit int) ([]order.Order, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var page []order.Order
	for _, o := range m.orders {
		if o.Customer == customer && (before == "" || o.ID < before) {
			page = append(page, cloneOrder(o))
		}
	}
	slices.SortFunc(page, func(a, b order.Order) int { return -compare(a.ID, b.ID) })
	return page[:min(limit, len(page))], nil
}

func (m *memStore) PageOrders(ctx context.Context, customer string, state order.State, limit, offset int) ([]order.Order, int, error) {
	all, err := m.ListOrders(ctx, customer, "", 1<<30)
	all = slices.DeleteFunc(all, func(o order.Order) bool { return state != "" && o.State != state })
	from := min(offset, len(all))
	return all[from:min(from+limit, len(all))], len(all), err
}

func (m *memStore) ListOrdersOfNotices(ctx context.Context, customer string, notices []string) ([]order.Order, error) {
	all, err := m.ListOrders(ctx, customer, "", 1<<30)
	return slices.DeleteFunc(all, func(o order.Order) bool {
		return !slices.ContainsFunc(o.Refunds, func(r order.Refund) bool { return slices.Contains(notices, r.Notice) })
	}), err
}

func (m *memStore) ListOverdueOrders(ctx context.Context, customer string, now time.Time, limit int) ([]order.Order, error) {
	all, err := m.ListOrders(ctx, customer, "", 1<<30)
	all = slices.DeleteFunc(all, func(o order.Order) bool {
		return !o.State.Open() || o.State == order.Paying || o.ExpiresAt.After(now)
	})
	return all[:min(limit, len(all))], err
}

func compare(a, b string) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

func (m *memStore) ListDueOrders(_ context.Context, now time.Time, limit int) ([]order.Order, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var due []order.Order
	for _, o := range m.orders {
		if !o.DueAt.IsZero() && !o.DueAt.After(now) {
			due = append(due, cloneOrder(o))
		}
	}
	slices.SortFunc(due, func(a, b order.Order) int { return a.DueAt.Compare(b.DueAt) })
	return due[:min(limit, len(due))], nil
}

func (m *memStore) UpdateOrder(_ context.Context, move order.Transition) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	stored := m.orders[move.From.ID]
	if m.beforeUpdate != nil {
		stored = cloneOrder(stored)
		m.beforeUpdate(&stored)
		m.orders[stored.ID], m.beforeUpdate = stored, nil
	}
	if stored.State != move.From.State || stored.Version != move.From.Version {
		return false, nil
	}
	if move.ExpectedBuyer != nil && m.buyers[move.To.Customer] != *move.ExpectedBuyer {
		return false, nil
	}
	now := cloneOrder(move.To)
	now.Version = move.From.Version + 1
	m.problems = append(m.problems, illegalTransitions(stored, now)...)
	m.problems = append(m.problems, refundEventsWithoutRefund(move)...)
	if move.Provision {
		for i := range now.Items {
			if m.held[now.Items[i].Name] {
				now.Items[i].State, now.Items[i].Failure, now.Items[i].ProvisionItem = order.ItemFailed, registrar.NameHeld, ""
				now.DueAt = move.At
			}
		}
	}
	m.orders[now.ID] = now
	if !now.Claimed {
		m.storeGuest(now, move.GuestRegistrant)
	}
	m.updates++
	m.events = append(m.events, move.AuditEvents...)
	m.mails = append(m.mails, move.Mails...)
	if move.Method != nil {
		m.methods[now.Customer] = *move.Method
	}
	return true, nil
}

func (m *memStore) releaseLeases(node string, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, o := range m.orders {
		if o.Node == node && !o.DueAt.IsZero() {
			o.Node, o.DueAt = "", now
			o.Version++
			m.orders[id] = o
		}
	}
}

func (m *memStore) SpentSince(_ context.Context, customer, _ string, _ time.Time) (order.Spending, error) {
	m.mu.Lock()
	sum, counted := m.spent, m.onSpent
	for _, o := range m.orders {
		if o.Customer == customer && o.State == order.Paying {
			sum += o.Totals.Gross
		}
	}
	m.mu.Unlock()
	if counted != nil {
		counted()
	}
	return order.Spending{ByAccount: sum}, nil
}

func (m *memStore) GetIdentity(_ context.Context, customer string) (order.Identity, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	identity, found := m.identities[customer]
	return identity, found, nil
}

func (m *memStore) UpdateIdentity(_ context.Context, was *order.Identity, now order.Identity, event *registrar.AuditEvent) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	stored, found := m.identities[now.Customer]
	if found != (was != nil) || found && stored != *was {
		return false, nil
	}
	m.identities[now.Customer] = now
	if event != nil {
		m.events = append(m.events, *event)
	}
	return true, nil
}

func (m *memStore) CustomerByVerification(_ context.Context, session string) (string, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for customer, identity := range m.identities {
		if identity.Session == session {
			return customer, true, nil
		}
	}
	return "", false, nil
}

func (m *memStore) ListOrdersAwaitingIdentity(_ context.Context, customer string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []string
	for _, o := range m.orders {
		if o.Customer == customer && o.State == order.AwaitingVerification {
			ids = append(ids, o.ID)
		}
	}
	return ids, nil
}

// endItem does what the store does when a provision item ends.
func (m *memStore) endItem(name string, state order.ItemState, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, o := range m.orders {
		o = cloneOrder(o)
		for i := range o.Items {
			if o.Items[i].Name == name && o.Items[i].State == order.ItemProvisioning {
				o.Items[i].State, o.DueAt = state, now
				if state == order.ItemActive {
					o.Items[i].PaidUntil = m.termEnds[name]
				}
				o.Version++
			}
		}
		m.orders[id] = o
	}
}

// storeGuest stores a guest account.
func (m *memStore) storeGuest(o order.Order, normalized *order.Contact) {
	buyer := order.Buyer{Customer: o.Customer, Email: o.Contact.Email, Language: "de"}
	if normalized != nil {
		buyer.HasRegistrant, buyer.Name, buyer.Country = true, normalized.Name(), normalized.Country
	} else if was := m.buyers[o.Customer]; was.HasRegistrant && was.Email == buyer.Email {
		return
	}
	m.buyers[o.Customer] = buyer
}

func (m *memStore) AddSession(_ context.Context, o order.Order, normalized *order.Contact, limit, _ int, event registrar.AuditEvent) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	open := 0
	for _, other := range m.orders {
		if other.Agent == o.Agent && other.State.Open() {
			open++
		}
	}
	if open >= limit {
		return &registrar.Error{Kind: registrar.KindConflict, Code: order.TooManyOpen}
	}
	m.orders[o.ID] = cloneOrder(o)
	if !o.Claimed {
		m.storeGuest(o, normalized)
	}
	m.events = append(m.events, event)
	return nil
}

func (m *memStore) IsAgentLinked(_ context.Context, customer, agent string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.linked[agent] == customer, nil
}

func (m *memStore) LinkedCustomer(_ context.Context, agent, email string) (string, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	customer := m.linked[agent]
	return customer, customer != "" && m.buyers[customer].Email == email, nil
}

func (m *memStore) ClaimableOrder(_ context.Context, link registrar.SecretHash, _ time.Time) (order.Order, bool, error) {
	return m.find(func(o order.Order) bool { return m.claims[link] != "" && o.Customer == m.claims[link] })
}

func (m *memStore) ClaimGuestOrders(_ context.Context, link registrar.SecretHash, customer string, _ time.Time, event registrar.AuditEvent, admit order.Admission) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	guest, found := m.claims[link]
	if !found {
		return false, nil
	}
	var tlds []string
	for _, o := range m.orders {
		for _, item := range o.Items {
			if o.Customer == guest && (o.State == order.Paying || o.State == order.Provisioning) {
				tlds = append(tlds, item.TLD)
			}
		}
	}
	buyer := m.buyers[customer]
	if err := admit(tlds, registrar.Registrant{Name: buyer.Name, Country: buyer.Country}, ""); err != nil {
		return false, err
	}
	delete(m.claims, link)
	for id, o := range m.orders {
		if o.Customer == guest {
			o.Customer, o.Claimed = customer, true
			o.Version++
			m.orders[id] = o
		}
	}
	m.events = append(m.events, event)
	return true, nil
}

func (m *memStore) ListRegisteredDomains(_ context.Context, id string) (domains []order.RegisteredDomain, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, item := range m.orders[id].Items {
		if item.Kind == order.Register && item.State == order.ItemActive {
			domains = append(domains, order.RegisteredDomain{Item: item.ID, Domain: "dom_" + item.Name, RegisteredAt: m.orders[id].PaidAt})
		}
	}
	return domains, nil
}
