package epp

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func (f *fakeServer) login(t *testing.T) *Node {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	root, err := parseDocument([]byte(f.frames[0]))
	if err != nil || verbOf(root) != "login" {
		t.Fatalf("the first frame is not a login: %v", err)
	}
	return root.Child("", "command")
}

func TestLogin_RequestsServicesKnownToBothSides(t *testing.T) {
	t.Parallel()
	f := &fakeServer{handle: respondOK}
	if _, err := f.client(t, nil).UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"}); err != nil {
		t.Fatal(err)
	}
	login := f.login(t)
	if got := outline(login); got != "command(login(clID pw options(version lang) svcs(objURI objURI objURI svcExtension(extURI extURI extURI))) clTRID)" {
		t.Error(got)
	}
	for _, uri := range login.Child("", "login").Child("", "svcs").Child("", "svcExtension").Children {
		if uri.Text != nsFee && uri.Text != nsSecDNS && uri.Text != nsRGP {
			t.Errorf("requested %s", uri.Text)
		}
	}
}

func TestLogin_LongPasswordUsesLoginSecurity(t *testing.T) {
	t.Parallel()
	long := "a password of more than 16"
	f := &fakeServer{handle: respondOK, greeting: greetingXML("<extURI>" + nsLoginSec + "</extURI>")}
	if _, err := f.client(t, func(a *Account) { a.Password = long }).UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"}); err != nil {
		t.Fatal(err)
	}
	login := f.login(t)
	if got := login.Child("", "login").value("", "pw"); got != "[LOGIN-SECURITY]" {
		t.Errorf("plain password %q", got)
	}
	sec := login.Child("", "extension").Child(nsLoginSec, "loginSec")
	if got := outline(sec); got != "loginSec(userAgent(app) pw)" || sec.value(nsLoginSec, "pw") != long {
		t.Errorf("%s", got)
	}

	without := &fakeServer{handle: respondOK}
	_, err := without.client(t, func(a *Account) { a.Password = long }).UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"})
	if registrar.CodeOf(err) != ResultLogin || without.count(&without.logins) != 0 || strings.Contains(err.Error(), long) {
		t.Errorf("a server without login security: %v", err)
	}
}

func TestChangePassword_SendsNewPasswordAtLogin(t *testing.T) {
	t.Parallel()
	f := &fakeServer{handle: respondOK}
	a := Account{Address: "epp.test:700", ClientID: "ClientX", Password: "old-pass"}.withDefaults()
	if err := changePassword(t.Context(), &a, f.dial, "new-pass"); err != nil {
		t.Fatal(err)
	}
	if got := f.login(t).Child("", "login").value("", "newPW"); got != "new-pass" || f.count(&f.logouts) != 1 {
		t.Errorf("newPW %q, %d logouts", got, f.logouts)
	}
	long := "a password of more than 16"
	secure := &fakeServer{handle: respondOK, greeting: greetingXML("<extURI>" + nsLoginSec + "</extURI>")}
	if err := changePassword(t.Context(), &a, secure.dial, long); err != nil {
		t.Fatal(err)
	}
	sec := secure.login(t).Child("", "extension").Child(nsLoginSec, "loginSec")
	if got := outline(sec); got != "loginSec(userAgent(app) newPW)" || sec.value(nsLoginSec, "newPW") != long {
		t.Errorf("long password: %s", got)
	}
	lost := &fakeServer{handleAll: true, handle: func(*Node) reply { return reply{drop: true} }}
	if err := changePassword(t.Context(), &a, lost.dial, "new-pass"); !errors.Is(err, ErrOutcomeUnknown) {
		t.Errorf("lost response: %v", err)
	}
	if err := ChangePassword(t.Context(), a, "short"); err == nil || strings.Contains(err.Error(), "short") {
		t.Errorf("a short password: %v", err)
	}
}

