package domains

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// runLocks returns operators' locks, whose holds it sets and ends.
func (s *contactEnv) runLocks() *admin.Service {
	s.t.Helper()
	locks, err := admin.New(admin.Config{
		Store: s.db, Holds: s.service, Secure: s.service.Secure, SecuredFor: s.service.SecuredFor, MailQueued: s.mails, Business: s.world.Now,
	})
	must(s.t, err)
	ctx, stop := context.WithCancel(s.t.Context())
	var running sync.WaitGroup
	running.Go(func() { locks.Run(ctx) })
	s.t.Cleanup(func() { stop(); running.Wait() })
	return locks
}

// holdRequest is a lock that takes a domain out of the DNS.
func (s *contactEnv) holdRequest(name string) admin.LockRequest {
	return admin.LockRequest{Name: name, Cause: admin.Abuse, Reason: "Phishing", Restrictions: []admin.Restriction{admin.Hold}, ReviewAt: s.world.Now().AddDate(0, 1, 0)}
}

func TestLock_DomainIsOutOfTheDNSUntilLifted(t *testing.T) {
	t.Parallel()
	s := newContactEnv(t, "phishing.org")
	s.addEnding("phishing", ".org", 400)
	locks, request := s.runLocks(), s.holdRequest("phishing.org")
	lock, notSecured, err := locks.SetLock(t.Context(), termOperator, request)
	must(t, err)
	if again, _, err := locks.SetLock(t.Context(), termOperator, request); err != nil || again.ID != lock.ID || notSecured != nil {
		t.Errorf("sent twice: %s and %s, %v, %v", lock.ID, again.ID, err, notSecured)
	}
	s.wantHeld("phishing.org", true)
	prohibited := func() bool {
		return slices.Contains(s.registryDomain("phishing.org").Statuses(), "clientTransferProhibited")
	}
	if !prohibited() {
		t.Error("the domain can be transferred away")
	}
	if mail := s.wantMails(registrar.MailDomainLock, ada+"@example.org", 1)[0]; mail.Data["suspended"] != "true" || mail.Data["name"] != "Phishing" {
		t.Errorf("the mail has %v", mail.Data)
	}
	testkit.Eventually(t, "the status of the lock", func() bool {
		inForce, _, err := locks.ListLocks(t.Context(), termOperator)
		must(t, err)
		return len(inForce) == 1 && inForce[0].HoldStatus == admin.Held && inForce[0].SecureStatus == admin.Secured
	})
	s.renew(registrar.NewName("phishing", ".org"), provision.Renew)
	s.wantHeld("phishing.org", true)

	_, err = locks.LiftLock(t.Context(), termOperator, lock.ID)
	must(t, err)
	s.wantHeld("phishing.org", false)
	if !prohibited() {
		t.Error("the transfer lock has ended with the hold")
	}
	s.wantMails(registrar.MailDomainLock, ada+"@example.org", 2)
	testkit.Eventually(t, "the end of the hold", func() bool {
		ended, _, err := s.db.GetDomainLock(t.Context(), lock.ID)
		must(t, err)
		return ended.HoldStepAt.IsZero()
	})
}

// A domain can be out of the DNS for several reasons at once.
func TestLock_AndUnconfirmedAddressEndOnlyTheirOwnHold(t *testing.T) {
	t.Parallel()
	const check = "chk_1"
	for name, liftFirst := range map[string]bool{"zuerst.org": true, "zuletzt.org": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newContactEnv(t, name)
			label := name[:len(name)-len(".org")]
			id := s.addEnding(label, ".org", 400)
			locks := s.runLocks()
			lock, _, err := locks.SetLock(t.Context(), termOperator, s.holdRequest(name))
			must(t, err)
			s.wantHeld(name, true)
			setCheck := func(statement string) {
				_, err := s.db.SQL().Writer().ExecContext(t.Context(), statement, id)
				must(t, err)
			}
			setCheck(`UPDATE domains SET contact_check = 'chk_1', contact_hold = 'chk_1' WHERE id = $1`)
			testkit.Eventually(t, "the suspension", func() bool {
				progress, err := s.service.HoldFor(t.Context(), ada, id, check)
				return err == nil && progress == domainchange.Done
			})
			confirm := func() {
				setCheck(`UPDATE domains SET contact_check = '' WHERE id = $1`)
				testkit.Eventually(t, "the end of the suspension", func() bool {
					hold := ""
					must(t, s.db.SQL().Reader().QueryRowContext(t.Context(), `SELECT contact_hold FROM domains WHERE id = $1`, id).Scan(&hold))
					return hold == ""
				})
			}
			lift := func() {
				_, err := locks.LiftLock(t.Context(), termOperator, lock.ID)
				must(t, err)
				testkit.Eventually(t, "the end of the lock", func() bool {
					ended, _, err := s.db.GetDomainLock(t.Context(), lock.ID)
					must(t, err)
					return ended.HoldStepAt.IsZero()
				})
			}
			first, second := confirm, lift
			if liftFirst {
				first, second = lift, confirm
			}
			first()
			s.wantHeld(name, true)
			second()
			s.wantHeld(name, false)
		})
	}
}

