package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

const (
	wantedNight         = 60.0 // minutes, for -due domains
	wantedNightSlowdown = 2.0  // of the purchases meanwhile
	// wantedSteadiness is how much more memory the last quarter of the night may take than
	// the second: during the first, caches fill.
	wantedSteadiness = 1.15
	domainsPerPerson = 10 // that are due
	// sampleDue is how many domains are due in the comparison of database sizes.
	sampleDue = 2_000
	// purchaseEvery and calmTime are how often a customer buys, and for how long before the
	// night.
	purchaseEvery = 500 * time.Millisecond
	calmTime      = 2 * time.Minute
	seedBatch     = 10_000
	nightTimeout  = 80 * time.Minute
	// nightGross is the announced price of a .com, which is above the list's.
	nightGross = 99_00
	// nightTerm is in how many days the due terms end.
	nightTerm = 14
)

// benchRenewals measures a night in which many automatic renewals are due, on PostgreSQL:
// each customer's saved card is charged once, then each domain is renewed at the registry,
// and the invoice is mailed. Meanwhile other customers buy. Then it compares the CPU time
// per renewed domain with a thousand and with a million domains in the database.
func benchRenewals(ctx context.Context, b bench) (lines []measurement, err error) {
	server, err := pgtest.Start() //nolint:contextcheck // the server must start and stop completely, even if the run is canceled
	if errors.Is(err, pgtest.ErrMissing) {
		b.progress("  left out: %s", err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }() //nolint:contextcheck // as above
	night := func(n renewalNight) (measured nightResult, err error) {
		url, drop, err := server.NewDatabase() //nolint:contextcheck // as above
		if err != nil {
			return measured, err
		}
		defer func() { err = errors.Join(err, drop()) }()
		return n.run(ctx, b, url)
	}
	long, err := night(renewalNight{name: "night", due: b.due, purchases: true})
	if len(long.memory) > 0 && len(long.busy) > 0 {
		lines = long.measurements(b.due)
	}
	if err != nil {
		return lines, err
	}
	small, err := night(renewalNight{name: "small", due: sampleDue})
	if err != nil {
		return lines, err
	}
	large, err := night(renewalNight{name: "large", due: sampleDue, others: b.rows})
	if err != nil {
		return lines, err
	}
	return append(lines, newMeasurement(
		fmt.Sprintf("renewal with %d domains / with %d, by CPU time", b.rows+sampleDue, sampleDue), large.perDomain()/small.perDomain(), ratio, atMost(wantedGrowth),
		fmt.Sprintf("%.2f and %.2f ms of the product for each; the whole night took %.2f ms for each", large.perDomain(), small.perDomain(), long.perDomain()))), nil
}

// renewalNight is a number of renewals that become due at once.
type renewalNight struct {
	name        string
	due, others int // domains that are due, and others in the database
	purchases   bool
}

// nightResult is what was measured.
type nightResult struct {
	due        int
	took, cpu  time.Duration
	calm, busy []float64 // milliseconds of the purchases before and during the night
	memory     []float64 // MiB, each second
}

func (r nightResult) perDomain() float64 {
	return float64(r.cpu.Microseconds()) / 1000 / float64(r.due)
}

func (r nightResult) measurements(due int) []measurement {
	quarter := len(r.memory) / 4
	// The collector makes the memory go up and down within seconds, so medians count.
	second, last := median(r.memory[quarter:2*quarter+1]), median(r.memory[3*quarter:])
	return []measurement{
		newMeasurement(fmt.Sprintf("renewal night of %d domains on PostgreSQL, fsync on", due), r.took.Minutes(), minutes, atMost(wantedNight),
			fmt.Sprintf("%d customers, one charge each; two purchases a second meanwhile", due/domainsPerPerson)),
		newMeasurement("  purchase during the night / before, p99", percentile(r.busy, 0.99)/percentile(r.calm, 0.99), ratio, atMost(wantedNightSlowdown),
			fmt.Sprintf("p99 %.0f and %.0f ms, median %.0f and %.0f ms; %d and %d purchases", percentile(r.busy, 0.99), percentile(r.calm, 0.99),
				percentile(r.busy, 0.5), percentile(r.calm, 0.5), len(r.busy), len(r.calm))),
		newMeasurement("  memory in the last quarter / in the second", last/second, ratio, atMost(wantedSteadiness), fmt.Sprintf("medians %.0f and %.0f MiB; at most %.0f MiB", last, second, slices.Max(r.memory))),
	}
}

func (n renewalNight) run(ctx context.Context, b bench, url string) (result nightResult, err error) {
	ctx, cancel := context.WithTimeout(ctx, nightTimeout)
	defer cancel()
	folder := filepath.Join(b.folder, "renewals-"+n.name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return result, err
	}
	settings := []string{"DOTKONTOR_DATABASE_URL=" + url, "DOTKONTOR_SECRET_KEY=" + config.NewKey()}
	running, err := testkit.StartProduct(ctx, b.binary, folder, nil, settings)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()
	opts := store.Options{URL: url}
	db, err := store.Open(ctx, opts)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	writer := db.SQL().Writer()
	b.progress("renewals: %d domains, %d of them due", n.due+n.others, n.due)
	if err := n.seed(ctx, writer, filepath.Join(folder, "world")); err != nil {
		return result, err
	}
	result.due = n.due
	if !n.purchases {
		err := n.renewAll(ctx, b, running, writer, &result)
		return result, err
	}
	accounts, err := seedBuyers(ctx, opts, buyers)
	if err != nil {
		return result, err
	}
	shop := newShopClient(running.Server.Ready)
	defer shop.close()
	m := newWorkload(func(ctx context.Context, number int64, note func(string, time.Duration)) error {
		return shop.buy(ctx, accounts[int(number)%len(accounts)], note, domainName(number))
	}, nil)
	b.progress("renewals: purchases before the night, for %s", calmTime)
	if err := m.runSteadily(ctx, calmTime); err != nil {
		return result, err
	}
	result.calm = slices.Clone(m.times(wholeOrder))
	m.reset()
	meanwhile, stop := context.WithCancel(ctx)
	bought := make(chan error, 1)
	go func() { bought <- m.runSteadily(meanwhile, nightTimeout) }()
	err = n.renewAll(ctx, b, running, writer, &result)
	stop()
	err = errors.Join(err, <-bought)
	result.busy = m.times(wholeOrder)
	return result, errors.Join(err, runDoctor(ctx, b, running, settings))
}

// runSteadily sells a name every purchaseEvery, whatever the others take, until the time is
// over or ctx ends. It waits for those in progress.
func (m *workload) runSteadily(ctx context.Context, span time.Duration) error {
	deadline := time.After(span)
	ticker := time.NewTicker(purchaseEvery)
	defer ticker.Stop()
	var all sync.WaitGroup
	var mu sync.Mutex
	var failures []error
	for {
		select {
		case <-ticker.C:
			all.Go(func() {
				one, cancel := context.WithTimeout(context.WithoutCancel(ctx), ordersTimeout)
				defer cancel()
				if err := m.runOne(one); err != nil {
					mu.Lock()
					failures = append(failures, err)
					mu.Unlock()
				}
			})
			continue
		case <-deadline:
		case <-ctx.Done():
		}
		all.Wait()
		return errors.Join(failures...)
	}
}

// renewAll starts the night and waits until every domain is renewed.
func (n renewalNight) renewAll(ctx context.Context, b bench, running *testkit.Product, writer *sql.DB, result *nightResult) error {
	before, known := running.Server.CPU()
	if !known {
		return errors.New("the CPU time of a process is unknown on this system")
	}
	began := time.Now()
	if _, err := writer.ExecContext(ctx, `UPDATE renewals SET charge_at = $1 WHERE state = 'announced'`, began.UnixMicro()); err != nil {
		return err
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for seconds := 1; ; seconds++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		result.memory = append(result.memory, float64(running.Server.Memory().RSS)/mebi)
		var renewed, failed int
		if err := writer.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE state = 'renewed'), count(*) FILTER (WHERE state IN ('failed', 'stopped'))
			FROM renewals WHERE customer_id LIKE 'cus_night%'`).Scan(&renewed, &failed); err != nil {
			return err
		}
		if failed > 0 {
			return fmt.Errorf("%d renewals failed", failed)
		}
		if seconds%30 == 0 {
			b.progress("renewals: %d of %d after %s", renewed, n.due, time.Since(began).Round(time.Second))
		}
		if renewed == n.due {
			break
		}
	}
	result.took = time.Since(began)
	after, _ := running.Server.CPU()
	result.cpu = after - before
	return nil
}

// population is a number of domains, ten of each customer.
type population struct {
	prefix string // of ids and names
	rows   int
	// inDays is when the term ends. Its renewal is in a state; one that is over belongs to the
	// term before.
	inDays, renewalInDays int
	state                 string
}

// populationRows insert a population. $1 is the number of domains, $2 the present time.
var populationRows = []string{
	`INSERT INTO customers (id, email, email_key, user_handle, language, created_at, confirmed_at, data_reminder_at)
	 SELECT 'cus_{who}' || i, '{who}-' || i || '@example.test', '{who}-' || i || '@example.test', '{who}-' || i, 'de', $2::bigint, $2, $2
	 FROM generate_series(0, ($1::int - 1) / 10) AS i`,
	`INSERT INTO registrants (customer_id, kind, name, organisation, street, postal_code, city, state, country, phone, vat_id, updated_at)
	 SELECT 'cus_{who}' || i, 'person', 'Erika Mustermann', '', 'Musterweg 1', '10115', 'Berlin', '', 'DE', '+49.30123456', '', $2::bigint
	 FROM generate_series(0, ($1::int - 1) / 10) AS i`,
	// The notice of a month before the end was sent.
	`INSERT INTO domains (id, customer_id, name, tld, status, paid_until, at_term_end, created_at, updated_at, account, registry_expires, synced_at, expiry_notice)
	 SELECT 'dom_{who}' || i, 'cus_{who}' || i / 10, '{who}-' || i || '.com', '.com', 'active', $2::bigint + {days} * {day}, 'renew', $2, $2, 'sandbox',
	     $2 + {days} * {day}, $2, CASE WHEN {days} < 30 THEN 1 ELSE 0 END
	 FROM generate_series(0, $1::int - 1) AS i`,
	`INSERT INTO provision_items (id, customer_id, name, tld, kind, years, payment, state, account, domain_id, requested_at, due_at, created_at, updated_at)
	 SELECT 'prv_{who}' || i, 'cus_{who}' || i / 10, '{who}-' || i || '.com', '.com', 'register', 1, 'manual:{who}' || i, 'active', 'sandbox', 'dom_{who}' || i, $2::bigint, 0, $2, $2
	 FROM generate_series(0, $1::int - 1) AS i`,
	`INSERT INTO renewal_consents (id, domain_id, customer_id, name, wording, years, gross, charge_at, method, through, address, given_at)
	 SELECT 'con_{who}' || i, 'dom_{who}' || i, 'cus_{who}' || i / 10, '{who}-' || i || '.com', 'de-1', 1, {gross}, $2::bigint, 'Visa •••• 4242', 'bench', '127.0.0.1', $2
	 FROM generate_series(0, $1::int - 1) AS i`,
	`INSERT INTO renewals (domain_id, term_end, customer_id, name, tld, state, years, gross, announced_at, charge_at, updated_at)
	 SELECT 'dom_{who}' || i, $2::bigint + {renewal_days} * {day}, 'cus_{who}' || i / 10, '{who}-' || i || '.com', '.com', '{state}', 1, {gross},
	     $2 + ({renewal_days} - 45) * {day}, 0, $2
	 FROM generate_series(0, $1::int - 1) AS i`,
}

func (p population) insert(ctx context.Context, writer *sql.DB, now time.Time) error {
	values := strings.NewReplacer("{who}", p.prefix, "{days}", strconv.Itoa(p.inDays), "{renewal_days}", strconv.Itoa(p.renewalInDays), "{state}", p.state,
		"{day}", "86400000000::bigint", "{gross}", strconv.Itoa(nightGross))
	for _, statement := range populationRows {
		if p.rows == 0 {
			continue
		}
		if _, err := writer.ExecContext(ctx, values.Replace(statement), p.rows, now.UnixMicro()); err != nil {
			return err
		}
	}
	return nil
}

// seed stores the domains here and at the registry, and saves a card for each customer.
func (n renewalNight) seed(ctx context.Context, writer *sql.DB, world string) error {
	now := time.Now().Truncate(time.Second)
	for _, p := range []population{
		{prefix: "night", rows: n.due, inDays: nightTerm, renewalInDays: nightTerm, state: "announced"},
		{prefix: "other", rows: n.others, inDays: 300, renewalInDays: -65, state: "renewed"},
	} {
		if err := p.insert(ctx, writer, now); err != nil {
			return err
		}
	}
	if _, err := writer.ExecContext(ctx, "ANALYZE"); err != nil {
		return err
	}
	provider, err := testkit.FindProvider(world)
	if err != nil {
		return err
	}
	for i := range (n.due + domainsPerPerson - 1) / domainsPerPerson {
		saved, err := provider.SaveCard(ctx, fmt.Sprintf("night-%d@example.test", i), "")
		if err == nil {
			_, err = writer.ExecContext(ctx, `INSERT INTO payment_methods (customer_id, provider_customer, method, label, updated_at) VALUES ($1, $2, $3, 'Visa •••• 4242', $4)`,
				fmt.Sprintf("cus_night%d", i), saved.Customer, saved.ID, now.UnixMicro())
		}
		if err != nil {
			return err
		}
	}
	control, err := testkit.FindWorld(world)
	if err != nil {
		return err
	}
	for from := 0; from < n.due; from += seedBatch {
		var domains []registry.SeedDomain
		for i := from; i < min(n.due, from+seedBatch); i++ {
			domains = append(domains, registry.SeedDomain{
				Name: fmt.Sprintf("night-%d.com", i), Registrar: registry.ProductName, Created: now.AddDate(-1, 0, nightTerm), Expires: now.Add(nightTerm * 24 * time.Hour),
			})
		}
		if err := control.Seed(ctx, domains); err != nil {
			return err
		}
	}
	return nil
}
