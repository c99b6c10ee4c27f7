package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/upstream/mail"
	"github.com/dotkontor/dotkontor/internal/upstream/vies"
)

// probeTimeout bounds the attempt at one upstream.
const probeTimeout = 15 * time.Second

// probe is one upstream that the configuration names.
type probe struct {
	name string
	try  func(context.Context) error
}

// probeUpstreams connects to everything outside, prints a line for each, and returns
// what failed. It sends nothing that changes anything there.
func probeUpstreams(t *terminal, cfg config.Config) (failed []error) {
	probes, done, err := upstreamProbes(cfg)
	if err != nil {
		return []error{err}
	}
	defer done()
	for _, p := range probes {
		ctx, cancel := context.WithTimeout(t.ctx, probeTimeout)
		begun := time.Now()
		err := p.try(ctx)
		cancel()
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", p.name, spoken(err)))
			continue
		}
		fmt.Fprintf(t.out, "%-4s %s: connected in %d ms\n", statusOK, p.name, time.Since(begun).Milliseconds())
	}
	return failed
}

func upstreamProbes(cfg config.Config) (probes []probe, done func(), err error) {
	list, err := catalog.Shipped()
	if err != nil {
		return nil, nil, err
	}
	look, err := newLookups(lookupParts{cfg: cfg, catalogue: list, now: time.Now})
	if err != nil {
		return nil, nil, err
	}
	add := func(name string, try func(context.Context) error) { probes = append(probes, probe{name, try}) }
	engine := "database (SQLite)"
	if cfg.Database.URL != "" {
		engine = "database (PostgreSQL)"
	}
	add(engine, func(ctx context.Context) error {
		_, err := store.ReadPriceList(ctx, storeOptions(cfg))
		return err
	})
	for i, client := range look.registries.clients {
		account := cfg.EPP[i]
		add("epp "+account.Name+" ("+account.Server+")", func(ctx context.Context) error {
			_, err := client.Poll(ctx) // reads the oldest message and leaves it in the queue
			return err
		})
	}
	if err := probePayments(cfg, add); err != nil {
		look.close()
		return nil, nil, err
	}
	if cfg.Mail.Server != "" {
		sender, err := mail.New(mailOptions(cfg))
		if err != nil {
			look.close()
			return nil, nil, err
		}
		add("mail ("+cfg.Mail.Server+")", sender.Probe)
	}
	add("IANA bootstrap ("+cfg.Upstream.Bootstrap+")", look.rdap.Refresh)
	add("DNS resolvers", func(ctx context.Context) error {
		name, err := registrar.ParseName("example.com", func(tld string) bool { return tld == ".com" })
		if err != nil {
			return err
		}
		_, err = look.dns.Delegated(ctx, name)
		return err
	})
	return probes, look.close, nil
}

// probePayments adds the payment provider and, where something is sold, VIES.
func probePayments(cfg config.Config, add func(string, func(context.Context) error)) error {
	provider, err := newStripe(cfg.Stripe, slog.New(slog.DiscardHandler), nil, nil)
	if err != nil || provider == nil {
		return err
	}
	add("stripe", func(ctx context.Context) error {
		for _, err := range provider.Charges(ctx) {
			return err // one charge, or the first error, is enough
		}
		return nil
	})
	register, err := vies.New(vies.Options{Address: cfg.VAT.VIESURL, UserAgent: "dotkontor/" + version, Memory: noVATMemory{}})
	if err != nil {
		return err
	}
	add("VIES", func(ctx context.Context) error {
		defer register.Close()
		id := cfg.Company.VATID
		if id == "" {
			id = "DE000000000" // not valid, which is an answer as well
		}
		_, err := register.Valid(ctx, id)
		return err
	})
	return nil
}

// noVATMemory keeps no answers: a probe asks the register itself.
type noVATMemory struct{}

func (noVATMemory) VATCheck(context.Context, string) (valid bool, checkedAt time.Time, found bool, err error) {
	return false, time.Time{}, false, nil
}

func (noVATMemory) SetVATCheck(context.Context, string, bool, time.Time) error { return nil }
