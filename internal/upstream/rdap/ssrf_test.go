package rdap

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/upstream/ssrf"
)

// internalServer is a server in a private network that must not be contacted.
func internalServer(t *testing.T) (port string, calls *atomic.Int64) {
	t.Helper()
	calls = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return address.Port(), calls
}

func TestRedirect_PrivateAddressIsNeverCalled(t *testing.T) {
	t.Parallel()
	port, calls := internalServer(t)
	hosts := []string{
		"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "2130706433", "0x7f000001", "0177.0.0.1", "127.1",
		"[64:ff9b::7f00:1]", "[fe80::1]", "169.254.169.254", "10.0.0.1", "100.64.0.1", "0.0.0.0", "[fd00::1]",
	}
	for _, host := range hosts {
		for _, suffix := range []string{"", ":" + port} {
			t.Run(host+suffix, func(t *testing.T) {
				t.Parallel()
				target := "https://" + host + suffix + "/v1/domain/" + queriedName.ASCII()
				c := newClient(t, Options{Hosts: newTestServer(t, redirectTo(target))})
				finding, err := c.Find(t.Context(), testExtension, queriedName)
				if err == nil || finding.State != (lookup.Finding{}).State {
					t.Errorf("%+v, %v", finding, err)
				}
			})
		}
	}
	t.Cleanup(func() {
		if calls.Load() != 0 {
			t.Errorf("an internal server was called %d times", calls.Load())
		}
	})
}

func TestRedirect_TargetIsCheckedAtTheDialledAddress(t *testing.T) {
	t.Parallel()
	c := newClient(t, Options{Hosts: newTestServer(t, redirectTo("https://localhost/v1/domain/"+queriedName.ASCII()))})
	_, err := c.Find(t.Context(), testExtension, queriedName)
	if !errors.Is(err, ssrf.ErrPrivate) || registrar.CodeOf(err) != registrar.FaultRefused {
		t.Errorf("a name that resolves to loopback: %v", err)
	}
}

func TestRedirect_ConfiguredServerMayRedirectToItself(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			redirectTo("/v2/domain/"+queriedName.ASCII())(w, r)
			return
		}
		respond(404, "application/rdap+json", `{"errorCode":404}`)(w, r)
	}))
	t.Cleanup(server.Close)
	pinned := testExtension
	pinned.RDAP, pinned.RDAPPinned = server.URL+"/v1/", true
	finding, err := newClient(t, Options{}).Find(t.Context(), pinned, queriedName)
	if err != nil || finding.State != lookup.NotFound {
		t.Errorf("%+v, %v", finding, err)
	}
}

func TestRedirect_UserInfoIsRefused(t *testing.T) {
	t.Parallel()
	c := newClient(t, Options{Hosts: newTestServer(t, redirectTo("https://rdap.example.net@localhost/v1/domain/"+queriedName.ASCII()))})
	if _, err := c.Find(t.Context(), testExtension, queriedName); err == nil || errors.Unwrap(err).Error() != "rdap: redirect without a usable target" {
		t.Errorf("%v", err)
	}
}

func TestBootstrap_PrivateEntryIsNeverCalled(t *testing.T) {
	t.Parallel()
	port, calls := internalServer(t)
	document := fmt.Sprintf(`{"services":[[["example"],["http://127.0.0.1:%s/"]]]}`, port)
	c := newClient(t, Options{Hosts: newTestServer(t, respond(200, "application/json", document)), BootstrapURL: "https://rdap.example.net/dns.json"})
	if err := c.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := c.Find(t.Context(), registrar.Extension{TLD: ".example"}, queriedName)
	var refused *net.OpError
	if !errors.Is(err, ssrf.ErrPrivate) || !errors.As(err, &refused) || calls.Load() != 0 {
		t.Errorf("%d calls, %v", calls.Load(), err)
	}
}

func TestBootstrap_RedirectToPrivateAddressIsRefused(t *testing.T) {
	t.Parallel()
	port, calls := internalServer(t)
	c := newClient(t, Options{Hosts: newTestServer(t, redirectTo("https://127.0.0.1:"+port+"/dns.json")), BootstrapURL: "https://rdap.example.net/dns.json"})
	if err := c.Refresh(t.Context()); !errors.Is(err, ssrf.ErrPrivate) || calls.Load() != 0 {
		t.Errorf("%d calls, %v", calls.Load(), err)
	}
}
