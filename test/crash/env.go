// Package crash kills the product repeatedly while it provisions paid items at a faulty
// registry, and then reconciles orders, payments and registry.
//
// The product is a process that gets SIGKILL, at random or at a failpoint. The registry
// runs in another process and survives. testkit.RegistryState has the invariants.
package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// demoCustomer is the sandbox's customer, with registrant data.
const demoCustomer = "demo@dotkontor.example"

// Env is a simulated world and a database in which items are inserted.
type Env struct {
	Binary, Folder string
	World          *testkit.Process
	Control        testkit.World
	DB             *store.DB

	provisioner *provision.Service
	customer    string
	payments    int
}

// NewEnv starts the world in folder.
func NewEnv(ctx context.Context, binary, folder string, worldFlags ...string) (*Env, error) {
	s := &Env{Binary: binary, Folder: filepath.Join(folder, "world")}
	var err error
	s.World, err = testkit.Start(ctx, testkit.Command{Path: binary, Args: append([]string{
		"sandbox", "--world-only", "--listen", "127.0.0.1:0", "--data", s.Folder,
	}, worldFlags...)})
	if err != nil {
		return nil, err
	}
	if err := s.connect(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Env) connect(ctx context.Context) (err error) {
	if s.Control, err = testkit.FindWorld(s.Folder); err != nil {
		return err
	}
	if s.DB, err = store.Open(ctx, store.Options{Data: s.Folder, MaxConnections: 4}); err != nil {
		return err
	}
	account, found, err := s.DB.ReadCustomers().AccountByEmail(ctx, demoCustomer)
	if err != nil || !found {
		return errors.Join(errors.New("crash: no demo customer"), err)
	}
	s.customer = account.ID
	seal, err := s.seal()
	if err != nil {
		return err
	}
	s.provisioner, err = provision.New(provision.Config{
		Store: s.DB, Domains: s.DB, Seal: seal, Node: "orders",
		Accounts: []provision.NamedAccount{{Name: "sandbox", Serves: func(string) bool { return true }, Account: acceptingAccount{}}},
	})
	return err
}

// seal encrypts auth codes with the key of the product.
func (s *Env) seal() (*registrar.Seal, error) {
	text, err := os.ReadFile(filepath.Join(s.Folder, "secret.key"))
	if err != nil {
		return nil, err
	}
	key, err := config.ParseKey(string(text))
	if err != nil {
		return nil, err
	}
	return registrar.NewSeal(key)
}

// acceptingAccount accepts every order, so that there are items that the registry rejects.
type acceptingAccount struct{ provision.Account }

// Missing reports no missing data, and Offer that every name is available.
func (acceptingAccount) Missing(provision.AvailabilityQuery) []string { return nil }

func (acceptingAccount) CheckAvailability(context.Context, provision.AvailabilityQuery) (provision.PremiumFees, error) {
	return provision.PremiumFees{}, nil
}

// Rules returns the rules of an extension; only transfers need them here.
func (acceptingAccount) Rules(string) provision.Rules { return provision.Rules{TransferYears: 1} }

// Close stops the world.
func (s *Env) Close() error {
	var err error
	if s.DB != nil {
		err = s.DB.Close()
	}
	return errors.Join(err, s.World.Stop())
}

// AddPaidItem inserts a paid registration, whether or not the registry will accept it.
func (s *Env) AddPaidItem(ctx context.Context, label, tld string) (provision.Item, error) {
	return s.AddPaidItemOfKind(ctx, provision.Register, label, tld)
}

// AddPaidItemOfKind inserts a paid item of any kind. The auth code of a transfer is the
// one of the simulated registry.
func (s *Env) AddPaidItemOfKind(ctx context.Context, kind provision.Kind, label, tld string) (provision.Item, error) {
	s.payments++
	return s.provisioner.CreateItem(ctx, registrar.Actor{Kind: registrar.ActorOperator, Through: "kill"}, provision.PaidItem{
		Customer: s.customer, Name: registrar.NewName(label, tld), Kind: kind, Code: "auth-" + label,
		Payment: provision.ManualPayment + strconv.Itoa(s.payments),
	})
}

// Serve starts the product.
func (s *Env) Serve(ctx context.Context, environment ...string) (*testkit.Process, error) {
	return testkit.Start(ctx, testkit.Command{
		Path: s.Binary, Args: []string{"serve", "--config", s.World.Ready},
		Environment: append([]string{"DOTKONTOR_LOG_LEVEL=error"}, environment...),
	})
}

// openItems returns the items that are not final.
func (s *Env) openItems(ctx context.Context) (open []provision.Item, err error) {
	for _, automatic := range []bool{false, true} {
		due, err := s.DB.ListDueProvisionItems(ctx, automatic, time.Now().AddDate(1, 0, 0), 100_000)
		if err != nil {
			return nil, err
		}
		open = append(open, due...)
	}
	return open, nil
}

// openHolders counts the domains that are about to get another registrant, as they do after a
// transfer.
func (s *Env) openHolders(ctx context.Context) (open int, err error) {
	const many = 1000
	for last := ""; ; {
		domains, err := s.DB.ListDomainsAfter(ctx, last, many)
		if err != nil {
			return 0, err
		}
		for _, domain := range domains {
			changes, err := s.DB.ListDomainChanges(ctx, domain.ID, many)
			if err != nil {
				return 0, err
			}
			if slices.ContainsFunc(changes, func(c domainchange.Change) bool {
				return c.Kind == domainchange.UpdateRegistrant && !c.State.Final()
			}) {
				open++
			}
			last = domain.ID
		}
		if len(domains) < many {
			return open, nil
		}
	}
}

// WaitProvisioned waits until every item is final and the domains have their registrants.
func (s *Env) WaitProvisioned(ctx context.Context, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		left, err := s.openItems(ctx)
		holders := 0
		if err == nil && len(left) == 0 {
			if holders, err = s.openHolders(ctx); err == nil && holders == 0 {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d items and %d registrants are open after %s: %w", len(left), holders, within, errors.Join(ctx.Err(), err))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Reconcile returns an error if items, domains and registry disagree.
func (s *Env) Reconcile(ctx context.Context) error {
	state, err := testkit.ReadRegistryState(ctx, s.DB, s.Control)
	if err != nil {
		return err
	}
	problems := state.Problems()
	// No kill may lose or double a registry charge.
	books, err := reconcile.RunBooks(ctx, s.DB, nil)
	if err != nil {
		return err
	}
	for _, finding := range books.Findings {
		problems = append(problems, finding.String())
	}
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	return nil
}

// labelKinds are labels by the registry's reaction, with their percentage.
var labelKinds = []struct {
	share         int
	prefix, label string
}{
	{share: 60, prefix: "ruhig-"},
	{share: 8, prefix: "pending-"},
	{share: 6, prefix: "pendingfail-"},
	{share: 8, prefix: "lostanswer-"},
	{share: 6, prefix: "once-dropped-"},
	{share: 4, prefix: "once-failing-"},
	{share: 4, prefix: "once-closing-"},
	{share: 2, label: "google"},
	{share: 2, label: "reserviert"},
}

var tlds = []string{".org", ".de", ".com", ".info", ".net", ".io", ".shop", ".dev"}

// ItemSettings configure a run with random kills.
type ItemSettings struct {
	Items, Kills int
	Chaos        float64
	Seed         uint64
	// Timeout is how long the rest may take after the last kill.
	Timeout time.Duration
}

// RunRandomKills kills the product at random moments while it provisions items.
func RunRandomKills(ctx context.Context, binary, folder string, s ItemSettings, out io.Writer) error {
	fmt.Fprintf(out, "%d lines, %d kills, %.0f %% chaos, seed %d\n", s.Items, s.Kills, s.Chaos*100, s.Seed)
	env, err := NewEnv(ctx, binary, folder, "--chaos", strconv.FormatFloat(s.Chaos, 'f', -1, 64), "--seed", strconv.FormatUint(s.Seed, 10))
	if err != nil {
		return err
	}
	err = env.runRandomKills(ctx, s, out)
	return errors.Join(err, env.Close())
}

func (s *Env) runRandomKills(ctx context.Context, settings ItemSettings, out io.Writer) error {
	dice := rand.New(rand.NewPCG(settings.Seed, settings.Seed))
	ordered, fallow := 0, 0
	for kill := range settings.Kills {
		for upTo := (kill + 1) * settings.Items / settings.Kills; ordered < upTo; ordered++ {
			if err := s.addRandomItem(ctx, dice, ordered); err != nil {
				return err
			}
		}
		before, err := s.openItems(ctx)
		if err != nil {
			return err
		}
		if len(before) == 0 {
			fallow++
		}
		server, err := s.Serve(ctx)
		if err != nil {
			return fmt.Errorf("after %d kills: %w", kill, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(dice.Int64N(int64(700 * time.Millisecond)))):
		}
		if err := server.Kill(); err != nil {
			return err
		}
	}
	left, err := s.openItems(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d lines were open after the last kill; %d kills met no open line\n", len(left), fallow)
	server, err := s.Serve(ctx)
	if err != nil {
		return err
	}
	err = s.WaitProvisioned(ctx, settings.Timeout)
	return errors.Join(err, server.Stop(), s.Reconcile(ctx))
}

// One of renewEvery items renews an earlier registration, and one of transferEvery is a
// transfer.
const renewEvery, transferEvery = 8, 12

// addRandomRenewal inserts a renewal of a registered domain without an open renewal, if
// there is one.
func (s *Env) addRandomRenewal(ctx context.Context, dice *rand.Rand) (bool, error) {
	domains, err := s.DB.ListDomainsAfter(ctx, "", 100_000)
	if err != nil {
		return false, err
	}
	domains = slices.DeleteFunc(domains, func(d provision.Domain) bool { return d.Account == "" || d.Status != "active" })
	if len(domains) == 0 {
		return false, nil
	}
	dom := domains[dice.IntN(len(domains))]
	_, err = s.AddPaidItemOfKind(ctx, provision.Renew, strings.TrimSuffix(dom.Name, dom.TLD), dom.TLD)
	if registrar.CodeOf(err) == registrar.NameHeld {
		return false, nil
	}
	return err == nil, err
}

// addRandomItem inserts the n-th item. Names that the registry rejects occur once per
// extension.
func (s *Env) addRandomItem(ctx context.Context, dice *rand.Rand, n int) error {
	if dice.IntN(transferEvery) == 0 { // .de transfers complete immediately
		_, err := s.AddPaidItemOfKind(ctx, provision.Transfer, "transfer-"+strconv.Itoa(n), ".de")
		return err
	}
	draw := dice.IntN(100)
	tld := tlds[dice.IntN(len(tlds))]
	if dice.IntN(renewEvery) == 0 {
		if renewed, err := s.addRandomRenewal(ctx, dice); renewed || err != nil {
			return err
		}
	}
	for _, kind := range labelKinds {
		if draw -= kind.share; draw >= 0 {
			continue
		}
		label := kind.label
		if label == "" {
			label = kind.prefix + strconv.Itoa(n)
		}
		_, err := s.AddPaidItem(ctx, label, tld)
		if registrar.CodeOf(err) == registrar.NameHeld { // a rejected name with an open item
			_, err = s.AddPaidItem(ctx, "ruhig-"+strconv.Itoa(n), tld)
		}
		return err
	}
	return nil
}
