package provision

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/dotkontor/dotkontor/internal/duty"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// run is the work of this node on one line, for as long as it has the lease.
type run struct {
	*Service
	account Account
	line    Line
	// asked says that the call of the present state may have been sent before:
	// the line was found in it.
	asked bool
	// lost says that another node has the line, or that it can't be stored.
	lost bool
}

// work takes a line and carries it as far as it goes.
func (s *Service) work(ctx context.Context, line Line) {
	r := &run{Service: s, account: s.named(line.Account), line: line, asked: true}
	if r.account == nil {
		r.take(ctx, Move{Line: line})
		r.wait(ctx, &registrar.Error{Kind: registrar.KindInternal, Code: NoAccount, Detail: "the line's registry account is not configured any more"})
		return
	}
	if line.State == StatePaid && line.Kind != Renew {
		r.takeUp(ctx)
	} else {
		r.take(ctx, Move{Line: line})
	}
	for !r.lost && !r.line.State.Final() {
		if ctx.Err() != nil {
			r.leave(ctx)
			return
		}
		if !r.step(ctx) {
			return
		}
	}
}

// step does what there is to do in the present state, and says whether to go on.
func (r *run) step(ctx context.Context) (goOn bool) {
	call, cancel := r.calling(ctx)
	defer cancel()
	switch r.line.State {
	case StatePaid:
		return r.beginRenewal(ctx, call)
	case StateContacts:
		return r.makeContact(ctx, call)
	case StateHosts:
		return r.makeHosts(ctx, call)
	case StateRequested:
		return r.request(ctx, call)
	case StatePending:
		return r.inquire(ctx, call)
	case StateUndoing:
		return r.undo(ctx, call)
	default:
		r.cfg.Logger.ErrorContext(ctx, "a line is in an unknown state", "line", r.line.ID, "state", string(r.line.State))
		return false
	}
}

// calling bounds a call. When the service stops, a call under way has a short
// time left: an answer that arrives saves a question at the next start.
func (s *Service) calling(ctx context.Context) (context.Context, context.CancelFunc) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Deadline)
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(grace):
			cancel()
		case <-call.Done():
		}
	})
	return call, func() { stop(); cancel() }
}

// takeUp is the first step: everything that later calls use is chosen and stored,
// and the customer sees the domain as pending.
func (r *run) takeUp(ctx context.Context) {
	now, rules := r.clock(), r.account.Rules(r.line.TLD)
	line := r.line
	line.Domain = registrar.NewID("dom_", now)
	if line.Kind == Register {
		if rules.Contacts {
			line.Handle = "DK" + rand.Text()[:14]
		}
		if rules.CodeLength > 0 {
			line.SealedCode = r.cfg.Seal.Close(registrar.CodePurpose(line.Name), registrar.NewAuthCode(rules.CodeLength))
		}
	}
	line.State = r.after(StatePaid, line, rules)
	add := Domain{
		ID: line.Domain, Customer: line.Customer, Name: line.Name, TLD: line.TLD, Status: domainPending, Account: line.Account,
		UpdatedAt: r.cfg.Now(),
	}
	if r.take(ctx, Move{Line: line, Add: &add}) {
		boundary(atTaken)
		if line.State == StateRequested {
			boundary(atRequested)
		}
		r.asked = false
	}
}

// after is the next state that the extension has a use for.
func (r *run) after(state State, line Line, rules Rules) State {
	if state == StatePaid && line.Handle != "" {
		return StateContacts
	}
	if line.Kind == Register && rules.HostObjects && !r.hostsKnown() {
		return StateHosts
	}
	return StateRequested
}

// take claims the line with the given step. Only a name that somebody holds
// meanwhile stops it for good.
func (r *run) take(ctx context.Context, move Move) bool {
	move.Line.Attempts++
	err := r.move(ctx, move)
	if registrar.CodeOf(err) == NameHeld {
		failed := r.line
		r.refuse(&failed, NameHeld)
		failed.State = StateFailed
		r.end(ctx, Move{Line: failed})
		return false
	}
	return err == nil && !r.lost
}

