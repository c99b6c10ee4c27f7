package domainchange

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// bulkMailDelay is how long the mail about changes that were requested together waits for the
// next one.
const bulkMailDelay = 10 * time.Second

// resume continues a claimed change. The call in flight may finish during shutdown.
func (s *Service) resume(ctx context.Context, change Change) (Change, error) {
	callCtx, cancel := s.worker.CallContext(ctx)
	defer cancel()
	after, _, err := s.execute(callCtx, change)
	return after, err
}

// firstAttempt executes a stored change for a request, also if the client disconnects. code
// is the auth code that the registry chose.
func (s *Service) firstAttempt(ctx context.Context, change Change) (after Change, code string) {
	callCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.RequestTimeout)
	defer cancel()
	after, code, err := s.execute(callCtx, change)
	s.worker.Settle(callCtx, after, err)
	return after, code
}

// applyTransition stores a step and reports whether this node still has the lease.
func (s *Service) applyTransition(ctx context.Context, transition Transition) (Change, bool) {
	storeCtx, cancel := s.worker.StoreContext(ctx)
	defer cancel()
	transition.To.UpdatedAt, transition.At = s.cfg.Now(), s.worker.Now()
	updated, err := s.cfg.Store.UpdateDomainChange(storeCtx, transition)
	if err != nil {
		s.cfg.Logger.ErrorContext(ctx, "domain change not stored", "change", transition.From.ID, "state", string(transition.To.State), "error", err.Error())
	}
	if err != nil || !updated {
		return transition.From, false
	}
	return transition.To, true
}

func (s *Service) newTask(ctx context.Context, change Change) (Task, error) {
	task := Task{
		Kind: change.Kind, Name: change.Name, TLD: change.TLD, Nameservers: change.Desired.Nameservers, Handle: change.Handle,
		OldHandle: change.OldHandle, Transaction: change.ID, Pending: change.State == StatusPending, Immediate: change.Desired.Immediate,
	}
	if change.State == StatusRemovingDS {
		task.Kind, task.Transaction = RemoveAllDS, change.ID+"-s"
	}
	if change.Desired.DS != nil {
		task.DS = *change.Desired.DS
	}
	switch {
	case change.Kind != UpdateRegistrant:
	case change.State == StatusOpen:
		var err error
		if task.Registrant, err = s.desiredRegistrant(ctx, change); err != nil {
			return Task{}, err
		}
	case change.Desired.Registrant != nil: // a pending request is only queried, so it needs no check
		task.Registrant = *change.Desired.Registrant
	}
	if change.SealedCode == "" {
		return task, nil
	}
	var err error
	task.Code, err = s.cfg.Seal.Open(registrar.AuthCodePurpose(change.Name), change.SealedCode)
	return task, err
}

// execute works on a change under this node's lease and returns its new state; after an
// error it must be postponed. code is the auth code that the registry chose.
func (s *Service) execute(ctx context.Context, change Change) (after Change, code string, err error) {
	if change.State == StatusWaiting {
		var begun bool
		if change, begun = s.endWait(ctx, change); !begun {
			return change, "", nil
		}
	}
	registry, served := s.registryFor(change.Account, change.TLD)
	if !served {
		return change, "", &registrar.Error{Kind: registrar.KindInternal, Code: registrar.NoRegistryAccount}
	}
	task, err := s.newTask(ctx, change)
	if err == nil {
		err = s.checkStillAllowed(ctx, change)
	}
	failpoint.Hit("change_written")
	var result Result
	local := change.Kind == UpdateRegistrant && !registry.Registry.Capabilities(change.TLD).Contacts
	if err == nil && !local { // the registry stores no registrant
		result, err = registry.Registry.ApplyChange(ctx, task)
	}
	failpoint.Hit("change_carried")
	switch {
	case err != nil && registrar.IsTransient(err):
		return change, "", err
	case err != nil:
		return s.markRefused(ctx, change, err), "", nil
	case result.Signed:
		return s.removeDS(ctx, change, result.Record)
	case change.State == StatusRemovingDS && !result.Pending:
		return s.waitForTTL(ctx, change, result.Record), "", nil
	case result.Pending:
		pending := change
		pending.Node = ""
		if change.State != StatusRemovingDS { // the DS records are looked at again
			pending.State = StatusPending
		}
		pending.DueAt = s.worker.Now().Add(jobs.Backoff(change.Attempts, minPendingPoll, maxPendingPoll))
		after, _ = s.applyTransition(ctx, Transition{From: change, To: pending})
		return after, "", nil
	}
	done := Transition{From: change}
	if !local {
		result.Record.ReadAt = s.cfg.Now()
		done.Record = &result.Record
	}
	if change.Kind == UpdateRegistrant {
		if err := s.addRegistrants(ctx, &done, task.Registrant); err != nil {
			return change, "", err
		}
	}
	return s.markDone(ctx, done), result.Code, nil
}

