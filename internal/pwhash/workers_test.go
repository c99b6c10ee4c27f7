package pwhash

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

// roles are the behaviours of this test binary when run as a hashing process.
var roles = map[string]func() error{
	"good":     func() error { return Serve(os.Stdin, os.Stdout) },
	"stranger": func() error { _, err := fmt.Println("usage: something else entirely"); return err },
	"mute":     func() error { _, err := io.Copy(io.Discard, os.Stdin); return err },
	// deaf greets and never responds.
	"deaf": func() error {
		fmt.Print(greeting)
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	},
	// other responds with a key for another request.
	"other": func() error {
		fmt.Print(greeting)
		if _, err := readFrame(os.Stdin); err != nil {
			return err
		}
		return writeFrame(os.Stdout, responsePayload(1<<40, make([]byte, 32)))
	},
	// short responds with an incomplete key.
	"short": func() error {
		fmt.Print(greeting)
		payload, err := readFrame(os.Stdin)
		if err != nil {
			return err
		}
		return writeFrame(os.Stdout, responsePayload(binary.BigEndian.Uint64(payload), make([]byte, 31)))
	},
	"parent": runParent,
}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 {
		if role, found := roles[os.Args[1]]; found {
			if role() != nil {
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// runParent is a service that hashes once, prints its process id, and waits.
func runParent() error {
	self, err := ExecutablePath()
	if err != nil {
		return err
	}
	w := New(Config{Command: []string{self, "good"}})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if _, err := w.Derive(ctx, newDerivation(secret)); err != nil {
		return err
	}
	fmt.Println(w.pids()[0])
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

const secret = "Vier Pferde am Deich"

func newDerivation(password string) account.Derivation {
	return account.Derivation{
		Password: []byte(password), Salt: []byte("0123456789abcdef"), Cost: account.Cost{Memory: 256, Passes: 2}, Lanes: 1, Size: 32,
	}
}

// newWorkers returns workers that run this binary in a role until the test ends.
func newWorkers(t *testing.T, role string, log io.Writer) *Workers {
	t.Helper()
	self, err := ExecutablePath()
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Command: []string{self, role}, Processes: 2}
	if log != nil {
		cfg.Logger = slog.New(slog.NewTextHandler(log, nil))
	}
	w := New(cfg)
	t.Cleanup(w.Close)
	return w
}

// pids returns the ids of the idle processes.
func (w *Workers) pids() []int {
	var all []int
	for range cap(w.idle) {
		p := <-w.idle
		if p != nil && !p.hasEnded() {
			all = append(all, p.cmd.Process.Pid)
		}
		w.idle <- p
	}
	return all
}

// resetBackoff ends the backoff at once.
func (w *Workers) resetBackoff() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.retryAt = time.Time{}
}

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestDerive_MatchesInProcessKey(t *testing.T) {
	t.Parallel()
	w := newWorkers(t, "good", nil)
	for _, d := range []account.Derivation{
		newDerivation(secret), newDerivation(""), newDerivation(strings.Repeat("ä", 2000)),
		{Password: []byte("x"), Salt: make([]byte, 64), Cost: account.Cost{Memory: 1024, Passes: 3}, Lanes: 2, Size: 64},
	} {
		got, err := w.Derive(testContext(t), d)
		if err != nil || !bytes.Equal(got, d.Key()) {
			t.Errorf("%d bytes of password: %x, %v, want %x", len(d.Password), got, err, d.Key())
		}
	}
}

func TestDerive_ReusesProcesses(t *testing.T) {
	t.Parallel()
	w := newWorkers(t, "good", nil)
	if len(w.pids()) != 0 {
		t.Error("a process runs before the first request")
	}
	errs := make(chan error)
	for n := range 20 {
		go func() {
			d := newDerivation(fmt.Sprint(secret, n))
			key, err := w.Derive(testContext(t), d)
			if err == nil && !bytes.Equal(key, d.Key()) {
				err = errors.New("the key of another question")
			}
			errs <- err
		}()
	}
	for range 20 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := len(w.pids()); n < 1 || n > 2 {
		t.Errorf("%d processes", n)
	}
}

func TestDerive_BadResponseIsErrorNeverWrongKey(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"stranger", "other", "short"} {
		w := newWorkers(t, role, nil)
		if key, err := w.Derive(testContext(t), newDerivation(secret)); err == nil || key != nil {
			t.Errorf("%s: key %x, %v", role, key, err)
		}
		if pids := w.pids(); len(pids) != 0 {
			t.Errorf("%s: process kept for reuse: %v", role, pids)
		}
	}
}

func TestDerive_KillsProcessAtDeadline(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"mute", "deaf"} {
		w := newWorkers(t, role, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		_, err := w.Derive(ctx, newDerivation(secret))
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", role, err)
		}
		if pids := w.pids(); len(pids) != 0 {
			t.Errorf("%s: still running: %v", role, pids)
		}
	}
}

