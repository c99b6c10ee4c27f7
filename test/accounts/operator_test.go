package accounts

import (
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
)

// grantOperator gives the role at the command line.
func (w *world) grantOperator(id string) customer.OperatorGrant {
	w.Helper()
	grant, err := w.AddOperator(w.Context(), operator, id)
	w.must(err)
	return grant
}

// factorChanges are all ways to change what opens the operators' pages.
func (w *world) factorChanges(passkey string) map[string]func(registrar.Actor) error {
	ctx := w.Context()
	return map[string]func(registrar.Actor) error{
		"begin authenticator app":  func(a registrar.Actor) error { _, _, err := w.BeginSecondFactor(ctx, a); return err },
		"finish authenticator app": func(a registrar.Actor) error { _, err := w.FinishSecondFactor(ctx, a, "123456"); return err },
		"drop authenticator app":   func(a registrar.Actor) error { return w.DropSecondFactor(ctx, a) },
		"recovery codes":           func(a registrar.Actor) error { _, err := w.NewRecoveryCodes(ctx, a); return err },
		"begin passkey":            func(a registrar.Actor) error { _, _, err := w.BeginAddPasskey(ctx, a, origin); return err },
		"remove passkey":           func(a registrar.Actor) error { return w.RemovePasskey(ctx, a, passkey) },
		"closing the account":      func(a registrar.Actor) error { return w.Close(ctx, a) },
		"e-mail address":           func(a registrar.Actor) error { return w.ChangeEmail(ctx, a, "thief@example.org") },
	}
}

// isOperator is whether a session opens the operators' pages.
func (w *world) isOperator(secret string) bool {
	w.Helper()
	visitor, err := w.Visitor(w.Context(), secret)
	w.must(err)
	_, strong := visitor.Operator(home.Address)
	return strong
}

func TestOperatorFactors_PasswordSessionChangesNone(t *testing.T) {
	eachEngine(t, func(w *world) {
		id := w.member(email).Visitor.Customer.ID
		if w.grantOperator(id).EnrolmentLink == "" {
			t.Fatal("an account without a factor got no enrolment link")
		}
		refuse := func(how string, in customer.SignedIn, passkey string) {
			t.Helper()
			for name, change := range w.factorChanges(passkey) {
				if err := change(actorOf(in)); registrar.CodeOf(err) != customer.StrongSignIn {
					t.Errorf("%s, %s: got %v, want %s", how, name, err, customer.StrongSignIn)
				}
			}
		}
		refuse("stolen password", w.signIn(attacker, ""), "")
		again, err := w.SignInAgain(w.Context(), attacker, w.signIn(attacker, "").Secret, customer.Proof{Password: password})
		w.must(err)
		refuse("signed in twice", again, "")
		w.must(w.AskReset(w.Context(), home, email, ""))
		w.must(w.Reset(w.Context(), home, w.mail(registrar.LetterReset).link, password))
		refuse("reset password", w.signIn(attacker, ""), "")
	})
}

func TestOperatorFactors_PasswordSessionBesideAPasskeyChangesNone(t *testing.T) {
	eachEngine(t, func(w *world) {
		in := w.member(email)
		laptop := newAuthenticator(t)
		w.addPasskey(in, laptop)
		grant := w.grantOperator(in.Visitor.Customer.ID)
		if grant.EnrolmentLink != "" || len(grant.Passkeys) != 1 || grant.Passkeys[0].Name != "Laptop" || grant.HasSecondFactor {
			t.Fatalf("an account with a passkey got %+v", grant)
		}
		weak := w.signIn(attacker, "")
		for name, change := range w.factorChanges(grant.Passkeys[0].ID) {
			w.refused(change(actorOf(weak)), registrar.KindForbidden, customer.StrongSignIn)
			if t.Failed() {
				t.Fatal(name)
			}
		}
		strong, err := w.passkeySignIn(laptop)
		w.must(err)
		w.addPasskey(strong, newAuthenticator(t))
		w.secondFactor(strong)
		w.must(w.RemovePasskey(w.Context(), actorOf(strong), grant.Passkeys[0].ID))
		w.must(w.ChangeEmail(w.Context(), actorOf(strong), "new@example.org"))
	})
}