func TestLogin_SecurityEventIsLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	f := &fakeServer{handleAll: true, greeting: greetingXML("<extURI>" + nsLoginSec + "</extURI>"), handle: func(r *Node) reply {
		return reply{xml: responseXML(1000, tridOf(r), "", `<l:loginSecData xmlns:l="`+nsLoginSec+`"><l:event type="password" level="warning" value="3" exDate="2026-12-01T00:00:00Z">soon</l:event></l:loginSecData>`)}
	}}
	c := f.client(t, func(a *Account) { a.Name, a.Logger = "acme", slog.New(slog.NewJSONHandler(&log, nil)) })
	if _, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "hidden.test"}); err != nil {
		t.Fatal(err)
	}
	c.Close(t.Context())
	if text := log.String(); strings.Count(text, `"level":`) != 1 || !strings.Contains(text, "registry login security event") ||
		!strings.Contains(text, `"account":"acme"`) || !strings.Contains(text, `"type":"password"`) || !strings.Contains(text, `"severity":"warning","value":"3"`) ||
		!strings.Contains(text, `"until":"2026-12-01T00:00:00Z"`) || strings.Contains(text, "hidden") || strings.Contains(text, "foo-BAR2") {
		t.Error(text)
	}
}

func TestLogin_RefusalBacksOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{handleAll: true, handle: func(r *Node) reply { return reply{xml: responseXML(2200, tridOf(r), "", ""), drop: true} }}
		c := f.client(t, nil)
		for range 20 {
			_, err := c.InfoDomain(t.Context(), InfoDomain{Name: "a.test"})
			if registrar.CodeOf(err) != ResultLogin || errors.Is(err, ErrOutcomeUnknown) {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if got := f.count(&f.logins); got != 1 {
			t.Errorf("%d logins within 20 s", got)
		}
		time.Sleep(time.Minute)
		_, _ = c.InfoDomain(t.Context(), InfoDomain{Name: "a.test"})
		if got := f.count(&f.logins); got != 2 {
			t.Errorf("%d logins after a minute", got)
		}
	})
}

// misbehaviours are server faults after the login. A change must then have an
// unknown outcome, and the connection must not be reused.
var misbehaviours = map[string]func(r *Node) reply{
	"no response":           func(*Node) reply { return reply{after: time.Hour} },
	"dropped":               func(*Node) reply { return reply{drop: true} },
	"half a header":         func(*Node) reply { return reply{raw: []byte{0, 0}, drop: true} },
	"half a frame":          func(r *Node) reply { return reply{raw: testFrame(respondOK(r).xml)[:90], drop: true} },
	"half a frame and wait": func(r *Node) reply { return reply{raw: testFrame(respondOK(r).xml)[:90]} },
	"huge length":           func(*Node) reply { return reply{raw: []byte{0x7f, 0xff, 0xff, 0xff, '<'}} },
	"length zero":           func(*Node) reply { return reply{raw: []byte{0, 0, 0, 0}} },
	"length four":           func(*Node) reply { return reply{raw: []byte{0, 0, 0, 4}} },
	"no XML":                func(*Node) reply { return reply{raw: testFrame("HTTP/1.1 502 Bad Gateway")} },
	"no EPP":                func(*Node) reply { return reply{xml: "<html/>"} },
	"no result":             func(*Node) reply { return reply{xml: `<epp xmlns="` + nsEPP + `"><response/></epp>`} },
	"a greeting":            func(*Node) reply { return reply{xml: greetingXML("")} },
	"another's answer":      func(*Node) reply { return reply{xml: responseXML(1000, "another-command", "", "")} },
}

func TestTransform_LostResponseIsUnknownAndClosesConnection(t *testing.T) {
	t.Parallel()
	for name, handle := range misbehaviours {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				f := &fakeServer{}
				f.handle = func(r *Node) reply {
					if calls++; calls == 1 {
						return handle(r)
					}
					return respondOK(r)
				}
				c := f.client(t, func(a *Account) { a.MaxConnections = 1 })
				_, err := c.CreateDomain(t.Context(), CreateDomain{Name: "secret.test"})
				if !errors.Is(err, ErrOutcomeUnknown) || registrar.KindOf(err) != registrar.KindUpstream {
					t.Fatalf("got %v", err)
				}
				if strings.Contains(err.Error(), "secret") {
					t.Errorf("the error contains the name: %v", err)
				}
				if got := f.verbs(); len(got) != 1 {
					t.Errorf("sent %v", got)
				}
				if _, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "b.test"}); err != nil {
					t.Errorf("the next command: %v", err)
				}
				if got := f.count(&f.connections); got != 2 {
					t.Errorf("%d connections, want a second one", got)
				}
			})
		})
	}
}

