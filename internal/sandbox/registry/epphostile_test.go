package registry

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

func TestEPP_SchemaViolationIsSyntaxError(t *testing.T) {
	t.Parallel()
	r := startEPPWorld(t, Options{})
	s := logIn(t, r, "dotkontor")
	good := s.wrap(domainCreate("frei.com", `<:period unit="y">1</:period>`))
	swap := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%q is not in the command", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	for title, frame := range map[string]string{
		"no XML":                  "hello",
		"cut off":                 good[:len(good)-10],
		"two roots":               good + `<x/>`,
		"text after the root":     good + `x`,
		"a document type":         strings.Replace(good, `?>`, `?><!DOCTYPE epp [<!ENTITY a "b">]>`, 1),
		"an entity":               swap("frei.com", "&a;.com"),
		"another encoding":        swap("UTF-8", "ISO-8859-1"),
		"bytes that are no UTF-8": swap("frei.com", "\xff\xfe.com"),
		"another root":            strings.ReplaceAll(good, "epp-1.0", "epp-1.1"),
		"no name space":           swap(` xmlns="urn:ietf:params:xml:ns:epp-1.0"`, ""),
		"an unknown element":      swap("<domain:period", "<domain:colour>red</domain:colour><domain:period"),
		"another order":           s.wrap(objectCommand("domain", "create", `<:period unit="y">1</:period><:name>frei.com</:name><:authInfo><:pw>secret-1</:pw></:authInfo>`)),
		"a name twice":            swap("</domain:name>", "</domain:name><domain:name>zwei.com</domain:name>"),
		"an undeclared prefix":    swap("<domain:name>frei.com</domain:name>", "<d:name>frei.com</d:name>"),
		"another name space":      swap("<domain:name>", `<domain:name xmlns:domain="urn:ietf:params:xml:ns:host-1.0">`),
		"an unknown attribute":    swap(`unit="y"`, `unit="y" colour="red"`),
		"no unit":                 swap(` unit="y"`, ""),
		"no number":               swap(">1<", ">one<"),
		"text between elements":   swap("<domain:period", "x<domain:period"),
		"elements inside a text":  swap("frei.com", "<b>frei</b>.com"),
		"an empty name":           swap("frei.com", ""),
		"no authInfo":             swap("<domain:authInfo><domain:pw>secret-1</domain:pw></domain:authInfo>", ""),
		"two objects":             swap("</create>", domainCommand("info", "frei.com")+"</create>"),
		"another verb inside":     s.wrap(`<create>` + strings.TrimSuffix(strings.TrimPrefix(domainCommand("info", "frei.com"), "<info>"), "</info>") + `</create>`),
		"two commands":            swap("<create>", `<logout/><create>`),
		"a short clTRID":          swap("TEST-", "T</clTRID><clTRID>T"),
		"a greeting":              `<epp xmlns="urn:ietf:params:xml:ns:epp-1.0"><greeting/></epp>`,
		"nothing":                 `<epp xmlns="urn:ietf:params:xml:ns:epp-1.0"/>`,
		"a deep tree":             `<epp xmlns="urn:ietf:params:xml:ns:epp-1.0">` + strings.Repeat("<a>", 100) + strings.Repeat("</a>", 100) + `</epp>`,
		"an empty extension":      swap("<clTRID>", "<extension/><clTRID>"),
		"an unknown operation":    s.wrap(domainTransfer("steal", "google.com", "")),
		"poll without op":         s.wrap(`<poll/>`),
		"no object in a check":    s.wrap(`<check/>`),
		"no name in a check":      s.wrap(objectCommand("domain", "check", "")),
	} {
		if err := s.send(frame); err != nil {
			t.Fatal(err)
		}
		answer, err := s.receive()
		if err != nil || answer.code != "2001" {
			t.Errorf("%s returned %s, %v: %s", title, answer.code, err, answer.text)
		}
	}
	s.mustReturn("2303", domainCommand("info", "frei.com")) // none of them was executed

	// Unusual but valid frames.
	for title, frame := range map[string]string{
		"comments and white space": swap("<domain:name>frei.com", "<!-- a comment -->\n\t<domain:name>\n frei.com "),
		"other prefixes":           strings.ReplaceAll(strings.ReplaceAll(swap("frei.com", "zwei.com"), "domain:", "d:"), "xmlns:domain", "xmlns:d"),
		"CDATA":                    swap("frei.com", "<![CDATA[drei.com]]>"),
		"capital letters":          swap("frei.com", "VIER.COM"),
	} {
		if err := s.send(frame); err != nil {
			t.Fatal(err)
		}
		if answer, err := s.receive(); err != nil || answer.code != "1000" {
			t.Errorf("%s: %v %s", title, err, answer.text)
		}
	}
	if err := s.send(`<epp xmlns="urn:ietf:params:xml:ns:epp-1.0"><hello/></epp>`); err != nil {
		t.Fatal(err)
	}
	if answer, err := s.receive(); err != nil || !answer.has("<greeting>") {
		t.Errorf("hello: %v %s", err, answer.text)
	}
}

