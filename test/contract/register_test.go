package contract

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// The world's public servers.
type sandboxServers struct {
	Registry struct{ RDAP, WHOIS, DNS string }
}

func TestRegister_NameVisibleInAPIAndPublicSources(t *testing.T) {
	t.Parallel()
	on, err := startSandbox("registering") // other tests rely on the domains of the shared demo customer
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := on.process.stop(); err != nil {
			t.Error(err)
		}
	})
	for _, tld := range []string{".org", ".de", ".com"} {
		name := marker + "-neu" + tld
		done := runCLI(t, "domains", "register", name, "--customer", on.demo.Email, "--manual-payment", "R-1",
			"--wait", "--config", filepath.Join(on.data, "serve.toml"))
		if done.code != 0 || !strings.Contains(done.out, "registered") {
			t.Fatalf("%s: exit code %d\n%s%s", name, done.code, done.out, done.errOut)
		}
		wantResponse(t, name, newCaller(t, on).check(name), http.StatusOK, wantFields{"available": "false", "reason": `"registered"`, "source": `"epp"`})
		wantInDomainList(t, on, name)
		wantInPublicSources(t, filepath.Join(suite.folder, "registering.json"), name)
	}
}

// seenByAgents checks that the customer's list has it, paid for one year.
func wantInDomainList(t *testing.T, on *target, name string) {
	t.Helper()
	got := newCaller(t, on).listMyDomains(on.demo.Token)
	var listed struct {
		Result struct {
			StructuredContent struct {
				Domains []struct {
					Domain, Status string
					ExpiresAt      time.Time
				}
			}
		}
	}
	if err := json.Unmarshal(got.body, &listed); err != nil {
		t.Fatal(err)
	}
	for _, domain := range listed.Result.StructuredContent.Domains {
		if domain.Domain == name {
			if domain.Status != "active" || time.Until(domain.ExpiresAt) < 360*24*time.Hour {
				t.Errorf("%s: listed as %+v", name, domain)
			}
			return
		}
	}
	t.Errorf("%s is not in the customer's list: %s", name, got.body)
}

// wantInPublicSources checks that RDAP, WHOIS and DNS have the domain, with our
// nameservers.
func wantInPublicSources(t *testing.T, info, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	text, err := os.ReadFile(info)
	if err != nil {
		t.Fatal(err)
	}
	var world sandboxServers
	if err := json.Unmarshal(text, &world); err != nil {
		t.Fatal(err)
	}
	const ours = "ns1.dotkontor.example"

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, world.Registry.RDAP+"domain/"+name, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(response.Body)
	response.Body.Close()
	if response.StatusCode != http.StatusOK || !strings.Contains(strings.ToLower(string(body)), ours) {
		t.Errorf("%s: RDAP returns %s %.300s", name, response.Status, body)
	}

	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", world.Registry.WHOIS)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(waitTimeout))
	_, _ = io.WriteString(conn, name+"\r\n")
	record, _ := io.ReadAll(conn)
	if !strings.Contains(strings.ToLower(string(record)), ours) {
		t.Errorf("%s: WHOIS returns %.300s", name, record)
	}

	question := new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.TypeNS)
	answer, err := dns.ExchangeContext(ctx, question, world.Registry.DNS)
	if err != nil || !slices.ContainsFunc(answer.Answer, func(r dns.RR) bool {
		ns, isNS := r.(*dns.NS)
		return isNS && strings.EqualFold(ns.Ns, ours+".")
	}) {
		t.Errorf("%s: DNS returns %v, %v", name, answer, err)
	}
}
