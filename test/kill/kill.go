// Package kill has the product carry out paid lines while it is killed, again and
// again, in front of a hostile registry, and then holds the books against each
// other.
//
// The product is a real process that gets a real SIGKILL. The registry runs in
// another process and survives. What must be true afterwards is in rig.Books.
package kill

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
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/rig"
)

// demoCustomer is the sandbox's customer, who has registrant data.
const demoCustomer = "demo@dotkontor.example"

// Stage is a world with a database in which lines can be written.
type Stage struct {
	Binary, Folder string
	World          *rig.Process
	Control        rig.World
	DB             *store.DB

	lines    *provision.Service
	customer string
	count    int
}

// Open starts the world in folder.
func Open(ctx context.Context, binary, folder string, worldFlags ...string) (*Stage, error) {
	s := &Stage{Binary: binary, Folder: filepath.Join(folder, "world")}
	var err error
	s.World, err = rig.Start(ctx, rig.Command{Path: binary, Args: append([]string{
		"sandbox", "--world-only", "--listen", "127.0.0.1:0", "--data", s.Folder,
	}, worldFlags...)})
	if err != nil {
		return nil, err
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Stage) open(ctx context.Context) (err error) {
	if s.Control, err = rig.FindWorld(s.Folder); err != nil {
		return err
	}
	if s.DB, err = store.Open(ctx, store.Options{Data: s.Folder, MaxConnections: 4}); err != nil {
		return err
	}
	account, found, err := s.DB.ReadCustomers().AccountByEmail(ctx, demoCustomer)
	if err != nil || !found {
		return errors.Join(errors.New("there is no demo customer"), err)
	}
	s.customer = account.ID
	seal, err := s.seal()
	if err != nil {
		return err
	}
	s.lines, err = provision.New(provision.Config{
		Store: s.DB, Domains: s.DB, Seal: seal, Node: "orders",
		Accounts: []provision.NamedAccount{{Name: "sandbox", Serves: func(string) bool { return true }, Account: unasked{}}},
	})
	return err
}

// seal closes auth codes so that the product can open them.
func (s *Stage) seal() (*registrar.Seal, error) {
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

// unasked takes every order, so that lines exist which the registry refuses.
type unasked struct{ provision.Account }

// Missing says that nothing is missing, and Offer that everything can be had.
func (unasked) Missing(provision.Wish) []string             { return nil }
func (unasked) Offer(context.Context, provision.Wish) error { return nil }

// Rules is what the registry wants; only transfers ask for it here.
func (unasked) Rules(string) provision.Rules { return provision.Rules{TransferYears: 1} }

// Close ends the world.
func (s *Stage) Close() error {
	var err error
	if s.DB != nil {
		err = s.DB.Close()
	}
	return errors.Join(err, s.World.Stop())
}

// Order writes a paid line down, whatever the registry will say.
func (s *Stage) Order(ctx context.Context, label, tld string) (provision.Line, error) {
	return s.OrderKind(ctx, provision.Register, label, tld)
}

// OrderKind is Order for a line of any kind. The code of a transfer is the one that
// the simulated registry gives a name.
func (s *Stage) OrderKind(ctx context.Context, kind provision.Kind, label, tld string) (provision.Line, error) {
	s.count++
	return s.lines.Order(ctx, registrar.Actor{Kind: registrar.ActorOperator, Through: "kill"}, provision.Order{
		Customer: s.customer, Name: registrar.NewName(label, tld), Kind: kind, Code: "auth-" + label,
		Payment: provision.ManualPayment + strconv.Itoa(s.count),
	})
}

// Serve starts the product.
func (s *Stage) Serve(ctx context.Context, environment ...string) (*rig.Process, error) {
	return rig.Start(ctx, rig.Command{
		Path: s.Binary, Args: []string{"serve", "--config", s.World.Ready},
		Environment: append([]string{"DOTKONTOR_LOG_LEVEL=error"}, environment...),
	})
}

// openLines counts the lines that are not at their end.
func (s *Stage) openLines(ctx context.Context) (int, error) {
	due, err := s.DB.DueLines(ctx, time.Now().AddDate(1, 0, 0), 100_000)
	return len(due), err
}

// Finish waits until every line is at its end.
func (s *Stage) Finish(ctx context.Context, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		left, err := s.openLines(ctx)
		if err == nil && left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d lines are still open after %s: %w", left, within, errors.Join(ctx.Err(), err))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Check holds the books against each other.
func (s *Stage) Check(ctx context.Context) error {
	books, err := rig.ReadBooks(ctx, s.DB, s.Control)
	if err != nil {
		return err
	}
	if problems := books.Problems(); len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	return nil
}

// kinds are the labels of names by what the registry makes of them, and how many
// of a hundred lines are of each.
var kinds = []struct {
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

var extensions = []string{".org", ".de", ".com", ".info", ".net", ".io", ".shop", ".dev"}

// Settings say how hard it is.
type Settings struct {
	Lines, Kills int
	Chaos        float64
	Seed         uint64
	// Patience is how long the rest may take after the last kill.
	Patience time.Duration
}

// Random kills the product at random moments while it carries out lines.
func Random(ctx context.Context, binary, folder string, s Settings, out io.Writer) error {
	fmt.Fprintf(out, "%d lines, %d kills, %.0f %% chaos, seed %d\n", s.Lines, s.Kills, s.Chaos*100, s.Seed)
	stage, err := Open(ctx, binary, folder, "--chaos", strconv.FormatFloat(s.Chaos, 'f', -1, 64), "--seed", strconv.FormatUint(s.Seed, 10))
	if err != nil {
		return err
	}
	err = stage.random(ctx, s, out)
	return errors.Join(err, stage.Close())
}

func (s *Stage) random(ctx context.Context, settings Settings, out io.Writer) error {
	dice := rand.New(rand.NewPCG(settings.Seed, settings.Seed))
	ordered, fallow := 0, 0
	for kill := range settings.Kills {
		for upTo := (kill + 1) * settings.Lines / settings.Kills; ordered < upTo; ordered++ {
			if err := s.orderAny(ctx, dice, ordered); err != nil {
				return err
			}
		}
		before, err := s.openLines(ctx)
		if err != nil {
			return err
		}
		if before == 0 {
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
	left, err := s.openLines(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d lines were open after the last kill; %d kills met no open line\n", left, fallow)
	server, err := s.Serve(ctx)
	if err != nil {
		return err
	}
	err = s.Finish(ctx, settings.Patience)
	return errors.Join(err, server.Stop(), s.Check(ctx))
}

// renewals is of how many lines one renews what an earlier one has registered, and
// transfers the same of transfers.
const renewals, transfers = 8, 12

// renewAny writes down a renewal of something that a line has registered, if there
// is anything that is not being renewed already.
func (s *Stage) renewAny(ctx context.Context, dice *rand.Rand) (bool, error) {
	domains, err := s.DB.DomainsAfter(ctx, "", 100_000)
	if err != nil {
		return false, err
	}
	domains = slices.DeleteFunc(domains, func(d provision.Domain) bool { return d.Account == "" || d.Status != "active" })
	if len(domains) == 0 {
		return false, nil
	}
	domain := domains[dice.IntN(len(domains))]
	_, err = s.OrderKind(ctx, provision.Renew, strings.TrimSuffix(domain.Name, domain.TLD), domain.TLD)
	if registrar.CodeOf(err) == provision.NameHeld {
		return false, nil
	}
	return err == nil, err
}

// orderAny writes down the n-th line. Names that the registry refuses come once in
// each extension.
func (s *Stage) orderAny(ctx context.Context, dice *rand.Rand, n int) error {
	if dice.IntN(transfers) == 0 { // of .de, which happen at once
		_, err := s.OrderKind(ctx, provision.Transfer, "transfer-"+strconv.Itoa(n), ".de")
		return err
	}
	draw := dice.IntN(100)
	tld := extensions[dice.IntN(len(extensions))]
	if dice.IntN(renewals) == 0 {
		if renewed, err := s.renewAny(ctx, dice); renewed || err != nil {
			return err
		}
	}
	for _, kind := range kinds {
		if draw -= kind.share; draw >= 0 {
			continue
		}
		label := kind.label
		if label == "" {
			label = kind.prefix + strconv.Itoa(n)
		}
		_, err := s.Order(ctx, label, tld)
		if registrar.CodeOf(err) == provision.NameHeld { // a refused name whose line is open still
			_, err = s.Order(ctx, "ruhig-"+strconv.Itoa(n), tld)
		}
		return err
	}
	return nil
}
