package order_test

import (
	"slices"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestSession_VisibleToItsAgentOnly(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.store.linked = map[string]string{shopper.Through: anna}
	own := env.createSession(order.Register, &carla, "eins").Order.ID
	annas, _ := env.createOrder(newRequest(order.Register, "zwei"))
	for name, one := range map[string]struct {
		actor registrar.Actor
		id    string
		found bool
	}{
		"its own":                {shopper, own, true},
		"a linked customer's":    {shopper, annas.ID, true},
		"another agent's":        {rival, own, false},
		"a customer's, unlinked": {rival, annas.ID, false},
		"none":                   {shopper, "ord_none", false},
	} {
		_, err := env.service.Session(t.Context(), one.actor, one.id)
		if one.found != (err == nil) || !one.found && code(err) != order.NoSuchOrder {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := env.service.Session(t.Context(), annaInPerson, own); err == nil {
		t.Error("a person is no agent")
	}
}

func TestCreateSession_EmailAloneDoesNotJoinAccount(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	annas := order.Contact{
		FirstName: "Anna", LastName: "Müller", Email: "anna@mueller.example", Phone: "+49.30123456",
		Street: "Weg 1", PostalCode: "10115", City: "Berlin", Country: "DE",
	}
	if made := env.createSession(order.Register, &annas, "eins"); made.Order.Claimed || made.Order.Customer == anna {
		t.Error("an unlinked agent orders for an account")
	}
	env.store.linked = map[string]string{shopper.Through: anna}
	if made := env.createSession(order.Register, &annas, "zwei"); !made.Order.Claimed || made.Order.Customer != anna {
		t.Error("the linked customer does not own the order")
	}
	if made := env.createSession(order.Register, &carla, "drei"); made.Order.Claimed {
		t.Error("the customer owns another buyer's order")
	}
}

func TestUpdateSession_ReplacesItemsAndBuyer(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.store.linked = map[string]string{shopper.Through: anna}
	made := env.createSession(order.Register, nil, "eins", "zwei")
	if made.Status != order.NotReady || !slices.Contains(made.Missing, order.MissingRegistrant) || len(made.MissingFields) != 8 {
		t.Fatalf("made as %+v", made)
	}
	got, err := env.service.UpdateSession(t.Context(), shopper, made.Order.ID, order.SessionChange{
		Items: newRequest(order.Register, "zwei").Items, Contact: &order.Contact{
			FirstName: "Carla", LastName: "Neu", Phone: "+49.30123456", Street: "Neuweg 1", PostalCode: "10115", City: "Berlin", Country: "DE",
		},
	})
	if err != nil || len(got.Order.Items) != 1 || got.Order.Items[0].ID != made.Order.Items[1].ID || got.Status != order.NotReady {
		t.Fatalf("%+v, %v", got, err)
	}
	got, err = env.service.UpdateSession(t.Context(), shopper, made.Order.ID, order.SessionChange{Contact: &order.Contact{Email: "carla@neu.example"}})
	if err != nil || got.Status != order.Ready || got.Order.Contact.LastName != "Neu" {
		t.Fatalf("%+v, %v", got, err)
	}
	got, err = env.service.UpdateSession(t.Context(), shopper, made.Order.ID, order.SessionChange{Contact: &order.Contact{Email: "anna@mueller.example"}})
	if err != nil || got.Order.Customer != anna || !got.Order.Claimed {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := env.complete(made.Order.ID, "spt_ok"); err != nil {
		t.Fatal(err)
	}
	if _, err := env.service.UpdateSession(t.Context(), shopper, made.Order.ID, order.SessionChange{}); code(err) != order.NotOpen {
		t.Errorf("a paid session can be changed: %v", err)
	}
	if _, err := env.service.CancelSession(t.Context(), shopper, made.Order.ID); code(err) != order.NotOpen {
		t.Errorf("a paid session can be canceled: %v", err)
	}
	env.checkInvariants()
}

func TestCompleteSession_FreeOrderNeedsNoToken(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.market.net = 0
	made := env.createSession(order.Register, &carla, "eins")
	got, err := env.complete(made.Order.ID, "")
	if err != nil || got.Status != order.SessionCompleted {
		t.Fatalf("%+v, %v", got, err)
	}
	env.checkInvariants()
}

// An agent can create many unpaid orders for an address that is not its buyer's. Paid
// orders always get their claim mail.
func TestClaimMail_UnpaidOrdersAreLimitedPerAddress(t *testing.T) {
	t.Parallel()
	left := 2
	env := newEnv(t)
	env.allowMail = func(address string) bool {
		if address != carla.Email {
			t.Errorf("unexpected address %q", address)
		}
		left--
		return left >= 0
	}
	claims := func() (count int) {
		for _, mail := range env.store.mails {
			if mail.Kind == registrar.MailClaim {
				count++
			}
		}
		return count
	}
	for _, name := range []string{"eins", "zwei", "drei", "vier"} {
		made := env.createSession(order.Register, &carla, name)
		for range 2 {
			if got, err := env.complete(made.Order.ID, ""); err != nil || got.PayURL == "" {
				t.Fatalf("%s: %+v, %v", name, got, err)
			}
		}
	}
	if claims() != 2 {
		t.Errorf("%d claim mails for unpaid orders", claims())
	}
	if _, err := env.complete(env.createSession(order.Register, &carla, "bezahlt").Order.ID, "spt_ok"); err != nil || claims() != 3 {
		t.Errorf("claim mails after payment: %d, %v", claims(), err)
	}
}

// A buyer without an account must not be asked to sign in.
func TestReceiptMail_StatesWhetherOrderIsUnclaimed(t *testing.T) {
	t.Parallel()
	annas := order.Contact{
		FirstName: "Anna", LastName: "Müller", Email: "anna@mueller.example", Phone: "+49.30123456",
		Street: "Weg 1", PostalCode: "10115", City: "Berlin", Country: "DE",
	}
	for buyer, unclaimed := range map[*order.Contact]string{&carla: "true", &annas: ""} {
		env := newEnv(t)
		env.store.linked = map[string]string{shopper.Through: anna}
		made := env.createSession(order.Register, buyer, "eins")
		if _, err := env.complete(made.Order.ID, "spt_ok"); err != nil {
			t.Fatal(err)
		}
		receipts := 0
		for _, mail := range env.store.mails {
			if mail.Kind != registrar.MailOrderPaid {
				continue
			}
			receipts++
			if mail.Data["unclaimed"] != unclaimed {
				t.Errorf("%s: unclaimed is %q, want %q", buyer.Email, mail.Data["unclaimed"], unclaimed)
			}
		}
		if receipts != 1 {
			t.Errorf("%s: %d receipts", buyer.Email, receipts)
		}
	}
}

func TestClaim_RequiresMailedLinkAndSignIn(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	made := env.createSession(order.Register, &carla, "eins")
	if _, err := env.complete(made.Order.ID, "spt_ok"); err != nil {
		t.Fatal(err)
	}
	link, hash := registrar.NewSecret(registrar.LinkSecret)
	other, _ := registrar.NewSecret(registrar.LinkSecret)
	env.store.claims = map[registrar.SecretHash]string{hash: made.Order.Customer}
	for name, one := range map[string]struct {
		actor registrar.Actor
		link  string
		code  registrar.Code
	}{
		"not signed in": {anonymous, link, registrar.SignInFirst},
		"a token":       {annasAgent, link, registrar.SignInFirst},
		"another link":  {bertInPerson, other, order.NoSuchClaim},
		"no link":       {bertInPerson, "x", order.NoSuchClaim},
	} {
		if _, err := env.service.Claim(t.Context(), one.actor, one.link); code(err) != one.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	o, err := env.service.Claim(t.Context(), bertInPerson, link)
	if err != nil || o.Customer != bert || !o.Claimed {
		t.Fatalf("%+v, %v", o, err)
	}
	if _, err := env.service.Claim(t.Context(), annaInPerson, link); code(err) != order.NoSuchClaim {
		t.Errorf("second use of the link: %v", err)
	}
}

// claimMailRecipients returns the recipients of claim mails.
func (env *testEnv) claimMailRecipients() (to []string) {
	env.store.mu.Lock()
	defer env.store.mu.Unlock()
	for _, mail := range env.store.mails {
		if mail.Kind == registrar.MailClaim {
			to = append(to, mail.To)
		}
	}
	return to
}

func TestClaimMail_SentAgainToCorrectedAddress(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	mistyped := carla
	mistyped.Email = "carla@new.example"
	made := env.createSession(order.Register, &mistyped, "eins")
	for range 2 { // the second is too soon for another mail
		if _, err := env.complete(made.Order.ID, ""); err != nil {
			t.Fatal(err)
		}
	}
	done := order.Completion{Contact: &order.Contact{Email: carla.Email}}
	for range 2 {
		if _, err := env.service.CompleteSession(t.Context(), shopper, made.Order.ID, done); err != nil {
			t.Fatal(err)
		}
	}
	if to := env.claimMailRecipients(); !slices.Equal(to, []string{mistyped.Email, carla.Email}) {
		t.Errorf("mails went to %v", to)
	}
}

func TestCompleteSession_LinkedAgentBecomesCompleterNotOwner(t *testing.T) {
	t.Parallel()
	for name, net := range map[string]registrar.Cents{"with a token": 1000, "for nothing": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			env.market.net = net
			env.store.linked = map[string]string{shopper.Through: anna, rival.Through: anna}
			o, _ := env.createOrder(newRequest(order.Register, "eins"))
			if net > 0 {
				for token, want := range map[string]registrar.Code{"spt_declined": order.PaymentDeclined, "spt_human": ""} {
					if _, err := env.complete(o.ID, token); code(err) != want {
						t.Fatalf("%s: %v", token, err)
					}
					if left := env.wantState(o.ID, order.AwaitingPayment); left.Completer != "" {
						t.Errorf("%s: an agent that did not pay is the completer", token)
					}
				}
			}
			if _, err := env.complete(o.ID, "spt_ok"); err != nil {
				t.Fatal(err)
			}
			if paid := env.wantState(o.ID, order.Provisioning); paid.Completer != shopper.Through || paid.Agent != "" {
				t.Errorf("completer %q, agent %q", paid.Completer, paid.Agent)
			}
			if _, err := env.service.Session(t.Context(), rival, o.ID); err != nil {
				t.Errorf("the customer's other agent: %v", err)
			}
			if _, err := env.service.Get(t.Context(), annaInPerson, o.ID); err != nil {
				t.Errorf("the customer: %v", err)
			}
			env.checkInvariants()
		})
	}
}

func TestCompleteSession_OwnSessionHasNoCompleter(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	made := env.createSession(order.Register, &carla, "eins")
	if got, err := env.complete(made.Order.ID, "spt_ok"); err != nil || got.Order.Completer != "" {
		t.Errorf("%q, %v", got.Order.Completer, err)
	}
}

func TestSession_UnlinkedAgentLosesOpenOrders(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.store.linked = map[string]string{shopper.Through: anna}
	annas := order.Contact{
		FirstName: "Anna", LastName: "Müller", Email: "anna@mueller.example", Phone: "+49.30123456",
		Street: "Weg 1", PostalCode: "10115", City: "Berlin", Country: "DE",
	}
	open, paid := env.createSession(order.Register, &annas, "eins").Order, env.createSession(order.Register, &annas, "zwei").Order
	other := env.createSession(order.Register, &carla, "drei").Order
	if _, err := env.complete(paid.ID, "spt_ok"); err != nil {
		t.Fatal(err)
	}
	env.store.linked = nil
	ctx := t.Context()
	for name, do := range map[string]func(id string) error{
		"look": func(id string) error { _, err := env.service.Session(ctx, shopper, id); return err },
		"change": func(id string) error {
			_, err := env.service.UpdateSession(ctx, shopper, id, order.SessionChange{})
			return err
		},
		"complete": func(id string) error { _, err := env.complete(id, "spt_ok_2"); return err },
		"cancel":   func(id string) error { _, err := env.service.CancelSession(ctx, shopper, id); return err },
	} {
		if err := do(open.ID); code(err) != order.NoSuchOrder {
			t.Errorf("%s: %v", name, err)
		}
	}
	env.wantState(open.ID, order.AwaitingPayment)
	for _, id := range []string{paid.ID, other.ID} {
		if _, err := env.service.Session(ctx, shopper, id); err != nil {
			t.Errorf("an order that the agent paid or created for others: %v", err)
		}
	}
}

func TestUpdateSession_ClaimedItemsRequireCustomerLink(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	made := env.createSession(order.Register, &carla, "eins")
	if _, err := env.complete(made.Order.ID, ""); err != nil { // sends the claim mail
		t.Fatal(err)
	}
	link, hash := registrar.NewSecret(registrar.LinkSecret)
	env.store.claims = map[registrar.SecretHash]string{hash: made.Order.Customer}
	if _, err := env.service.Claim(t.Context(), bertInPerson, link); err != nil {
		t.Fatal(err)
	}
	others := order.SessionChange{Items: newRequest(order.Register, "zwei").Items}
	if _, err := env.service.UpdateSession(t.Context(), shopper, made.Order.ID, others); code(err) != order.NotOpen {
		t.Errorf("unlinked agent: %v", err)
	}
	env.store.linked = map[string]string{shopper.Through: bert}
	if _, err := env.service.UpdateSession(t.Context(), shopper, made.Order.ID, others); err != nil {
		t.Errorf("linked agent: %v", err)
	}
}

func TestUpdateSession_NewStreetClearsOldAddress(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	first := carla
	first.Street, first.Street2, first.City, first.State = "Seeweg 1", "c/o Alt", "Portland", "OR"
	made := env.createSession(order.Register, &first, "eins")
	for _, one := range []struct{ told, want order.Contact }{
		{order.Contact{Phone: "+49.301"}, first},
		{order.Contact{Street: "Seeweg 1", City: "Portland"}, first},
		{order.Contact{Street: "Musterweg 2", City: "Berlin"}, order.Contact{Street: "Musterweg 2", City: "Berlin"}},
	} {
		got, err := env.service.UpdateSession(t.Context(), shopper, made.Order.ID, order.SessionChange{Contact: &one.told})
		if err != nil {
			t.Fatal(err)
		}
		c := got.Order.Contact
		if c.Street != one.want.Street || c.Street2 != one.want.Street2 || c.City != one.want.City || c.State != one.want.State {
			t.Errorf("told %+v, it is %+v", one.told, c)
		}
	}
}
