package epp

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// outline formats a document as its element names, so that a test can compare their
// order in one line.
func outline(n *Node) string {
	var inside []string
	for _, child := range n.Children {
		inside = append(inside, outline(child))
	}
	if len(inside) == 0 {
		return n.Local
	}
	return n.Local + "(" + strings.Join(inside, " ") + ")"
}

var sampleContact = ContactData{
	Postal: []Postal{
		{Name: "Jane & Doe", Organisation: "Example <GmbH>", Street: []string{"Street 1", "2nd floor"}, City: "Berlin", State: "BE", PostCode: "10115", Country: "DE"},
		{Local: true, Name: "Jäne Döe", City: "Köln", Country: "DE"},
	},
	Voice: Phone{Number: "+49.301234567", Extension: "12"}, Fax: Phone{Number: "+49.301234568"}, Email: "jane@example.org", Hide: true,
}

func TestCommands_ElementsFollowSchemaOrder(t *testing.T) {
	t.Parallel()
	v4, v6 := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	expires := time.Date(2027, 4, 3, 22, 0, 0, 0, time.UTC)
	key := DNSKey{Flags: 257, Protocol: 3, Algorithm: 13, PublicKey: "AQPJ////4Q=="}
	ds := DS{KeyTag: 12345, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("ab", 32)}
	for _, test := range []struct {
		name string
		send func(ctx context.Context, c *Client) error
		want string
	}{
		{"check", func(ctx context.Context, c *Client) error {
			_, err := c.CheckDomains(ctx, CheckDomains{Names: []string{"a.test", "b.test"}})
			return err
		}, "check(check(name name)) clTRID"},
		{"check with fees", func(ctx context.Context, c *Client) error {
			_, err := c.CheckDomains(ctx, CheckDomains{Names: []string{"a.test"}, Fee: &FeeQuery{Currency: "EUR", Commands: []FeeCommand{{"create", 2}, {"restore", 0}}}})
			return err
		}, "check(check(name)) extension(check(currency command(period) command)) clTRID"},
		{"create", func(ctx context.Context, c *Client) error {
			_, err := c.CreateDomain(ctx, CreateDomain{
				Name: "a.test", Years: 2, Nameservers: []Nameserver{{Name: "ns1.test"}, {Name: "ns2.test"}}, Registrant: "REG-1",
				Contacts: []Contact{{Admin, "ADM-1"}, {Tech, "TEC-1"}, {Billing, "BIL-1"}}, AuthInfo: "s3<cret>&", AgreedFee: &AgreedFee{"EUR", 125000}, DNSSEC: DNSSEC{DS: []DS{ds}, MaxSigLife: 604800},
			})
			return err
		}, "create(create(name period ns(hostObj hostObj) registrant contact contact contact authInfo(pw))) extension(create(maxSigLife dsData(keyTag alg digestType digest)) create(currency fee)) clTRID"},
		{"create with attributes and without contacts", func(ctx context.Context, c *Client) error {
			_, err := c.CreateDomain(ctx, CreateDomain{Name: "a.test", HostAttributes: true, Nameservers: []Nameserver{{Name: "ns1.a.test", Addresses: []netip.Addr{v4, v6}}}, DNSSEC: DNSSEC{Keys: []DNSKey{key}}})
			return err
		}, "create(create(name ns(hostAttr(hostName hostAddr hostAddr)) authInfo(pw))) extension(create(keyData(flags protocol alg pubKey))) clTRID"},
		{"info", func(ctx context.Context, c *Client) error {
			_, err := c.InfoDomain(ctx, InfoDomain{Name: "a.test", AuthInfo: "secret-1"})
			return err
		}, "info(info(name authInfo(pw))) clTRID"},
		{"update", func(ctx context.Context, c *Client) error {
			_, err := c.UpdateDomain(ctx, UpdateDomain{
				Name: "a.test", Add: DomainElements{Nameservers: []Nameserver{{Name: "ns3.test"}}, Contacts: []Contact{{Tech, "TEC-2"}}, Statuses: []string{"clientHold"}},
				Remove: DomainElements{Statuses: []string{"clientTransferProhibited"}}, Registrant: "REG-2", AuthInfo: "other-1",
				DNSSEC: DNSSECChange{RemoveAll: true, Add: DNSSEC{DS: []DS{ds}}},
			})
			return err
		}, "update(update(name add(ns(hostObj) contact status) rem(status) chg(registrant authInfo(pw)))) extension(update(rem(all) add(dsData(keyTag alg digestType digest)))) clTRID"},
		{"update that clears the auth code", func(ctx context.Context, c *Client) error {
			_, err := c.UpdateDomain(ctx, UpdateDomain{Name: "a.test", ClearAuthInfo: true, DNSSEC: DNSSECChange{Remove: DNSSEC{Keys: []DNSKey{key}}}})
			return err
		}, "update(update(name chg(authInfo(null)))) extension(update(rem(keyData(flags protocol alg pubKey)))) clTRID"},
		{"renew", func(ctx context.Context, c *Client) error {
			_, err := c.RenewDomain(ctx, RenewDomain{Name: "a.test", Expires: expires, Years: 1, AgreedFee: &AgreedFee{Amount: 99900}})
			return err
		}, "renew(renew(name curExpDate period)) extension(renew(fee)) clTRID"},
		{"transfer request", func(ctx context.Context, c *Client) error {
			_, err := c.TransferDomain(ctx, TransferDomain{Op: TransferRequest, Name: "a.test", Years: 1, AuthInfo: "secret-1", AgreedFee: &AgreedFee{"EUR", 0}})
			return err
		}, "transfer(transfer(name period authInfo(pw))) extension(transfer(currency fee)) clTRID"},
		{"transfer approve", func(ctx context.Context, c *Client) error {
			_, err := c.TransferDomain(ctx, TransferDomain{Op: TransferApprove, Name: "a.test"})
			return err
		}, "transfer(transfer(name)) clTRID"},
		{"delete", func(ctx context.Context, c *Client) error {
			_, err := c.DeleteDomain(ctx, DeleteDomain{Name: "a.test"})
			return err
		}, "delete(delete(name)) clTRID"},
		{"restore request", func(ctx context.Context, c *Client) error {
			_, err := c.RestoreDomain(ctx, RestoreDomain{Name: "a.test", AgreedFee: &AgreedFee{"EUR", 400000}})
			return err
		}, "update(update(name chg)) extension(update(restore) update(currency fee)) clTRID"},
		{"restore report", func(ctx context.Context, c *Client) error {
			_, err := c.RestoreDomain(ctx, RestoreDomain{Name: "a.test", Report: &RestoreReport{Before: "b", After: "a", Deleted: expires, Restored: expires, Reason: "r", Statements: []string{"s", "t"}, Other: "o"}})
			return err
		}, "update(update(name chg)) extension(update(restore(report(preData postData delTime resTime resReason statement statement other)))) clTRID"},
		{"contact create", func(ctx context.Context, c *Client) error {
			_, err := c.CreateContact(ctx, CreateContact{ID: "CON-1", ContactData: sampleContact, AuthInfo: "secret-2"})
			return err
		}, "create(create(id postalInfo(name org addr(street street city sp pc cc)) postalInfo(name addr(city cc)) voice fax email authInfo(pw) disclose(name name org org addr addr voice fax email))) clTRID"},
		{"contact info", func(ctx context.Context, c *Client) error {
			_, err := c.InfoContact(ctx, InfoContact{ID: "CON-1", AuthInfo: "secret-2"})
			return err
		}, "info(info(id authInfo(pw))) clTRID"},
		{"contact update", func(ctx context.Context, c *Client) error {
			_, err := c.UpdateContact(ctx, UpdateContact{ID: "CON-1", ContactData: ContactData{Postal: []Postal{{Name: "New Name"}}, Email: "new@example.org"}, AddStatuses: []string{"clientDeleteProhibited"}, RemoveStatuses: []string{"clientUpdateProhibited"}})
			return err
		}, "update(update(id add(status) rem(status) chg(postalInfo(name) email))) clTRID"},
		{"contact update of statuses only", func(ctx context.Context, c *Client) error {
			_, err := c.UpdateContact(ctx, UpdateContact{ID: "CON-1", AddStatuses: []string{"clientDeleteProhibited"}})
			return err
		}, "update(update(id add(status))) clTRID"},
		{"contact delete", func(ctx context.Context, c *Client) error {
			_, err := c.DeleteContact(ctx, "CON-1", "")
			return err
		}, "delete(delete(id)) clTRID"},
		{"contact check", func(ctx context.Context, c *Client) error {
			_, err := c.CheckContacts(ctx, "CON-1", "CON-2")
			return err
		}, "check(check(id id)) clTRID"},
		{"host create", func(ctx context.Context, c *Client) error {
			_, err := c.CreateHost(ctx, CreateHost{Name: "ns1.a.test", Addresses: []netip.Addr{v4, v6}})
			return err
		}, "create(create(name addr addr)) clTRID"},
		{"host info", func(ctx context.Context, c *Client) error {
			_, err := c.InfoHost(ctx, "ns1.a.test")
			return err
		}, "info(info(name)) clTRID"},
		{"host update", func(ctx context.Context, c *Client) error {
			_, err := c.UpdateHost(ctx, UpdateHost{Name: "ns1.a.test", AddAddresses: []netip.Addr{v6}, RemoveAddresses: []netip.Addr{v4}, NewName: "ns9.a.test"})
			return err
		}, "update(update(name add(addr) rem(addr) chg(name))) clTRID"},
		{"host delete", func(ctx context.Context, c *Client) error {
			_, err := c.DeleteHost(ctx, "ns1.a.test", "")
			return err
		}, "delete(delete(name)) clTRID"},
		{"host check", func(ctx context.Context, c *Client) error {
			_, err := c.CheckHosts(ctx, "ns1.a.test")
			return err
		}, "check(check(name)) clTRID"},
		{"poll", func(ctx context.Context, c *Client) error { _, err := c.Poll(ctx); return err }, "poll clTRID"},
		{"ack", func(ctx context.Context, c *Client) error { _, err := c.Acknowledge(ctx, "4711"); return err }, "poll clTRID"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := &fakeServer{handle: func(r *Node) reply { return reply{xml: responseXML(2101, tridOf(r), "", "")} }}
			err := test.send(t.Context(), f.client(t, nil))
			if ResultCode(err) != 2101 {
				t.Fatalf("got %v, want the server's refusal", err)
			}
			f.mu.Lock()
			frame := f.frames[len(f.frames)-1]
			f.mu.Unlock()
			root, err := parseDocument([]byte(frame))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := outline(root), "epp(command("+test.want+"))"; got != want {
				t.Errorf("sent  %s\nwant %s", got, want)
			}
		})
	}
}

