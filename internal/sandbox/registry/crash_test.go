package registry

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// worldFolderEnv makes the test binary run a sandbox instead of the tests.
const worldFolderEnv = "SANDBOX_REGISTRY_WORLD"

func TestMain(m *testing.M) {
	if folder := os.Getenv(worldFolderEnv); folder != "" {
		serveWorld(folder)
		return
	}
	os.Exit(m.Run())
}

// serveWorld prints the address of its EPP server and waits to be killed.
func serveWorld(folder string) {
	r, err := Start(Options{Zones: someZones, Data: folder, Now: frozenClock})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(r.EPP(), r.EPPCAFile())
	time.Sleep(time.Minute) // long after the kill
}

func TestCrash_AnsweredCommandsSurvive(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var created []string
	contacts := 0
	for round := range 3 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), worldFolderEnv+"="+folder)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		address, caFile, _ := strings.Cut(strings.TrimSpace(line), " ")
		s := dialEPPAt(t, address, caFile)
		for i := range 40 {
			if i == 25 {
				// The kill comes in the middle of the commands; later responses
				// count too.
				time.AfterFunc(2*time.Millisecond, func() { _ = cmd.Process.Kill() })
			}
			id := fmt.Sprintf("c-%d-%d", round, i)
			if s.send(s.wrap(contactCreate(id))) != nil {
				break
			}
			if answer, err := s.receive(); err != nil || answer.code != "1000" {
				break
			}
			contacts++
			name := fmt.Sprintf("bleibt-%d-%d.com", round, i)
			if s.send(s.wrap(domainCreate(name))) != nil {
				break
			}
			if answer, err := s.receive(); err != nil || answer.code != "1000" {
				break
			}
			created = append(created, name)
		}
		_ = cmd.Process.Kill() // in case the loop was faster than the timer
		_ = cmd.Wait()         // the exit error of the kill is expected
	}
	if len(created) < 75 {
		t.Fatalf("only %d names were registered", len(created))
	}
	r := startWorld(t, Options{Data: folder, Now: frozenClock})
	s := logIn(t, r, "dotkontor")
	for _, name := range created {
		if got := s.domainSummary(name); got != "inactive addPeriod 2028-03-01 dotkontor" {
			t.Errorf("%s is %q", name, got)
		}
	}
	sponsored := r.Sponsored("dotkontor")
	// Each kill may lose the response of one executed command.
	if n := len(sponsored.Domains); n < len(created) || n > len(created)+3 {
		t.Errorf("%d domains, %d were confirmed", n, len(created))
	}
	if n := len(sponsored.Contacts); n < contacts || n > contacts+3 {
		t.Errorf("%d contacts, %d were confirmed", n, contacts)
	}
}

func dialEPPAt(t *testing.T, address, caFile string) *eppClient {
	t.Helper()
	ca, err := os.ReadFile(caFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: answerTimeout}, "tcp", address, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	s := &eppClient{t: t, conn: conn}
	if _, err := s.receive(); err != nil {
		t.Fatal(err)
	}
	s.mustReturn("1000", loginCommand("dotkontor", "kontor-geheim", allServices))
	return s
}

func TestCrash_TornLastJournalLineIsDropped(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	life := func(check func(*eppClient, *Registry)) {
		r, err := Start(Options{Zones: someZones, Data: folder, Now: frozenClock})
		if err != nil {
			t.Fatal(err)
		}
		check(logIn(t, r, "dotkontor"), r)
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var ca string
	life(func(s *eppClient, r *Registry) {
		s.mustReturn("1000", domainCreate("eins.com"))
		s.mustReturn("1001", domainCreate("pending-zwei.com"))
		ca = string(r.EPPCA())
	})
	path := filepath.Join(folder, "registry", "journal.jsonl")
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"serial":99,"domains":{"drei.com":{"name":"dr`); err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
	life(func(s *eppClient, r *Registry) {
		s.mustReturn("1000", domainCommand("info", "eins.com"))
		s.mustReturn("2303", domainCommand("info", "drei.com"))
		s.mustReturn("1000", domainCreate("vier.com"))
		advance(t, r, "5s")
		if message := s.poll(); !strings.Contains(message, "pending-zwei.com") {
			t.Errorf("the pending create was lost: %q", message)
		}
		if string(r.EPPCA()) != ca {
			t.Error("the CA changed after a restart")
		}
	})
	life(func(s *eppClient, _ *Registry) {
		s.mustReturn("1000", domainCommand("info", "vier.com"))
		if message := s.poll(); message != "" {
			t.Errorf("an acknowledged message is back: %s", message)
		}
	})
}
