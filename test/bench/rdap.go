package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/store"
)

const (
	rdapMeasure = "RDAP, p99 at 500 requests a second, on "
	wantedRDAP  = 10.0 // milliseconds
	rdapTick    = 2 * time.Millisecond
	rdapWarmup  = 2500
	rdapAsked   = 15_000 // half a minute
)

// benchRDAP asks the public records of random domains at a steady rate, at the client. A
// response counts from when its request was due, so that a pause delays all behind it.
func benchRDAP(ctx context.Context, b bench) ([]measurement, error) {
	return onBothDatabases(ctx, b, func(ctx context.Context, where, url string) ([]measurement, error) {
		return measureRDAP(ctx, b, where, url)
	})
}

func measureRDAP(ctx context.Context, b bench, where, url string) (lines []measurement, err error) {
	running, stop, err := startWithRows(ctx, b, "rdap", where, url, func(kind engineKind, opts store.Options) error {
		return seedRecords(ctx, b, kind, opts)
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	asked := &rdapClient{base: running.Server.Ready, rows: int64(b.rows), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	if _, err := asked.run(ctx, rdapWarmup); err != nil {
		return nil, err
	}
	before, _ := running.Server.CPU()
	b.progress("%d public records on %s", rdapAsked, where)
	times, err := asked.run(ctx, rdapAsked)
	if err != nil {
		return nil, err
	}
	after, _ := running.Server.CPU()
	return []measurement{
		newMeasurement(rdapMeasure+where, percentile(times, 0.99), milliseconds, atMost(wantedRDAP),
			fmt.Sprintf("median %.2f ms, of %s domains", percentile(times, 0.5), grouped(strconv.Itoa(b.rows)))),
		newMeasurement("  CPU time of the product for each", float64((after-before).Microseconds())/1000/rdapAsked, milliseconds, nil, ""),
	}, nil
}

// seedRecords generates domains of as many customers, each with what its registry said.
func seedRecords(ctx context.Context, b bench, kind engineKind, opts store.Options) error {
	db, err := store.Open(ctx, opts)
	if err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	now := time.Now().UTC()
	record, err := json.Marshal(domainchange.Record{
		Statuses: []string{domainchange.TransferLock}, Nameservers: []domainchange.Nameserver{{Name: "ns1.example.net"}, {Name: "ns2.example.net"}},
		DS: []domainchange.DS{{KeyTag: 12345, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("0A", 32)}}, Created: now, Updated: now, Expires: now.AddDate(1, 0, 0),
	})
	if err != nil {
		return err
	}
	nothing, zero := constantText(""), constantInt(0)
	_, err = loadRows(ctx, kind, opts, dataset{
		rows: int64(b.rows), tables: []string{"customers", "registrants", "domains", "registry_records"},
		columns: map[string]columnFormula{
			"customers.data_reminder_at": constantInt(farFuture), "customers.totp_sealed": nothing, "domains.code_sealed": nothing, "domains.sync_due": zero,
			"domains.contact_check": nothing, "domains.registry_status": constantText(domainchange.TransferLock), "registry_records.data": constantText(string(record)),
			"domains.registrant": constantText(`{"name":"Erika Mustermann","city":"Hamburg","country":"DE","email":"erika@example.org"}`),
		},
	}, b.progress)
	return err
}

// rdapClient asks from many addresses, because each has its own limit.
type rdapClient struct {
	base   string
	rows   int64
	client *http.Client
	number int
}

func (c *rdapClient) run(ctx context.Context, requests int) ([]float64, error) {
	var (
		all    sync.WaitGroup
		mu     sync.Mutex
		failed error
	)
	times := make([]float64, 0, requests)
	places := make(chan struct{}, maxConcurrentPages)
	start := time.Now()
	for n := range requests {
		due := start.Add(time.Duration(n) * rdapTick)
		select {
		case <-time.After(time.Until(due)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		c.number++
		address := fmt.Sprintf("198.18.%d.%d", c.number/250%250, c.number%250)
		name := "name-" + strconv.FormatInt(idBase+rand.Int64N(c.rows), 10) + ".de"
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			err := c.get(ctx, name, address)
			took := float64(time.Since(due).Microseconds()) / 1000
			mu.Lock()
			defer mu.Unlock()
			times, failed = append(times, took), errors.Join(failed, err)
		})
	}
	all.Wait()
	return times, failed
}

func (c *rdapClient) get(ctx context.Context, name, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/rdap/domain/"+name, http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("X-Forwarded-For", address)
	response, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d", name, response.StatusCode)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