func TestSession_LateResponseIsNeverMismatched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		f := &fakeServer{}
		f.handle = func(r *Node) reply {
			if calls++; calls == 1 {
				return reply{xml: responseXML(2303, tridOf(r), "", ""), after: 11 * time.Second}
			}
			return respondOK(r)
		}
		c := f.client(t, func(a *Account) { a.MaxConnections = 1; a.QueryTimeout = 10 * time.Second })
		_, err := c.infoHost(t.Context(), "ns1.test")
		if registrar.CodeOf(err) != registrar.FaultTimeout {
			t.Fatalf("got %v", err)
		}
		for range 3 {
			if _, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"}); err != nil {
				t.Errorf("got another command's response: %v", err)
			}
			time.Sleep(time.Second)
		}
	})
}

func TestSession_UnsolicitedResponseClosesConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		f := &fakeServer{}
		f.handle = func(r *Node) reply {
			if calls++; calls == 1 {
				return reply{raw: append(testFrame(respondOK(r).xml), testFrame(responseXML(1000, "spare", "", ""))...)}
			}
			return respondOK(r)
		}
		c := f.client(t, func(a *Account) { a.MaxConnections = 1 })
		for range 2 {
			if _, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if got := f.count(&f.connections); got != 2 {
			t.Errorf("%d connections", got)
		}
	})
}

func TestQuery_IsRepeatedOnceAfterCutConnection(t *testing.T) {
	t.Parallel()
	for _, cuts := range []int{1, 2} {
		calls := 0
		f := &fakeServer{}
		f.handle = func(r *Node) reply {
			if calls++; calls <= cuts {
				return reply{drop: true}
			}
			return respondCheck(r)
		}
		got, err := f.client(t, nil).CheckDomains(t.Context(), CheckDomains{Names: []string{"a.test"}})
		if cuts == 1 && (err != nil || !got[0].Available) {
			t.Errorf("after one cut: %v", err)
		}
		if cuts == 2 && registrar.CodeOf(err) != registrar.FaultRefused {
			t.Errorf("after two cuts: %v", err)
		}
	}
}

func TestConnect_SlowGreetingTimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{handle: respondOK, greet: &reply{xml: greetingXML(""), after: 11 * time.Second}}
		began := time.Now()
		_, err := f.client(t, nil).UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"})
		if registrar.CodeOf(err) != registrar.FaultTimeout || errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("waited %s", took)
		}
		time.Sleep(time.Minute) // the server responds after the client has left
	})
}

func TestConnect_RefusalInsteadOfGreetingIsReported(t *testing.T) {
	t.Parallel()
	f := &fakeServer{handle: respondOK, greet: &reply{xml: responseXML(2502, "", "", ""), drop: true}}
	_, err := f.client(t, nil).UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"})
	if ResultCode(err) != CodeSessionsExceeded {
		t.Errorf("got %v", err)
	}
}

func TestSession_CancelledCallerKeepsConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		f := &fakeServer{}
		f.handle = func(r *Node) reply {
			if calls++; calls == 1 {
				return reply{xml: respondOK(r).xml, after: 3 * time.Second}
			}
			return respondOK(r)
		}
		c := f.client(t, func(a *Account) { a.MaxConnections = 1 })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := c.UpdateDomain(ctx, UpdateDomain{Name: "a.test"})
		if !errors.Is(err, ErrOutcomeUnknown) || time.Since(began) != time.Second {
			t.Errorf("got %v after %s", err, time.Since(began))
		}
		if _, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "b.test"}); err != nil {
			t.Error(err)
		}
		if got := f.count(&f.connections); got != 1 {
			t.Errorf("%d connections", got)
		}
	})
}

func TestSession_ClosingResultIsReturnedAndEndsConnection(t *testing.T) {
	t.Parallel()
	for _, code := range []int{2500, 2502} {
		calls := 0
		f := &fakeServer{}
		f.handle = func(r *Node) reply {
			if calls++; calls == 1 {
				return reply{xml: responseXML(code, tridOf(r), "", ""), drop: true}
			}
			return respondOK(r)
		}
		c := f.client(t, func(a *Account) { a.MaxConnections = 1 })
		if _, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"}); ResultCode(err) != code || errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("%d: got %v", code, err)
		}
		if _, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"}); err != nil {
			t.Errorf("%d: afterwards %v", code, err)
		}
	}
}
