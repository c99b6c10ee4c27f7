package accounts

import (
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/test/testkit/passkey"
)

// grantOperator grants the role as the command line does.
func (e *env) grantOperator(id string) account.OperatorGrant {
	e.Helper()
	grant, err := e.AddOperator(e.Context(), operator, id)
	e.must(err)
	return grant
}

// factorChanges are all ways to change what opens the operator pages.
func (e *env) factorChanges(passkey string) map[string]func(registrar.Actor) error {
	ctx := e.Context()
	return map[string]func(registrar.Actor) error{
		"begin authenticator app":  func(a registrar.Actor) error { _, _, err := e.BeginSecondFactor(ctx, a); return err },
		"finish authenticator app": func(a registrar.Actor) error { _, err := e.FinishSecondFactor(ctx, a, "123456"); return err },
		"drop authenticator app":   func(a registrar.Actor) error { return e.DisableSecondFactor(ctx, a) },
		"recovery codes":           func(a registrar.Actor) error { _, err := e.ReplaceRecoveryCodes(ctx, a); return err },
		"begin passkey":            func(a registrar.Actor) error { _, _, err := e.BeginAddPasskey(ctx, a, origin); return err },
		"remove passkey":           func(a registrar.Actor) error { return e.RemovePasskey(ctx, a, passkey) },
		"closing the account":      func(a registrar.Actor) error { return e.Close(ctx, a) },
		"e-mail address":           func(a registrar.Actor) error { return e.RequestEmailChange(ctx, a, "thief@example.org") },
	}
}

// isOperator reports whether a session opens the operator pages.
func (e *env) isOperator(secret string) bool {
	e.Helper()
	visitor, err := e.Visitor(e.Context(), secret)
	e.must(err)
	_, strong := visitor.Operator(home.Address)
	return strong
}

func TestOperatorFactors_PasswordSessionChangesNone(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		id := e.newMember(email).Visitor.Customer.ID
		if e.grantOperator(id).EnrolmentLink == "" {
			t.Fatal("an account without a factor got no enrolment link")
		}
		refuse := func(how string, in account.SignInResult, passkey string) {
			t.Helper()
			for name, change := range e.factorChanges(passkey) {
				if err := change(actorOf(in)); registrar.CodeOf(err) != account.StrongSignIn {
					t.Errorf("%s, %s: got %v, want %s", how, name, err, account.StrongSignIn)
				}
			}
		}
		refuse("stolen password", e.signIn(attacker, ""), "")
		again, err := e.SignInAgain(e.Context(), attacker, e.signIn(attacker, "").Secret, account.ReauthCredentials{Password: password})
		e.must(err)
		refuse("signed in twice", again, "")
		e.must(e.RequestPasswordReset(e.Context(), home, email, ""))
		e.must(e.ResetPassword(e.Context(), home, e.deliverOneMail(registrar.MailPasswordReset).link, password))
		refuse("reset password", e.signIn(attacker, ""), "")
	})
}

func TestOperatorFactors_PasswordSessionOfPasskeyAccountChangesNone(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		in := e.newMember(email)
		laptop := passkey.NewDevice(t, origin)
		e.addPasskey(in, laptop)
		grant := e.grantOperator(in.Visitor.Customer.ID)
		if grant.EnrolmentLink != "" || len(grant.Passkeys) != 1 || grant.Passkeys[0].Name != "Laptop" || grant.HasSecondFactor {
			t.Fatalf("an account with a passkey got %+v", grant)
		}
		weak := e.signIn(attacker, "")
		for name, change := range e.factorChanges(grant.Passkeys[0].ID) {
			e.wantError(change(actorOf(weak)), registrar.KindForbidden, account.StrongSignIn)
			if t.Failed() {
				t.Fatal(name)
			}
		}
		strong, err := e.passkeySignIn(laptop)
		e.must(err)
		e.addPasskey(strong, passkey.NewDevice(t, origin))
		e.enableSecondFactor(strong)
		e.must(e.RemovePasskey(e.Context(), actorOf(strong), grant.Passkeys[0].ID))
		e.must(e.RequestEmailChange(e.Context(), actorOf(strong), "new@example.org"))
	})
}

