package epp

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
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

var sampleRegistrant = registrar.Registrant{
	Name: "Jäne & Döe", Organisation: "Example <GmbH>", Street: "Street 1", City: "Köln", State: "NW", PostalCode: "50667", Country: "DE",
	Phone: "+49.301234567", Email: "jane@example.org",
}

func TestCommands_ElementsFollowSchemaOrder(t *testing.T) {
	t.Parallel()
	v4, v6 := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	expires := time.Date(2027, 4, 3, 22, 0, 0, 0, time.UTC)
	ds := domainchange.DS{KeyTag: 12345, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("ab", 32)}
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
			_, err := c.CheckDomains(ctx, CheckDomains{Names: []string{"a.test"}, Fee: FeeCommand{Name: "create", Years: 2}})
			return err
		}, "check(check(name)) extension(check(command(period))) clTRID"},
		{"check with a fee without a period", func(ctx context.Context, c *Client) error {
			_, err := c.CheckDomains(ctx, CheckDomains{Names: []string{"a.test"}, Fee: FeeCommand{Name: "transfer"}})
			return err
		}, "check(check(name)) extension(check(command)) clTRID"},
		{"create", func(ctx context.Context, c *Client) error {
			_, err := c.CreateDomain(ctx, CreateDomain{
				Name: "a.test", Years: 2, Nameservers: []domainchange.Nameserver{{Name: "ns1.test"}, {Name: "ns2.test"}}, Registrant: "REG-1",
				Contacts: []Contact{{Admin, "ADM-1"}, {Tech, "TEC-1"}, {Billing, "BIL-1"}}, AuthInfo: "s3<cret>&",
			})
			return err
		}, "create(create(name period ns(hostObj hostObj) registrant contact contact contact authInfo(pw))) clTRID"},
		{"create with attributes and without contacts", func(ctx context.Context, c *Client) error {
			_, err := c.CreateDomain(ctx, CreateDomain{Name: "a.test", HostAttributes: true, Nameservers: []domainchange.Nameserver{{Name: "ns1.a.test", Addresses: []netip.Addr{v4, v6}}}})
			return err
		}, "create(create(name ns(hostAttr(hostName hostAddr hostAddr)) authInfo(pw))) clTRID"},
		{"info", func(ctx context.Context, c *Client) error {
			_, err := c.InfoDomain(ctx, InfoDomain{Name: "a.test", AuthInfo: "secret-1"})
			return err
		}, "info(info(name authInfo(pw))) clTRID"},
		{"update", func(ctx context.Context, c *Client) error {
			_, err := c.UpdateDomain(ctx, UpdateDomain{
				Name: "a.test", Add: DomainElements{Nameservers: []domainchange.Nameserver{{Name: "ns3.test"}}, Contacts: []Contact{{Tech, "TEC-2"}}, Statuses: []string{"clientHold"}, DS: []domainchange.DS{ds}},
				Remove: DomainElements{Statuses: []string{"clientTransferProhibited"}, DS: []domainchange.DS{ds}}, Registrant: "REG-2", AuthInfo: "other-1",
			})
			return err
		}, "update(update(name add(ns(hostObj) contact status) rem(status) chg(registrant authInfo(pw)))) extension(update(rem(dsData(keyTag alg digestType digest)) add(dsData(keyTag alg digestType digest)))) clTRID"},
		{"update of DS records only", func(ctx context.Context, c *Client) error {
			_, err := c.UpdateDomain(ctx, UpdateDomain{Name: "a.test", Add: DomainElements{DS: []domainchange.DS{ds}}})
			return err
		}, "update(update(name)) extension(update(add(dsData(keyTag alg digestType digest)))) clTRID"},
		{"renew", func(ctx context.Context, c *Client) error {
			_, err := c.RenewDomain(ctx, RenewDomain{Name: "a.test", Expires: expires, Years: 1})
			return err
		}, "renew(renew(name curExpDate period)) clTRID"},
		{"create of a premium name", func(ctx context.Context, c *Client) error {
			_, err := c.CreateDomain(ctx, CreateDomain{Name: "a.test", Years: 1, Fee: registrar.Money{Amount: 2_500_000, Currency: "EUR"}})
			return err
		}, "create(create(name period authInfo(pw))) extension(create(currency fee)) clTRID"},
		{"renewal of a premium name", func(ctx context.Context, c *Client) error {
			_, err := c.RenewDomain(ctx, RenewDomain{Name: "a.test", Expires: expires, Years: 1, Fee: registrar.Money{Amount: 2_500_000, Currency: "EUR"}})
			return err
		}, "renew(renew(name curExpDate period)) extension(renew(currency fee)) clTRID"},
		{"restore of a premium name", func(ctx context.Context, c *Client) error {
			_, err := c.RestoreDomain(ctx, RestoreDomain{Name: "a.test", Fee: registrar.Money{Amount: 2_500_000, Currency: "EUR"}})
			return err
		}, "update(update(name chg)) extension(update(restore) update(currency fee)) clTRID"},
		{"transfer request", func(ctx context.Context, c *Client) error {
			_, err := c.TransferDomain(ctx, TransferDomain{Op: TransferRequest, Name: "a.test", Years: 1, AuthInfo: "secret-1"})
			return err
		}, "transfer(transfer(name period authInfo(pw))) clTRID"},
		{"transfer query", func(ctx context.Context, c *Client) error {
			_, err := c.TransferDomain(ctx, TransferDomain{Op: TransferQuery, Name: "a.test"})
			return err
		}, "transfer(transfer(name)) clTRID"},
		{"transfer approve", func(ctx context.Context, c *Client) error {
			_, err := c.TransferDomain(ctx, TransferDomain{Op: TransferApprove, Name: "a.test"})
			return err
		}, "transfer(transfer(name)) clTRID"},
		{"delete", func(ctx context.Context, c *Client) error {
			_, _, err := c.DeleteDomain(ctx, "a.test", "")
			return err
		}, "delete(delete(name)) clTRID"},
		{"restore request", func(ctx context.Context, c *Client) error {
			_, err := c.RestoreDomain(ctx, RestoreDomain{Name: "a.test"})
			return err
		}, "update(update(name chg)) extension(update(restore)) clTRID"},
		{"restore report", func(ctx context.Context, c *Client) error {
			_, err := c.RestoreDomain(ctx, RestoreDomain{Name: "a.test", Report: &RestoreReport{Before: "b", After: "a", Deleted: expires, Restored: expires, Reason: "r", Statements: []string{"s", "t"}}})
			return err
		}, "update(update(name chg)) extension(update(restore(report(preData postData delTime resTime resReason statement statement)))) clTRID"},
		{"contact create", func(ctx context.Context, c *Client) error {
			_, err := c.CreateContact(ctx, CreateContact{ID: "CON-1", Registrant: sampleRegistrant, AuthInfo: "secret-2"})
			return err
		}, "create(create(id postalInfo(name org addr(street city sp pc cc)) postalInfo(name org addr(street city sp pc cc)) voice email authInfo(pw) disclose(name name org org addr addr voice fax email))) clTRID"},
		{"contact info", func(ctx context.Context, c *Client) error {
			_, _, err := c.InfoContact(ctx, "CON-1")
			return err
		}, "info(info(id)) clTRID"},
		{"contact update", func(ctx context.Context, c *Client) error {
			_, err := c.UpdateContact(ctx, UpdateContact{ID: "CON-1", Registrant: sampleRegistrant})
			return err
		}, "update(update(id chg(postalInfo(name org addr(street city sp pc cc)) postalInfo(name org addr(street city sp pc cc)) voice email disclose(name name org org addr addr voice fax email)))) clTRID"},
		{"contact update that deletes organisation and number", func(ctx context.Context, c *Client) error {
			_, err := c.UpdateContact(ctx, UpdateContact{ID: "CON-1", Registrant: registrar.Registrant{Name: "Jane Doe", Street: "Street 1", City: "Berlin", Country: "DE", Email: "jane@example.org"}})
			return err
		}, "update(update(id chg(postalInfo(name org addr(street city cc)) voice email disclose(name org addr voice fax email)))) clTRID"},
		{"contact delete", func(ctx context.Context, c *Client) error {
			return c.DeleteContact(ctx, "CON-1", "")
		}, "delete(delete(id)) clTRID"},
		{"host create", func(ctx context.Context, c *Client) error {
			return c.createHost(ctx, CreateHost{Name: "ns1.a.test", Addresses: []netip.Addr{v4, v6}})
		}, "create(create(name addr addr)) clTRID"},
		{"host info", func(ctx context.Context, c *Client) error {
			_, err := c.infoHost(ctx, "ns1.a.test")
			return err
		}, "info(info(name)) clTRID"},
		{"host update", func(ctx context.Context, c *Client) error {
			return c.updateHost(ctx, UpdateHost{Name: "ns1.a.test", Add: []netip.Addr{v6}, Remove: []netip.Addr{v4}})
		}, "update(update(name add(addr) rem(addr))) clTRID"},
		{"poll", func(ctx context.Context, c *Client) error { _, err := c.Poll(ctx); return err }, "poll clTRID"},
		{"ack", func(ctx context.Context, c *Client) error { return NewProvisioner(c, nil).Acknowledge(ctx, "4711") }, "poll clTRID"},
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
		"a short id":     func(ctx context.Context, c *Client) error { return c.DeleteContact(ctx, "AB", "") },
		"a long id":      func(ctx context.Context, c *Client) error { return c.DeleteContact(ctx, many[:17], "") },
		"a short clTRID": func(ctx context.Context, c *Client) error { return c.DeleteContact(ctx, "CON-1", "ab") },
		"a long clTRID":  func(ctx context.Context, c *Client) error { return c.DeleteContact(ctx, "CON-1", many[:65]) },
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
			_, err := c.CreateContact(ctx, CreateContact{ID: "CON-1", Registrant: registrar.Registrant{Email: "a@b.test"}})
			return err
		},
		"a local number": func(ctx context.Context, c *Client) error {
			registrant := sampleRegistrant
			registrant.Phone = "030 1234567"
			_, err := c.CreateContact(ctx, CreateContact{ID: "CON-1", Registrant: registrant})
			return err
		},
		"a country in small letters": func(ctx context.Context, c *Client) error {
			registrant := sampleRegistrant
			registrant.Country = "de"
			_, err := c.CreateContact(ctx, CreateContact{ID: "CON-1", Registrant: registrant})
			return err
		},
		"a report without statements": func(ctx context.Context, c *Client) error {
			_, err := c.RestoreDomain(ctx, RestoreDomain{Name: "a.test", Report: &RestoreReport{Deleted: time.Now(), Restored: time.Now()}})
			return err
		},
		"a report without times": func(ctx context.Context, c *Client) error {
			_, err := c.RestoreDomain(ctx, RestoreDomain{Name: "a.test", Report: &RestoreReport{Statements: []string{"s"}}})
			return err
		},
		"an update without a name": func(ctx context.Context, c *Client) error {
			_, err := c.UpdateContact(ctx, UpdateContact{ID: "CON-1", Registrant: registrar.Registrant{Email: "a@b.test"}})
			return err
		},
		"no address": func(ctx context.Context, c *Client) error {
			return c.createHost(ctx, CreateHost{Name: "ns1.test", Addresses: []netip.Addr{{}}})
		},
		"no hex digest": func(ctx context.Context, c *Client) error {
			_, err := c.UpdateDomain(ctx, UpdateDomain{Name: "a.test", Add: DomainElements{DS: []domainchange.DS{{Digest: "xy"}}}})
			return err
		},
		"a fee for 100 years": func(ctx context.Context, c *Client) error {
			_, err := c.CheckDomains(ctx, CheckDomains{Names: []string{"a.test"}, Fee: FeeCommand{Name: "create", Years: 100}})
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
			if _, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "b.test"}); err != nil {
				t.Errorf("the connection is unusable afterwards: %v", err)
			}
		})
	}
}

