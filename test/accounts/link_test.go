package accounts

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
)

func TestResetAndConfirmationLinksAreSingleUseAndExpire(t *testing.T) {
	eachEngine(t, func(w *world) {
		ctx := w.Context()
		confirm := func(link string) error {
			_, err := w.Confirm(ctx, home, link, customer.Confirmation{Password: password})
			return err
		}
		gone := func(err error) { t.Helper(); w.refused(err, registrar.KindNotFound, customer.LinkInvalid) }
		register := func() string {
			w.must(w.Register(ctx, home, customer.Registration{Email: email}))
			return w.mail(registrar.LetterConfirm).link //nolint:contextcheck // the world has the test's context
		}

		old := register()
		w.pass(48*time.Hour + time.Second)
		gone(confirm(old))
		void := register()
		link := register()
		gone(confirm(void)) // a newer one was sent
		if address, err := w.PeekLink(ctx, customer.LinkConfirm, link); err != nil || address != email {
			t.Errorf("looking at a link: %q, %v", address, err)
		}
		gone(w.Reset(ctx, home, link, other)) // of another kind
		w.must(confirm(link))
		gone(confirm(link))

		ask := func() string {
			w.pass(time.Hour)
			w.must(w.AskReset(ctx, home, email, ""))
			return w.mail(registrar.LetterReset).link //nolint:contextcheck // the world has the test's context
		}
		reset := ask()
		w.pass(time.Hour)
		gone(w.Reset(ctx, home, reset, other))
		reset = ask()
		w.must(w.Reset(ctx, home, reset, other))
		gone(w.Reset(ctx, home, reset, password))

		reset = ask()
		in, err := w.SignIn(ctx, home, customer.Credentials{Email: email, Password: other})
		w.must(err)
		w.must(w.ChangePassword(ctx, actorOf(in), other, password))
		gone(w.Reset(ctx, home, reset, other)) // the password was changed meanwhile

		for _, nonsense := range []string{"", "x", strings.Repeat("a", 4000), in.Secret} {
			gone(w.Reset(ctx, home, nonsense, other))
		}
	})
}

