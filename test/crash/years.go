package crash

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
)

// YearSettings configure a run over simulated time.
type YearSettings struct {
	Customers, Domains int
	// Days is the simulated time. Domains are registered during the first RegisterDays.
	Days, RegisterDays int
	Kills              int
	Chaos              float64
	Seed               uint64
	Timeout            time.Duration // of the whole run
}

const (
	day = 24 * time.Hour
	// yearStep is how far the clock moves at once. The product's jobs run twice a day, and
	// stop for safety if they miss a day.
	yearStep     = 12 * time.Hour
	stepTimeout  = 2 * time.Minute
	pollsPerWake = 10
	// meanKillDelay is how long the product works on a step before it is killed, on average.
	meanKillDelay = 10 * time.Millisecond
)

// yearTLDs are TLDs whose registry the sandbox simulates with their real end of a term.
var yearTLDs = []string{".com", ".org", ".net", ".io", ".shop", ".dev", ".de"}

// customerCards are the cards of customers, with their percentage. An empty one means none.
var customerCards = []struct {
	share int
	card  string
}{
	{72, CardGood},
	{10, "4000000000000341"}, // is declined when it is charged later
	{5, "4000000000009995"},  // has insufficient funds
	{8, "4000002760003184"},  // requires authentication each time
	{5, ""},
}

// yearDomain is a domain of the run.
type yearDomain struct {
	customer *yearCustomer
	name     registrar.Name
	item     string
	id       string // empty until it is registered
	choice   renewal.Choice
	// payAfter is when the demo customer pays by hand, counted from the end of the term;
	// zero: never.
	payAfter time.Duration
	paidTerm time.Time // the last term that was paid by hand
}

type yearCustomer struct {
	id, card string
}

// Years is a run over simulated time: a Shop whose product follows the world's clock.
type Years struct {
	*Shop
	settings  YearSettings
	dice      *rand.Rand
	clock     *os.File
	offset    time.Duration
	services  *app.Services
	consents  *renewal.Consents
	terms     *lifecycle.Service
	customers []*yearCustomer
	domains   []*yearDomain
	kills     map[int]bool // steps in which the product is killed
	// confirmed counts how often the operator has released the safety brake, and decided how
	// many deletions.
	confirmed, decided int
}

// operator is who releases the safety brake and decides what waits for a decision.
var operator = registrar.Actor{Kind: registrar.ActorOperator, Through: "years"}

// RunYears registers domains, lets years pass and customers pay, let expire and forget,
// kills the product at random moments, and then compares customers' terms, notices,
// payments and registry. It returns what happened to each domain, which the seed determines.
func RunYears(ctx context.Context, binary, folder string, settings YearSettings, out io.Writer) (histories []string, err error) {
	fmt.Fprintf(out, "%d domains of %d customers, %d days, %d kills, %.0f %% chaos, seed %d\n",
		settings.Domains, settings.Customers, settings.Days, settings.Kills, settings.Chaos*100, settings.Seed)
	ctx, cancel := context.WithTimeout(ctx, settings.Timeout)
	defer cancel()
	y, err := newYears(ctx, binary, folder, settings)
	if err != nil {
		return nil, err
	}
	histories, err = y.run(ctx, out)
	return histories, errors.Join(err, y.services.Close(), y.clock.Close(), y.Close())
}