func TestCommands_KeepGivenClTRID(t *testing.T) {
	t.Parallel()
	var ids []string
	f := &fakeServer{handle: func(r *Node) reply {
		ids = append(ids, tridOf(r))
		return respondOK(r)
	}}
	c := f.client(t, nil)
	if _, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "a.test", ClTRID: "order-1-update"}); err != nil || ids[0] != "order-1-update" {
		t.Errorf("sent %v, %v", ids, err)
	}
	for range 100 {
		if _, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"}); err != nil {
			t.Fatal(err)
		}
	}
	seen := make(map[string]bool)
	for _, id := range ids {
		if seen[id] || len(id) < 3 || len(id) > 64 {
			t.Errorf("id %q", id)
		}
		seen[id] = true
	}
}

func TestCommands_UnannouncedProtocolExtensionIsUnsupported(t *testing.T) {
	t.Parallel()
	f := &fakeServer{handle: respondOK, greeting: greetingXML("<extURI>urn:example:x</extURI>")}
	c := f.client(t, nil)
	_, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "a.test", Add: DomainElements{DS: []domainchange.DS{{Digest: "AB"}}}})
	if registrar.KindOf(err) != registrar.KindUnsupported || len(f.verbs()) != 0 {
		t.Errorf("got %v, sent %v", err, f.verbs())
	}
	_, err = c.RestoreDomain(t.Context(), RestoreDomain{Name: "a.test"})
	if registrar.KindOf(err) != registrar.KindUnsupported || len(f.verbs()) != 0 {
		t.Errorf("got %v, sent %v", err, f.verbs())
	}
}

