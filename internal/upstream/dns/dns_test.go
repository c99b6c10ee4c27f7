package dns

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const queriedLabel = "kranich-canary-47"

var queriedName = registrar.NewName(queriedLabel, ".example")

func TestIsDelegated_RequiresNSRecordOfTheName(t *testing.T) {
	t.Parallel()
	for rule, c := range map[string]struct {
		change func(*dnsmessage.Message)
		want   bool
	}{
		"NS in the answer": {delegated, true},
		"NS in capitals": {func(m *dnsmessage.Message) {
			m.Answers = append(m.Answers, nsOf(strings.ToUpper(queriedName.ASCII())+"."))
		}, true},
		"referral to the name":       {func(m *dnsmessage.Message) { m.Authorities = append(m.Authorities, nsOf(queriedName.ASCII()+".")) }, true},
		"NS after another record":    {func(m *dnsmessage.Message) { m.Answers = append(m.Answers, nsOf("other.example.")); delegated(m) }, true},
		"referral to the parent":     {func(m *dnsmessage.Message) { m.Authorities = append(m.Authorities, nsOf("example.")) }, false},
		"NS of another name":         {func(m *dnsmessage.Message) { m.Answers = append(m.Answers, nsOf("x"+queriedName.ASCII()+".")) }, false},
		"no such name":               {withRCode(dnsmessage.RCodeNameError), false},
		"the name without an answer": {nil, false},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			client := newClient(t, Options{Servers: []string{startResolver(t, respondOnce(c.change), nil)}})
			if got, err := client.IsDelegated(t.Context(), queriedName); err != nil || got != c.want {
				t.Errorf("got %t, %v; want %t", got, err, c.want)
			}
		})
	}
}

func TestIsDelegated_QueryIsRecursiveWithEDNS(t *testing.T) {
	t.Parallel()
	received := make(chan dnsmessage.Message, 1)
	server := startResolver(t, func(t *testing.T, question dnsmessage.Message) [][]byte {
		received <- question
		return [][]byte{buildResponse(t, question, delegated)}
	}, nil)
	if _, err := newClient(t, Options{Servers: []string{server}}).IsDelegated(t.Context(), queriedName); err != nil {
		t.Fatal(err)
	}
	q := <-received
	if !q.RecursionDesired || len(q.Questions) != 1 || q.Questions[0].Type != dnsmessage.TypeNS ||
		q.Questions[0].Name.String() != queriedName.ASCII()+"." {
		t.Errorf("asked %v", q.GoString())
	}
	if len(q.Additionals) != 1 || q.Additionals[0].Header.Type != dnsmessage.TypeOPT || q.Additionals[0].Header.Class != ednsBytes {
		t.Errorf("no EDNS with %d bytes: %v", ednsBytes, q.Additionals)
	}
}

func TestIsDelegated_IgnoresForeignPackets(t *testing.T) {
	t.Parallel()
	server := startResolver(t, func(t *testing.T, question dnsmessage.Message) [][]byte {
		return [][]byte{
			buildResponse(t, question, func(m *dnsmessage.Message) { m.ID++; m.RCode = dnsmessage.RCodeNameError }),
			buildResponse(t, question, func(m *dnsmessage.Message) { m.Response = false }),
			buildResponse(t, question, func(m *dnsmessage.Message) {
				m.RCode = dnsmessage.RCodeNameError
				m.Questions = []dnsmessage.Question{{Name: dnsmessage.MustNewName("other.example."), Type: dnsmessage.TypeNS, Class: dnsmessage.ClassINET}}
			}),
			buildResponse(t, question, func(m *dnsmessage.Message) { m.Questions = nil }),
			buildResponse(t, question, delegated),
		}
	}, nil)
	got, err := newClient(t, Options{Servers: []string{server}}).IsDelegated(t.Context(), queriedName)
	if err != nil || !got {
		t.Errorf("got %t, %v", got, err)
	}
}

func TestIsDelegated_TruncatedAnswerIsRetriedOverTCP(t *testing.T) {
	t.Parallel()
	truncated := respondOnce(func(m *dnsmessage.Message) { m.Truncated = true })
	server := startResolver(t, truncated, respondOnce(func(m *dnsmessage.Message) {
		for range 200 { // more than any UDP response can hold
			delegated(m)
		}
	}))
	got, err := newClient(t, Options{Servers: []string{server}}).IsDelegated(t.Context(), queriedName)
	if err != nil || !got {
		t.Errorf("got %t, %v", got, err)
	}
	server = startResolver(t, truncated, truncated)
	if _, err := newClient(t, Options{Servers: []string{server}}).IsDelegated(t.Context(), queriedName); registrar.CodeOf(err) != registrar.FaultBroken {
		t.Errorf("truncated over TCP: %v", err)
	}
}