func TestALinkIsUsedOnceInARace(t *testing.T) {
	eachEngine(t, func(w *world) {
		w.member(email)
		w.must(w.AskReset(w.Context(), home, email, ""))
		link := w.mail(registrar.LetterReset).link
		w.restart(func(cfg *customer.Config) { cfg.Hashes = 6 }) // or they come one by one
		var worked atomic.Int32
		var all sync.WaitGroup
		for range 12 {
			all.Go(func() {
				if w.Reset(w.Context(), home, link, other) == nil {
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

func TestAChangeOfAddressIsConfirmedAndToldToTheOldOne(t *testing.T) {
	eachEngine(t, func(w *world) {
		ctx := w.Context()
		in := w.member(email)
		w.must(w.AskReset(ctx, home, email, ""))
		reset := w.mail(registrar.LetterReset).link
		w.must(w.ChangeEmail(ctx, actorOf(in), "Ada.New@EXAMPLE.org"))
		var link string
		for _, m := range w.mails() {
			switch {
			case m.kind == registrar.LetterChangeEmail && m.to == "Ada.New@example.org" && m.fact["address"] == "":
				link = m.link
			case m.kind == registrar.LetterEmailChanging && m.to == email &&
				m.fact["email"] == "Ada.New@example.org" && m.fact["address"] == home.Address.String():
			default:
				t.Errorf("an unexpected letter %s to %s", m.kind, m.to)
			}
		}
		w.must(w.ConfirmEmail(ctx, actorOf(in), link))
		w.refused(w.ConfirmEmail(ctx, actorOf(in), link), registrar.KindNotFound, customer.LinkInvalid)
		w.refused(w.Reset(ctx, home, reset, other), registrar.KindNotFound, customer.LinkInvalid)
		_, err := w.SignIn(ctx, home, customer.Credentials{Email: "ada.new@example.org", Password: password})
		w.must(err)
		w.refused(w.guess(home, ""), registrar.KindUnauthenticated, customer.BadCredentials)

		// Somebody has registered the new address and could not confirm it.
		w.must(w.Register(ctx, attacker, customer.Registration{Email: "ada@home.example"}))
		w.mails()
		w.must(w.ChangeEmail(ctx, actorOf(in), "ada@home.example"))
		for _, m := range w.mails() {
			if m.kind == registrar.LetterChangeEmail {
				w.must(w.ConfirmEmail(ctx, actorOf(in), m.link))
			}
		}
		if found, err := w.Find(ctx, operator, "ada@home.example"); err != nil || found.ID != in.Visitor.Customer.ID {
			t.Errorf("the address belongs to %+v (%v)", found, err)
		}

		// The address of another account is not told to be one.
		w.member("bob@example.org")
		w.must(w.ChangeEmail(ctx, actorOf(in), "bob@example.org"))
		for _, m := range w.mails() {
			if m.link != "" {
				t.Errorf("the other account got a link to give its address away: %s to %s", m.kind, m.to)
			}
		}
	})
}

// A mistyped address delivers the link to a stranger.
func TestConfirmEmail_NeedsARecentSessionOfTheSameAccount(t *testing.T) {
	eachEngine(t, func(w *world) {
		ctx := w.Context()
		ada, bob := w.member(email), w.member("bob@example.org")
		w.must(w.ChangeEmail(ctx, actorOf(ada), "stranger@example.org"))
		link := w.mail(registrar.LetterChangeEmail).link
		unchanged := func(how string, actor registrar.Actor, kind registrar.Kind, code registrar.Code) {
			t.Helper()
			w.refused(w.ConfirmEmail(ctx, actor, link), kind, code)
			address, err := w.CheckEmailChange(ctx, actor, link)
			w.refused(err, kind, code)
			found, err := w.Find(ctx, operator, email)
			if address != "" || err != nil || found.ID != ada.Visitor.Customer.ID {
				t.Errorf("%s: learned %q, the old address belongs to %+v (%v)", how, address, found, err)
			}
		}
		unchanged("no session", attacker, registrar.KindForbidden, "persons_only")
		unchanged("another account", actorOf(bob), registrar.KindNotFound, customer.LinkInvalid)
		token := registrar.Actor{Kind: registrar.ActorToken, Customer: ada.Visitor.Customer.ID, SignedInAt: w.clock()}
		unchanged("a token", token, registrar.KindForbidden, "persons_only")
		if _, err := w.PeekLink(ctx, customer.LinkChangeEmail, link); registrar.CodeOf(err) != customer.LinkInvalid {
			t.Errorf("the link can be inspected without a session: %v", err)
		}
		// The stranger asks for a reset, and registers the address: neither touches the account.
		w.must(w.AskReset(ctx, attacker, "stranger@example.org", ""))
		w.mail(registrar.LetterNoAccount)
		w.must(w.Register(ctx, attacker, customer.Registration{Email: "stranger@example.org"}))
		thief, err := w.Confirm(ctx, attacker, w.mail(registrar.LetterConfirm).link, customer.Confirmation{Password: password})
		w.must(err)
		unchanged("the stranger's own account", actorOf(thief), registrar.KindNotFound, customer.LinkInvalid)
		w.refused(w.ConfirmEmail(ctx, actorOf(ada), link), registrar.KindConflict, customer.EmailTaken)
		w.pass(registrar.RecentSignIn + time.Second)
		unchanged("an old session", actorOf(ada), registrar.KindUnauthenticated, registrar.SignInAgain)
	})
}

func TestConfirmEmail_PendingChangeEndsWithAPasswordReset(t *testing.T) {
	eachEngine(t, func(w *world) {
		ctx := w.Context()
		w.must(w.ChangeEmail(ctx, actorOf(w.member(email)), "stranger@example.org"))
		link := w.mail(registrar.LetterChangeEmail).link
		w.must(w.AskReset(ctx, home, email, ""))
		w.must(w.Reset(ctx, home, w.mail(registrar.LetterReset).link, password))
		w.refused(w.ConfirmEmail(ctx, actorOf(w.signIn(home, "")), link), registrar.KindNotFound, customer.LinkInvalid)
	})
}

func TestOperatorsHandOutLinks(t *testing.T) {
	eachEngine(t, func(w *world) {
		ctx := w.Context()
		made, link, err := w.Add(ctx, operator, email, "en")
		w.must(err)
		_, _, err = w.Add(ctx, operator, strings.ToUpper(email), "en")
		w.refused(err, registrar.KindConflict, customer.EmailTaken)
		w.must(w.Reset(ctx, home, link, password))
		if in := w.signIn(home, ""); in.Visitor.Customer.Language != "en" || in.Visitor.Customer.ID != made.ID {
			t.Errorf("got %+v", in.Visitor.Customer)
		}
		found, err := w.Find(ctx, operator, " Ada@Example.ORG")
		w.must(err)
		if found.ID != made.ID || !found.HasPassword {
			t.Errorf("found %+v", found)
		}
		first, err := w.ResetLink(ctx, operator, made.ID)
		w.must(err)
		again, err := w.ResetLink(ctx, operator, made.ID)
		w.must(err)
		w.refused(w.Reset(ctx, home, first, other), registrar.KindNotFound, customer.LinkInvalid)
		w.must(w.Reset(ctx, home, again, other))
		w.must(w.SetPassword(ctx, operator, made.ID, password))
		w.signIn(home, "")
		list, err := w.List(ctx, operator, "", 10)
		w.must(err)
		if len(list) != 1 {
			t.Errorf("listed %d", len(list))
		}
		// An account that is disabled and was never confirmed: no link that leads nowhere.
		w.must(w.Register(ctx, home, customer.Registration{Email: "late@example.org"}))
		late, err := w.Find(ctx, operator, "late@example.org")
		w.must(err)
		w.must(w.Disable(ctx, operator, late.ID))
		_, err = w.ResetLink(ctx, operator, late.ID)
		w.refused(err, registrar.KindConflict, customer.AccountDisabled)
		w.must(w.Enable(ctx, operator, late.ID))
		link, err = w.ResetLink(ctx, operator, late.ID)
		w.must(err)
		w.must(w.Reset(ctx, home, link, password))
		_, err = w.ResetLink(ctx, operator, "cus_nobody")
		w.refused(err, registrar.KindNotFound, customer.NoSuchCustomer)
	})
}