func TestTransferDomain_DecisionReturnsState(t *testing.T) {
	t.Parallel()
	for op, want := range map[TransferOp]string{TransferApprove: "clientApproved", TransferReject: "clientRejected", TransferCancel: "clientCancelled"} {
		f := &fakeServer{handle: func(r *Node) reply {
			if sent := r.Child("", "command").Child("", "transfer").Attr("op"); sent != string(op) {
				t.Errorf("sent %s, want %s", sent, op)
			}
			return reply{xml: responseXML(1000, tridOf(r), `<d:trnData xmlns:d="`+nsDomain+`"><d:name>a.test</d:name><d:trStatus>`+want+`</d:trStatus></d:trnData>`, "")}
		}}
		if got, err := f.client(t, nil).TransferDomain(t.Context(), TransferDomain{Op: op, Name: "a.test"}); err != nil || got.Status != want {
			t.Errorf("%s: %+v, %v", op, got, err)
		}
	}
}

func TestDeleteDomain_ReportsPending(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]bool{1000: false, CodePending: true} {
		f := &fakeServer{handle: func(r *Node) reply { return reply{xml: responseXML(code, tridOf(r), "", "")} }}
		if pending, _, err := f.client(t, nil).DeleteDomain(t.Context(), "a.test", ""); err != nil || pending != want {
			t.Errorf("%d: %t, %v", code, pending, err)
		}
	}
}