func TestAddOperator_EnrolmentBegunBeforeRoleCannotFinish(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ctx := e.Context()
		id := e.newMember(email).Visitor.Customer.ID
		thief := e.signIn(attacker, "")
		secret, _, err := e.BeginSecondFactor(ctx, actorOf(thief))
		e.must(err)
		challenge, options, err := e.BeginAddPasskey(ctx, actorOf(thief), origin)
		e.must(err)
		e.grantOperator(id)
		if e.sessionValid(thief.Secret) {
			t.Error("a session from before the role is still open")
		}
		_, err = e.FinishSecondFactor(ctx, actorOf(thief), authenticatorApp{secret}.code(e))
		e.wantError(err, registrar.KindUnauthenticated, registrar.SignInFirst)
		err = e.FinishAddPasskey(ctx, actorOf(thief), origin, challenge, "Thief", passkey.NewDevice(t, origin).Create(options))
		e.wantError(err, registrar.KindUnauthenticated, registrar.SignInFirst)
		if grant := e.grantOperator(id); grant.EnrolmentLink == "" {
			t.Errorf("the account has a factor: %+v", grant)
		}
	})
}

// A passkey that was added and removed again leaves a session that counts as strong.
func TestAddOperator_EndsStrongSessionOfRemovedPasskey(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		in := e.newMember(email)
		stick := passkey.NewDevice(t, origin)
		e.addPasskey(in, stick)
		thief, err := e.passkeySignIn(stick)
		e.must(err)
		passkeys, err := e.Passkeys(e.Context(), actorOf(thief))
		e.must(err)
		e.must(e.RemovePasskey(e.Context(), actorOf(thief), passkeys[0].ID))
		if e.sessionValid(in.Secret) {
			t.Error("removing a passkey left another session open")
		}
		e.grantOperator(in.Visitor.Customer.ID)
		if e.sessionValid(thief.Secret) {
			t.Error("the session of a removed passkey outlives the grant")
		}
	})
}

func TestEnrolmentLink_EnrolsFirstFactorOnceAfterPasswordSignIn(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ctx := e.Context()
		gone := func(err error) { t.Helper(); e.wantError(err, registrar.KindNotFound, account.LinkInvalid) }
		id := e.newMember(email).Visitor.Customer.ID
		bob := e.newMember("bob@example.org")
		link := e.grantOperator(id).EnrolmentLink
		use := func(in account.SignInResult) error {
			_, err := e.OpenEnrolment(ctx, actorOf(in), in.Secret, link)
			return err
		}

		gone(e.CheckEnrolment(ctx, actorOf(bob), link))
		gone(use(bob))
		if e.CheckEnrolment(ctx, attacker, link) == nil {
			t.Error("the link works without a session")
		}
		late := e.signIn(home, "")
		e.advanceClock(registrar.RecentSignIn + time.Second)
		e.wantError(use(late), registrar.KindUnauthenticated, registrar.SignInAgain)

		owner := e.signIn(home, "")
		e.must(e.CheckEnrolment(ctx, actorOf(owner), link))
		enrolling, err := e.OpenEnrolment(ctx, actorOf(owner), owner.Secret, link)
		e.must(err)
		if e.sessionValid(owner.Secret) || e.isOperator(enrolling.Secret) {
			t.Error("the link left the old session open, or opened the operator pages")
		}
		gone(use(e.signIn(attacker, ""))) // used
		e.wantError(e.RequestEmailChange(ctx, actorOf(enrolling), "new@example.org"), registrar.KindForbidden, account.StrongSignIn)
		phone, _ := e.enableSecondFactor(enrolling)
		_, _, err = e.BeginAddPasskey(ctx, actorOf(enrolling), origin)
		e.wantError(err, registrar.KindForbidden, account.StrongSignIn) // it was for the first factor
		e.wantError(e.DisableSecondFactor(ctx, actorOf(enrolling)), registrar.KindForbidden, account.StrongSignIn)

		strong, err := e.EnterCode(ctx, home, e.signIn(home, "").Secret, phone.code(e))
		e.must(err)
		if !e.isOperator(strong.Secret) {
			t.Error("the enrolled factor does not open the operator pages")
		}
		e.addPasskey(strong, passkey.NewDevice(t, origin))
		if !e.hasAuditEvent(owner, account.ActionEnrolmentLinkCreated) || !e.hasAuditEvent(owner, account.ActionEnrolmentOpened) {
			t.Error("the audit does not show the enrolment")
		}
	})
}