func TestEPP_MagicNames(t *testing.T) {
	t.Parallel()
	r := startEPPWorld(t, Options{})
	exists := func(name string) bool {
		_, known := r.ledger.Public(name)
		return known
	}
	for _, test := range []struct {
		command, name string
		code          string // empty: no response
		closed, done  bool
	}{
		{domainCreate("lostanswer-x.com"), "lostanswer-x.com", "", true, true},
		{domainCreate("dropped-x.com"), "dropped-x.com", "", true, false},
		{domainCreate("failing-x.com"), "failing-x.com", "2400", false, false},
		{domainCreate("closing-x.com"), "closing-x.com", "2502", true, false},
		{domainCreate("slow-x.com"), "slow-x.com", "1000", false, true},
		{domainCommand("info", "dropped-x.com"), "dropped-x.com", "2303", false, false},
		{objectCommand("domain", "check", `<:name>frei.com</:name><:name>refused-x.com</:name>`), "refused-x.com", "", true, false},
		{domainCommand("info", "throttled-x.com"), "throttled-x.com", "2502", true, false},
		{objectCommand("domain", "check", `<:name>unknown-x.com</:name>`), "unknown-x.com", "2306", false, false},
	} {
		s := logIn(t, r, "dotkontor")
		if err := s.send(s.wrap(test.command)); err != nil {
			t.Fatal(err)
		}
		answer, err := s.receive()
		if answer.code != test.code || (err != nil) != (test.code == "") {
			t.Errorf("%s returned %s, %v", test.command, answer.code, err)
		}
		if err == nil && s.isAlive() == test.closed {
			t.Errorf("%s: closed %v, want %v", test.command, !test.closed, test.closed)
		}
		if exists(test.name) != test.done {
			t.Errorf("%s: done %v, want %v", test.command, !test.done, test.done)
		}
	}
	s := logIn(t, r, "dotkontor")
	s.mustReturn("2400", domainCreate("once-failing-x.com"))
	s.mustReturn("1000", domainCreate("once-failing-x.com"))
	if err := s.send(s.wrap(objectCommand("domain", "check", `<:name>garbled-x.com</:name>`))); err != nil {
		t.Fatal(err)
	}
	if answer, err := s.receive(); err != nil || answer.code != "" || answer.has("</epp>") {
		t.Errorf("garbled: %v %q", err, answer.text)
	}
	if err := s.send(s.wrap(domainCommand("info", "timeout-x.com"))); err != nil {
		t.Fatal(err)
	}
	if err := s.conn.SetReadDeadline(time.Now().Add(silenceTimeout)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.conn.Read(make([]byte, 1)); !isTimeout(err) {
		t.Errorf("a name that never responds: %v", err)
	}
}

// isAlive reports whether the session still responds.
func (s *eppClient) isAlive() bool {
	if s.send(s.wrap(`<poll op="req"/>`)) != nil {
		return false
	}
	_, err := s.receive()
	return err == nil
}

func TestChaos_AppliesToEPP(t *testing.T) {
	t.Parallel()
	r := startEPPWorld(t, Options{Chaos: 0.5, Seed: 7, Sessions: 100})
	codes := map[string]int{}
	var s *eppClient
	for i := range 300 {
		for s == nil {
			fresh := dialEPP(t, r)
			if fresh.send(fresh.wrap(loginCommand("dotkontor", "kontor-geheim", allServices))) != nil {
				continue
			}
			if answer, err := fresh.receive(); err == nil && answer.code == "1000" {
				s = fresh
			}
		}
		name := "chaos-" + strings.Repeat("x", i%40+1) + ".com"
		if err := s.send(s.wrap(objectCommand("domain", "check", `<:name>`+name+`</:name>`))); err != nil {
			codes["dropped"]++
			s = nil
			continue
		}
		answer, err := s.receive()
		if err != nil {
			answer.code = "dropped"
		}
		if codes[answer.code]++; answer.code != "1000" && answer.code != "2400" {
			_ = s.conn.Close()
			s = nil
		}
	}
	for _, code := range []string{"1000", "2400", "2502", "dropped"} {
		if codes[code] == 0 {
			t.Errorf("nothing was %s: %v", code, codes)
		}
	}
	if len(codes) != 4 {
		t.Errorf("something else happened: %v", codes)
	}
}

func TestEPP_InvalidFrameLengthClosesConnection(t *testing.T) {
	t.Parallel()
	r := startEPPWorld(t, Options{})
	for _, length := range []uint32{0, 3, 4, 128<<10 + 5, 1 << 31, 0xffffffff} {
		s := dialEPP(t, r)
		if err := s.conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.conn.Write(binary.BigEndian.AppendUint32(nil, length)); err != nil {
			t.Fatal(err)
		}
		if answer, err := s.receive(); err != nil || answer.code != "2500" {
			t.Errorf("a frame of %d bytes: %s %v", length, answer.code, err)
		}
		if !s.isClosed() {
			t.Errorf("a frame of %d bytes leaves the connection open", length)
		}
	}
	// Two commands in one packet are executed; half a frame is waited for.
	s := logIn(t, r, "dotkontor")
	one := s.wrap(`<poll op="req"/>`)
	packet := binary.BigEndian.AppendUint32(nil, uint32(len(one)+4))
	packet = append(packet, one...)
	both := append(append([]byte{}, packet...), packet...)
	for _, part := range [][]byte{both[:10], both[10 : len(both)-5], both[len(both)-5:]} {
		if _, err := s.conn.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if answer, err := s.receive(); err != nil || answer.code != "1300" {
			t.Errorf("%s %v", answer.code, err)
		}
	}
	// A client that leaves after half a frame leaves nothing behind.
	half := logIn(t, r, "dotkontor")
	if _, err := half.conn.Write(packet[:20]); err != nil {
		t.Fatal(err)
	}
	_ = half.conn.Close()
}

func TestEPP_GreetingDelay(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{Greeting: silenceTimeout})
	before := time.Now()
	s := dialEPP(t, r)
	if took := time.Since(before); took < silenceTimeout {
		t.Errorf("the greeting came after %v", took)
	}
	s.mustReturn("1000", loginCommand("dotkontor", "kontor-geheim", allServices))
}

func TestEPPLogin_UnknownAccountIsRefused(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{Accounts: []ledger.Account{{ID: "jemand", Password: "geheim-1", Name: "Jemand"}}})
	s := dialEPP(t, r)
	s.mustReturn("2200", loginCommand("dotkontor", "kontor-geheim", allServices))
	s.mustReturn("1000", loginCommand("jemand", "geheim-1", allServices))
	for _, bad := range []ledger.Account{{ID: "ab", Password: "geheim-1"}, {ID: "jemand", Password: "kurz"}} {
		if r, err := Start(Options{Zones: someZones, Accounts: []ledger.Account{bad}}); err == nil {
			_ = r.Close()
			t.Errorf("the account %v was accepted", bad)
		}
	}
}
