package provision

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
)

// run is this node's work on one item while it holds the lease. Its steps return
// jobs.ErrSettled if the lease is lost or released.
type run struct {
	*Service
	account   Account
	item      Item
	maybeSent bool      // the item was found in this state, so its call may have been sent
	sentAt    time.Time // the business time before the request; zero if another run sent it
}

// handleItem claims an item and advances it as far as possible.
func (s *Service) handleItem(ctx context.Context, item Item) (Item, error) {
	r := &run{Service: s, account: s.accountByName(item.Account), item: item, maybeSent: true}
	var err error
	if r.account != nil && item.State == StatePaid && !item.Kind.ForHeldDomain() {
		err = r.start(ctx)
	} else if err = r.acquireLease(ctx, Transition{To: item}); err == nil && r.account == nil {
		err = &registrar.Error{Kind: registrar.KindInternal, Code: registrar.NoRegistryAccount, Detail: "registry account of the item is no longer configured"}
	}
	for err == nil && !r.item.State.Final() {
		if ctx.Err() != nil {
			return r.item, jobs.Again(0) // for the next node or start
		}
		if err = r.step(ctx); err != nil && !registrar.IsTransient(err) && r.item.State != StateUndoing {
			err = r.refuse(ctx, err)
		}
	}
	return r.item, err
}

func (r *run) step(ctx context.Context) error {
	call, cancel := r.items.CallContext(ctx)
	defer cancel()
	switch r.item.State {
	case StatePaid:
		return r.beginRenewal(ctx, call)
	case StateContacts:
		return r.ensureContact(ctx, call)
	case StateHosts:
		return r.ensureHosts(ctx, call)
	case StateRequested:
		return r.sendRequest(ctx, call)
	case StatePending:
		return r.checkPending(ctx, call)
	case StateUndoing:
		return r.undo(ctx, call)
	default:
		r.cfg.Logger.ErrorContext(ctx, "order item has an unknown state", "item", r.item.ID, "state", string(r.item.State))
		return jobs.ErrSettled
	}
}

// start is the first transition: it chooses and stores everything that later calls use,
// and adds the customer's domain as pending.
func (r *run) start(ctx context.Context) error {
	now, rules := r.items.Now(), r.account.Rules(r.item.TLD)
	item := r.item
	item.Domain = registrar.NewID("dom_", now)
	if item.Kind == Register {
		if rules.Contacts {
			item.Handle = registrar.NewContactHandle(item.Registrant)
		}
		if rules.CodeLength > 0 {
			item.SealedCode = r.cfg.Seal.Seal(registrar.AuthCodePurpose(item.Name), registrar.NewAuthCode(rules.CodeLength))
		}
	}
	item.State = r.nextState(StatePaid, item, rules)
	add := Domain{
		ID: item.Domain, Customer: item.Customer, Name: item.Name, TLD: item.TLD, Status: registrar.DomainPending, Account: item.Account,
		UpdatedAt: r.cfg.Now(),
	}
	if err := r.acquireLease(ctx, Transition{To: item, AddDomain: &add}); err != nil || r.item.State.Final() {
		return err
	}
	failpoint.Hit("taken")
	if item.State == StateRequested {
		failpoint.Hit("requested")
	}
	r.maybeSent = false
	return nil
}

// nextState skips the states that the TLD does not need.
func (r *run) nextState(state State, item Item, rules Rules) State {
	if state == StatePaid && item.Handle != "" {
		return StateContacts
	}
	if item.Kind == Register && rules.HostObjects && !r.hostsKnown() {
		return StateHosts
	}
	return StateRequested
}

// acquireLease claims the item together with the given transition. The item fails if the
// name is held by now.
func (r *run) acquireLease(ctx context.Context, next Transition) error {
	next.To.Attempts++
	err := r.transition(ctx, next)
	if registrar.CodeOf(err) == registrar.NameHeld {
		failed := r.item
		failed.State, failed.Failure, failed.RefundDue = StateFailed, registrar.NameHeld, true
		return r.finish(ctx, Transition{To: failed})
	}
	return err
}

