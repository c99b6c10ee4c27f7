package order_test

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// memory is a Store that forgets.
type memory struct {
	mu         sync.Mutex
	orders     map[string]order.Order
	buyers     map[string]order.Buyer
	identities map[string]order.Identity
	spent      registrar.Cents
	held       map[string]bool
	deeds      []registrar.Deed
	letters    []registrar.Letter
	methods    map[string]order.Method
	moves      int
	problems   []string // what the tables of doc.go do not allow
	// unbounded counts questions that could wait for ever.
	unbounded int
	// meanwhile is what another node does just before a change, once.
	meanwhile func(stored *order.Order)
	// torn makes of the next order that is found by its link one that changed between
	// the questions for its rows.
	torn func(read *order.Order)
	// linked are customers by agent, claims shadow accounts by their link.
	linked map[string]string
	claims map[registrar.SecretHash]string
	// counted is called after each sum of what was spent.
	counted func()
	// reading is called before each read of an order by its id, which fails with its
	// error.
	reading func() error
}

var _ order.Store = (*memory)(nil)

func copied(o order.Order) order.Order {
	o.Items, o.Payments, o.Refunds = slices.Clone(o.Items), slices.Clone(o.Payments), slices.Clone(o.Refunds)
	return o
}

func (m *memory) BuyerOf(_ context.Context, customer string) (order.Buyer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	buyer, found := m.buyers[customer]
	if !found {
		return order.Buyer{}, &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchCustomer}
	}
	return buyer, nil
}

func (m *memory) AddOrder(_ context.Context, o order.Order, most int, deed registrar.Deed) (order.Order, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	open := 0
	for _, other := range m.orders {
		if other.Customer != o.Customer || !other.State.Open() {
			continue
		}
		if other.ItemsKey == o.ItemsKey {
			return copied(other), false, nil
		}
		open++
	}
	if open >= most {
		return order.Order{}, false, &registrar.Error{Kind: registrar.KindConflict, Code: order.TooManyOpen}
	}
	m.orders[o.ID] = copied(o)
	m.deeds = append(m.deeds, deed)
	return copied(o), true, nil
}

func (m *memory) CheckOpen(_ context.Context, o order.Order, most int) error {
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
	if open >= most {
		return &registrar.Error{Kind: registrar.KindConflict, Code: order.TooManyOpen}
	}
	return nil
}

func (m *memory) find(is func(order.Order) bool) (order.Order, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range m.orders {
		if is(o) {
			return copied(o), true, nil
		}
	}
	return order.Order{}, false, nil
}

func (m *memory) OrderByID(ctx context.Context, id string) (order.Order, bool, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		m.mu.Lock()
		m.unbounded++
		m.mu.Unlock()
	}
	if m.reading != nil {
		if err := m.reading(); err != nil {
			return order.Order{}, false, err
		}
	}
	return m.find(func(o order.Order) bool { return o.ID == id })
}

func (m *memory) OrderOfCustomer(_ context.Context, customer, id string) (order.Order, bool, error) {
	return m.find(func(o order.Order) bool { return o.ID == id && o.Customer == customer })
}

func (m *memory) OrderByPayLink(_ context.Context, link registrar.SecretHash) (order.Order, bool, error) {
	o, found, err := m.find(func(o order.Order) bool { return o.PayLink == link })
	if m.torn != nil {
		m.torn(&o)
		m.torn = nil
	}
	return o, found, err
}

func (m *memory) OrderByVerifyLink(_ context.Context, link registrar.SecretHash) (order.Order, bool, error) {
	return m.find(func(o order.Order) bool { return o.VerifyLink == link })
}

func (m *memory) OrderBySession(_ context.Context, session string) (order.Order, bool, error) {
	return m.find(func(o order.Order) bool {
		return slices.ContainsFunc(o.Payments, func(p order.Payment) bool { return p.Session == session })
	})
}

func (m *memory) OrderByIntent(_ context.Context, intent string) (order.Order, bool, error) {
	return m.find(func(o order.Order) bool {
		return slices.ContainsFunc(o.Payments, func(p order.Payment) bool { return p.Intent == intent })
	})
}

func (m *memory) OrdersOf(_ context.Context, customer, before string, limit int) ([]order.Order, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var page []order.Order
	for _, o := range m.orders {
		if o.Customer == customer && (before == "" || o.ID < before) {
			page = append(page, copied(o))
		}
	}
	slices.SortFunc(page, func(a, b order.Order) int { return -compare(a.ID, b.ID) })
	return page[:min(limit, len(page))], nil
}

func (m *memory) PageOfOrders(ctx context.Context, customer string, state order.State, limit, offset int) ([]order.Order, int, error) {
	all, err := m.OrdersOf(ctx, customer, "", 1<<30)
	all = slices.DeleteFunc(all, func(o order.Order) bool { return state != "" && o.State != state })
	from := min(offset, len(all))
	return all[from:min(from+limit, len(all))], len(all), err
}

