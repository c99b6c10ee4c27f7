package interop

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
)

// Our hold, deletion and restore are what other programs see, and the frames of both sides
// conform to the schemas.
func TestThirdParties_SeeHoldRedemptionAndRestore(t *testing.T) {
	const name = "abgelaufen.org"
	list, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	var frames frameRecorder
	w, err := registry.Start(registry.Options{Zones: zones(list), Data: t.TempDir(), Tap: frames.record, Seeds: []registry.SeedDomain{{
		Name: name, Registrar: "dotkontor Sandbox", Created: now.AddDate(-1, 0, 0), Expires: now.AddDate(0, 1, 0),
		Nameservers: []string{"ns1.dotkontor.example", "ns2.dotkontor.example"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		t.Run("frames conform to the schemas", frames.validate)
	}()
	account, _ := w.Account(registry.ProductAccount)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.EPPCA())
	client, err := epp.New(epp.Account{Address: w.EPP(), ClientID: account.ID, Password: account.Password, TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(context.Background())
	provisioner := epp.NewProvisioner(client, nil)

	if state, err := provisioner.Hold(t.Context(), name, "dom_1-h"); err != nil || state != lifecycle.Registered {
		t.Fatalf("hold: %s, %v", state, err)
	}
	wantStatus(t, w, name, "client hold", "clientHold", true)
	if state, _, err := provisioner.Delete(t.Context(), name, "dom_1-x"); err != nil || state != lifecycle.Deleted {
		t.Fatalf("delete: %s, %v", state, err)
	}
	wantStatus(t, w, name, "redemption period", "redemptionPeriod", true)
	request := provision.Request{Kind: provision.Restore, Name: name, TLD: ".org", Transaction: "prv_1-d", Since: now.Add(time.Minute)}
	if outcome, err := provisioner.Request(t.Context(), request); err != nil || outcome.Pending {
		t.Fatalf("restore: %+v, %v", outcome, err)
	}
	if err := provisioner.Unhold(t.Context(), name, "prv_1-u"); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, w, name, "redemption period", "redemptionPeriod", false)
	wantStatus(t, w, name, "client hold", "clientHold", false)
}

// wantStatus checks what OpenRDAP and Debian's whois show of a domain.
func wantStatus(t *testing.T, w *registry.Registry, name, rdapStatus, eppStatus string, want bool) {
	t.Helper()
	code, out, errOut := openrdap(w.RDAP(), "--text", name)
	if code != 0 || strings.Contains(out, rdapStatus) != want {
		t.Errorf("OpenRDAP shows %q: %t, want %t; exit code %d\n%s%s", rdapStatus, !want, want, code, out, errOut)
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
	text, err := exec.CommandContext(ctx, command, "-h", host, "-p", port, name).CombinedOutput()
	if strings.Contains(string(text), eppStatus) != want {
		t.Errorf("whois shows %q: %t, want %t (%v):\n%s", eppStatus, !want, want, err, text)
	}
}