func TestLock_RegistryWithoutHoldSetsNone(t *testing.T) {
	t.Parallel()
	s := newContactEnv(t, "bleibt.info")
	id := s.addEnding("bleibt", ".info", 400)
	locks := s.runLocks()
	if _, _, err := locks.SetLock(t.Context(), termOperator, s.holdRequest("bleibt.info")); registrar.CodeOf(err) != admin.HoldUnsupported {
		t.Errorf("got %v", err)
	}
	if active, err := s.db.ListActiveLocksOfDomain(t.Context(), id); err != nil || len(active) != 0 {
		t.Errorf("stored %+v, %v", active, err)
	}
}

// A release that waits for the registry must not end a hold for a reason that is younger than it.
func TestLock_ReleaseUnderWayLeavesAYoungerHold(t *testing.T) {
	t.Parallel()
	s := newContactEnv(t, "wieder.org")
	id := s.addEnding("wieder", ".org", 400)
	locks := s.runLocks()
	first, _, err := locks.SetLock(t.Context(), termOperator, s.holdRequest("wieder.org"))
	must(t, err)
	s.wantHeld("wieder.org", true)
	s.up.Store(false)
	_, err = locks.LiftLock(t.Context(), termOperator, first.ID)
	must(t, err)
	release := func() (last domainchange.Change) {
		last, _, err := s.db.GetLastChangeFor(t.Context(), id, first.ID, domainchange.Release, domainchange.Release)
		must(t, err)
		return last
	}
	testkit.Eventually(t, "the release", func() bool { return release().ID != "" })
	request := s.holdRequest("wieder.org")
	request.Reason = "wieder Phishing"
	second, _, err := locks.SetLock(t.Context(), termOperator, request)
	must(t, err)
	s.up.Store(true)
	testkit.Eventually(t, "the end of the release", func() bool { return release().State.Final() })
	if got := release(); got.State != domainchange.StatusRefused || got.Failure != domainchange.DomainRestricted {
		t.Errorf("the release is %s: %s", got.State, got.Failure)
	}
	testkit.Eventually(t, "both locks", func() bool {
		ended, _, err := s.db.GetDomainLock(t.Context(), first.ID)
		must(t, err)
		hold, _, err := s.db.GetLastChangeFor(t.Context(), id, second.ID, domainchange.Hold, domainchange.Release)
		must(t, err)
		return ended.HoldStepAt.IsZero() && hold.State == domainchange.StatusDone
	})
	s.wantHeld("wieder.org", true)
	_, err = locks.LiftLock(t.Context(), termOperator, second.ID)
	must(t, err)
	s.wantHeld("wieder.org", false)
}

func TestLock_LiftedAfterItsDomainHasMovedAwayEnds(t *testing.T) {
	t.Parallel()
	s := newContactEnv(t, "fort.org")
	id := s.addEnding("fort", ".org", 400)
	locks := s.runLocks()
	lock, _, err := locks.SetLock(t.Context(), termOperator, s.holdRequest("fort.org"))
	must(t, err)
	s.wantHeld("fort.org", true)
	_, err = s.db.SQL().Writer().ExecContext(t.Context(), `UPDATE domains SET status = 'transferred_out' WHERE id = $1`, id)
	must(t, err)
	_, err = locks.LiftLock(t.Context(), termOperator, lock.ID)
	must(t, err)
	testkit.Eventually(t, "the end of the lock", func() bool {
		ended, _, err := s.db.GetDomainLock(t.Context(), lock.ID)
		must(t, err)
		return ended.HoldStepAt.IsZero()
	})
}
