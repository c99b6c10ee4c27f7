package interop

import (
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/test/testkit/eppschema"
)

// frameRecorder records the frames that the EPP server sends.
type frameRecorder struct {
	mu     sync.Mutex
	frames []string
}

func (s *frameRecorder) record(frame []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frames = append(s.frames, string(frame))
}

// validate validates every frame against the schemas in EPP_XSD_DIR.
func (s *frameRecorder) validate(t *testing.T) {
	t.Helper()
	schemas := eppschema.Folder()
	if schemas == "" {
		t.Skip("EPP_XSD_DIR is not set: these frames are not validated against the EPP schemas")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := eppschema.Validate(schemas, s.frames); err != nil {
		t.Error(err)
	}
}

// runNetEPP runs a part of a script in testdata.
func runNetEPP(t *testing.T, perl string, w *registry.Registry, script, part string) {
	t.Helper()
	_, port, err := net.SplitHostPort(w.EPP())
	if err != nil {
		t.Fatal(err)
	}
	ours, _ := w.Account(registry.ProductAccount)
	theirs, _ := w.Account("andere")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, perl, filepath.Join("testdata", script), port, w.EPPCAFile(),
		ours.ID, ours.Password, theirs.ID, theirs.Password, part).CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "done\n") {
		t.Fatalf("%v after\n%s", err, out)
	}
}

// As the gaining registrar Net::EPP requests and cancels, as the losing one it approves and
// rejects.
func TestNetEPP_AnswersTransfers(t *testing.T) {
	perl := findNetEPP(t)
	w, frames, end := startForNetEPP(t)
	defer end()
	runNetEPP(t, perl, w, "registrar.pl", "answers")
	if len(frames.frames) < 25 {
		t.Errorf("the server sent only %d frames", len(frames.frames))
	}
}

// findNetEPP returns the path of Perl, or skips the test if it has no Net::EPP.
func findNetEPP(t *testing.T) string {
	t.Helper()
	perl, err := exec.LookPath("perl")
	if err == nil {
		err = exec.CommandContext(t.Context(), perl, "-MNet::EPP::Simple", "-e1").Run()
	}
	if err != nil {
		t.Skip("Perl's Net::EPP is missing; install it with: apt-get install libnet-epp-perl")
	}
	return perl
}

// startForNetEPP starts a registry. The caller ends it with a function that validates its
// frames.
func startForNetEPP(t *testing.T) (w *registry.Registry, frames *frameRecorder, end func()) {
	t.Helper()
	list, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	frames = new(frameRecorder)
	w, err = registry.Start(registry.Options{Zones: zones(list), Data: t.TempDir(), Tap: frames.record})
	if err != nil {
		t.Fatal(err)
	}
	return w, frames, func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		t.Run("frames conform to the schemas", frames.validate)
	}
}

func TestNetEPP_RegisterRenewTransfer(t *testing.T) {
	perl := findNetEPP(t)
	w, frames, end := startForNetEPP(t)
	defer end()
	runNetEPP(t, perl, w, "registrar.pl", "before")
	wantDomainVisible(t, w, "dotkontor Sandbox", "ns1.fremde.example")
	if err := w.Advance(5 * 24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	wantDomainVisible(t, w, "Nordlicht Namen GmbH", "ns1.fremde.example")
	runNetEPP(t, perl, w, "registrar.pl", "after")
	if err := w.Advance(36 * 24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	if code, out, errOut := openrdap(w.RDAP(), "fremde-namen.org"); code == 0 {
		t.Errorf("after the redemption the client still finds the domain\n%s%s", out, errOut)
	}
	if len(frames.frames) < 40 {
		t.Errorf("the server sent only %d frames", len(frames.frames))
	}
}

// Net::EPP registers a domain at each kind of registry that the sandbox imitates, and is refused
// what that registry refuses.
func TestNetEPP_RegistersAtEveryPersonality(t *testing.T) {
	perl := findNetEPP(t)
	for _, tld := range []string{"com", "eu", "at", "org", "de"} {
		t.Run(tld, func(t *testing.T) {
			w, frames, end := startForNetEPP(t)
			defer end()
			runNetEPP(t, perl, w, "personalities.pl", tld)
			if len(frames.frames) < 6 {
				t.Errorf("the server sent only %d frames", len(frames.frames))
			}
		})
	}
}

// wantDomainVisible checks that other third-party clients see the change made over
// EPP.
func wantDomainVisible(t *testing.T, w *registry.Registry, registrar, nameserver string) {
	t.Helper()
	code, out, errOut := openrdap(w.RDAP(), "--text", "fremde-namen.org")
	if code != 0 || !strings.Contains(out, registrar) || !strings.Contains(out, nameserver) {
		t.Errorf("the OpenRDAP client does not see %s and %s: exit code %d\n%s%s", registrar, nameserver, code, out, errOut)
	}
	command, err := exec.LookPath("whois")
	if err != nil {
		t.Log("the command whois is missing; install it with: apt-get install whois")
		return
	}
	host, port, err := net.SplitHostPort(w.WHOIS())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	text, err := exec.CommandContext(ctx, command, "-h", host, "-p", port, "fremde-namen.org").CombinedOutput()
	if !strings.Contains(string(text), "Registrar: "+registrar) || !strings.Contains(string(text), "Name Server: "+nameserver) {
		t.Errorf("whois does not see %s and %s (%v):\n%s", registrar, nameserver, err, text)
	}
}
