// Package interop runs third-party clients against the sandbox's servers, to prove
// that they implement the protocols and not only our clients' reading of them.
package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/openrdap/rdap"

	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
)

// startRegistry starts the sandbox registry with the shipped TLDs.
func startRegistry(t *testing.T) *registry.Registry {
	t.Helper()
	list, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	w, err := registry.Start(registry.Options{Zones: zones(list)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func zones(list *catalog.Catalog) []registry.Zone {
	var all []registry.Zone
	for _, ext := range list.All() {
		all = append(all, registry.Zone{
			TLD: ext.TLD, RDAP: ext.RDAP, WHOIS: ext.WHOIS, Popular: ext.Popular, MinYears: ext.MinYears, MaxYears: ext.MaxYears,
		})
	}
	return all
}

// openrdap runs the OpenRDAP command line client.
func openrdap(server string, args ...string) (code int, out, errOut string) {
	var stdout, stderr bytes.Buffer
	code = rdap.RunCLI(append([]string{"--server", server, "--timeout", "20"}, args...), &stdout, &stderr, rdap.CLIOptions{Sandbox: true})
	return code, stdout.String(), stderr.String()
}

func TestOpenRDAP_ReadsSandboxServers(t *testing.T) {
	w := startRegistry(t)
	hosts := w.Hosts()
	for _, test := range []struct{ server, name string }{
		{w.RDAP(), "google.com"},
		{w.RDAP(), "xn--bcher-kva.de"},
		{hosts["rdap.verisign.com:443"] + "/com/v1/", "google.com"},
		{hosts["rdap.denic.de:443"] + "/", "google.de"},
		{hosts["pubapi.registry.google:443"] + "/rdap/", "google.dev"},
		{hosts["rdap.identitydigital.services:443"] + "/rdap/", "google.io"},
	} {
		code, out, errOut := openrdap(test.server, "--json", test.name)
		var object struct {
			ObjectClassName, LDHName string
			Nameservers              []struct{ LDHName string }
			Events                   []struct{ EventAction, EventDate string }
			Entities                 []struct{ Roles []string }
		}
		if err := json.Unmarshal([]byte(out), &object); err != nil || code != 0 {
			t.Errorf("%s at %s: exit code %d, %v\n%s%s", test.name, test.server, code, err, out, errOut)
			continue
		}
		if object.ObjectClassName != "domain" || !strings.EqualFold(object.LDHName, test.name) ||
			len(object.Nameservers) == 0 || len(object.Events) < 2 || len(object.Entities) < 2 {
			t.Errorf("%s: the client read %+v", test.name, object)
		}
		// Its text output means that it understood every field.
		if code, out, errOut := openrdap(test.server, "--text", test.name); code != 0 || !strings.Contains(out, "Nameserver:") {
			t.Errorf("%s: exit code %d\n%s%s", test.name, code, out, errOut)
		}
	}
}

func TestOpenRDAP_FreeNameIsNotFound(t *testing.T) {
	w := startRegistry(t)
	for _, name := range []string{"nobody-has-this-name.com", "nobody-has-this-name.berlin"} {
		code, out, errOut := openrdap(w.RDAP(), name)
		if code == 0 || !strings.Contains(errOut, "404") && !strings.Contains(strings.ToLower(errOut), "not exist") && !strings.Contains(strings.ToLower(errOut), "not found") {
			t.Errorf("%s: exit code %d\n%s%s", name, code, out, errOut)
		}
	}
}

func TestDebianWhois_ReadsSandboxServers(t *testing.T) {
	command, err := exec.LookPath("whois")
	if err != nil {
		t.Skip("the command whois is missing; install it with: apt-get install whois")
	}
	w := startRegistry(t)
	hosts := w.Hosts()
	for _, test := range []struct{ server, question, want string }{
		{w.WHOIS(), "google.com", "google.com"},
		{w.WHOIS(), "nobody-has-this-name.com", "not found"},
		{hosts["whois.verisign-grs.com:43"], "google.com", "Domain Name: GOOGLE.COM"},
		{hosts["whois.verisign-grs.com:43"], "nobody-has-this-name.com", `No match for "NOBODY-HAS-THIS-NAME.COM"`},
		{hosts["whois.denic.de:43"], "-T dn,ace google.de", "Status: connect"},
		{hosts["whois.denic.de:43"], "-T dn,ace nobody-has-this-name.de", "Status: free"},
		{hosts["whois.eu:43"], "nobody-has-this-name.eu", "Status: AVAILABLE"},
		{hosts["whois.nic.at:43"], "nobody-has-this-name.at", "% nothing found"},
		{hosts["whois.nic.uk:43"], "nobody-has-this-name.co.uk", "No match"},
	} {
		host, port, err := net.SplitHostPort(test.server)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		// A query with server flags is one argument, as a user would quote it; "--"
		// keeps the client from parsing them itself.
		out, err := exec.CommandContext(ctx, command, "-h", host, "-p", port, "--", test.question).CombinedOutput()
		cancel()
		if !strings.Contains(strings.ToLower(string(out)), strings.ToLower(test.want)) {
			t.Errorf("whois %q at %s: want %q in\n%s(%v)", test.question, test.server, test.want, out, err)
		}
	}
}