func TestIsDelegated_FaultsOmitTheName(t *testing.T) {
	t.Parallel()
	for rule, c := range map[string]struct {
		udp  script
		want registrar.Code
	}{
		"server failure": {respondOnce(withRCode(dnsmessage.RCodeServerFailure)), registrar.FaultBroken},
		"format error":   {respondOnce(withRCode(dnsmessage.RCodeFormatError)), registrar.FaultBroken},
		"format error without the question": {respondOnce(func(m *dnsmessage.Message) {
			m.RCode, m.Questions = dnsmessage.RCodeFormatError, nil
		}), registrar.FaultBroken},
		"refused":   {respondOnce(withRCode(dnsmessage.RCodeRefused)), registrar.FaultRefused},
		"malformed": {func(*testing.T, dnsmessage.Message) [][]byte { return [][]byte{{1, 2, 3}} }, registrar.FaultBroken},
		"cut off": {func(t *testing.T, question dnsmessage.Message) [][]byte {
			packet := buildResponse(t, question, delegated)
			return [][]byte{packet[:len(packet)-5]}
		}, registrar.FaultBroken},
		"no TCP after truncation": {respondOnce(func(m *dnsmessage.Message) { m.Truncated = true }), registrar.FaultRefused},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			client := newClient(t, Options{
				Servers: []string{startResolver(t, c.udp, nil)},
				Logger:  slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			})
			got, err := client.IsDelegated(t.Context(), queriedName)
			if got || registrar.CodeOf(err) != c.want || registrar.KindOf(err) != registrar.KindUpstream {
				t.Fatalf("got %t, %v; want %s", got, err, c.want)
			}
			if tries := strings.Count(log.String(), string(c.want)); tries != maxTries {
				t.Errorf("%d tries, want %d", tries, maxTries)
			}
			if strings.Contains(log.String()+err.Error(), queriedLabel) {
				t.Errorf("the searched name leaked: %q %q", log.String(), err)
			}
		})
	}
}

func TestIsDelegated_ClosedPortIsRefused(t *testing.T) {
	t.Parallel()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := conn.LocalAddr().String()
	_ = conn.Close()
	_, err = newClient(t, Options{Servers: []string{address}}).IsDelegated(t.Context(), queriedName)
	if registrar.CodeOf(err) != registrar.FaultRefused {
		t.Errorf("got %v", err)
	}
}

func TestIsDelegated_FailureMovesToNextServer(t *testing.T) {
	t.Parallel()
	var first, second atomic.Int32
	counted := func(count *atomic.Int32, change func(*dnsmessage.Message)) script {
		return func(t *testing.T, question dnsmessage.Message) [][]byte {
			count.Add(1)
			return [][]byte{buildResponse(t, question, change)}
		}
	}
	client := newClient(t, Options{Servers: []string{
		startResolver(t, counted(&first, withRCode(dnsmessage.RCodeServerFailure)), nil),
		startResolver(t, counted(&second, delegated), nil),
	}})
	got, err := client.IsDelegated(t.Context(), queriedName)
	if err != nil || !got || first.Load() != 1 || second.Load() != 1 {
		t.Errorf("got %t, %v after %d and %d tries", got, err, first.Load(), second.Load())
	}
}

// dialSilent returns a connection on which nothing ever arrives.
func dialSilent(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	go func() {
		_, _ = io.Copy(io.Discard, far) // until the client closes
		_ = far.Close()
	}()
	return near, nil
}

func TestIsDelegated_SilentServerTimesOut(t *testing.T) {
	t.Parallel()
	for rule, c := range map[string]struct{ timeout, attempt, want time.Duration }{
		"whole query":    {2 * time.Second, 700 * time.Millisecond, 2 * time.Second},
		"three attempts": {10 * time.Second, 700 * time.Millisecond, 2100 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := newClient(t, Options{Servers: []string{"192.0.2.1:53"}, Timeout: c.timeout, AttemptTimeout: c.attempt})
			client.dial = dialSilent
			start := time.Now()
			_, err := client.IsDelegated(t.Context(), queriedName)
			if registrar.CodeOf(err) != registrar.FaultTimeout {
				t.Errorf("%s: got %v", rule, err)
			}
			if took := time.Since(start); took != c.want {
				t.Errorf("%s: took %s, want %s", rule, took, c.want)
			}
		})
	}
}

