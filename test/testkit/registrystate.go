package testkit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
	"github.com/dotkontor/dotkontor/internal/store"
)

// controlTimeout bounds one request to a control address.
const controlTimeout = time.Minute

// World controls a simulated world in another process.
type World struct{ control registry.Control }

// FindWorld reads the control address from the data folder of a world.
func FindWorld(data string) (World, error) {
	control, err := registry.ReadControl(data)
	return World{control}, err
}

// Holdings returns the objects that the product's registry account sponsors.
func (w World) Holdings(ctx context.Context) (ledger.Sponsored, error) {
	var held ledger.Sponsored
	err := w.call(ctx, http.MethodGet, "/objects?of="+registry.ProductAccount, http.NoBody, &held)
	return held, err
}

// Advance moves the world's clock forward.
func (w World) Advance(ctx context.Context, by time.Duration) error {
	var clock registry.Clock
	return w.call(ctx, http.MethodPost, "/clock/advance?by="+by.String(), http.NoBody, &clock)
}

// TransferAway lets another registrar request a domain, or cancel its request.
func (w World) TransferAway(ctx context.Context, name, op string) error {
	var transfer ledger.Transfer
	return w.call(ctx, http.MethodPost, "/transfers?name="+url.QueryEscape(name)+"&op="+op, http.NoBody, &transfer)
}

// Seed adds domains to the registry.
func (w World) Seed(ctx context.Context, domains []registry.SeedDomain) error {
	body, err := json.Marshal(domains)
	if err != nil {
		return err
	}
	var added int
	return w.call(ctx, http.MethodPost, "/objects", bytes.NewReader(body), &added)
}

// SetFunds makes the product's registry account one that is paid in advance; amounts are like
// 100.00.
func (w World) SetFunds(ctx context.Context, balance, threshold string) error {
	var funds registry.Funds
	return w.call(ctx, http.MethodPost, "/funds?of="+registry.ProductAccount+"&balance="+balance+"&threshold="+threshold, http.NoBody, &funds)
}

// SendMessages queues poll messages for the product, all or none, and returns their ids.
func (w World) SendMessages(ctx context.Context, messages []registry.MessageRequest) (ids []uint64, err error) {
	body, err := json.Marshal(messages)
	if err != nil {
		return nil, err
	}
	err = w.call(ctx, http.MethodPost, "/messages?of="+registry.ProductAccount, bytes.NewReader(body), &ids)
	return ids, err
}

func (w World) call(ctx context.Context, method, path string, body io.Reader, into any) error {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, w.control.Address+path, body)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+w.control.Secret)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("testkit: world control: %s", response.Status)
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// renewalTolerance is the permitted difference between the paid term and the registry's
// expiry after a renewal: less than any term.
const renewalTolerance = 60 * 24 * time.Hour

// heldStatuses are those of a domain whose item succeeded. An unpaid one is expired, then
// in redemption.
var heldStatuses = []registrar.DomainStatus{registrar.DomainActive, registrar.DomainExpired, registrar.DomainRedemption}

// RegistryState has everything that agrees while no item is in progress: items,
// customers' domains and registry objects.
type RegistryState struct {
	Items    []provision.Item
	Domains  []provision.Domain
	Closed   []string // the ids of domains that were not paid and are gone
	Registry ledger.Sponsored
}

// ReadRegistryState reads database and registry.
func ReadRegistryState(ctx context.Context, db *store.DB, world World) (RegistryState, error) {
	var b RegistryState
	const page = 200
	for last := ""; ; {
		lines, err := db.ListProvisionItemsAfter(ctx, last, page)
		if err != nil {
			return b, err
		}
		b.Items = append(b.Items, lines...)
		if len(lines) < page {
			break
		}
		last = lines[len(lines)-1].ID
	}
	for last := ""; ; {
		domains, err := db.ListDomainsAfter(ctx, last, page)
		if err != nil {
			return b, err
		}
		b.Domains = append(b.Domains, domains...)
		if len(domains) < page {
			break
		}
		last = domains[len(domains)-1].ID
	}
	for id, err := range db.ReconciliationClosedDomains(ctx) {
		if err != nil {
			return b, err
		}
		b.Closed = append(b.Closed, id)
	}
	var err error
	b.Registry, err = world.Holdings(ctx)
	return b, err
}

