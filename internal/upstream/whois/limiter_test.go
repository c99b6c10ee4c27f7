package whois

import (
	"bufio"
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/upstream/hostlimit"
)

var testExtension = registrar.Extension{TLD: ".example", WHOIS: "whois.example.net"}

// dialPipe dials a server that sends text after a delay.
func dialPipe(after time.Duration, text string, calls *atomic.Int32) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		calls.Add(1)
		near, far := net.Pipe()
		go func() {
			defer func() { _ = far.Close() }()
			_, _ = bufio.NewReader(far).ReadString('\n')
			time.Sleep(after)
			_, _ = io.WriteString(far, text)
		}()
		return near, nil
	}
}

func TestFind_LimiterWaitDoesNotCountAsTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		c := newClient(t, Options{
			Dialer: dialPipe(900*time.Millisecond, "Domain not found.\r\n", &calls), Timeout: time.Second,
			Limiter: hostlimit.New(hostlimit.Options{PerSecond: 1, Burst: 1}),
		})
		began := time.Now()
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if finding, err := c.Find(t.Context(), testExtension, queriedName(".example")); err != nil || finding.State != lookup.Free {
					t.Errorf("%+v, %v", finding, err)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took != 3900*time.Millisecond {
			t.Errorf("four queries at one per second, took %s", took)
		}
	})
}

func TestFind_ThrottlingServerIsPaused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		c := newClient(t, Options{
			Dialer:  dialPipe(0, "Error: 55000000002 Connection refused; access control limit exceeded.\r\n", &calls),
			Limiter: hostlimit.New(hostlimit.Options{}),
		})
		for range 5 {
			if _, err := c.Find(t.Context(), testExtension, queriedName(".example")); registrar.CodeOf(err) != registrar.FaultThrottled {
				t.Fatalf("got %v", err)
			}
		}
		if got := calls.Load(); got != 3 {
			t.Errorf("the server got %d queries", got)
		}
		time.Sleep(2 * time.Second)
		_, _ = c.Find(t.Context(), testExtension, queriedName(".example"))
		if got := calls.Load(); got != 4 {
			t.Errorf("after its backoff the server got %d queries", got)
		}
	})
}
