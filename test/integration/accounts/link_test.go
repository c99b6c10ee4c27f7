package accounts

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

func TestMailLinks_WorkOnceAndExpire(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ctx := e.Context()
		confirm := func(link string) error {
			_, err := e.Confirm(ctx, home, link, password, "")
			return err
		}
		gone := func(err error) { t.Helper(); e.wantError(err, registrar.KindNotFound, account.LinkInvalid) }
		register := func() string {
			e.must(e.Register(ctx, home, email, ""))
			return e.deliverOneMail(registrar.MailConfirm).link
		}

		old := register()
		e.advanceClock(48*time.Hour + time.Second)
		gone(confirm(old))
		void := register()
		link := register()
		gone(confirm(void)) // a newer one was sent
		if address, err := e.CheckLink(ctx, account.LinkConfirm, link); err != nil || address != email {
			t.Errorf("looking at a link: %q, %v", address, err)
		}
		gone(e.ResetPassword(ctx, home, link, otherPassword)) // of another kind
		e.must(confirm(link))
		gone(confirm(link))

		ask := func() string {
			e.advanceClock(time.Hour)
			e.must(e.RequestPasswordReset(ctx, home, email, ""))
			return e.deliverOneMail(registrar.MailPasswordReset).link
		}
		reset := ask()
		e.advanceClock(time.Hour)
		gone(e.ResetPassword(ctx, home, reset, otherPassword))
		reset = ask()
		e.must(e.ResetPassword(ctx, home, reset, otherPassword))
		gone(e.ResetPassword(ctx, home, reset, password))

		reset = ask()
		in, err := e.SignIn(ctx, home, account.Credentials{Email: email, Password: otherPassword})
		e.must(err)
		e.must(e.ChangePassword(ctx, actorOf(in), otherPassword, password))
		gone(e.ResetPassword(ctx, home, reset, otherPassword)) // the password was changed meanwhile

		for _, nonsense := range []string{"", "x", strings.Repeat("a", 4000), in.Secret} {
			gone(e.ResetPassword(ctx, home, nonsense, otherPassword))
		}
	})
}

func TestReset_ConcurrentCallsUseLinkOnce(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		e.newMember(email)
		e.must(e.RequestPasswordReset(e.Context(), home, email, ""))
		link := e.deliverOneMail(registrar.MailPasswordReset).link
		e.reconfigure(func(cfg *account.Config) { cfg.Hashes = 6 }) // otherwise they run one after the other
		var worked atomic.Int32
		var all sync.WaitGroup
		for range 12 {
			all.Go(func() {
				if e.ResetPassword(e.Context(), home, link, otherPassword) == nil {
					worked.Add(1)
				}
			})
		}
		all.Wait()
		if worked.Load() != 1 {
			t.Errorf("a link worked %d times", worked.Load())
		}
	})
}

func TestChangeEmail_NeedsConfirmationAndNotifiesOldAddress(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ctx := e.Context()
		in := e.newMember(email)
		e.must(e.RequestPasswordReset(ctx, home, email, ""))
		reset := e.deliverOneMail(registrar.MailPasswordReset).link
		e.must(e.RequestEmailChange(ctx, actorOf(in), "Ada.New@EXAMPLE.org"))
		var link string
		for _, m := range e.deliverMails() {
			switch {
			case m.kind == registrar.MailChangeEmail && m.to == "Ada.New@example.org" && m.facts["address"] == "":
				link = m.link
			case m.kind == registrar.MailEmailChanging && m.to == email &&
				m.facts["email"] == "Ada.New@example.org" && m.facts["address"] == home.Address.String():
			default:
				t.Errorf("an unexpected mail %s to %s", m.kind, m.to)
			}
		}
		e.must(e.ConfirmEmailChange(ctx, actorOf(in), link))
		e.wantError(e.ConfirmEmailChange(ctx, actorOf(in), link), registrar.KindNotFound, account.LinkInvalid)
		e.wantError(e.ResetPassword(ctx, home, reset, otherPassword), registrar.KindNotFound, account.LinkInvalid)
		_, err := e.SignIn(ctx, home, account.Credentials{Email: "ada.new@example.org", Password: password})
		e.must(err)
		e.wantError(e.signInWithWrongPassword(home, ""), registrar.KindUnauthenticated, account.BadCredentials)

		// Another account with the new address exists and was never confirmed.
		e.must(e.Register(ctx, attacker, "ada@home.example", ""))
		e.deliverMails()
		e.must(e.RequestEmailChange(ctx, actorOf(in), "ada@home.example"))
		for _, m := range e.deliverMails() {
			if m.kind == registrar.MailChangeEmail {
				e.must(e.ConfirmEmailChange(ctx, actorOf(in), m.link))
			}
		}
		if found, err := e.FindByEmail(ctx, operator, "ada@home.example"); err != nil || found.ID != in.Visitor.Customer.ID {
			t.Errorf("the address belongs to %+v (%v)", found, err)
		}

		// The caller does not learn that the address has another account.
		e.newMember("bob@example.org")
		e.must(e.RequestEmailChange(ctx, actorOf(in), "bob@example.org"))
		for _, m := range e.deliverMails() {
			if m.link != "" {
				t.Errorf("the other account got a link to give its address away: %s to %s", m.kind, m.to)
			}
		}
	})
}