func TestAddOperator_EnrolmentBegunBeforeTheRoleCannotFinish(t *testing.T) {
	eachEngine(t, func(w *world) {
		ctx := w.Context()
		id := w.member(email).Visitor.Customer.ID
		thief := w.signIn(attacker, "")
		secret, _, err := w.BeginSecondFactor(ctx, actorOf(thief))
		w.must(err)
		ceremony, options, err := w.BeginAddPasskey(ctx, actorOf(thief), origin)
		w.must(err)
		w.grantOperator(id)
		if w.alive(thief.Secret) {
			t.Error("a session from before the role is still open")
		}
		_, err = w.FinishSecondFactor(ctx, actorOf(thief), app{secret}.code(w))
		w.refused(err, registrar.KindUnauthenticated, customer.SignInFirst)
		err = w.FinishAddPasskey(ctx, actorOf(thief), origin, ceremony, "Thief", newAuthenticator(t).create(options))
		w.refused(err, registrar.KindUnauthenticated, customer.SignInFirst)
		if grant := w.grantOperator(id); grant.EnrolmentLink == "" {
			t.Errorf("the account has a factor: %+v", grant)
		}
	})
}

// A passkey that was added and removed again leaves a session that counts as strong.
func TestAddOperator_StrongSessionOfARemovedPasskeyEnds(t *testing.T) {
	eachEngine(t, func(w *world) {
		in := w.member(email)
		stick := newAuthenticator(t)
		w.addPasskey(in, stick)
		thief, err := w.passkeySignIn(stick)
		w.must(err)
		passkeys, err := w.Passkeys(w.Context(), actorOf(thief))
		w.must(err)
		w.must(w.RemovePasskey(w.Context(), actorOf(thief), passkeys[0].ID))
		if w.alive(in.Secret) {
			t.Error("removing a passkey left another session open")
		}
		w.grantOperator(in.Visitor.Customer.ID)
		if w.alive(thief.Secret) {
			t.Error("the session of a removed passkey outlives the grant")
		}
	})
}

func TestEnrolmentLink_EnrolsTheFirstFactorOnceAfterPasswordSignIn(t *testing.T) {
	eachEngine(t, func(w *world) {
		ctx := w.Context()
		gone := func(err error) { t.Helper(); w.refused(err, registrar.KindNotFound, customer.LinkInvalid) }
		id := w.member(email).Visitor.Customer.ID
		bob := w.member("bob@example.org")
		link := w.grantOperator(id).EnrolmentLink
		use := func(in customer.SignedIn) error {
			_, err := w.OpenEnrolment(ctx, actorOf(in), in.Secret, link)
			return err
		}

		gone(w.CheckEnrolment(ctx, actorOf(bob), link))
		gone(use(bob))
		if w.CheckEnrolment(ctx, attacker, link) == nil {
			t.Error("the link works without a session")
		}
		late := w.signIn(home, "")
		w.pass(registrar.RecentSignIn + time.Second)
		w.refused(use(late), registrar.KindUnauthenticated, registrar.SignInAgain)

		owner := w.signIn(home, "")
		w.must(w.CheckEnrolment(ctx, actorOf(owner), link))
		enrolling, err := w.OpenEnrolment(ctx, actorOf(owner), owner.Secret, link)
		w.must(err)
		if w.alive(owner.Secret) || w.isOperator(enrolling.Secret) {
			t.Error("the link left the old session open, or opened the operators' pages")
		}
		gone(use(w.signIn(attacker, ""))) // used
		w.refused(w.ChangeEmail(ctx, actorOf(enrolling), "new@example.org"), registrar.KindForbidden, customer.StrongSignIn)
		phone, _ := w.secondFactor(enrolling)
		_, _, err = w.BeginAddPasskey(ctx, actorOf(enrolling), origin)
		w.refused(err, registrar.KindForbidden, customer.StrongSignIn) // it was for the first factor
		w.refused(w.DropSecondFactor(ctx, actorOf(enrolling)), registrar.KindForbidden, customer.StrongSignIn)

		strong, err := w.EnterCode(ctx, home, w.signIn(home, "").Secret, phone.code(w))
		w.must(err)
		if !w.isOperator(strong.Secret) {
			t.Error("the enrolled factor does not open the operators' pages")
		}
		w.addPasskey(strong, newAuthenticator(t))
		if !w.told(owner, customer.ActionEnrolmentLinkMade) || !w.told(owner, customer.ActionEnrolmentOpened) {
			t.Error("the audit does not show the enrolment")
		}
	})
}