// move stores a step under the lease. Afterwards the line is where the step ends,
// or lost.
func (r *run) move(ctx context.Context, move Move) error {
	store, cancel := context.WithTimeout(context.WithoutCancel(ctx), storing)
	defer cancel()
	now := r.clock()
	move.Was = r.line
	move.Line.UpdatedAt = now
	// A pending request is the one that was asked for before: its date is how it is
	// recognised where the registry shows neither code nor contact.
	if move.Line.State != move.Was.State && move.Line.State != StatePending {
		move.Line.AskedAt = now
	}
	switch {
	case move.Line.State.Final():
		move.Line.DueAt, move.Line.Node, move.Line.Registrant = time.Time{}, "", Holder{}
	case move.Line.DueAt.Equal(move.Was.DueAt): // not postponed
		// The lease outlives the next call and what is stored after it.
		move.Line.DueAt, move.Line.Node = now.Add(r.cfg.Deadline+2*storing+time.Minute), r.cfg.Node
	}
	moved, err := r.cfg.Store.MoveLine(store, move)
	switch {
	case registrar.CodeOf(err) == NameHeld:
		return err
	case err != nil:
		r.lost = true
		r.cfg.Logger.ErrorContext(ctx, "a step of a line can't be stored", "line", r.line.ID, "state", string(move.Line.State), "error", err.Error())
		return err
	case !moved:
		r.lost = true
		return nil
	}
	r.line = move.Line
	return nil
}

// advance stores that a state is reached, and says whether to go on.
func (r *run) advance(ctx context.Context, line Line, state State) bool {
	line.State, line.Attempts = state, 1
	if r.move(ctx, Move{Line: line}) != nil || r.lost {
		return false
	}
	r.asked = false
	return true
}

func (r *run) makeContact(ctx, call context.Context) bool {
	holder, err := r.holder(call)
	if err != nil {
		return r.settle(ctx, err)
	}
	handle, err := r.account.EnsureContact(call, Contact{
		Handle: r.line.Handle, Holder: holder, Transaction: r.line.ID + "-c", Asked: r.asked, Since: r.line.AskedAt,
	})
	if err != nil {
		return r.settle(ctx, err)
	}
	boundary(atContactMade)
	line := r.line
	line.Handle = handle
	next := r.after(StateContacts, line, r.account.Rules(line.TLD))
	if !r.advance(ctx, line, next) {
		return false
	}
	boundary(atContactKnown)
	if next == StateRequested {
		boundary(atRequested)
	}
	return true
}

// holder is whom the domain is registered for: the registrant that the line was paid
// for. A line that an earlier version has written has none; its registrant is the
// account's. An unclaimed order may have been claimed since the line was read; its
// line belongs to the new account then.
func (r *run) holder(call context.Context) (Holder, error) {
	if r.line.Registrant != (Holder{}) {
		now, found, err := r.cfg.Store.LineByID(call, r.line.ID)
		if found {
			r.line.Customer = now.Customer
		}
		return r.line.Registrant, err
	}
	holder, told, err := r.cfg.Store.HolderOf(call, r.line.Customer)
	if err == nil && !told {
		var now Line
		if now, _, err = r.cfg.Store.LineByID(call, r.line.ID); err == nil && now.Customer != r.line.Customer {
			r.line.Customer = now.Customer
			holder, told, err = r.cfg.Store.HolderOf(call, now.Customer)
		}
	}
	if err == nil && !told {
		err = &registrar.Error{Kind: registrar.KindConflict, Code: NoRegistrant}
	}
	return holder, err
}

func (r *run) hostsKnown() bool {
	_, known := r.hosts.Load(r.line.Account)
	return known || len(r.cfg.Nameservers) == 0
}

func (r *run) makeHosts(ctx, call context.Context) bool {
	if err := r.account.EnsureHosts(call, r.cfg.Nameservers); err != nil {
		return r.settle(ctx, err)
	}
	boundary(atHostsMade)
	r.hosts.Store(r.line.Account, true)
	if !r.advance(ctx, r.line, StateRequested) {
		return false
	}
	boundary(atRequested)
	return true
}