// Problems returns the disagreements. Every paid item is exactly one registered domain
// or a failed item marked for a refund; the registry holds no domain that is unknown
// here and no unused contact.
func (b RegistryState) Problems() []string {
	var problems []string
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	held := make(map[string]*ledger.Domain)
	for _, domain := range b.Registry.Domains {
		held[domain.Name] = domain
	}
	ours := make(map[string][]provision.Domain)
	byID := make(map[string]provision.Domain)
	for _, domain := range b.Domains {
		ours[domain.Name] = append(ours[domain.Name], domain)
		byID[domain.ID] = domain
	}
	active := make(map[string]int)
	handles := make(map[string]bool)
	closed := make(map[string]bool)
	for _, id := range b.Closed {
		closed[id] = true
	}
	for _, line := range b.Items {
		domain, known := byID[line.Domain]
		at := held[line.Name]
		if closed[line.Domain] && !known && line.State.Final() {
			continue // it was provisioned, later not paid, and is gone
		}
		if line.Kind == provision.Renew {
			// The domain exists whether or not the renewal succeeded.
			switch {
			case !line.State.Final() || !known:
				wrong("the renewal of %s is %s, and the customer has %+v", line.Name, line.State, domain)
			case (line.State == provision.StateFailed) != line.RefundDue:
				wrong("the renewal of %s is %s and marked for a refund: %t", line.Name, line.State, line.RefundDue)
			case line.State == provision.StateActive && at == nil:
				wrong("%s was renewed, but is not registered", line.Name)
			case line.State == provision.StateActive && at.Expires.Sub(domain.PaidUntil).Abs() > renewalTolerance:
				wrong("%s is paid until %s, and the registry has it until %s", line.Name, domain.PaidUntil, at.Expires)
			}
			continue
		}
		switch line.State {
		case provision.StateActive:
			active[line.Name]++
			handles[line.Handle] = true
			holder := line.Handle
			if domain.Handle != "" { // the registrant may have changed since
				holder = domain.Handle
			}
			switch {
			case line.RefundDue || line.Failure != "":
				wrong("%s is active and marked for a refund", line.Name)
			case !known || !slices.Contains(heldStatuses, domain.Status) || domain.Customer != line.Customer || domain.PaidUntil.IsZero():
				wrong("%s is active, but the customer has %+v", line.Name, domain)
			case at == nil:
				wrong("%s is active, but not registered", line.Name)
			case domain.Status == registrar.DomainRedemption:
				if at.Phase != ledger.Redemption && at.Phase != ledger.PendingDelete {
					wrong("%s is in redemption, but the registry has it in phase %q", line.Name, at.Phase)
				}
			case at.Phase != ledger.Active || !strings.EqualFold(at.Registrant, holder):
				wrong("%s is active, but the registry has it in phase %q for %q and not for %q", line.Name, at.Phase, at.Registrant, holder)
			}
		case provision.StateFailed:
			if !line.RefundDue || line.Failure == "" {
				wrong("%s failed without a refund", line.Name)
			}
			if known {
				wrong("%s failed, but the customer has %+v", line.Name, domain)
			}
		default:
			wrong("%s is still %s", line.Name, line.State)
		}
	}
	for name, count := range active {
		if count > 1 {
			wrong("%s was paid for %d times and exists once", name, count)
		}
	}
	for name := range held {
		if !slices.ContainsFunc(ours[name], func(d provision.Domain) bool { return d.Status != "transferred_out" }) {
			wrong("the registry holds %s, which is unknown here", name)
		}
	}
	for _, domain := range b.Domains {
		handles[domain.Handle] = true // not every domain has an item, for example the demo customer's
	}
	for _, contact := range b.Registry.Contacts {
		if !handles[contact.ID] {
			wrong("the registry holds the contact %s of no active item", contact.ID)
		}
	}
	for _, id := range b.Registry.Unused {
		wrong("the contact %s is unused", id)
	}
	slices.Sort(problems)
	return problems
}
