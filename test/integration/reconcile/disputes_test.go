package reconcile

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
	sandbox "github.com/dotkontor/dotkontor/internal/sandbox/stripe"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// noChanges is for a service that only lists: the product locks the domains.
type noChanges struct{ dispute.Changes }

type noTransfers struct{ dispute.Transfers }

// disputed opens a dispute of an order, an inquiry or a bank return.
func (s *env) disputed(request sandbox.DisputeRequest) sandbox.Dispute {
	s.t.Helper()
	made, err := s.Dispute(s.t.Context(), request)
	must(s.t, err)
	return made
}

// waitForDispute waits until the product has a dispute like this.
func (s *env) waitForDispute(id string, status dispute.Status, lock dispute.Lock) (stored dispute.Dispute) {
	s.t.Helper()
	testkit.Eventually(s.t, "the dispute "+string(status)+" with lock "+string(lock), func() bool {
		var err error
		stored, _, err = s.DB.GetDispute(s.t.Context(), id)
		must(s.t, err)
		return stored.Status == status && stored.Lock == lock
	})
	return stored
}

// waitForChange waits until the domains of an order have a change of this kind, done for the dispute.
func (s *env) waitForChange(d dispute.Dispute, kind domainchange.ChangeKind) {
	s.t.Helper()
	domains, err := s.DB.ListDisputedDomains(s.t.Context(), d.Order)
	must(s.t, err)
	if len(domains) == 0 {
		s.t.Fatalf("no domain of %s is disputed", d.Order)
	}
	for _, domain := range domains {
		testkit.Eventually(s.t, string(kind)+" of "+domain.Name, func() bool {
			changes, err := s.DB.ListDomainChanges(s.t.Context(), domain.ID, 20)
			must(s.t, err)
			return slices.ContainsFunc(changes, func(c domainchange.Change) bool {
				return c.Kind == kind && c.Desired.Lock == d.ID && c.State == domainchange.StatusDone
			})
		})
	}
}

// notices waits until the customer was sent this many notices of a kind.
func (s *env) notices(customer string, kind registrar.MailKind, want int) {
	s.t.Helper()
	testkit.Eventually(s.t, "notices "+string(kind), func() bool {
		sent, err := s.DB.ListSentNotices(s.t.Context(), customer, "", 100)
		must(s.t, err)
		found := 0
		for _, notice := range sent {
			if notice.Kind == kind {
				found++
			}
		}
		if found > want {
			s.t.Fatalf("%d notices %s, want %d", found, kind, want)
		}
		return found == want
	})
}

func TestDispute_LocksDomainsUntilWon(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	bought := s.order(s.purchase("streit-eins.com", "streit-zwei.org").ID)
	other := s.order(s.purchase("unbeteiligt.com").ID)
	// Webhooks may come twice and in any order.
	must(t, s.InjectFault(t.Context(), sandbox.Fault{On: "webhook", Do: "double", Times: 4}))
	must(t, s.InjectFault(t.Context(), sandbox.Fault{On: "webhook", Do: "reorder", Times: 2}))
	made := s.disputed(sandbox.DisputeRequest{Order: bought.ID})
	stored := s.waitForDispute(made.ID, dispute.NeedsResponse, dispute.LockActive)
	if stored.Order != bought.ID || stored.Amount != bought.Totals.Gross || stored.Withdrawn != bought.Totals.Gross || !stored.OpenWork || stored.Refundable {
		t.Errorf("stored %+v", stored)
	}
	s.waitForChange(stored, domainchange.Lock)
	s.notices(bought.Customer, registrar.MailPaymentDispute, 2) // one mail, kept for each of the two domains
	domains, err := s.DB.ListDisputedDomains(t.Context(), other.ID)
	must(t, err)
	if locked, err := s.DB.IsDomainDisputed(t.Context(), domains[0].ID); err != nil || locked {
		t.Errorf("a domain of another order is locked: %t, %v", locked, err)
	}
	testkit.Reconcile(t, s.World.Ready)
	must(t, s.MoveDispute(t.Context(), made.ID, "under_review"))
	must(t, s.MoveDispute(t.Context(), made.ID, "won"))
	won := s.waitForDispute(made.ID, dispute.Won, dispute.LockLifted)
	if won.Withdrawn != 0 || won.OpenWork || !won.Refundable {
		t.Errorf("won %+v", won)
	}
	s.notices(bought.Customer, registrar.MailPaymentDispute, 4)
	testkit.Reconcile(t, s.World.Ready)
	// Won, the payment can be refunded.
	s.refund(order.RefundRequested{Order: bought.ID})
	s.wantCorrections(bought.ID, 1, bought.Totals.Gross)
	testkit.Reconcile(t, s.World.Ready)
}