func newYears(ctx context.Context, binary, folder string, settings YearSettings) (_ *Years, err error) {
	y := &Years{settings: settings, dice: rand.New(rand.NewPCG(settings.Seed, settings.Seed)), kills: make(map[int]bool)}
	if y.clock, err = os.Create(filepath.Join(folder, "clock")); err != nil {
		return nil, err
	}
	if err := y.moveProductClock(0); err != nil {
		return nil, err
	}
	// Every half day waits for its slowest response.
	y.Shop, err = NewShop(ctx, binary, folder, "--shared-clock",
		"--chaos", strconv.FormatFloat(settings.Chaos, 'f', -1, 64), "--chaos-delay", "100ms", "--seed", strconv.FormatUint(settings.Seed, 10))
	if err != nil {
		return nil, err
	}
	cfg, err := config.Load(y.World.Ready, nil)
	if err == nil {
		y.services, err = app.OpenServices(ctx, cfg, slog.New(slog.DiscardHandler), y.now)
	}
	if err == nil {
		y.consents, err = renewal.NewConsents(renewal.ConsentConfig{Store: y.services.DB, Now: y.now, Price: listPrice})
	}
	if err == nil {
		y.terms, err = app.NewTerms(y.services)
	}
	if err == nil {
		err = y.addCustomers(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, y.Close())
	}
	steps := settings.Days * int(day/yearStep)
	for len(y.kills) < settings.Kills {
		y.kills[y.dice.IntN(steps)] = true
	}
	return y, nil
}

// listPrice is the price of a renewal with German VAT, which all customers pay.
func listPrice(_ context.Context, _ string, term order.RenewalTerm) (order.RenewalPrice, error) {
	shipped, err := catalog.Shipped()
	if err != nil {
		return order.RenewalPrice{}, err
	}
	extension, _ := shipped.Extension(term.TLD)
	const germanVAT = 1900
	years := extension.Term()
	return order.RenewalPrice{Years: years, Gross: billing.Gross(order.NetPrice(extension, order.Renew, years), germanVAT), RateBasisPoints: germanVAT}, nil
}

// now is the business time.
func (y *Years) now() time.Time { return time.Now().Add(y.offset) }

// moveProductClock sets how far the product's clock is ahead.
func (y *Years) moveProductClock(offset time.Duration) error {
	var text [8]byte
	binary.LittleEndian.PutUint64(text[:], uint64(offset))
	y.offset = offset
	_, err := y.clock.WriteAt(text[:], 0)
	return err
}

func (y *Years) addCustomers(ctx context.Context) error {
	operator := operator
	for i := range y.settings.Customers {
		email := fmt.Sprintf("kunde-%d@example.test", i)
		added, _, err := y.services.Customers.Add(ctx, operator, email, []string{"de", "en"}[i%2])
		if err != nil {
			return err
		}
		operator.Customer = added.ID
		name := fmt.Sprintf("Kundin %d", i)
		if err := y.services.Customers.SetRegistrantFor(ctx, operator, added.ID, account.Registrant{
			Kind: account.Person, Name: name, Street: "Hafenstraße 1", PostalCode: "20457", City: "Hamburg", Country: "DE", Phone: "+49.40123456",
		}); err != nil {
			return err
		}
		one := &yearCustomer{id: added.ID}
		draw := y.dice.IntN(100)
		for _, kind := range customerCards {
			if draw -= kind.share; draw < 0 {
				one.card = kind.card
				break
			}
		}
		if one.card != "" {
			method, err := y.saveMethod(ctx, email, one.card)
			if err == nil {
				err = y.DB.PutPaymentMethod(ctx, added.ID, method, time.Now())
			}
			if err != nil {
				return err
			}
		}
		y.customers = append(y.customers, one)
	}
	return nil
}

// saveMethod saves a card at the simulated provider.
func (y *Years) saveMethod(ctx context.Context, email, card string) (method order.PaymentMethod, err error) {
	var saved stripe.SavedCard
	err = RetryUntil(ctx, "saving a card", func() (bool, error) {
		saved, err = y.SaveCard(ctx, email, card)
		return err == nil, err
	})
	return order.PaymentMethod{ProviderCustomer: saved.Customer, ID: saved.ID, Label: "Visa •••• 4242"}, err
}

func (y *Years) run(ctx context.Context, out io.Writer) (histories []string, err error) {
	began := time.Now()
	supervisor := y.Env.Supervise(ctx, func(int) string { return "" }, append(settings, "CLOCK_FILE="+y.clock.Name())...)
	y.supervisor = supervisor
	err = y.SignIn(ctx)
	steps := y.settings.Days * int(day/yearStep)
	for step := 0; step < steps && err == nil; step++ {
		err = y.step(ctx, step)
	}
	err = errors.Join(err, supervisor.Stop())
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "%d kills in %s; the safety brake was released %d times, %d deletions were decided\n",
		supervisor.Kills(), time.Since(began).Round(time.Second), y.confirmed, y.decided)
	return y.verify(ctx, out)
}

