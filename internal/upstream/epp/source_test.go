package epp

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// respondPriced answers a check like a registry with premium and reserved names. A create costs 10
// a year, the other commands 7.
func respondPriced(r *Node) reply {
	data, fees := `<d:chkData xmlns:d="`+nsDomain+`">`, ""
	asked := r.Child("", "command").Child("", "extension").Child(nsFee, "check").All(nsFee, "command")
	for _, name := range objectOf(r).Children {
		avail, reason, class := "1", "", "standard"
		switch label, _, _ := strings.Cut(name.Text, "."); label {
		case "taken":
			avail, reason = "0", "<d:reason>In use</d:reason>"
		case "reserved":
			avail, reason = "0", "<d:reason>Reserved by the registry</d:reason>"
		case "silent":
			avail = "0"
		case "gold":
			class = "premium"
		}
		data += `<d:cd><d:name avail="` + avail + `">` + name.Text + `</d:name>` + reason + `</d:cd>`
		fees += `<f:cd><f:objID>` + name.Text + `</f:objID><f:class>` + class + `</f:class>`
		for _, command := range asked {
			years, _ := strconv.Atoi(cmp.Or(command.value(nsFee, "period"), "1"))
			fee := 7 * years
			if command.Attr("name") == "create" {
				fee = 10 * years
			}
			fees += fmt.Sprintf(`<f:command name=%q><f:period unit="y">%d</f:period><f:fee>%d.00</f:fee></f:command>`, command.Attr("name"), years, fee)
		}
		fees += `</f:cd>`
	}
	extension := ""
	if len(asked) > 0 {
		extension = `<f:chkData xmlns:f="` + nsFee + `"><f:currency>EUR</f:currency>` + fees + `</f:chkData>`
	}
	return reply{xml: responseXML(1000, tridOf(r), data+`</d:chkData>`, extension)}
}

// sourceFor returns a Source with one account, which serves .test.
func sourceFor(client *Client) *Source {
	return NewSource(func(tld string) (*Client, bool) { return client, tld == ".test" })
}

func TestSource_ReportsRegistryState(t *testing.T) {
	t.Parallel()
	for name, greeting := range map[string]string{"with fees": greetingXML(allServices), "without fees": greetingXML("<extURI>urn:x</extURI>")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakeServer{handle: respondPriced, greeting: greeting}
			source := sourceFor(f.client(t, nil))
			ext := registrar.Extension{TLD: ".test", MinYears: 2}
			euros := func(units registrar.Amount) registrar.Money {
				return registrar.Money{Amount: units * 10_000, Currency: "EUR"}
			}
			gold := lookup.Finding{State: lookup.Free, Premium: true}
			if name == "with fees" {
				gold.Fees = &lookup.Fees{Years: 2, Register: euros(20), Renew: euros(7), Transfer: euros(7), Restore: euros(7)}
			}
			for label, want := range map[string]lookup.Finding{
				"free":     {State: lookup.Free, Premium: name == "without fees"}, // it may be premium
				"taken":    {State: lookup.Registered},
				"silent":   {State: lookup.Registered},
				"reserved": {State: lookup.Reserved},
				"gold":     gold,
			} {
				got, err := source.Find(t.Context(), ext, registrar.NewName(label, ".test"))
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %+v, %v", label, got, err)
				}
			}
			if _, err := source.Find(t.Context(), registrar.Extension{TLD: ".other"}, registrar.NewName("a", ".other")); !errors.Is(err, lookup.ErrNoSource) {
				t.Errorf("a TLD without an account: %v", err)
			}
		})
	}
}

func TestSource_FaultsOmitTheName(t *testing.T) {
	t.Parallel()
	for _, code := range []int{2001, 2201, 2306, 2400, 2502} {
		f := &fakeServer{handle: func(r *Node) reply { return reply{xml: responseXML(code, tridOf(r), "", "")} }}
		_, err := sourceFor(f.client(t, nil)).Find(t.Context(), registrar.Extension{TLD: ".test"}, registrar.NewName("hidden", ".test"))
		if registrar.KindOf(err) != registrar.KindUpstream || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%d: %v", code, err)
		}
	}
}

func TestDialTLS_VerifiesServerName(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"epp.test"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	f := &fakeServer{handle: respondPriced}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func(conn net.Conn) { f.serve(conn) }(conn)
		}
	}()
	account := Account{Address: listener.Addr().String(), ClientID: "ClientX", Password: "foo-BAR2"}
	for name, test := range map[string]struct {
		config *tls.Config
		good   bool
	}{
		"the right name":      {&tls.Config{RootCAs: roots, ServerName: "epp.test"}, true},
		"the wrong name":      {&tls.Config{RootCAs: roots, ServerName: "other.test"}, false},
		"an unknown root":     {&tls.Config{ServerName: "epp.test"}, false},
		"no roots configured": {nil, false},
	} {
		account.TLS = test.config
		c, err := New(account)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.CheckDomains(t.Context(), CheckDomains{Names: []string{"free.test"}})
		if test.good != (err == nil && got[0].Available) || !test.good && registrar.CodeOf(err) != registrar.FaultRefused {
			t.Errorf("%s: %v", name, err)
		}
		c.Close(t.Context())
	}
	if f.count(&f.logins) != 1 {
		t.Errorf("%d logins", f.logins)
	}
}

func TestNew_RefusesInvalidAccount(t *testing.T) {
	t.Parallel()
	good := Account{Address: "epp.test:700", ClientID: "ClientX", Password: "foo-BAR2"}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(a *Account){
		"no port":                   func(a *Account) { a.Address = "epp.test" },
		"short id":                  func(a *Account) { a.ClientID = "ab" },
		"short password":            func(a *Account) { a.Password = "12345" },
		"two spaces":                func(a *Account) { a.Password = "foo  BAR2" },
		"no connection for lookups": func(a *Account) { a.MaxConnections, a.OrderConnections = 2, 2 },
		"a share of one":            func(a *Account) { a.OrderShare = 1 },
		"client id too long":        func(a *Account) { a.ClientID = strings.Repeat("x", 17) },
	} {
		a := good
		change(&a)
		if _, err := New(a); err == nil || strings.Contains(err.Error(), a.Password) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