func TestEnrolmentLink_EnrolsAPasskeyAsFirstFactor(t *testing.T) {
	eachEngine(t, func(w *world) {
		link := w.grantOperator(w.member(email).Visitor.Customer.ID).EnrolmentLink
		owner := w.signIn(home, "")
		enrolling, err := w.OpenEnrolment(w.Context(), actorOf(owner), owner.Secret, link)
		w.must(err)
		laptop := newAuthenticator(t)
		w.addPasskey(enrolling, laptop)
		_, _, err = w.BeginSecondFactor(w.Context(), actorOf(enrolling))
		w.refused(err, registrar.KindForbidden, customer.StrongSignIn)
		strong, err := w.passkeySignIn(laptop)
		w.must(err)
		if !w.isOperator(strong.Secret) {
			t.Error("the passkey does not open the operators' pages")
		}
	})
}

func TestEnrolmentLink_ExpiresAndIsVoidOnceReissuedOrRemoved(t *testing.T) {
	eachEngine(t, func(w *world) {
		ctx := w.Context()
		id := w.member(email).Visitor.Customer.ID
		void := func(link string) {
			t.Helper()
			in := w.signIn(home, "")
			_, err := w.OpenEnrolment(ctx, actorOf(in), in.Secret, link)
			w.refused(err, registrar.KindNotFound, customer.LinkInvalid)
		}
		link := w.grantOperator(id).EnrolmentLink
		w.pass(time.Hour)
		void(link)
		link = w.grantOperator(id).EnrolmentLink
		reissued := w.grantOperator(id).EnrolmentLink
		void(link)
		w.must(w.RemoveOperator(ctx, operator, id))
		void(reissued)
		w.must(w.Disable(ctx, operator, id))
		_, err := w.AddOperator(ctx, operator, id)
		w.refused(err, registrar.KindConflict, customer.AccountDisabled)
		inBrowser := operator
		inBrowser.Address = attacker.Address
		_, err = w.AddOperator(ctx, inBrowser, id)
		w.refused(err, registrar.KindForbidden, customer.OperatorsOnly)
	})
}

// Either the factor comes first and the grant reports it, or the grant comes first
// and the password session is refused.
func TestAddOperator_RaceWithAnEnrolmentLeavesNoUnreportedFactor(t *testing.T) {
	eachEngine(t, func(w *world) {
		id := w.member(email).Visitor.Customer.ID
		for range 10 {
			thief := w.signIn(home, "")
			secret, _, err := w.BeginSecondFactor(w.Context(), actorOf(thief))
			w.must(err)
			code := app{secret}.code(w)
			var enrolled error
			var grant customer.OperatorGrant
			var both sync.WaitGroup
			both.Go(func() { _, enrolled = w.FinishSecondFactor(w.Context(), actorOf(thief), code) })
			both.Go(func() { grant = w.grantOperator(id) })
			both.Wait()
			if (enrolled == nil) != grant.HasSecondFactor || (enrolled == nil) == (grant.EnrolmentLink != "") {
				t.Fatalf("enrolled: %v, granted: %+v", enrolled, grant)
			}
			w.must(w.RemoveOperator(w.Context(), operator, id))
			if enrolled == nil {
				w.pass(time.Minute)
				in, err := w.EnterCode(w.Context(), home, w.signIn(home, "").Secret, app{secret}.code(w))
				w.must(err)
				w.must(w.DropSecondFactor(w.Context(), actorOf(in)))
			}
			w.pass(time.Minute)
		}
	})
}