// step moves the clock by half a day.
func (y *Years) step(ctx context.Context, step int) error {
	if err := y.register(ctx, step); err != nil {
		return err
	}
	if err := y.Control.Advance(ctx, yearStep); err != nil {
		return err
	}
	if err := y.moveProductClock(y.offset + yearStep); err != nil {
		return err
	}
	if y.kills[step] {
		time.Sleep(time.Duration(y.dice.ExpFloat64() * float64(meanKillDelay)))
		y.supervisor.Kill()
	}
	if err := y.waitIdle(ctx); err != nil {
		return fmt.Errorf("day %d: %w", step/2, err)
	}
	if err := y.decideDeletions(ctx); err != nil {
		return fmt.Errorf("day %d: %w", step/2, err)
	}
	for _, domain := range y.domains {
		if err := y.act(ctx, domain); err != nil {
			return fmt.Errorf("day %d, %s: %w", step/2, domain.name.ASCII(), err)
		}
	}
	return nil
}

// backoffHorizon is how far a retry may be in the future, in real time, to be waited for
// before the clock moves on: otherwise chaos would delay it by days.
const backoffHorizon = time.Second

// waitIdle waits until the product has done what is due, and what is backing off.
func (y *Years) waitIdle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	for poll := 1; ; poll++ {
		due, err := y.DB.CountDueWork(ctx, y.now(), time.Now().Add(backoffHorizon))
		if err == nil && due == 0 {
			return nil
		}
		// A retry that became due would wait for the next look of its job, up to five seconds.
		if poll%pollsPerWake == 0 {
			if err := errors.Join(y.confirmBrake(ctx), y.moveProductClock(y.offset+1)); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d jobs are still due: %w", due, errors.Join(context.Cause(ctx), err))
		case <-y.supervisor.failed.Done():
			return context.Cause(y.supervisor.failed) //nolint:contextcheck // the supervisor outlives a call
		case <-time.After(3 * time.Millisecond):
		}
	}
}

// confirmBrake releases the safety brake as an operator does. When the registry was not
// reachable for a while, many domains were registered in the same moment, and their terms end
// together.
func (y *Years) confirmBrake(ctx context.Context) error {
	brake, _, err := y.DB.GetBrake(ctx)
	switch {
	case err != nil || !brake.Engaged():
		return err
	case brake.Reason != lifecycle.ByVolume:
		return fmt.Errorf("the safety brake was engaged: %s", brake.Reason)
	}
	preview, err := y.terms.Preview(ctx, operator)
	if err != nil {
		return err
	}
	y.confirmed++
	return y.terms.Confirm(ctx, operator, len(preview.Planned))
}

// decideDeletions deletes held domains that wait for an operator: the payment provider could
// not be reached on the last day, so their cards were not declined often enough.
func (y *Years) decideDeletions(ctx context.Context) error {
	open, err := y.terms.ListOpen(ctx, operator)
	if err != nil {
		return err
	}
	for _, term := range open.Waiting {
		if term.State != lifecycle.Held || term.WaitsFor != lifecycle.WaitsForOperator {
			continue
		}
		switch err := y.terms.Delete(ctx, operator, term.Domain); {
		case err == nil:
			y.decided++
		case registrar.KindOf(err) != registrar.KindConflict: // which is tried again in the next step
			return fmt.Errorf("decide about %s: %w", term.Name, err)
		}
	}
	return nil
}

// manualShare is how many domains belong to the demo customer, who pays by hand.
const manualShare = 10

