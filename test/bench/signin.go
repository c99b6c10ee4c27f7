package main

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit"
)

const (
	signInRoute       = "/portal/sign-in"
	signInPassword    = "a password of the bench"
	wantedHashing     = 256 // MiB
	wantedSlowdown    = 2.0
	lookupInterval    = 5 * time.Millisecond
	lookupWindow      = 5 * time.Second
	baselineDuration  = 12 * lookupWindow
	signInTimeout     = 8 * time.Minute // takes three to five
	lookupConnections = 8
)

// benchSignIn has a thousand people sign in at the same moment, each from their own
// address, and measures the product's memory and concurrent lookups until all are
// signed in. Busy responses are retried.
//
// The lookups' p99 is that of a typical window: the median of the windows before is
// compared with the median of the windows meanwhile. A virtual machine whose cores are
// taken away for some milliseconds has them in the p99 of a whole run, quiet or not.
func benchSignIn(ctx context.Context, b bench) (lines []measurement, err error) {
	folder := filepath.Join(b.folder, "signin")
	running, err := testkit.StartProduct(ctx, b.binary, folder, nil, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()
	if err := seedAccounts(ctx, filepath.Join(folder, "world"), b.people); err != nil {
		return nil, err
	}
	address := strings.TrimPrefix(running.Server.Ready, "http://")
	callers, _, err := dial(ctx, address, checkSpec(), lookupConnections)
	if err != nil {
		return nil, err
	}
	defer callers.close()

	b.progress("lookups at %d a second, alone", int(time.Second/lookupInterval))
	if _, err := callers.runAtFixedRate(ctx, lookupWindow); err != nil { // warm
		return nil, err
	}
	quiet, err := callers.runAtFixedRate(ctx, baselineDuration)
	if err != nil {
		return nil, err
	}
	before := running.Server.Memory()
	b.progress("the same while %d people sign in", b.people)
	crowd := &signInBurst{address: address, accounts: b.people}
	during, stormErr := callers.runWhile(ctx, signInTimeout, crowd.signIn)
	if stormErr != nil {
		return nil, stormErr
	}
	after := running.Server.Memory()
	return crowd.measurements(quiet, during, before, after)
}

// seedAccounts inserts the accounts, all with one password: hashing a thousand would
// take minutes, and a sign-in costs the same.
func seedAccounts(ctx context.Context, folder string, accounts int) (err error) {
	db, err := store.Open(ctx, store.Options{Data: folder})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	writer := db.SQL().Writer()
	tx, err := writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no-op after a commit
	hash := passwordHash()
	for n := range accounts {
		if err := seedAccount(ctx, tx, n, hash); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func seedAccount(ctx context.Context, tx *sql.Tx, n int, hash string) error {
	now := time.Now()
	_, err := tx.ExecContext(ctx, `INSERT INTO customers
		(id, email, email_key, password_hash, user_handle, language, created_at, confirmed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		registrar.NewID("cus_", now), accountEmail(n), accountEmail(n), hash, "bench-"+strconv.Itoa(n), "de", now.UnixMicro(), now.UnixMicro())
	return err
}

func accountEmail(n int) string { return "person-" + strconv.Itoa(n) + "@example.org" }

// passwordHash returns the password's hash at the product's cost.
func passwordHash() string {
	const memory, passes, lanes, length = 64 << 10, 3, 1, 32
	salt := []byte("0123456789abcdef")
	key := argon2.IDKey([]byte(signInPassword), salt, passes, memory, lanes, length)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memory, passes, lanes,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key))
}

// signInBurst is a number of simultaneous sign-ins and their results.
type signInBurst struct {
	address  string
	accounts int

	mu       sync.Mutex
	retries  int // busy responses
	failures []string
	took     time.Duration
}

// signIn starts all sign-ins at once and returns when the last one has succeeded.
func (c *signInBurst) signIn(ctx context.Context) {
	began := time.Now()
	var all sync.WaitGroup
	for n := range c.accounts {
		all.Go(func() {
			if err := c.signInWithRetry(ctx, n); err != nil {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.failures = append(c.failures, err.Error())
			}
		})
	}
	all.Wait()
	c.took = time.Since(began)
}

// signInWithRetry retries after the requested time plus a random delay, like people do.
func (c *signInBurst) signInWithRetry(ctx context.Context, n int) error {
	for {
		status, wait, err := c.signInOnce(ctx, n)
		switch {
		case err != nil:
			return err
		case status == http.StatusSeeOther:
			return nil
		case status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable || wait == 0:
			return fmt.Errorf("status %d", status)
		}
		c.mu.Lock()
		c.retries++
		c.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait + rand.N(4*wait)):
		}
	}
}

// signInOnce signs in one person from their own address.
func (c *signInBurst) signInOnce(ctx context.Context, n int) (status int, wait time.Duration, err error) {
	own := net.IPv4(127, 1, byte(n/250), byte(1+n%250))
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: own}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	defer transport.CloseIdleConnections()
	form := url.Values{"email": {accountEmail(n)}, "password": {signInPassword}}.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.address+signInRoute, strings.NewReader(form))
	if err != nil {
		return 0, 0, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := transport.RoundTrip(request) // does not follow redirects
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close()
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 without the header
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, time.Duration(seconds) * time.Second, err
}

// measurements returns an error if a sign-in failed, because the run is invalid then.
func (c *signInBurst) measurements(quiet, during latencyWindows, before, after testkit.Memory) ([]measurement, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.failures) > 0 || len(during) == 0 {
		return nil, fmt.Errorf("%d of %d people were not signed in: %s", len(c.failures), c.accounts, strings.Join(c.failures[:min(1, len(c.failures))], ""))
	}
	lines := []measurement{
		newMeasurement(grouped(strconv.Itoa(c.accounts))+" parallel sign-ins, growth of the product's memory", float64(after.Peak-before.RSS)/mebi, mebibytes,
			atMost(wantedHashing), "resident, at its highest; hashes, connections and garbage together"),
		newMeasurement("  lookups' p99 meanwhile, as a multiple of before", during.typicalP99()/quiet.typicalP99(), ratio,
			atMost(wantedSlowdown), fmt.Sprintf("%d a second, from memory; client and server share the cores", int(time.Second/lookupInterval))),
		newMeasurement("  lookups' p99 before", quiet.typicalP99(), milliseconds, nil, quiet.note()),
		newMeasurement("  lookups' p99 meanwhile", during.typicalP99(), milliseconds, nil, during.note()),
		newMeasurement("  until the last one was signed in", c.took.Seconds(), seconds, nil, fmt.Sprintf("%d busy responses were retried", c.retries)),
		newMeasurement("  sign-ins a second", float64(c.accounts)/c.took.Seconds(), perSecond, nil, "64 MiB and three passes each"),
	}
	if before.RSS == 0 {
		lines = lines[1:] // the system does not report it
	}
	return lines, nil
}

// latencyWindows are the milliseconds of the responses in each consecutive lookupWindow.
type latencyWindows [][]float64

func (w latencyWindows) typicalP99() float64 {
	p99s := make([]float64, len(w))
	for i, window := range w {
		p99s[i] = percentile(window, 0.99)
	}
	return median(p99s)
}

func (w latencyWindows) note() string {
	return fmt.Sprintf("median of %d windows of %s; %.1f ms over all of them", len(w), lookupWindow, percentile(slices.Concat(w...), 0.99))
}

// runWhile sends lookups while work runs.
func (l *load) runWhile(ctx context.Context, limit time.Duration, work func(context.Context)) (latencyWindows, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	asking, stop := context.WithCancel(ctx)
	go func() {
		defer stop()
		work(ctx)
	}()
	return l.runAtFixedRate(asking, limit)
}

// runAtFixedRate sends requests at a fixed rate and returns the milliseconds of each
// response since its scheduled time: a server that delays its clients must not look
// fast. It ends with ctx; an incomplete window at the end is dropped.
func (l *load) runAtFixedRate(ctx context.Context, duration time.Duration) (latencyWindows, error) {
	ctx, cancel := context.WithTimeout(ctx, duration)
	defer cancel()
	var (
		all      sync.WaitGroup
		mu       sync.Mutex
		windows  latencyWindows
		failures []error
	)
	began := time.Now()
	for i, c := range l.clients {
		all.Go(func() {
			due, every := began.Add(time.Duration(i)*lookupInterval), lookupInterval*time.Duration(len(l.clients))
			err := c.askAtFixedRate(ctx, due, every, func(due time.Time, took time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				window := int(due.Sub(began) / lookupWindow)
				for len(windows) <= window {
					windows = append(windows, nil)
				}
				windows[window] = append(windows[window], float64(took.Microseconds())/1000)
				l.sent.Add(1)
			})
			mu.Lock()
			defer mu.Unlock()
			failures = append(failures, err)
		})
	}
	all.Wait()
	return windows[:min(len(windows), int(time.Since(began)/lookupWindow))], errors.Join(failures...)
}

// askAtFixedRate reports each response with its scheduled time and the time since then.
func (c *client) askAtFixedRate(ctx context.Context, due time.Time, every time.Duration, report func(time.Time, time.Duration)) error {
	for ; ; due = due.Add(every) {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Until(due)):
		}
		if _, err := c.askBy(time.Now().Add(responseTimeout)); err != nil {
			return err
		}
		report(due, time.Since(due))
	}
}