func TestIsDelegated_QueriesBeyondTheLimitWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, Options{Servers: []string{"192.0.2.1:53"}, Timeout: time.Second, MaxConcurrent: 2})
		client.dial = dialSilent
		impatient, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		start := time.Now()
		var all sync.WaitGroup
		for range 5 { // the wait of the last one does not count towards its second
			all.Go(func() {
				if _, err := client.IsDelegated(t.Context(), queriedName); registrar.CodeOf(err) != registrar.FaultTimeout {
					t.Errorf("got %v", err)
				}
			})
		}
		synctest.Wait()
		if _, err := client.IsDelegated(impatient, queriedName); registrar.CodeOf(err) != registrar.FaultTimeout {
			t.Errorf("waiting: %v", err)
		}
		if took := time.Since(start); took != 100*time.Millisecond {
			t.Errorf("the impatient caller waited %s", took)
		}
		all.Wait()
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %s, want 3 s", took)
		}
	})
}

func TestIsDelegated_CancellationReturnsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, Options{Servers: []string{"192.0.2.1:53"}})
		client.dial = dialSilent
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		start := time.Now()
		_, err := client.IsDelegated(ctx, queriedName)
		if registrar.CodeOf(err) != registrar.FaultTimeout || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took != 50*time.Millisecond {
			t.Errorf("took %s", took)
		}
	})
}

func TestNew_ValidatesServersAndReadsResolvConf(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{Servers: []string{"192.0.2.1"}}); err == nil {
		t.Error("a server without a port was accepted")
	}
	path := filepath.Join(t.TempDir(), "resolv.conf")
	text := "# nameserver 192.0.2.9\nsearch example\nnameserver 192.0.2.1\nnameserver\tfe80::1%eth0\noptions edns0\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{"192.0.2.1:53", "[fe80::1%eth0]:53"}
	if got := systemServers(path); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := systemServers(path + ".missing"); got != nil {
		t.Errorf("a missing file names %v", got)
	}
}

// FuzzParse looks for a packet that is trusted although it does not answer the
// query, or that the library can't parse.
func FuzzParse(f *testing.F) {
	question := dnsmessage.Question{Name: dnsmessage.MustNewName(queriedName.ASCII() + "."), Type: dnsmessage.TypeNS, Class: dnsmessage.ClassINET}
	seed := func(change func(*dnsmessage.Message)) {
		message := dnsmessage.Message{Header: dnsmessage.Header{ID: 7, Response: true}, Questions: []dnsmessage.Question{question}}
		change(&message)
		packet, err := message.Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packet)
	}
	seed(delegated)
	seed(withRCode(dnsmessage.RCodeNameError))
	seed(withRCode(dnsmessage.RCodeRefused))
	seed(func(m *dnsmessage.Message) { m.Truncated = true })
	seed(func(m *dnsmessage.Message) { m.Authorities = append(m.Authorities, nsOf("example.")) })
	f.Add([]byte{0, 7, 0x80})
	f.Fuzz(func(t *testing.T, packet []byte) {
		got, err := parseResponse(packet, 7, question)
		if err != nil {
			if got != verdictNone {
				t.Errorf("says %d with an error", got)
			}
			return
		}
		if got != verdictDelegated {
			return
		}
		name := bytes.ToLower([]byte(queriedLabel))
		if len(packet) < 12 || packet[0] != 0 || packet[1] != 7 || packet[3]&0x0f != 0 || !bytes.Contains(bytes.ToLower(packet), name) {
			t.Errorf("trusted %x", packet)
		}
	})
}

func TestIsDelegated_LostPacketIsResentOnSameSocket(t *testing.T) {
	t.Parallel()
	received := make(chan uint16, 10)
	server := startResolver(t, func(t *testing.T, question dnsmessage.Message) [][]byte {
		received <- question.ID
		if len(received) == 1 {
			return nil // lost
		}
		return [][]byte{buildResponse(t, question, delegated)}
	}, nil)
	client := newClient(t, Options{Servers: []string{server}})
	var sockets atomic.Int32
	dial := client.dial
	client.dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		sockets.Add(1)
		return dial(ctx, network, addr)
	}
	if got, err := client.IsDelegated(t.Context(), queriedName); err != nil || !got {
		t.Fatalf("got %t, %v", got, err)
	}
	if first, second := <-received, <-received; first != second || sockets.Load() != 1 {
		t.Errorf("sent with ids %d and %d over %d sockets", first, second, sockets.Load())
	}
}
