package steward

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/duty"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// leaseEnd outlives a call and what is stored after it.
func (s *Service) leaseEnd() time.Time {
	return s.clock().Add(s.cfg.Deadline + 2*storing + time.Minute)
}

// takeUp is the loop's work on a change that somebody has left.
func (s *Service) takeUp(ctx context.Context, change Change) {
	taken := change
	taken.DueAt, taken.Node = s.leaseEnd(), s.cfg.Node
	taken.Attempts++
	if taken, moved := s.move(ctx, Move{Was: change, Now: taken}); moved {
		// A call under way when the service stops is finished: it saves a question.
		call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Deadline)
		defer cancel()
		s.carry(call, taken)
	}
}

// move stores a step, and says whether this node still has the change.
func (s *Service) move(ctx context.Context, move Move) (Change, bool) {
	store, cancel := context.WithTimeout(context.WithoutCancel(ctx), storing)
	defer cancel()
	move.Now.UpdatedAt, move.At = s.cfg.Now(), s.clock()
	moved, err := s.cfg.Store.MoveChange(store, move)
	if err != nil {
		s.cfg.Logger.ErrorContext(ctx, "a step of a change can't be stored", "change", move.Was.ID, "state", string(move.Now.State), "error", err.Error())
	}
	if err != nil || !moved {
		return move.Was, false
	}
	return move.Now, true
}

// task is the change as the registry account needs to know it.
func (s *Service) task(ctx context.Context, change Change) (Task, error) {
	task := Task{
		Kind: change.Kind, Name: change.Name, TLD: change.TLD, Nameservers: change.Wanted.Nameservers, Handle: change.Handle,
		OldHandle: change.OldHandle, Transaction: change.ID, Since: change.CreatedAt, Pending: change.State == StatePending,
	}
	if change.Wanted.DS != nil {
		task.DS = *change.Wanted.DS
	}
	// What the registry has accepted already is only asked about.
	if change.Kind == TakeHolder && change.State == StateOpen {
		holder, err := s.holder(ctx, change.Customer, change.TLD)
		if err != nil {
			return Task{}, err
		}
		task.Holder = holder
	}
	if change.SealedCode == "" {
		return task, nil
	}
	var err error
	task.Code, err = s.cfg.Seal.Open(registrar.CodePurpose(change.Name), change.SealedCode)
	return task, err
}

// carry does the work on a change that this node has, and returns it as it is
// afterwards. code is what the registry chose.
func (s *Service) carry(call context.Context, change Change) (after Change, code string) {
	registry, served := s.serving(change.Account, change.TLD)
	if !served {
		return s.wait(call, change, &registrar.Error{Kind: registrar.KindInternal, Code: NoAccount}), ""
	}
	task, err := s.task(call, change)
	if err == nil {
		err = s.stillAllowed(call, change)
	}
	boundary(atWritten)
	var result Result
	if err == nil {
		result, err = registry.Registry.Carry(call, task)
	}
	boundary(atCarried)
	switch {
	case err != nil && waits(err):
		return s.wait(call, change, err), ""
	case err != nil:
		return s.refuse(call, change, err), ""
	case result.Pending:
		pending := change
		pending.State, pending.Node = StatePending, ""
		pending.DueAt = s.clock().Add(duty.Pause(change.Attempts, firstLook, longLook))
		after, _ = s.move(call, Move{Was: change, Now: pending})
		return after, ""
	}
	result.Record.ReadAt = s.clock()
	return s.finish(call, change, result.Record), result.Code
}

// stillAllowed asks once more whether a dispute forbids the change. It may have come up
// while the change was waiting for the registry, or just before it was written; whoever
// locks the domain from here on sees an open change. What the registry has is its own.
func (s *Service) stillAllowed(ctx context.Context, change Change) error {
	if change.State != StateOpen {
		return nil
	}
	domain := Domain{ID: change.Domain, Customer: change.Customer, Name: change.Name, TLD: change.TLD, Account: change.Account}
	why, err := s.cfg.Barred(ctx, domain, change.Kind)
	switch {
	case err != nil:
		return &registrar.Error{Kind: registrar.KindInternal, Code: "locks_unreadable", Err: err}
	case why != "":
		return &registrar.Error{Kind: registrar.KindConflict, Code: why}
	}
	return nil
}

// waits says that the registry has decided nothing.
func waits(err error) bool {
	switch registrar.KindOf(err) {
	case registrar.KindUpstream, registrar.KindRateLimited, registrar.KindInternal:
		return true
	default:
		return false
	}
}

// wait leaves the change for later.
func (s *Service) wait(ctx context.Context, change Change, err error) Change {
	pause := duty.Pause(change.Attempts, firstPause, longPause)
	kind := registrar.KindOf(err)
	log := s.cfg.Logger.With("change", change.ID, "kind", string(change.Kind), "extension", change.TLD, "account", change.Account,
		"reason", kind.String(), "code", string(registrar.CodeOf(err)), "cause", registrar.CauseOf(err), "attempts", change.Attempts, "again_in", pause.String())
	if kind == registrar.KindInternal {
		log.ErrorContext(ctx, "a change of a domain waits, and somebody has to do something")
	} else {
		log.WarnContext(ctx, "a change of a domain waits for the registry")
	}
	s.cfg.SetBack(ctx, change.ID, registrar.CodeOf(err))
	later := change
	later.DueAt, later.Node = s.clock().Add(pause), ""
	after, _ := s.move(ctx, Move{Was: change, Now: later}) // else the lease ends by itself
	return after
}

// ended is a change at its end; the auth code is not kept any longer.
func ended(change Change, state State) Change {
	change.State, change.DueAt, change.Node, change.SealedCode = state, time.Time{}, "", ""
	return change
}

func (s *Service) refuse(ctx context.Context, change Change, err error) Change {
	refused := ended(change, StateRefused)
	refused.Failure = registrar.CodeOf(err)
	if refused.Failure == "" {
		refused.Failure = Denied
	}
	// The text of the error names the rule or the result code, never the name.
	s.cfg.Logger.WarnContext(ctx, "a registry refused a change", "change", change.ID, "kind", string(change.Kind), "extension", change.TLD,
		"account", change.Account, "detail", err.Error())
	return s.end(ctx, Move{Was: change, Now: refused, Deed: s.deed(change, ActionRefused)})
}

func (s *Service) finish(ctx context.Context, change Change, record Record) Change {
	letter := &registrar.Letter{Kind: registrar.LetterDomainChanged, Customer: change.Customer, Facts: map[string]string{
		"domain": change.Name, "change": string(change.Kind),
	}}
	if change.Kind == AuthCode {
		letter.Kind = registrar.LetterAuthCode
	}
	// Where an operator sits is not the holder's business.
	if change.Actor.Kind != registrar.ActorOperator && change.Actor.Address.IsValid() {
		letter.Facts["address"] = change.Actor.Address.String()
	}
	return s.end(ctx, Move{
		Was: change, Now: ended(change, StateDone), Record: &record, Deed: s.deed(change, actions[change.Kind]), Letter: letter,
	})
}

func (s *Service) end(ctx context.Context, move Move) Change {
	after, moved := s.move(ctx, move)
	if moved {
		boundary(atEnded)
		s.cfg.Ended(after.Kind, after.State)
		s.cfg.LettersWaiting()
	}
	return after
}

func (s *Service) deed(change Change, action registrar.Action) *registrar.Deed {
	return &registrar.Deed{Actor: change.Actor, Action: action, Customer: change.Customer, Object: change.Name, At: s.cfg.Now()}
}