func (m *memory) OverdueOrdersOf(ctx context.Context, customer string, now time.Time, limit int) ([]order.Order, error) {
	all, err := m.OrdersOf(ctx, customer, "", 1<<30)
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

func (m *memory) DueOrders(_ context.Context, now time.Time, limit int) ([]order.Order, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var due []order.Order
	for _, o := range m.orders {
		if !o.DueAt.IsZero() && !o.DueAt.After(now) {
			due = append(due, copied(o))
		}
	}
	slices.SortFunc(due, func(a, b order.Order) int { return a.DueAt.Compare(b.DueAt) })
	return due[:min(limit, len(due))], nil
}

func (m *memory) MoveOrder(_ context.Context, move order.Move) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	stored := m.orders[move.Was.ID]
	if m.meanwhile != nil {
		stored = copied(stored)
		m.meanwhile(&stored)
		m.orders[stored.ID], m.meanwhile = stored, nil
	}
	if stored.State != move.Was.State || stored.Version != move.Was.Version {
		return false, nil
	}
	if move.For != nil && m.buyers[move.Order.Customer] != *move.For {
		return false, nil
	}
	now := copied(move.Order)
	now.Version = move.Was.Version + 1
	m.problems = append(m.problems, illegal(stored, now)...)
	if move.Lines {
		for i := range now.Items {
			if m.held[now.Items[i].Name] {
				now.Items[i].State, now.Items[i].Failure, now.Items[i].Line = order.ItemFailed, order.NameHeld, ""
				now.DueAt = move.At
			}
		}
	}
	m.orders[now.ID] = now
	if !now.Claimed {
		m.shadow(now, move.Fitted)
	}
	m.moves++
	m.deeds = append(m.deeds, move.Deeds...)
	m.letters = append(m.letters, move.Letters...)
	if move.Method != nil {
		m.methods[now.Customer] = *move.Method
	}
	return true, nil
}

func (m *memory) freeOrders(node string, now time.Time) {
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

func (m *memory) Spent(_ context.Context, customer, _ string, _ time.Time) (registrar.Cents, error) {
	m.mu.Lock()
	sum, counted := m.spent, m.counted
	for _, o := range m.orders {
		if o.Customer == customer && o.State == order.Paying {
			sum += o.Totals.Gross
		}
	}
	m.mu.Unlock()
	if counted != nil {
		counted()
	}
	return sum, nil
}

func (m *memory) IdentityOf(_ context.Context, customer string) (order.Identity, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	identity, found := m.identities[customer]
	return identity, found, nil
}

func (m *memory) SetIdentity(_ context.Context, was *order.Identity, now order.Identity, deed *registrar.Deed) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	stored, found := m.identities[now.Customer]
	if found != (was != nil) || found && stored != *was {
		return false, nil
	}
	m.identities[now.Customer] = now
	if deed != nil {
		m.deeds = append(m.deeds, *deed)
	}
	return true, nil
}

func (m *memory) CustomerOfVerification(_ context.Context, session string) (string, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for customer, identity := range m.identities {
		if identity.Session == session {
			return customer, true, nil
		}
	}
	return "", false, nil
}

func (m *memory) WaitingForIdentity(_ context.Context, customer string) ([]string, error) {
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

// endLine is what provisioning's store does at the end of a line.
func (m *memory) endLine(name string, state order.ItemState, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, o := range m.orders {
		o = copied(o)
		for i := range o.Items {
			if o.Items[i].Name == name && o.Items[i].State == order.ItemProvisioning {
				o.Items[i].State, o.DueAt = state, now
				o.Version++
			}
		}
		m.orders[id] = o
	}
}

// shadow keeps what is known of a buyer without an account.
func (m *memory) shadow(o order.Order, fitted *order.Contact) {
	buyer := order.Buyer{Customer: o.Customer, Email: o.Contact.Email, Language: "de"}
	if fitted != nil {
		buyer.Told, buyer.Name, buyer.Country = true, fitted.Name(), fitted.Country
	} else if was := m.buyers[o.Customer]; was.Told && was.Email == buyer.Email {
		return
	}
	m.buyers[o.Customer] = buyer
}

func (m *memory) AddSession(_ context.Context, o order.Order, fitted *order.Contact, most, _ int, deed registrar.Deed) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	open := 0
	for _, other := range m.orders {
		if other.Agent == o.Agent && other.State.Open() {
			open++
		}
	}
	if open >= most {
		return &registrar.Error{Kind: registrar.KindConflict, Code: order.TooManyOpen}
	}
	m.orders[o.ID] = copied(o)
	if !o.Claimed {
		m.shadow(o, fitted)
	}
	m.deeds = append(m.deeds, deed)
	return nil
}

func (m *memory) HasLinked(_ context.Context, customer, agent string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.linked[agent] == customer, nil
}

func (m *memory) LinkedCustomer(_ context.Context, agent, email string) (string, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	customer := m.linked[agent]
	return customer, customer != "" && m.buyers[customer].Email == email, nil
}

func (m *memory) ClaimableBy(_ context.Context, link registrar.SecretHash, _ time.Time) (order.Order, bool, error) {
	return m.find(func(o order.Order) bool { return m.claims[link] != "" && o.Customer == m.claims[link] })
}

func (m *memory) Claim(_ context.Context, link registrar.SecretHash, customer string, _ time.Time, deed registrar.Deed, admit order.Admission) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	shadow, found := m.claims[link]
	if !found {
		return false, nil
	}
	var tlds []string
	for _, o := range m.orders {
		for _, item := range o.Items {
			if o.Customer == shadow && (o.State == order.Paying || o.State == order.Provisioning) {
				tlds = append(tlds, item.TLD)
			}
		}
	}
	buyer := m.buyers[customer]
	if err := admit(tlds, registrar.Holder{Name: buyer.Name, Country: buyer.Country}, ""); err != nil {
		return false, err
	}
	delete(m.claims, link)
	for id, o := range m.orders {
		if o.Customer == shadow {
			o.Customer, o.Claimed = customer, true
			o.Version++
			m.orders[id] = o
		}
	}
	m.deeds = append(m.deeds, deed)
	return true, nil
}