// transition stores a step under the lease; r.item is then the new state.
func (r *run) transition(ctx context.Context, next Transition) error {
	store, cancel := r.items.StoreContext(ctx)
	defer cancel()
	now := r.cfg.Now()
	next.From, next.At = r.item, r.items.Now()
	next.To.UpdatedAt = now
	// A pending request keeps the date of the request: where the registry shows neither
	// auth code nor contact, the date identifies it.
	if next.To.State != next.From.State && next.To.State != StatePending {
		next.To.RequestedAt = now
	}
	switch {
	case next.To.State.Final():
		next.To.DueAt, next.To.Node, next.To.Registrant = time.Time{}, "", registrar.Registrant{}
	case next.To.DueAt.Equal(next.From.DueAt): // not postponed
		next.To.DueAt, next.To.Node = r.items.LeaseEnd(), r.cfg.Node
	}
	updated, err := r.cfg.Store.UpdateProvisionItem(store, next)
	switch {
	case registrar.CodeOf(err) == registrar.NameHeld:
		return err
	case err != nil:
		r.cfg.Logger.ErrorContext(ctx, "order item not stored", "item", r.item.ID, "state", string(next.To.State), "error", err.Error())
		if next.To.State.Final() {
			return jobs.ErrUnstored
		}
		return jobs.Unstored[Item]{Row: next.To}
	case !updated:
		return jobs.ErrSettled
	}
	r.item = next.To
	return nil
}

func (r *run) advance(ctx context.Context, item Item, state State) error {
	item.State, item.Attempts = state, 1
	err := r.transition(ctx, Transition{To: item})
	if err == nil {
		r.maybeSent = false
		if state == StateRequested {
			failpoint.Hit("requested")
		}
	}
	return err
}

func (r *run) ensureContact(ctx, call context.Context) error {
	registrant, err := r.registrant(call)
	if err != nil {
		return err
	}
	handle, err := r.account.EnsureContact(call, Contact{
		Handle: r.item.Handle, TLD: r.item.TLD, Registrant: registrant, Transaction: r.item.ID + "-c", MaybeSent: r.maybeSent,
	})
	if err != nil {
		return err
	}
	failpoint.Hit("contact_made")
	item := r.item
	item.Handle = handle
	if err = r.advance(ctx, item, r.nextState(StateContacts, item, r.account.Rules(item.TLD))); err == nil {
		failpoint.Hit("contact_known")
	}
	return err
}

// registrant returns the registrant that the item was paid for; items written by earlier
// versions have none and use the account's. A guest order may have been claimed since the
// item was read, so the customer is then read again.
func (r *run) registrant(call context.Context) (registrar.Registrant, error) {
	if r.item.Registrant != (registrar.Registrant{}) {
		return r.item.Registrant, nil
	}
	registrant, found, err := r.cfg.Store.GetRegistrant(call, r.item.Customer)
	if err == nil && !found {
		var now Item
		if now, _, err = r.cfg.Store.ProvisionItemByID(call, r.item.ID); err == nil && now.Customer != r.item.Customer {
			r.item.Customer = now.Customer
			registrant, found, err = r.cfg.Store.GetRegistrant(call, now.Customer)
		}
	}
	if err == nil && !found {
		err = &registrar.Error{Kind: registrar.KindConflict, Code: NoRegistrant}
	}
	return registrant, err
}

func (r *run) hostsKnown() bool {
	_, known := r.knownHosts.Load(r.item.Account)
	return known || len(r.cfg.Nameservers) == 0
}

func (r *run) ensureHosts(ctx, call context.Context) error {
	if err := r.account.EnsureHosts(call, r.cfg.Nameservers); err != nil {
		return err
	}
	failpoint.Hit("hosts_made")
	r.knownHosts.Store(r.item.Account, true)
	return r.advance(ctx, r.item, StateRequested)
}

// buildRequest builds the item's request; it is the same each time.
func (r *run) buildRequest() (Request, error) {
	request := Request{
		Kind: r.item.Kind, Name: r.item.Name, TLD: r.item.TLD, Years: r.item.Years, Handle: r.item.Handle, Registrant: r.item.Registrant, From: r.item.RenewFrom,
		Transaction: r.item.ID + "-d", MaybeSent: r.maybeSent, Since: r.item.RequestedAt, Fee: r.item.Fee,
		PremiumFee: r.item.PremiumFee,
	}
	if r.item.Kind == Register {
		request.Nameservers = r.cfg.Nameservers
	}
	if r.item.SealedCode == "" {
		return request, nil
	}
	code, err := r.cfg.Seal.Open(registrar.AuthCodePurpose(r.item.Name), r.item.SealedCode)
	request.Code = code
	return request, err
}

