package kill_test

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/steward"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
	"github.com/dotkontor/dotkontor/test/kill"
)

// away is a registry that does not answer, so that a change stays for the product.
type away struct{}

func (away) Powers(string) steward.Powers {
	return steward.Powers{MinNameservers: 2, MaxNameservers: 13, Lock: true, Code: true, CodeLength: 16, Contacts: true}
}

func (away) Look(context.Context, string) (steward.Record, error) {
	return steward.Record{}, registrar.Fault(registrar.FaultRefused, "epp.example", nil)
}

func (away) Carry(context.Context, steward.Task) (steward.Result, error) {
	return steward.Result{}, registrar.Fault(registrar.FaultRefused, "epp.example", nil)
}

// changed lets the product carry out what is open, and returns the newest change.
func changed(t *testing.T, stage *kill.Stage, domain string) steward.Change {
	t.Helper()
	server, err := stage.Serve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		changes, err := stage.DB.ChangesOf(t.Context(), domain, 1)
		if err != nil {
			t.Fatal(err)
		}
		if changes[0].State.Final() {
			return changes[0]
		}
	}
	t.Fatal("the change is still open")
	return steward.Change{}
}

func atRegistry(t *testing.T, stage *kill.Stage, name string) (domain *ledger.Domain, held ledger.Holdings) {
	t.Helper()
	held, err := stage.Control.Holdings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, domain := range held.Domains {
		if domain.Name == name {
			return domain, held
		}
	}
	t.Fatalf("the registry does not have %s", name)
	return nil, held
}

func TestAKilledChangeOfADomainIsCarriedOutAndToldOnce(t *testing.T) {
	t.Parallel()
	stage := open(t)
	const name = "ruhig-wandel.org"
	if _, err := stage.Order(t.Context(), "ruhig-wandel", ".org"); err != nil {
		t.Fatal(err)
	}
	server, err := stage.Serve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stage.Finish(t.Context(), patience); err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	domain, _, err := stage.DB.DomainByName(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	asking := asker(t, stage)
	told := 0
	for _, boundary := range steward.Boundaries() {
		for _, wish := range []steward.Wish{
			{Kind: steward.Nameservers, Nameservers: "ns1." + boundary[7:] + ".example\nns2." + boundary[7:] + ".example"},
			{Kind: steward.TakeHolder},
		} {
			asking(t, domain, wish)
			if err := killedAt(t.Context(), stage, boundary); err != nil {
				t.Fatalf("%s at %s: %v", wish.Kind, boundary, err)
			}
			change := changed(t, stage, domain.ID)
			if change.State != steward.StateDone {
				t.Fatalf("%s at %s: %s %s", wish.Kind, boundary, change.State, change.Failure)
			}
			there, held := atRegistry(t, stage, name)
			if wish.Kind == steward.TakeHolder && (there.Registrant != change.Handle || len(held.Unused) != 0) {
				t.Errorf("at %s: the registry has %s, and %v without use", boundary, there.Registrant, held.Unused)
			}
			if wish.Kind == steward.Nameservers {
				var hosts []string
				for _, server := range there.Nameservers {
					hosts = append(hosts, server.Host)
				}
				if !slices.Contains(hosts, change.Wanted.Nameservers[0].Name) || len(hosts) != 2 {
					t.Errorf("at %s: the registry has %v", boundary, hosts)
				}
			}
			told++
			deeds, err := stage.DB.DeedsAbout(t.Context(), domain.Customer, name, 100)
			if err != nil {
				t.Fatal(err)
			}
			deeds = slices.DeleteFunc(deeds, func(deed registrar.Deed) bool { return !slices.Contains(steward.Actions(), deed.Action) })
			if len(deeds) != told {
				t.Errorf("%s at %s: the audit tells %d changes, want %d", wish.Kind, boundary, len(deeds), told)
			}
			if domain, _, err = stage.DB.DomainByName(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := stage.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// asker writes changes down that the product finds.
func asker(t *testing.T, stage *kill.Stage) func(*testing.T, provision.Domain, steward.Wish) {
	t.Helper()
	seal, err := registrar.NewSeal([32]byte{}) // no auth codes are asked for
	if err != nil {
		t.Fatal(err)
	}
	service, err := steward.New(steward.Config{
		Store: stage.DB, Seal: seal, Node: "asker",
		Registries: []steward.NamedRegistry{{Name: "sandbox", Serves: func(string) bool { return true }, Registry: away{}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, domain provision.Domain, wish steward.Wish) {
		t.Helper()
		_, _, err := service.Ask(t.Context(), registrar.Actor{
			Kind: registrar.ActorPerson, Customer: domain.Customer, Through: "ses_kill", Address: netip.MustParseAddr("192.0.2.7"), SignedInAt: time.Now(),
		}, domain.ID, wish)
		if err != nil {
			t.Fatal(err)
		}
	}
}
