package registry

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit/eppschema"
)

// frameValidator validates all frames of the server against the schemas in
// EPP_XSD_DIR, if set; in any case they must be XML.
type frameValidator struct {
	mu   sync.Mutex
	seen map[string]bool
}

// startEPPWorld starts a sandbox whose EPP responses are validated against the
// schemas when the test ends.
func startEPPWorld(t testing.TB, opts Options) *Registry {
	t.Helper()
	f := &frameValidator{seen: map[string]bool{}}
	opts.Tap = f.tap
	t.Cleanup(func() { f.validate(t) })
	return startWorld(t, opts)
}

func (f *frameValidator) tap(frame []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seen) < 5000 {
		f.seen[string(frame)] = true
	}
}

func (f *frameValidator) validate(t testing.TB) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for frame := range f.seen {
		decoder := xml.NewDecoder(strings.NewReader(frame))
		for {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("the server sent invalid XML (%v):\n%s", err, frame)
				break
			}
		}
	}
	schemas := eppschema.Folder()
	if schemas == "" || len(f.seen) == 0 {
		return
	}
	if err := eppschema.Validate(schemas, slices.Collect(maps.Keys(f.seen))); err != nil {
		t.Error(err)
	}
}

func TestEPPSchemas_RefuseBrokenFrame(t *testing.T) {
	t.Parallel()
	schemas := eppschema.Folder()
	if schemas == "" {
		t.Skip("EPP_XSD_DIR is not set: frames of the sandbox registry are checked for well-formed XML only")
	}
	err := eppschema.Validate(schemas, []string{`<epp xmlns="urn:ietf:params:xml:ns:epp-1.0"><hullo/></epp>`})
	if err == nil || !strings.Contains(err.Error(), "hullo") {
		t.Errorf("got %v", err)
	}
}

// eppClient is a scripted EPP client.
type eppClient struct {
	t    testing.TB
	conn *tls.Conn
	n    int
}

// reply is a response of the server.
type reply struct {
	code string
	text string
}

func (r reply) has(texts ...string) bool {
	for _, text := range texts {
		if !strings.Contains(r.text, text) {
			return false
		}
	}
	return true
}

var (
	codePattern = regexp.MustCompile(`<result code="(\d{4})">`)
	idPattern   = regexp.MustCompile(`<msgQ count="\d+" id="(\d+)"`)
)

const allServices = `<objURI>urn:ietf:params:xml:ns:domain-1.0</objURI><objURI>urn:ietf:params:xml:ns:contact-1.0</objURI>` +
	`<objURI>urn:ietf:params:xml:ns:host-1.0</objURI><svcExtension><extURI>urn:ietf:params:xml:ns:epp:fee-1.0</extURI>` +
	`<extURI>urn:ietf:params:xml:ns:secDNS-1.1</extURI><extURI>urn:ietf:params:xml:ns:rgp-1.0</extURI>` +
	`<extURI>urn:ietf:params:xml:ns:epp:loginSec-1.0</extURI></svcExtension>`

// dialEPP connects and reads the greeting.
func dialEPP(t testing.TB, r *Registry) *eppClient {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(r.EPPCA()) {
		t.Fatal("the CA certificate can't be parsed")
	}
	dialer := &net.Dialer{Timeout: answerTimeout}
	conn, err := tls.DialWithDialer(dialer, "tcp", r.EPP(), &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	s := &eppClient{t: t, conn: conn}
	greeting, err := s.receive()
	if err != nil || !greeting.has("<greeting>", "<svID>") {
		t.Fatalf("the greeting is %q, %v", greeting.text, err)
	}
	return s
}

func loginCommand(account, password, services string) string {
	return `<login><clID>` + account + `</clID><pw>` + password + `</pw><options><version>1.0</version><lang>en</lang></options><svcs>` +
		services + `</svcs></login>`
}

// logIn opens a session.
func logIn(t testing.TB, r *Registry, account string) *eppClient {
	t.Helper()
	s := dialEPP(t, r)
	known, ok := r.Account(account)
	if !ok {
		t.Fatalf("there is no account %s", account)
	}
	s.mustReturn("1000", loginCommand(account, known.Password, allServices))
	return s
}

func (s *eppClient) send(frame string) error {
	if err := s.conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return err
	}
	packet := binary.BigEndian.AppendUint32(nil, uint32(len(frame)+4))
	_, err := s.conn.Write(append(packet, frame...))
	return err
}

func (s *eppClient) receive() (reply, error) {
	var header [4]byte
	if err := s.conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return reply{}, err
	}
	if _, err := io.ReadFull(s.conn, header[:]); err != nil {
		return reply{}, err
	}
	text := make([]byte, binary.BigEndian.Uint32(header[:])-4)
	if _, err := io.ReadFull(s.conn, text); err != nil {
		return reply{}, err
	}
	r := reply{text: string(text)}
	if found := codePattern.FindStringSubmatch(r.text); found != nil {
		r.code = found[1]
	}
	return r, nil
}

