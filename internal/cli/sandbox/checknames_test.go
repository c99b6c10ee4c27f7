package sandbox

import (
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/sandbox/smtp"
)

// TestCheckNames_BatchedAnswersEqualSingleOnes looks up one name under all extensions and
// a few special ones, at once and in check commands of various sizes. A name that the
// registry refuses (unknown-) is in the middle.
func TestCheckNames_BatchedAnswersEqualSingleOnes(t *testing.T) {
	t.Parallel()
	list, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	world, err := registry.Start(registry.Options{Zones: zones(list), Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = world.Close() })
	mailbox, err := smtp.Start(smtp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mailbox.Close() })
	cfg, err := Command{Listen: "127.0.0.1:0", Data: t.TempDir()}.newConfig(
		simulation{registry: world, mailbox: mailbox, unsourced: unsourcedTLDs(list)})
	if err != nil {
		t.Fatal(err)
	}
	cfg.EPP[0].LookupTimeout = config.Duration(time.Minute) // a slow machine must not change a source

	var names []string
	for i, ext := range list.All() {
		names = append(names, "kaffeehaus"+ext.TLD)
		if i == 250 {
			names = append(names, "google.de", "unknown-a.com", "gold.com", "nic.dev", "reserviert.shop", "ohne-dns.org", "haus.de", "premium-x.ai")
		}
	}
	single := checkEach(t, cfg, list, 1, names)
	free, taken := 0, 0
	for _, answer := range single {
		switch answer.Availability {
		case lookup.Available:
			free++
		case lookup.Taken:
			taken++
		default:
		}
	}
	if free < 480 || taken < 5 {
		t.Fatalf("%d free, %d taken", free, taken)
	}
	for _, size := range []int{7, 100} {
		for i, answer := range checkEach(t, cfg, list, size, names) {
			if answer != single[i] {
				t.Errorf("checks of %d names: %+v, alone %+v", size, answer, single[i])
			}
		}
	}
}

// comparable answers have no time and no pointer.
type comparableAnswer struct {
	lookup.Answer
	prices lookup.Prices
}

func checkEach(t *testing.T, cfg config.Config, list *catalog.Catalog, size int, names []string) []comparableAnswer {
	t.Helper()
	cfg.EPP[0].CheckNames = size
	lookups, err := app.OpenLookups(cfg, list)
	if err != nil {
		t.Fatal(err)
	}
	defer lookups.Close()
	answers := make([]comparableAnswer, len(names))
	var all sync.WaitGroup
	running := make(chan struct{}, 120) // a check has a deadline, also on a slow machine
	for i, name := range names {
		running <- struct{}{}
		all.Go(func() {
			defer func() { <-running }()
			answer, err := lookups.Engine.Check(t.Context(), name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			answer.CheckedAt = time.Time{}
			answers[i].Answer = answer
			if answer.Prices != nil {
				answers[i].prices, answers[i].Prices = *answer.Prices, nil
			}
		})
	}
	all.Wait()
	return answers
}