// A mistyped address delivers the link to an unrelated person.
func TestConfirmEmail_NeedsRecentSessionOfSameAccount(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ctx := e.Context()
		ada, bob := e.newMember(email), e.newMember("bob@example.org")
		e.must(e.RequestEmailChange(ctx, actorOf(ada), "stranger@example.org"))
		link := e.deliverOneMail(registrar.MailChangeEmail).link
		unchanged := func(how string, actor registrar.Actor, kind registrar.Kind, code registrar.Code) {
			t.Helper()
			e.wantError(e.ConfirmEmailChange(ctx, actor, link), kind, code)
			address, err := e.CheckEmailChange(ctx, actor, link)
			e.wantError(err, kind, code)
			found, err := e.FindByEmail(ctx, operator, email)
			if address != "" || err != nil || found.ID != ada.Visitor.Customer.ID {
				t.Errorf("%s: learned %q, the old address belongs to %+v (%v)", how, address, found, err)
			}
		}
		unchanged("no session", attacker, registrar.KindForbidden, "persons_only")
		unchanged("another account", actorOf(bob), registrar.KindNotFound, account.LinkInvalid)
		token := registrar.Actor{Kind: registrar.ActorToken, Customer: ada.Visitor.Customer.ID, SignedInAt: e.clock()}
		unchanged("a token", token, registrar.KindForbidden, "persons_only")
		if _, err := e.CheckLink(ctx, account.LinkChangeEmail, link); registrar.CodeOf(err) != account.LinkInvalid {
			t.Errorf("the link can be inspected without a session: %v", err)
		}
		// That person requests a reset and registers the address: neither affects the account.
		e.must(e.RequestPasswordReset(ctx, attacker, "stranger@example.org", ""))
		e.deliverOneMail(registrar.MailNoAccount)
		e.must(e.Register(ctx, attacker, "stranger@example.org", ""))
		thief, err := e.Confirm(ctx, attacker, e.deliverOneMail(registrar.MailConfirm).link, password, "")
		e.must(err)
		unchanged("the recipient's own account", actorOf(thief), registrar.KindNotFound, account.LinkInvalid)
		e.wantError(e.ConfirmEmailChange(ctx, actorOf(ada), link), registrar.KindConflict, account.EmailTaken)
		e.advanceClock(registrar.RecentSignIn + time.Second)
		unchanged("an old session", actorOf(ada), registrar.KindUnauthenticated, registrar.SignInAgain)
	})
}

func TestConfirmEmail_PasswordResetVoidsPendingChange(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ctx := e.Context()
		e.must(e.RequestEmailChange(ctx, actorOf(e.newMember(email)), "stranger@example.org"))
		link := e.deliverOneMail(registrar.MailChangeEmail).link
		e.must(e.RequestPasswordReset(ctx, home, email, ""))
		e.must(e.ResetPassword(ctx, home, e.deliverOneMail(registrar.MailPasswordReset).link, password))
		e.wantError(e.ConfirmEmailChange(ctx, actorOf(e.signIn(home, "")), link), registrar.KindNotFound, account.LinkInvalid)
	})
}

func TestResetLink_OperatorIssuesAndReplacesIt(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ctx := e.Context()
		made, link, err := e.Add(ctx, operator, email, "en")
		e.must(err)
		_, _, err = e.Add(ctx, operator, strings.ToUpper(email), "en")
		e.wantError(err, registrar.KindConflict, account.EmailTaken)
		e.must(e.ResetPassword(ctx, home, link, password))
		if in := e.signIn(home, ""); in.Visitor.Customer.Language != "en" || in.Visitor.Customer.ID != made.ID {
			t.Errorf("got %+v", in.Visitor.Customer)
		}
		found, err := e.FindByEmail(ctx, operator, " Ada@Example.ORG")
		e.must(err)
		if found.ID != made.ID || !found.HasPassword {
			t.Errorf("found %+v", found)
		}
		first, err := e.CreateResetLink(ctx, operator, made.ID)
		e.must(err)
		again, err := e.CreateResetLink(ctx, operator, made.ID)
		e.must(err)
		e.wantError(e.ResetPassword(ctx, home, first, otherPassword), registrar.KindNotFound, account.LinkInvalid)
		e.must(e.ResetPassword(ctx, home, again, otherPassword))
		e.must(e.SetPassword(ctx, operator, made.ID, password))
		e.signIn(home, "")
		list, err := e.List(ctx, operator, "", 10)
		e.must(err)
		if len(list) != 1 {
			t.Errorf("listed %d", len(list))
		}
		// An account that is disabled and was never confirmed: no unusable link is issued.
		e.must(e.Register(ctx, home, "late@example.org", ""))
		late, err := e.FindByEmail(ctx, operator, "late@example.org")
		e.must(err)
		e.must(e.Disable(ctx, operator, late.ID))
		_, err = e.CreateResetLink(ctx, operator, late.ID)
		e.wantError(err, registrar.KindConflict, account.AccountDisabled)
		e.must(e.Enable(ctx, operator, late.ID))
		link, err = e.CreateResetLink(ctx, operator, late.ID)
		e.must(err)
		e.must(e.ResetPassword(ctx, home, link, password))
		_, err = e.CreateResetLink(ctx, operator, "cus_nobody")
		e.wantError(err, registrar.KindNotFound, registrar.NoSuchCustomer)
	})
}