func TestDerive_ReplacesProcessThatDies(t *testing.T) {
	t.Parallel()
	w := newWorkers(t, "good", nil)
	<-w.idle // one is enough here
	w.idle = make(chan *process, 1)
	w.idle <- nil
	if _, err := w.Derive(testContext(t), newDerivation(secret)); err != nil {
		t.Fatal(err)
	}
	pids := w.pids()
	if len(pids) != 1 {
		t.Fatalf("%d processes", len(pids))
	}
	long := newDerivation(secret)
	long.Cost = account.Cost{Memory: 64 << 10, Passes: 400} // longer than the test takes to end it
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if key, err := w.Derive(testContext(t), long); err == nil || key != nil {
			t.Errorf("key %x, %v", key, err)
		}
	}()
	for len(w.idle) > 0 {
		time.Sleep(time.Millisecond)
	}
	process, err := os.FindProcess(pids[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	w.resetBackoff()
	d := newDerivation("another")
	if key, err := w.Derive(testContext(t), d); err != nil || !bytes.Equal(key, d.Key()) {
		t.Errorf("next request: %x, %v", key, err)
	}
	for _, pid := range w.pids() {
		if pid == pids[0] {
			t.Error("dead process kept for reuse")
		}
	}
}

func TestDerive_FailureLoggedOnceWithoutSecrets(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := newWorkers(t, "other", &log)
	for range 5 {
		w.resetBackoff()
		if _, err := w.Derive(testContext(t), newDerivation(secret)); err == nil {
			t.Fatal("no error")
		}
	}
	w.cfg.Command = []string{"/nonexistent/dotkontor", "good"}
	w.resetBackoff()
	if _, err := w.Derive(testContext(t), newDerivation(secret)); err == nil {
		t.Fatal("no error")
	}
	if _, err := w.Derive(testContext(t), newDerivation(secret)); !errors.Is(err, errUnavailable) {
		t.Errorf("retried without backoff: %v", err)
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 1 {
		t.Errorf("%d warnings:\n%s", n, log.String())
	}
	self, _ := ExecutablePath()
	w.cfg.Command = []string{self, "good"}
	w.resetBackoff()
	for range 2 {
		if _, err := w.Derive(testContext(t), newDerivation(secret)); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(log.String(), "level=INFO"); n != 1 {
		t.Errorf("recovery logged %d times", n)
	}
	if strings.Contains(log.String(), secret) {
		t.Error("the password is in the log")
	}
}

func TestRecordResult_BackoffDoublesUpToOneMinute(t *testing.T) {
	t.Parallel()
	w := New(Config{})
	for _, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute} {
		w.recordResult(t.Context(), errInvalidFrame)
		if w.backoff != want || time.Until(w.retryAt) > want {
			t.Errorf("backoff = %s, want %s", w.backoff, want)
		}
	}
}

func TestClose_EndsProcessesAndRefusesDerive(t *testing.T) {
	t.Parallel()
	w := newWorkers(t, "good", nil)
	if _, err := w.Derive(testContext(t), newDerivation(secret)); err != nil {
		t.Fatal(err)
	}
	var p *process
	for range cap(w.idle) {
		one := <-w.idle
		if one != nil {
			p = one
		}
		w.idle <- one
	}
	w.Close()
	if !p.hasEnded() || !p.cmd.ProcessState.Success() {
		t.Errorf("process did not exit by itself: %v", p.cmd.ProcessState)
	}
	if _, err := w.Derive(testContext(t), newDerivation(secret)); !errors.Is(err, errUnavailable) {
		t.Errorf("got %v", err)
	}
	w.Close() // idempotent
}

func TestFrames_SizeIsBounded(t *testing.T) {
	t.Parallel()
	if err := writeFrame(io.Discard, make([]byte, maxFrameSize+1)); err == nil {
		t.Error("oversized frame accepted")
	}
	if _, err := readFrame(bytes.NewReader([]byte{0xff, 0xff, 0xff, 0xff, 1})); !errors.Is(err, errInvalidFrame) {
		t.Errorf("4 GiB frame: %v", err)
	}
	if _, err := readFrame(bytes.NewReader([]byte{0, 0, 0, 9, 1})); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("truncated frame: %v", err)
	}
	if _, err := (request{Derivation: newDerivation(strings.Repeat("x", maxFrameSize))}).payload(); err == nil {
		t.Error("oversized password accepted")
	}
	var out bytes.Buffer
	if err := Serve(bytes.NewReader([]byte{0, 0, 0, 1, 1}), &out); !errors.Is(err, errInvalidFrame) {
		t.Errorf("invalid request: %v", err)
	}
}

func FuzzParseRequest(f *testing.F) {
	payload, err := request{id: 7, Derivation: newDerivation(secret)}.payload()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(payload)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		q, err := parseRequest(b)
		if err != nil {
			return
		}
		again, err := q.payload()
		if err != nil || !bytes.Equal(again, b) {
			t.Errorf("%x parsed as %+v", b, q)
		}
		if q.Cost.Memory < 1024 && q.Cost.Passes < 4 {
			q.Key()
		}
	})
}