// wrap builds a frame from a command and its EPP extension.
func (s *eppClient) wrap(command string, extension ...string) string {
	s.n++
	ext := strings.Join(extension, "")
	if ext != "" {
		ext = "<extension>" + ext + "</extension>"
	}
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?><epp xmlns="urn:ietf:params:xml:ns:epp-1.0"><command>%s%s<clTRID>TEST-%04d</clTRID></command></epp>`,
		command, ext, s.n)
}

// do sends a command and returns the response.
func (s *eppClient) do(command string, extension ...string) reply {
	s.t.Helper()
	if err := s.send(s.wrap(command, extension...)); err != nil {
		s.t.Fatal(err)
	}
	answer, err := s.receive()
	if err != nil {
		s.t.Fatalf("%v after %s", err, command)
	}
	if !answer.has(fmt.Sprintf("<clTRID>TEST-%04d</clTRID><svTRID>", s.n)) {
		s.t.Errorf("the response to %s has another clTRID: %s", command, answer.text)
	}
	return answer
}

// mustReturn sends a command and checks the result code.
func (s *eppClient) mustReturn(code, command string, extension ...string) reply {
	s.t.Helper()
	answer := s.do(command, extension...)
	if answer.code != code {
		s.t.Errorf("%s%s\n\tis %s, want %s: %s", command, strings.Join(extension, ""), answer.code, code, answer.text)
	}
	return answer
}

// poll fetches and acknowledges the next message.
func (s *eppClient) poll() string {
	s.t.Helper()
	answer := s.do(`<poll op="req"/>`)
	if answer.code == "1300" {
		return ""
	}
	id := idPattern.FindStringSubmatch(answer.text)
	if answer.code != "1301" || id == nil {
		s.t.Fatalf("poll: %s", answer.text)
	}
	s.mustReturn("1000", `<poll op="ack" msgID="`+id[1]+`"/>`)
	return answer.text
}

// Minimal commands.

func objectCommand(space, verb, body string) string {
	return `<` + verb + `><` + space + `:` + verb + ` xmlns:` + space + `="urn:ietf:params:xml:ns:` + space + `-1.0">` +
		strings.NewReplacer("<:", "<"+space+":", "</:", "</"+space+":").Replace(body) + `</` + space + `:` + verb + `></` + verb + `>`
}

func domainCreate(name string, more ...string) string {
	return objectCommand("domain", "create", `<:name>`+name+`</:name>`+strings.Join(more, "")+`<:authInfo><:pw>secret-1</:pw></:authInfo>`)
}

func domainCommand(verb, name string) string {
	return objectCommand("domain", verb, `<:name>`+name+`</:name>`)
}

func domainTransfer(op, name, auth string) string {
	body := `<:name>` + name + `</:name>`
	if auth != "" {
		body += `<:authInfo><:pw>` + auth + `</:pw></:authInfo>`
	}
	return strings.Replace(objectCommand("domain", "transfer", body), "<transfer>", `<transfer op="`+op+`">`, 1)
}

func contactCreate(id string) string {
	return objectCommand("contact", "create", `<:id>`+id+`</:id><:postalInfo type="loc"><:name>Jürgen Kaffee</:name><:addr><:street>Weg 1</:street>`+
		`<:city>Köln</:city><:pc>50667</:pc><:cc>DE</:cc></:addr></:postalInfo><:voice>+49.30123</:voice><:email>a@b.example</:email>`+
		`<:authInfo><:pw>secret-1</:pw></:authInfo>`)
}

func feeExt(verb, amount string) string {
	return `<fee:` + verb + ` xmlns:fee="urn:ietf:params:xml:ns:epp:fee-1.0"><fee:currency>EUR</fee:currency><fee:fee>` + amount +
		`</fee:fee></fee:` + verb + `>`
}

func rgpExt(op, report string) string {
	return `<rgp:update xmlns:rgp="urn:ietf:params:xml:ns:rgp-1.0"><rgp:restore op="` + op + `">` + report + `</rgp:restore></rgp:update>`
}

const rgpReport = `<rgp:report><rgp:preData>a</rgp:preData><rgp:postData>b</rgp:postData><rgp:delTime>2026-11-01T00:00:00Z</rgp:delTime>` +
	`<rgp:resTime>2026-11-02T00:00:00.0Z</rgp:resTime><rgp:resReason>error</rgp:resReason><rgp:statement>c</rgp:statement></rgp:report>`

const contactsXML = `<:registrant>holder-1</:registrant><:contact type="admin">holder-1</:contact><:contact type="tech">holder-1</:contact>`

// isClosed reports whether the server has closed the connection.
func (s *eppClient) isClosed() bool {
	_, err := s.receive()
	var timeout net.Error
	return err != nil && (!errors.As(err, &timeout) || !timeout.Timeout())
}
