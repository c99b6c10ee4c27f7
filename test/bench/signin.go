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
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/rig"
)

const (
	signInRoute    = "/portal/sign-in"
	signInPassword = "a password of the bench"
	wantedHashing  = 256 // MiB
	wantedSlowdown = 2.0
	lookupsEvery   = 5 * time.Millisecond
	lookupsBefore  = 10 * time.Second
	signInsOver    = 8 * time.Minute // takes about three
	steadyCallers  = 8
)

// benchSignIn lets a thousand people sign in at the same moment, each from an
// address of their own, and looks at the product's memory and at the lookups
// that go on until the last of them is in. Who is told to come back later does.
func benchSignIn(ctx context.Context, b bench) (lines []line, err error) {
	folder := filepath.Join(b.folder, "signin")
	running, err := rig.StartProduct(ctx, b.binary, folder, nil, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()
	if err := seedPeople(ctx, filepath.Join(folder, "world"), b.people); err != nil {
		return nil, err
	}
	address := strings.TrimPrefix(running.Server.Ready, "http://")
	callers, _, err := dial(ctx, address, checkInquiry(), steadyCallers)
	if err != nil {
		return nil, err
	}
	defer callers.close()

	b.progress("lookups at %d a second, alone", int(time.Second/lookupsEvery))
	if _, err := callers.steadily(ctx, time.Second); err != nil { // warm
		return nil, err
	}
	quiet, err := callers.steadily(ctx, lookupsBefore)
	if err != nil {
		return nil, err
	}
	before := running.Server.Memory()
	b.progress("the same while %d people sign in", b.people)
	crowd := &crowd{address: address, people: b.people}
	during, stormErr := callers.until(ctx, signInsOver, crowd.signIn)
	if stormErr != nil {
		return nil, stormErr
	}
	after := running.Server.Memory()
	return crowd.tell(quiet, during, before, after)
}

// seedPeople writes the accounts, all with one password: to hash a thousand
// would take minutes, and a sign-in costs the same.
func seedPeople(ctx context.Context, folder string, people int) (err error) {
	db, err := store.Open(ctx, store.Options{Data: folder})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	writer, _ := db.Pools()
	tx, err := writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	hash := storedPassword()
	for n := range people {
		if err := seedPerson(ctx, tx, n, hash); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func seedPerson(ctx context.Context, tx *sql.Tx, n int, hash string) error {
	now := time.Now()
	_, err := tx.ExecContext(ctx, `INSERT INTO customers
		(id, email, email_key, password_hash, user_handle, language, created_at, confirmed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		registrar.NewID("cus_", now), person(n), person(n), hash, "bench-"+strconv.Itoa(n), "de", now.UnixMicro(), now.UnixMicro())
	return err
}

func person(n int) string { return "person-" + strconv.Itoa(n) + "@example.org" }

// storedPassword is the password as the product stores it, at the product's cost.
func storedPassword() string {
	const memory, passes, lanes, length = 64 << 10, 3, 1, 32
	salt := []byte("0123456789abcdef")
	key := argon2.IDKey([]byte(signInPassword), salt, passes, memory, lanes, length)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memory, passes, lanes,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key))
}

// crowd is everybody who signs in, and what became of them.
type crowd struct {
	address string
	people  int

	mu     sync.Mutex
	later  int // how often somebody was told to come back
	others []string
	took   time.Duration
}

// signIn begins with all of them at once, and returns when the last one is in.
func (c *crowd) signIn(ctx context.Context) {
	began := time.Now()
	var all sync.WaitGroup
	for n := range c.people {
		all.Go(func() {
			if err := c.persist(ctx, n); err != nil {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.others = append(c.others, err.Error())
			}
		})
	}
	all.Wait()
	c.took = time.Since(began)
}

// persist comes back as long as it is told to, and like people not to the second.
func (c *crowd) persist(ctx context.Context, n int) error {
	for {
		status, wait, err := c.one(ctx, n)
		switch {
		case err != nil:
			return err
		case status == http.StatusSeeOther:
			return nil
		case status != http.StatusTooManyRequests || wait == 0:
			return fmt.Errorf("status %d", status)
		}
		c.mu.Lock()
		c.later++
		c.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait + rand.N(4*wait)):
		}
	}
}

// one is a person at an address of their own.
func (c *crowd) one(ctx context.Context, n int) (status int, wait time.Duration, err error) {
	own := net.IPv4(127, 1, byte(n/250), byte(1+n%250))
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: own}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	defer transport.CloseIdleConnections()
	form := url.Values{"email": {person(n)}, "password": {signInPassword}}.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.address+signInRoute, strings.NewReader(form))
	if err != nil {
		return 0, 0, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := transport.RoundTrip(request) // a redirect is the answer
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close()
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 where there is none
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, time.Duration(seconds) * time.Second, err
}

// tell makes lines. Somebody without an answer makes the run worthless.
func (c *crowd) tell(quiet, during []float64, before, after rig.Memory) ([]line, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.others) > 0 || len(during) == 0 {
		return nil, fmt.Errorf("%d of %d people were not signed in: %s", len(c.others), c.people, strings.Join(c.others[:min(1, len(c.others))], ""))
	}
	const mebi = 1 << 20
	lines := []line{
		measured(grouped(strconv.Itoa(c.people))+" parallel sign-ins, growth of the product's memory", float64(after.Most-before.Now)/mebi, mebibytes,
			atMost(wantedHashing), "resident, at its highest; hashes, connections and garbage together"),
		measured("  lookups' p99 meanwhile, as a multiple of before", percentile(during, 0.99)/percentile(quiet, 0.99), ratio,
			atMost(wantedSlowdown), fmt.Sprintf("%d a second, from memory; client and server share the cores", int(time.Second/lookupsEvery))),
		measured("  lookups' p99 before", percentile(quiet, 0.99), milliseconds, nil, ""),
		measured("  lookups' p99 meanwhile", percentile(during, 0.99), milliseconds, nil, ""),
		measured("  until the last one was signed in", c.took.Seconds(), seconds, nil, fmt.Sprintf("%d times somebody was asked to come back", c.later)),
		measured("  sign-ins a second", float64(c.people)/c.took.Seconds(), perSecond, nil, "64 MiB and three passes each"),
	}
	if before.Now == 0 {
		lines = lines[1:] // the system does not tell
	}
	return lines, nil
}

// until asks steadily while work goes on.
func (l *load) until(ctx context.Context, limit time.Duration, work func(context.Context)) ([]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	asking, stop := context.WithCancel(ctx)
	go func() {
		defer stop()
		work(ctx)
	}()
	return l.steadily(asking, limit)
}

// steadily asks at a fixed rate, and returns how many milliseconds each answer
// took from the moment when it should have been asked for: a server that makes
// its clients late must not look fast for it. It ends with ctx.
func (l *load) steadily(ctx context.Context, duration time.Duration) ([]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, duration)
	defer cancel()
	var (
		all      sync.WaitGroup
		mu       sync.Mutex
		times    []float64
		failures []error
	)
	began := time.Now()
	for i, c := range l.clients {
		all.Go(func() {
			own, err := c.steadily(ctx, began.Add(time.Duration(i)*lookupsEvery), lookupsEvery*time.Duration(len(l.clients)))
			mu.Lock()
			defer mu.Unlock()
			times, failures = append(times, own...), append(failures, err)
		})
	}
	all.Wait()
	l.sent.Add(int64(len(times)))
	return times, errors.Join(failures...)
}

func (c *client) steadily(ctx context.Context, due time.Time, every time.Duration) ([]float64, error) {
	var times []float64
	for ; ; due = due.Add(every) {
		select {
		case <-ctx.Done():
			return times, nil
		case <-time.After(time.Until(due)):
		}
		if _, err := c.ask(time.Now().Add(grace)); err != nil {
			return times, err
		}
		times = append(times, float64(time.Since(due).Microseconds())/1000)
	}
}