func TestDispute_RefundOfDisputedPaymentIsRefusedAndShown(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	bought := s.order(s.purchase("streit-statt-geld.org").ID)
	made := s.disputed(sandbox.DisputeRequest{Order: bought.ID})
	s.waitForDispute(made.ID, dispute.NeedsResponse, dispute.LockActive)
	s.refund(order.RefundRequested{Order: bought.ID})
	refused := s.waitForRefund(bought.ID, func(r order.Refund) bool { return r.Failure != "" })
	if refused.Failure != order.ChargeDisputed || refused.Task != order.TaskRefused || refused.Provider != "" {
		t.Errorf("refused %+v", refused)
	}
	if money, err := s.Money(t.Context()); err != nil || len(money.Refunds) != 0 {
		t.Errorf("%d refunds, %v", len(money.Refunds), err)
	}
	testkit.Reconcile(t, s.World.Ready)
}

func TestDispute_OnRefundedChargeIsReportedAsPaidTwice(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	bought := s.order(s.purchase("zweimal.org").ID)
	s.refund(order.RefundRequested{Order: bought.ID})
	first := s.disputed(sandbox.DisputeRequest{Order: bought.ID})
	s.waitForDispute(first.ID, dispute.NeedsResponse, dispute.LockActive)
	s.wantOneProblem("dispute " + bought.ID + ": of payment ")
	// The bank may dispute a charge again.
	must(t, s.MoveDispute(t.Context(), first.ID, "won"))
	s.waitForDispute(first.ID, dispute.Won, dispute.LockLifted)
	testkit.Reconcile(t, s.World.Ready)
	second := s.disputed(sandbox.DisputeRequest{Order: bought.ID, Amount: 100})
	s.waitForDispute(second.ID, dispute.NeedsResponse, dispute.LockActive)
	all, err := s.DB.ListOrderDisputes(t.Context(), bought.ID)
	if err != nil || len(all) != 2 {
		t.Errorf("%d disputes, %v", len(all), err)
	}
}

func TestDispute_InquiryLocksNothingUntilItBecomesOne(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	bought := s.order(s.purchase("anfrage.org").ID)
	made := s.disputed(sandbox.DisputeRequest{Order: bought.ID, Kind: "inquiry"})
	stored := s.waitForDispute(made.ID, dispute.WarningNeedsResponse, dispute.LockNone)
	if !stored.OpenWork || stored.Withdrawn != 0 {
		t.Errorf("stored %+v", stored)
	}
	s.notices(bought.Customer, registrar.MailPaymentDispute, 0)
	testkit.Reconcile(t, s.World.Ready)
	must(t, s.MoveDispute(t.Context(), made.ID, "needs_response"))
	s.waitForDispute(made.ID, dispute.NeedsResponse, dispute.LockActive)
	s.notices(bought.Customer, registrar.MailPaymentDispute, 1)
	testkit.Reconcile(t, s.World.Ready)
}

func TestDispute_BankReturnIsLostFromTheStart(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	bought := s.order(s.purchase("rueckbuchung.org").ID)
	made := s.disputed(sandbox.DisputeRequest{Order: bought.ID, Kind: "bank_return"})
	stored := s.waitForDispute(made.ID, dispute.Lost, dispute.LockActive)
	if !stored.BankReturn || !stored.OpenWork || !stored.DueBy.IsZero() || stored.OpenClaim() != bought.Totals.Gross {
		t.Errorf("stored %+v", stored)
	}
	testkit.Reconcile(t, s.World.Ready)
}

func TestDispute_OfUnknownChargeIsOpenWorkAndLocksNothing(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	made := s.disputed(sandbox.DisputeRequest{Amount: 4200})
	stored := s.waitForDispute(made.ID, dispute.NeedsResponse, dispute.LockNone)
	if stored.Order != "" || stored.Payment != "" || !stored.OpenWork || stored.Amount != 4200 {
		t.Errorf("stored %+v", stored)
	}
	testkit.Reconcile(t, s.World.Ready)
}

