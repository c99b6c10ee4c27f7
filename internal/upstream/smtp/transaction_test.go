package smtp_test

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"mime/quotedprintable"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	upstreamsmtp "github.com/dotkontor/dotkontor/internal/upstream/smtp"
)

// scriptedServer is a mail server that responds by a script.
type scriptedServer struct {
	client *upstreamsmtp.Client
	// script has the responses of the first connection that are not the usual ones, by the first four
	// letters of a command; "." is a mail. The connection ends after a 421.
	script     map[string]string
	pipelining bool

	mu       sync.Mutex
	commands []string // of all connections
	mails    int
	early    bool // a command arrived before the response to the one before it
}

func startScripted(tb testing.TB, pipelining bool, script map[string]string) *scriptedServer {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = listener.Close() })
	s := &scriptedServer{script: script, pipelining: pipelining}
	go func() {
		for first := true; ; first = false {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go s.serve(conn, first)
		}
	}()
	s.client, err = upstreamsmtp.New(upstreamsmtp.Options{
		Server: listener.Addr().String(), TLS: upstreamsmtp.NoTLS, From: "dotkontor <post@domains.example>",
		Portal: "https://domains.example/portal", Timeout: 10 * time.Second,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// serve ends with the client's connection. With PIPELINING it responds to MAIL and RCPT only after DATA.
func (s *scriptedServer) serve(conn net.Conn, first bool) {
	defer conn.Close()
	r, responses := bufio.NewReaderSize(conn, 1<<17), "220 mail.example\r\n"
	for {
		if _, err := io.WriteString(conn, responses); err != nil || strings.Contains(responses, "421 ") {
			return
		}
		command := ""
		for responses = ""; ; {
			line, err := r.ReadSlice('\n')
			if err != nil {
				return
			}
			command = string(line[:4])
			s.mu.Lock()
			s.commands = append(s.commands, command)
			s.early = s.early || r.Buffered() > 0
			s.mu.Unlock()
			responses += s.response(command, first)
			if !s.pipelining || command != "MAIL" && command != "RCPT" {
				break
			}
		}
		if !strings.HasSuffix(responses, "354 go ahead\r\n") {
			continue
		}
		if _, err := io.WriteString(conn, responses); err != nil {
			return
		}
		for end := []byte(".\r\n"); ; {
			line, err := r.ReadSlice('\n')
			if err != nil {
				return
			}
			if bytes.Equal(line, end) {
				break
			}
		}
		s.mu.Lock()
		s.mails++
		s.mu.Unlock()
		responses = s.response(".", first)
	}
}

func (s *scriptedServer) response(command string, first bool) string {
	usual := map[string]string{"EHLO": "250-mail.example\r\n250 ENHANCEDSTATUSCODES", "DATA": "354 go ahead"}
	if s.pipelining {
		usual["EHLO"] = "250-mail.example\r\n250-PIPELINING\r\n250 ENHANCEDSTATUSCODES"
	}
	if script := s.script[command]; first && script != "" {
		return script + "\r\n"
	}
	return cmp.Or(usual[command], "250 2.0.0 ok") + "\r\n"
}

func TestSend_MailTakesThreeCommandsAndNoMore(t *testing.T) {
	t.Parallel()
	for _, pipelining := range []bool{false, true} {
		s := startScripted(t, pipelining, nil)
		for range 2 {
			if delivery, err := s.client.Send(t.Context(), message()); err != nil || delivery.Response != "2.0.0 ok" {
				t.Fatalf("pipelining %t: %q, %v", pipelining, delivery.Response, err)
			}
		}
		s.mu.Lock()
		if want := []string{"EHLO", "MAIL", "RCPT", "DATA", "MAIL", "RCPT", "DATA"}; !slices.Equal(s.commands, want) || s.early != pipelining {
			t.Errorf("pipelining %t: %v, together: %t", pipelining, s.commands, s.early)
		}
		s.mu.Unlock()
	}
}

func TestSend_RefusalAtEachStepIsToldApart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		script map[string]string
		want   registrar.Code
		cause  string
	}{
		{map[string]string{"MAIL": "550 5.7.1 no"}, registrar.FaultRefused, "MAIL: 550"},
		{map[string]string{"MAIL": "452 4.3.1 full"}, registrar.FaultThrottled, "MAIL: 452"},
		{map[string]string{"RCPT": "550 5.1.1 unknown", "DATA": "554 5.5.1 no valid recipients"}, mailer.Undeliverable, "RCPT: 550"},
		{map[string]string{"RCPT": "550 5.1.1 unknown"}, mailer.Undeliverable, "RCPT: 550"}, // although DATA is accepted
		{map[string]string{"RCPT": "450 4.2.0 greylisted", "DATA": "503 5.5.1 no recipients"}, registrar.FaultThrottled, "RCPT: 450"},
		{map[string]string{"DATA": "451 4.3.0 later"}, registrar.FaultThrottled, "DATA: 451"},
		{map[string]string{"DATA": "250 what"}, registrar.FaultRefused, "DATA: 250"},
		{map[string]string{".": "554 5.6.0 no"}, registrar.FaultRefused, "message: 554"},
		{map[string]string{".": "421 4.3.2 later"}, registrar.FaultThrottled, "message: 421"},
	} {
		for _, pipelining := range []bool{false, true} {
			s := startScripted(t, pipelining, test.script)
			delivery, err := s.client.Send(t.Context(), message())
			s.mu.Lock()
			if registrar.CodeOf(err) != test.want || !strings.HasPrefix(delivery.Response, "smtp: "+test.cause) || (s.mails > 0) != (test.script["."] != "") {
				t.Errorf("%v, pipelining %t: %q, %v, %d mails", test.script, pipelining, delivery.Response, err, s.mails)
			}
			s.mu.Unlock()
		}
	}
}