// register inserts the registrations of a step as paid items.
func (y *Years) register(ctx context.Context, step int) error {
	steps := y.settings.RegisterDays * int(day/yearStep)
	for n := len(y.domains); n < min(y.settings.Domains, (step+1)*y.settings.Domains/steps); n++ {
		domain := &yearDomain{
			customer: y.customers[y.dice.IntN(len(y.customers))],
			name:     registrar.NewName("jahr-"+strconv.Itoa(n), yearTLDs[y.dice.IntN(len(yearTLDs))]),
		}
		draw := y.dice.IntN(100)
		switch {
		case draw < manualShare:
			domain.customer = &yearCustomer{id: y.customer}
			domain.payAfter = []time.Duration{-20 * day, 5 * day, 20 * day, 45 * day}[draw%4]
		case draw < 65:
			domain.choice = renewal.Renew
		case draw < 80:
			domain.choice = renewal.Expire
		}
		item, err := y.provisioner.CreateItem(ctx, operator, provision.PaidItem{
			Customer: domain.customer.id, Name: domain.name, Kind: provision.Register, Payment: provision.ManualPayment + strconv.Itoa(n),
		})
		if err != nil {
			return err
		}
		domain.item = item.ID
		y.domains = append(y.domains, domain)
	}
	return nil
}

// act does what the customer of a domain does.
func (y *Years) act(ctx context.Context, domain *yearDomain) error {
	if domain.id == "" {
		item, _, err := y.DB.ProvisionItemByID(ctx, domain.item)
		if err != nil || item.State != provision.StateActive {
			return err
		}
		domain.id = item.Domain
		return y.choose(ctx, domain)
	}
	if domain.payAfter == 0 {
		return nil
	}
	held, found, err := y.DB.DomainByName(ctx, domain.name.ASCII())
	if err != nil || !found || held.PaidUntil.Equal(domain.paidTerm) || y.now().Before(held.PaidUntil.Add(domain.payAfter)) {
		return err
	}
	if err := y.payByHand(ctx, held); err != nil {
		return err
	}
	domain.paidTerm = held.PaidUntil
	return nil
}

// choose stores what the customer wants at the end of the term.
func (y *Years) choose(ctx context.Context, domain *yearDomain) error {
	person := registrar.Actor{Kind: registrar.ActorPerson, Customer: domain.customer.id, Through: "years", SignedInAt: time.Now()}
	switch domain.choice {
	case renewal.Undecided:
	case renewal.Expire:
		return y.consents.LetExpire(ctx, person, domain.id)
	case renewal.Renew:
		offer, err := y.consents.Offer(ctx, person, domain.id)
		if err != nil || offer.Method == "" {
			domain.choice = renewal.Undecided
			return err
		}
		return y.consents.Agree(ctx, person, domain.id, renewal.Agreement{
			Wording: renewal.ConsentWording("de"), Gross: offer.Gross, ChargeAt: offer.ChargeAt, Method: offer.Method,
		})
	}
	return nil
}

// payByHand renews a domain in the portal, or restores it.
func (y *Years) payByHand(ctx context.Context, held provision.Domain) error {
	action := "/renew"
	if held.Status == registrar.DomainRedemption {
		action = "/restore"
	}
	return RetryUntil(ctx, "the payment by hand", func() (bool, error) {
		now, found, err := y.DB.DomainByName(ctx, held.Name)
		if err != nil || !found || now.PaidUntil.After(held.PaidUntil) {
			return err == nil, err
		}
		got, err := y.browse(ctx, http.MethodPost, y.Base+"/portal/domains/"+held.ID+action, url.Values{})
		if err != nil || got.status != http.StatusSeeOther || !strings.Contains(got.location, "/checkout/") {
			return false, errors.Join(err, fmt.Errorf("%s of a domain that is %s: status %d %s", action, held.Status, got.status, got.location))
		}
		latest, err := y.DB.ListOrders(ctx, held.Customer, "", 1)
		if err != nil || len(latest) == 0 {
			return false, err
		}
		if err := y.Pay(ctx, Purchase{latest[0].ID, got.location}, true); err != nil {
			return false, err
		}
		return true, y.waitIdle(ctx)
	})
}