func TestEnrolmentLink_EnrolsPasskeyAsFirstFactor(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		link := e.grantOperator(e.newMember(email).Visitor.Customer.ID).EnrolmentLink
		owner := e.signIn(home, "")
		enrolling, err := e.OpenEnrolment(e.Context(), actorOf(owner), owner.Secret, link)
		e.must(err)
		laptop := passkey.NewDevice(t, origin)
		e.addPasskey(enrolling, laptop)
		_, _, err = e.BeginSecondFactor(e.Context(), actorOf(enrolling))
		e.wantError(err, registrar.KindForbidden, account.StrongSignIn)
		strong, err := e.passkeySignIn(laptop)
		e.must(err)
		if !e.isOperator(strong.Secret) {
			t.Error("the passkey does not open the operator pages")
		}
	})
}

func TestEnrolmentLink_ExpiresAndIsVoidedByReissueOrRemoval(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ctx := e.Context()
		id := e.newMember(email).Visitor.Customer.ID
		void := func(link string) {
			t.Helper()
			in := e.signIn(home, "")
			_, err := e.OpenEnrolment(ctx, actorOf(in), in.Secret, link)
			e.wantError(err, registrar.KindNotFound, account.LinkInvalid)
		}
		link := e.grantOperator(id).EnrolmentLink
		e.advanceClock(time.Hour)
		void(link)
		link = e.grantOperator(id).EnrolmentLink
		reissued := e.grantOperator(id).EnrolmentLink
		void(link)
		e.must(e.RemoveOperator(ctx, operator, id))
		void(reissued)
		e.must(e.Disable(ctx, operator, id))
		_, err := e.AddOperator(ctx, operator, id)
		e.wantError(err, registrar.KindConflict, account.AccountDisabled)
		inBrowser := operator
		inBrowser.Address = attacker.Address
		_, err = e.AddOperator(ctx, inBrowser, id)
		e.wantError(err, registrar.KindForbidden, registrar.OperatorsOnly)
	})
}

// Either the factor comes first and the grant reports it, or the grant comes first
// and the password session is refused.
func TestAddOperator_RaceWithEnrolmentLeavesNoUnreportedFactor(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		id := e.newMember(email).Visitor.Customer.ID
		for range 10 {
			thief := e.signIn(home, "")
			secret, _, err := e.BeginSecondFactor(e.Context(), actorOf(thief))
			e.must(err)
			code := authenticatorApp{secret}.code(e)
			var enrolled error
			var grant account.OperatorGrant
			var both sync.WaitGroup
			both.Go(func() { _, enrolled = e.FinishSecondFactor(e.Context(), actorOf(thief), code) })
			both.Go(func() { grant = e.grantOperator(id) })
			both.Wait()
			if (enrolled == nil) != grant.HasSecondFactor || (enrolled == nil) == (grant.EnrolmentLink != "") {
				t.Fatalf("enrolled: %v, granted: %+v", enrolled, grant)
			}
			e.must(e.RemoveOperator(e.Context(), operator, id))
			if enrolled == nil {
				e.advanceClock(time.Minute)
				in, err := e.EnterCode(e.Context(), home, e.signIn(home, "").Secret, authenticatorApp{secret}.code(e))
				e.must(err)
				e.must(e.DisableSecondFactor(e.Context(), actorOf(in)))
			}
			e.advanceClock(time.Minute)
		}
	})
}