func TestDispute_LostWebhookIsFoundByListing(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	bought := s.order(s.purchase("verpasster-streit.org").ID)
	must(t, s.InjectFault(t.Context(), sandbox.Fault{On: "webhook", Do: "lose"}))
	made := s.disputed(sandbox.DisputeRequest{Order: bought.ID})
	problems, err := testkit.ReconcileProblems(t.Context(), s.World.Ready, nil, 0)
	must(t, err)
	if !slices.ContainsFunc(problems, func(p string) bool {
		return p == "dispute "+made.ID+": the provider has a dispute over "+bought.Totals.Gross.String()+" that is not stored"
	}) {
		t.Errorf("found %q", problems)
	}
	// The daily listing is due again.
	now := time.Now()
	until, claimed, err := s.DB.ClaimDisputeListing(t.Context(), "stripe", now.Add(48*time.Hour), now.Add(48*time.Hour+time.Minute))
	if err != nil || !claimed {
		t.Fatalf("the listing is not due after two days: %t, %v", claimed, err)
	}
	must(t, s.DB.FinishDisputeListing(t.Context(), "stripe", now.Add(48*time.Hour+time.Minute), until, now))
	service, err := dispute.New(dispute.Config{Store: s.DB, Provider: s.provider(), Changes: noChanges{}, Transfers: noTransfers{}})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var listing sync.WaitGroup
	listing.Go(func() { service.RunListing(ctx) })
	defer listing.Wait()
	defer cancel()
	s.waitForDispute(made.ID, dispute.NeedsResponse, dispute.LockActive)
	testkit.Reconcile(t, s.World.Ready)
}

var operator = registrar.Actor{Kind: registrar.ActorOperator, Through: "ops"}

// domainOf returns the only domain of an order.
func (s *env) domainOf(id string) dispute.Domain {
	s.t.Helper()
	domains, err := s.DB.ListDisputedDomains(s.t.Context(), id)
	if err != nil || len(domains) != 1 {
		s.t.Fatalf("domains of %s: %v, %v", id, domains, err)
	}
	return domains[0]
}

// unlock removes the registry lock of a domain, as its customer would.
func (s *env) unlock(domain dispute.Domain) {
	s.t.Helper()
	s.waitForNoChange(domain)
	now := time.Now()
	must(s.t, s.DB.AddDomainChange(s.t.Context(), domainchange.Change{
		ID: registrar.NewID("chg_", now), Customer: domain.Customer, Domain: domain.ID, Name: domain.Name, TLD: domain.TLD, Account: "sandbox",
		Kind: domainchange.Unlock, State: domainchange.StatusOpen, Actor: registrar.Actor{Kind: registrar.ActorPerson, Customer: domain.Customer},
		DueAt: now, CreatedAt: now, UpdatedAt: now,
	}))
	s.waitForNoChange(domain)
	if s.isLocked(domain) {
		s.t.Fatalf("%s is still locked", domain.Name)
	}
}

func (s *env) waitForNoChange(domain dispute.Domain) {
	s.t.Helper()
	testkit.Eventually(s.t, "the changes of "+domain.Name, func() bool {
		changes, err := s.DB.ListDomainChanges(s.t.Context(), domain.ID, 20)
		must(s.t, err)
		return len(changes) > 0 && !slices.ContainsFunc(changes, func(c domainchange.Change) bool { return !c.State.Final() })
	})
}

func (s *env) isLocked(domain dispute.Domain) bool {
	s.t.Helper()
	record, _, err := s.DB.GetRegistryRecord(s.t.Context(), domain.ID)
	must(s.t, err)
	return record.Locked()
}

// transferAway lets another registrar request a domain, and waits until that is known.
func (s *env) transferAway(domain dispute.Domain) transferaway.Transfer {
	s.t.Helper()
	must(s.t, s.Control.TransferAway(s.t.Context(), domain.Name, "request"))
	return s.waitForTransfer(domain, transferaway.StatePending)
}

