package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
	"github.com/dotkontor/dotkontor/test/testkit"
)

const (
	wantedNames    = 40_000
	wantedFeeNames = 15_000
	wantedCommands = 3_000
	eppBatch       = 50
	// eppCallers keep the one connection busy: while one response is read, the next
	// command is waiting.
	eppCallers = 8
)

// benchEPP queries the simulated registry over one loopback connection: checks of fifty
// names without and with fees, and single commands.
func benchEPP(ctx context.Context, b bench) (lines []measurement, err error) {
	world, err := testkit.Start(ctx, testkit.Command{Path: b.binary, Args: []string{
		"sandbox", "--world-only", "--listen", "127.0.0.1:0", "--data", filepath.Join(b.folder, "epp"),
	}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, world.Stop()) }()
	client, err := eppClient(world.Ready)
	if err != nil {
		return nil, err
	}
	defer client.Close(ctx)
	var all []measurement
	for _, kind := range []struct {
		what   string
		names  int
		fee    epp.FeeCommand
		wanted float64
	}{
		{"EPP: names in checks of 50, one connection", eppBatch, epp.FeeCommand{}, wantedNames},
		{"EPP: names in checks of 50 with fees, one connection", eppBatch, epp.FeeCommand{Name: "create", Years: 1}, wantedFeeNames},
		{"EPP: single commands, one connection", 1, epp.FeeCommand{}, wantedCommands},
	} {
		b.progress("%s", kind.what)
		var rates []float64
		for range b.rounds {
			rate, err := eppRate(ctx, client, kind.names, kind.fee, b.duration)
			if err != nil {
				return nil, err
			}
			rates = append(rates, rate)
		}
		all = append(all, newMeasurement(kind.what, median(rates), perSecond, atLeast(kind.wanted), ""))
	}
	return all, nil
}

// eppClient connects as configured in the world's file.
func eppClient(file string) (*epp.Client, error) {
	cfg, err := config.Load(file, nil)
	if err != nil {
		return nil, err
	}
	account := cfg.EPP[0]
	ca, err := os.ReadFile(account.CA)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return epp.New(epp.Account{
		Address: account.Server, ClientID: account.User, Password: string(account.Password),
		TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, MaxConnections: 1,
	})
}

// eppRate returns the number of names answered per second.
func eppRate(ctx context.Context, client *epp.Client, names int, fee epp.FeeCommand, duration time.Duration) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, duration+time.Minute)
	defer cancel()
	question := epp.CheckDomains{Fee: fee}
	for n := range names {
		question.Names = append(question.Names, fmt.Sprintf("bench-%d.org", n))
	}
	var (
		answered atomic.Int64
		failed   atomic.Pointer[error]
		all      sync.WaitGroup
		began    = time.Now()
	)
	for range eppCallers {
		all.Go(func() {
			for time.Since(began) < duration && failed.Load() == nil {
				answers, err := client.CheckDomains(ctx, question)
				if err != nil {
					failed.Store(&err)
					return
				}
				answered.Add(int64(len(answers)))
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(answered.Load()) / time.Since(began).Seconds(), nil
}