func TestSend_OnlySessionClosedBeforeMailIsReplaced(t *testing.T) {
	t.Parallel()
	for _, pipelining := range []bool{false, true} {
		for reply, want := range map[string]int{"421 4.4.2 idle for too long": 2, "451 4.3.0 later": 1} {
			s := startScripted(t, pipelining, map[string]string{})
			if _, err := s.client.Send(t.Context(), message()); err != nil {
				t.Fatal(err)
			}
			s.mu.Lock()
			s.script = map[string]string{"MAIL": reply}
			s.mu.Unlock()
			_, err := s.client.Send(t.Context(), message())
			s.mu.Lock()
			if (err == nil) != (want == 2) || s.mails != want {
				t.Errorf("%s, pipelining %t: %v, %d mails", reply, pipelining, err, s.mails)
			}
			s.mu.Unlock()
		}
	}
	s := startScripted(t, true, map[string]string{"MAIL": "421 4.3.2 closing"})
	if _, err := s.client.Send(t.Context(), message()); registrar.CodeOf(err) != registrar.FaultThrottled || s.mails > 0 {
		t.Errorf("a new session: %v", err)
	}
}

func TestSend_LinesThatBeginWithDotArriveUnchanged(t *testing.T) {
	t.Parallel()
	s := startServer(t, false, false)
	m := message()
	m.Kind, m.Link = registrar.MailNoticeHandled, ""
	m.Data = map[string]string{"number": "dcl_1", "declared": "withdrawal", "occurred_at": "2026-11-15T09:05:00Z", "reply": ".\n\n  two\n\n...three\n\n.\n"}
	delivery, err := newClient(t, upstreamsmtp.Options{Server: s.address, TLS: upstreamsmtp.NoTLS}).Send(t.Context(), m)
	if err != nil || !strings.Contains(delivery.Text, "\n.\n") || !strings.Contains(delivery.Text, "\n...three\n") {
		t.Fatalf("%v:\n%s", err, delivery.Text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.texts) != 1 {
		t.Fatalf("%d mails", len(s.texts))
	}
	_, encoded, _ := strings.Cut(s.texts[0], "\r\n\r\n")
	body, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(encoded)))
	if text := strings.ReplaceAll(string(body), "\r\n", "\n"); err != nil || text != delivery.Text {
		t.Errorf("%v:\n%s", err, text)
	}
}