func TestCommands_SchemaViolationsAreNeverSent(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("x", 300)
	for name, send := range map[string]func(ctx context.Context, c *Client) error{
		"no name": func(ctx context.Context, c *Client) error { _, err := c.InfoDomain(ctx, InfoDomain{}); return err },
		"a long name": func(ctx context.Context, c *Client) error {
			_, err := c.InfoDomain(ctx, InfoDomain{Name: many})
			return err
		},
		"a control": func(ctx context.Context, c *Client) error {
			_, err := c.InfoDomain(ctx, InfoDomain{Name: "a\x00.test"})
			return err
		},
		"bad UTF-8": func(ctx context.Context, c *Client) error {
			_, err := c.InfoDomain(ctx, InfoDomain{Name: "a\xff.test"})
			return err
		},
		"a newline": func(ctx context.Context, c *Client) error {
			_, err := c.InfoDomain(ctx, InfoDomain{Name: "a.te\nst"})
			return err
		},
		"100 years": func(ctx context.Context, c *Client) error {
			_, err := c.CreateDomain(ctx, CreateDomain{Name: "a.test", Years: 100})
			return err
		},
		"a short id":     func(ctx context.Context, c *Client) error { _, err := c.DeleteContact(ctx, "AB", ""); return err },
		"a long id":      func(ctx context.Context, c *Client) error { _, err := c.DeleteContact(ctx, many[:17], ""); return err },
		"a short clTRID": func(ctx context.Context, c *Client) error { _, err := c.DeleteContact(ctx, "CON-1", "ab"); return err },
		"a long clTRID": func(ctx context.Context, c *Client) error {
			_, err := c.DeleteContact(ctx, "CON-1", many[:65])
			return err
		},
		"registrant role": func(ctx context.Context, c *Client) error {
			_, err := c.CreateDomain(ctx, CreateDomain{Name: "a.test", Contacts: []Contact{{Registrant, "CON-1"}}})
			return err
		},
		"a server's status": func(ctx context.Context, c *Client) error {
			_, err := c.UpdateDomain(ctx, UpdateDomain{Name: "a.test", Add: DomainElements{Statuses: []string{"serverHold"}}})
			return err
		},
		"no expiry": func(ctx context.Context, c *Client) error {
			_, err := c.RenewDomain(ctx, RenewDomain{Name: "a.test", Years: 1})
			return err
		},
		"no operation": func(ctx context.Context, c *Client) error {
			_, err := c.TransferDomain(ctx, TransferDomain{Name: "a.test"})
			return err
		},
		"no postal data": func(ctx context.Context, c *Client) error {
			_, err := c.CreateContact(ctx, CreateContact{ID: "CON-1", ContactData: ContactData{Email: "a@b.test"}})
			return err
		},
		"a local number": func(ctx context.Context, c *Client) error {
			p := sampleContact
			p.Voice.Number = "030 1234567"
			_, err := c.CreateContact(ctx, CreateContact{ID: "CON-1", ContactData: p})
			return err
		},
		"umlauts in int": func(ctx context.Context, c *Client) error {
			_, err := c.CreateContact(ctx, CreateContact{ID: "CON-1", ContactData: ContactData{Postal: []Postal{{Name: "Jäne", City: "Berlin", Country: "DE"}}, Email: "a@b.test"}})
			return err
		},
		"no address": func(ctx context.Context, c *Client) error {
			_, err := c.CreateHost(ctx, CreateHost{Name: "ns1.test", Addresses: []netip.Addr{{}}})
			return err
		},
		"DS and key": func(ctx context.Context, c *Client) error {
			_, err := c.CreateDomain(ctx, CreateDomain{Name: "a.test", DNSSEC: DNSSEC{DS: []DS{{Digest: "ab"}}, Keys: []DNSKey{{PublicKey: "AQPJ"}}}})
			return err
		},
		"no hex digest": func(ctx context.Context, c *Client) error {
			_, err := c.CreateDomain(ctx, CreateDomain{Name: "a.test", DNSSEC: DNSSEC{DS: []DS{{Digest: "xy"}}}})
			return err
		},
		"a currency": func(ctx context.Context, c *Client) error {
			_, err := c.CheckDomains(ctx, CheckDomains{Names: []string{"a.test"}, Fee: &FeeQuery{Currency: "eur"}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakeServer{handle: respondOK}
			c := f.client(t, nil)
			err := send(t.Context(), c)
			if !errors.Is(err, &registrar.Error{Kind: registrar.KindInvalid, Code: CannotSend}) {
				t.Errorf("got %v, want a refusal", err)
			}
			if errors.Is(err, ErrOutcomeUnknown) || strings.Contains(err.Error(), "a.test") {
				t.Errorf("the error contains personal data: %v", err)
			}
			if sent := f.verbs(); len(sent) != 0 {
				t.Errorf("sent %v", sent)
			}
			if _, err := c.DeleteDomain(t.Context(), DeleteDomain{Name: "b.test"}); err != nil {
				t.Errorf("the connection is unusable afterwards: %v", err)
			}
		})
	}
}

func TestCommands_KeepGivenClTRID(t *testing.T) {
	t.Parallel()
	f := &fakeServer{handle: respondOK}
	c := f.client(t, nil)
	got, err := c.DeleteDomain(t.Context(), DeleteDomain{Name: "a.test", ClTRID: "order-1-delete"})
	if err != nil || got.ClTRID != "order-1-delete" || got.SvTRID != "SV-1" {
		t.Errorf("got %+v, %v", got, err)
	}
	seen := make(map[string]bool)
	for range 100 {
		got, err := c.DeleteDomain(t.Context(), DeleteDomain{Name: "a.test"})
		if err != nil || seen[got.ClTRID] || len(got.ClTRID) < 3 || len(got.ClTRID) > 64 {
			t.Fatalf("id %q, %v", got.ClTRID, err)
		}
		seen[got.ClTRID] = true
	}
}

func TestCommands_UnannouncedProtocolExtensionIsUnsupported(t *testing.T) {
	t.Parallel()
	f := &fakeServer{handle: respondOK, greeting: greetingXML("<extURI>urn:example:x</extURI>")}
	_, err := f.client(t, nil).RestoreDomain(t.Context(), RestoreDomain{Name: "a.test"})
	if registrar.KindOf(err) != registrar.KindUnsupported || len(f.verbs()) != 0 {
		t.Errorf("got %v, sent %v", err, f.verbs())
	}
}