// checkStillAllowed checks again what may have changed while the change was queued or waited.
// The domain may have left: the registry could have its name again, for another customer. And a
// dispute may forbid the change; a lock set from here on sees an open change. A pending request
// is already the registry's.
func (s *Service) checkStillAllowed(ctx context.Context, change Change) error {
	if change.State == StatusPending {
		return nil
	}
	domain := Domain{ID: change.Domain, Customer: change.Customer, Name: change.Name, TLD: change.TLD, Account: change.Account}
	if change.Actor.Kind != registrar.ActorSystem { // a new domain's lock; a claim may give it another customer
		held, err := s.customerDomain(ctx, change.Customer, change.Domain)
		switch {
		case registrar.CodeOf(err) == registrar.NoSuchDomain:
			return err
		case err != nil:
			return &registrar.Error{Kind: registrar.KindInternal, Code: "domain_unreadable", Err: err}
		case statusRefusal(held.Status, change.Kind) != "":
			return registrar.Conflict(statusRefusal(held.Status, change.Kind))
		}
	}
	reason, err := s.cfg.CheckRestrictions(ctx, domain, change.Kind)
	if err == nil && change.Kind == Release { // another reason to hold it may be younger than the change
		var held bool
		if held, err = s.cfg.HeldOtherwise(ctx, change.Domain, change.Desired.Lock); held {
			reason = DomainRestricted
		}
	}
	switch {
	case err != nil:
		return &registrar.Error{Kind: registrar.KindInternal, Code: "locks_unreadable", Err: err}
	case reason != "":
		return registrar.Conflict(reason)
	}
	return nil
}

func (s *Service) onRetry(ctx context.Context, log *slog.Logger, change Change, err error) {
	log = log.With("change", change.ID, "kind", string(change.Kind), "extension", change.TLD, "account", change.Account)
	if registrar.KindOf(err) == registrar.KindInternal {
		log.ErrorContext(ctx, "domain change blocked, operator action required")
	} else {
		log.WarnContext(ctx, "domain change waiting for the registry")
	}
}

func (s *Service) postpone(ctx context.Context, change Change, due time.Time) {
	next := change
	next.DueAt, next.Node = due, ""
	s.applyTransition(ctx, Transition{From: change, To: next}) // otherwise the lease expires by itself
}

// withFinalStatus ends a change and drops its auth code and its personal data.
func withFinalStatus(change Change, status ChangeStatus) Change {
	change.State, change.DueAt, change.WaitUntil, change.Node, change.SealedCode = status, time.Time{}, time.Time{}, "", ""
	change.Desired.Registrant = nil
	return change
}

func (s *Service) markRefused(ctx context.Context, change Change, err error) Change {
	refused := withFinalStatus(change, StatusRefused)
	refused.Failure = cmp.Or(registrar.CodeOf(err), registrar.RegistryDenied)
	if servers, ok := errors.AsType[*ServersRefused](err); ok {
		refused.Desired.RefusedServers = servers.Names
	}
	// The error text names the rule or the result code, never the domain name.
	s.cfg.Logger.WarnContext(ctx, "domain change refused", "change", change.ID, "kind", string(change.Kind), "extension", change.TLD,
		"account", change.Account, "detail", err.Error())
	transition := Transition{From: change, To: refused, AuditEvent: s.auditEvent(change, refusedAction(refused.Failure))}
	if change.Desired.ThenLock {
		transition.NextLock = registrar.NewID("chg_", s.cfg.Now())
	}
	return s.finalize(ctx, transition)
}

// planMail says that a planned change of nameservers has ended although the DS records may have been
// removed for it.
func planMail(kind registrar.MailKind, change Change) *registrar.Mail {
	mail := changeMail(change)
	mail.Kind = kind
	mail.Data["nameservers"] = joinLines(change.Desired.Nameservers)
	if mail.Join != "" {
		mail.ID += "_" + string(change.State)
		mail.Join = mail.ID
	}
	return mail
}

// refusedAction is the audited action of a refused change: by our own lock, or by the registry.
func refusedAction(why registrar.Code) registrar.Action {
	if why == DomainDisputed {
		return ActionDisputed
	}
	return ActionRefused
}