// wanted is the request of the line, the same each time.
func (r *run) wanted() (Request, error) {
	request := Request{
		Kind: r.line.Kind, Name: r.line.Name, TLD: r.line.TLD, Years: r.line.Years, Handle: r.line.Handle, From: r.line.RenewFrom,
		Transaction: r.line.ID + "-d", Asked: r.asked, Since: r.line.AskedAt,
	}
	if r.line.Kind == Register {
		request.Nameservers = r.cfg.Nameservers
	}
	if r.line.SealedCode == "" {
		return request, nil
	}
	code, err := r.cfg.Seal.Open(registrar.CodePurpose(r.line.Name), r.line.SealedCode)
	request.Code = code
	return request, err
}

func (r *run) request(ctx, call context.Context) bool {
	request, err := r.wanted()
	if err != nil {
		return r.settle(ctx, err)
	}
	outcome, err := r.account.Request(call, request)
	if err != nil {
		if registrar.KindOf(err) == registrar.KindNotFound {
			r.hosts.Delete(r.line.Account) // a nameserver that is gone must not fail the next line too
		}
		return r.settle(ctx, err)
	}
	boundary(atAnswered)
	if !outcome.Pending {
		return r.succeed(ctx, call, outcome)
	}
	line := r.line
	line.State, line.Attempts, line.DueAt, line.Node = StatePending, 0, r.clock().Add(firstLook), ""
	if r.move(ctx, Move{Line: line}) == nil && !r.lost {
		boundary(atPending)
	}
	return false
}

// inquire asks what became of a pending request.
func (r *run) inquire(ctx, call context.Context) bool {
	request, err := r.wanted()
	if err != nil {
		return r.settle(ctx, err)
	}
	outcome, err := r.account.Outcome(call, request)
	switch {
	case err != nil:
		return r.settle(ctx, err)
	case outcome.Pending:
		return r.postpone(ctx, duty.Pause(r.line.Attempts, firstLook, longLook))
	}
	boundary(atDecided)
	return r.succeed(ctx, call, outcome)
}

// succeed ends a line well.
func (r *run) succeed(ctx, call context.Context, outcome Outcome) bool {
	if r.line.Kind == Renew {
		return r.renew(ctx, call, outcome.Expires)
	}
	return r.activate(ctx, outcome)
}

// activate makes the customer's domain an active one.
func (r *run) activate(ctx context.Context, outcome Outcome) bool {
	now := r.cfg.Now()
	line := r.line
	line.State = StateActive
	until := outcome.Expires
	if until.IsZero() { // a registry that has no terms: ours begins now, also for a transfer
		until = now.AddDate(max(1, line.Years), 0, 0)
	}
	domain := Domain{
		ID: line.Domain, Status: domainActive, PaidUntil: until, Handle: line.Handle,
		RegistryExpires: outcome.Expires, SyncDue: r.clock().Add(followEvery), UpdatedAt: now,
	}
	return r.end(ctx, Move{Line: line, Activate: &domain, Deed: r.deed(ActionRegistered)})
}

// end stores the last step of a line.
func (r *run) end(ctx context.Context, move Move) bool {
	if move.Deed == nil {
		move.Deed = r.deed(ActionFailed)
	}
	if r.move(ctx, move) == nil && !r.lost {
		r.cfg.Ended(r.line.Kind, r.line.State)
		log := r.cfg.Logger.With("line", r.line.ID, "extension", r.line.TLD, "kind", string(r.line.Kind))
		if r.line.State == StateActive {
			log.InfoContext(ctx, "a line is active")
		} else {
			log.WarnContext(ctx, "a line failed and is to be refunded", "code", string(r.line.Failure))
		}
	}
	return false
}

func (r *run) deed(action registrar.Action) *registrar.Deed {
	return &registrar.Deed{
		Actor:  registrar.Actor{Kind: registrar.ActorSystem, Through: r.line.ID},
		Action: action, Customer: r.line.Customer, Object: r.line.Name, At: r.cfg.Now(),
	}
}