func (r *run) sendRequest(ctx, call context.Context) error {
	request, err := r.buildRequest()
	if err != nil {
		return err
	}
	r.sentAt = r.cfg.Now()
	outcome, err := r.account.Request(call, request)
	if err != nil {
		if registrar.KindOf(err) == registrar.KindNotFound {
			r.knownHosts.Delete(r.item.Account) // a missing host object must not fail the next item too
		}
		return err
	}
	failpoint.Hit("answered")
	if !outcome.Pending {
		return r.succeed(ctx, call, outcome)
	}
	item := r.item
	item.Fee = outcome.Fee
	item.State, item.Attempts, item.DueAt, item.Node = StatePending, 0, r.items.Now().Add(minPendingPoll), ""
	if r.transition(ctx, Transition{To: item}) == nil {
		failpoint.Hit("pending")
	}
	return jobs.ErrSettled
}

func (r *run) checkPending(ctx, call context.Context) error {
	request, err := r.buildRequest()
	if err != nil {
		return err
	}
	outcome, err := r.account.Outcome(call, request)
	switch {
	case err != nil:
		return err
	case outcome.Pending:
		return jobs.Again(jobs.Backoff(r.item.Attempts, minPendingPoll, maxPendingPoll))
	}
	failpoint.Hit("decided")
	return r.succeed(ctx, call, outcome)
}

// succeed activates the customer's domain, or extends its term.
func (r *run) succeed(ctx, call context.Context, outcome Outcome) error {
	if outcome.Fee.IsZero() {
		outcome.Fee = r.item.Fee // reported with the request, when it was pending
	}
	if r.item.Kind.ForHeldDomain() {
		return r.completeRenewal(ctx, call, outcome)
	}
	now := r.cfg.Now()
	item := r.item
	item.State = StateActive
	until := outcome.Expires
	if until.IsZero() { // the registry has no terms: ours starts now, also for a transfer
		until = now.AddDate(max(1, item.Years), 0, 0)
	}
	domain := Domain{
		ID: item.Domain, Status: registrar.DomainActive, PaidUntil: until, Handle: item.Handle,
		RegistryExpires: outcome.Expires, SyncDue: r.items.Now().Add(syncInterval), UpdatedAt: now,
	}
	action := ActionRegistered
	if item.Kind == Transfer {
		action = ActionReceived
	}
	next := Transition{To: item, ActivateDomain: &domain, AuditEvent: r.auditEvent(action), Charge: r.charge(outcome.Fee, now)}
	rules := r.account.Rules(item.TLD)
	if next.Lock = rules.TransferLock; item.Kind == Transfer && rules.Contacts { // it still has those of its former registrar
		next.Contact = registrar.NewContactHandle(item.Registrant)
	}
	if next.Lock || next.Contact != "" {
		next.Change = registrar.NewID("chg_", now)
	}
	err := r.finish(ctx, next)
	if err == nil && next.Change != "" {
		failpoint.Hit("lock_stored")
		r.cfg.OnLockStored()
	}
	return err
}

func (r *run) finish(ctx context.Context, next Transition) error {
	if next.AuditEvent == nil {
		next.AuditEvent = r.auditEvent(ActionFailed)
	}
	if err := r.transition(ctx, next); err != nil {
		return err
	}
	r.cfg.OnItemEnded(r.item.Kind, r.item.State)
	log := r.cfg.Logger.With("item", r.item.ID, "extension", r.item.TLD, "kind", string(r.item.Kind))
	if r.item.State == StateActive {
		log.InfoContext(ctx, "domain provisioned")
	} else {
		log.WarnContext(ctx, "order item failed, refund due", "code", string(r.item.Failure))
	}
	return nil
}

// charge returns what the registry charges for the item. Its time is that of the request, with
// the precision of registries, so that a balance stated because of the charge is not earlier.
func (r *run) charge(fee registrar.Money, at time.Time) *cost.Charge {
	if !r.sentAt.IsZero() {
		at = r.sentAt.Truncate(time.Millisecond)
	}
	if fee.IsZero() { // the response was lost, or no command was sent
		fee = r.item.PremiumFee
	}
	charge := r.cfg.Costs.Charge(cost.Operation(r.item.Kind), r.item.TLD, r.item.Years, fee, at)
	charge.ID, charge.Domain, charge.Account = r.item.ID, r.item.Domain, r.item.Account
	return &charge
}

func (r *run) auditEvent(action registrar.Action) *registrar.AuditEvent {
	return &registrar.AuditEvent{
		Actor:  registrar.Actor{Kind: registrar.ActorSystem, Through: r.item.ID},
		Action: action, Customer: r.item.Customer, Object: r.item.Name, At: r.cfg.Now(),
	}
}