// markDone completes a transition from a change that was made.
func (s *Service) markDone(ctx context.Context, transition Transition) Change {
	change := transition.From
	transition.To, transition.AuditEvent = withFinalStatus(change, StatusDone), s.auditEvent(change, actions[change.Kind])
	if !change.Desired.RemovedDSAt.IsZero() { // the customer's request is audited as ActionPlanned
		transition.AuditEvent.Actor = registrar.Actor{Kind: registrar.ActorSystem}
	}
	// The order says that its domains are locked, and locking many domains sends no mail for each.
	if change.Actor.Kind != registrar.ActorSystem && (change.Kind != Lock || change.Bulk == "") {
		transition.Mail = changeMail(change)
		s.addNameservers(ctx, transition.Mail, change)
		if change.Kind == UpdateRegistrant && change.Bulk == "" { // domains of one mail may have had different holders
			transition.Mail.Data["before"], transition.Mail.Data["after"] = transition.PastRegistrant.DisplayName(), transition.Registrant.DisplayName()
		}
		if change.Kind == UpdateRegistrant {
			s.addTransferLock(transition.Mail, transition)
		}
		if transition.Unconfirmed {
			transition.Mail.Data["confirm"] = "true"
		}
		if change.Kind == AuthCode && !s.HasTransferLock(change.TLD) {
			transition.Mail.Data["lockable"] = "false"
		}
	}
	return s.finalize(ctx, transition)
}

func changeMail(change Change) *registrar.Mail {
	mail := &registrar.Mail{Kind: registrar.MailDomainChanged, Customer: change.Customer, Data: map[string]string{
		"domain": change.Name, "domain_id": change.Domain, "change": string(change.Kind), registrar.MailOccurredAt: change.UpdatedAt.UTC().Format(time.RFC3339),
	}}
	if change.Kind == AuthCode {
		mail.Kind = registrar.MailAuthCode
	}
	if change.Bulk != "" { // one mail for what was requested together
		mail.ID = "mail_" + change.Bulk
		mail.Join, mail.Delay = mail.ID, bulkMailDelay
		mail.Data["bulk"] = change.Bulk
	}
	// Customers don't see an operator's address.
	if change.Actor.Kind != registrar.ActorOperator && change.Actor.Address.IsValid() {
		mail.Data["address"] = change.Actor.Address.String()
	}
	return mail
}

// addNameservers names the new nameservers in the mail about their change and, in that of a
// single domain, the previous ones.
func (s *Service) addNameservers(ctx context.Context, mail *registrar.Mail, change Change) {
	if change.Kind != Nameservers {
		return
	}
	mail.Data["nameservers"] = joinLines(change.Desired.Nameservers)
	if change.Bulk != "" {
		return
	}
	// Without the stored record, or if it has been read again since, the mail has only the new ones.
	record, found, err := s.cfg.Store.GetRegistryRecord(ctx, change.Domain)
	if previous := joinLines(record.Nameservers); err == nil && found && previous != mail.Data["nameservers"] {
		mail.Data["old_nameservers"] = previous
	}
}

func joinLines(servers []Nameserver) string {
	var lines []string
	for _, server := range servers {
		lines = append(lines, server.String())
	}
	return strings.Join(lines, "\n")
}

// finalize ends a change. The customer gets a mail if it may leave the domain without DS records: that
// can be hours after the request, and someone else may have canceled it. A domain that was lost meanwhile
// has mails of its own.
func (s *Service) finalize(ctx context.Context, transition Transition) Change {
	lost := slices.Contains([]registrar.Code{registrar.NoSuchDomain, IsRedemption, IsTransit, IsTransferredOut}, transition.To.Failure)
	ended := transition.To
	ended.UpdatedAt = s.cfg.Now()
	switch {
	case transition.Mail != nil:
	case ended.State == StatusCanceled:
		ended.Actor = transition.AuditEvent.Actor
		transition.Mail = planMail(registrar.MailNameserversCanceled, ended)
	case ended.MayBeUnsigned() && !lost:
		transition.Mail = planMail(registrar.MailNameserversRefused, ended)
	}
	after, updated := s.applyTransition(ctx, transition)
	if updated {
		failpoint.Hit("change_ended")
		s.cfg.OnChangeEnded(after.Kind, after.State)
		s.cfg.MailQueued()
	}
	return after
}

func (s *Service) auditEvent(change Change, action registrar.Action) *registrar.AuditEvent {
	return &registrar.AuditEvent{Actor: change.Actor, Action: action, Customer: change.Customer, Object: change.Name, At: s.cfg.Now()}
}