func (s *env) waitForTransfer(domain dispute.Domain, state transferaway.State) (t transferaway.Transfer) {
	s.t.Helper()
	testkit.Eventually(s.t, "the transfer of "+domain.Name+" in state "+string(state), func() bool {
		transfers, err := s.DB.ListDomainOutgoingTransfers(s.t.Context(), domain.ID, 5)
		must(s.t, err)
		if len(transfers) == 1 {
			t = transfers[0]
		}
		return t.State == state && t.Node == ""
	})
	return t
}

// An approval that was stored before the dispute must not be executed after it.
func TestDispute_TransferIsNotApproved(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	bought := s.order(s.purchase("streit-umzug.com").ID)
	domain := s.domainOf(bought.ID)
	s.unlock(domain)
	pending := s.transferAway(domain)
	made := s.disputed(sandbox.DisputeRequest{Order: bought.ID})
	s.waitForDispute(made.ID, dispute.NeedsResponse, dispute.LockActive)
	pending.State, pending.DecidedAt, pending.DueAt = transferaway.StateApproving, time.Now(), time.Now()
	stored, err := s.DB.DecideOutgoingTransfer(t.Context(), pending, registrar.AuditEvent{
		Actor: registrar.Actor{Kind: registrar.ActorPerson, Customer: domain.Customer}, Action: transferaway.ActionApprove, Customer: domain.Customer, Object: domain.Name, At: time.Now(),
	})
	if err != nil || !stored {
		t.Fatalf("the approval: %t, %v", stored, err)
	}
	if after := s.waitForTransfer(domain, transferaway.StatePending); after.Failure != transferaway.NotApprovable {
		t.Errorf("the approval ended with %q", after.Failure)
	}
}

func TestDispute_LostAfterWonLocksAgain(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	bought := s.order(s.purchase("streit-zweimal.com").ID)
	domain := s.domainOf(bought.ID)
	made := s.disputed(sandbox.DisputeRequest{Order: bought.ID})
	s.waitForChange(s.waitForDispute(made.ID, dispute.NeedsResponse, dispute.LockActive), domainchange.Lock)
	must(t, s.MoveDispute(t.Context(), made.ID, "won"))
	s.waitForDispute(made.ID, dispute.Won, dispute.LockLifted)
	s.unlock(domain)
	must(t, s.MoveDispute(t.Context(), made.ID, "lost"))
	s.waitForDispute(made.ID, dispute.Lost, dispute.LockActive)
	testkit.Eventually(t, "the second lock", func() bool { return s.isLocked(domain) })
}

// While a transfer is pending, the registry refuses clientHold, without which ICANN allows no
// denial: the dispute must not claim that transfers are denied.
func TestDispute_DenialWaitsForHold(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	bought := s.order(s.purchase("streit-sperre.com").ID)
	domain := s.domainOf(bought.ID)
	s.unlock(domain)
	s.transferAway(domain)
	made := s.disputed(sandbox.DisputeRequest{Order: bought.ID})
	s.waitForDispute(made.ID, dispute.NeedsResponse, dispute.LockActive)
	must(t, s.MoveDispute(t.Context(), made.ID, "lost"))
	s.waitForDispute(made.ID, dispute.Lost, dispute.LockActive)
	service, err := dispute.New(dispute.Config{Store: s.DB, Changes: noChanges{}, Transfers: noTransfers{}})
	must(t, err)
	testkit.Eventually(t, "the decision", func() bool { // the product may store a new version meanwhile
		lost, _, err := s.DB.GetDispute(t.Context(), made.ID)
		return err == nil && service.Decide(t.Context(), operator, made.ID, lost.Version, dispute.Deny, "unpaid") == nil
	})
	testkit.Eventually(t, "the refused hold", func() bool {
		hold, found, err := s.DB.GetLastChangeFor(t.Context(), domain.ID, made.ID, domainchange.Hold, domainchange.Release)
		must(t, err)
		return found && hold.State == domainchange.StatusRefused
	})
	testkit.Eventually(t, "the next check of the dispute", func() bool {
		d, _, err := s.DB.GetDispute(t.Context(), made.ID)
		must(t, err)
		return d.Node == "" && d.DueAt.After(time.Now().Add(30*time.Minute)) && d.Lock == dispute.LockDenying
	})
	s.waitForTransfer(domain, transferaway.StatePending)        // it was not rejected
	s.notices(bought.Customer, registrar.MailPaymentDispute, 2) // opened and lost; nothing was denied
}
