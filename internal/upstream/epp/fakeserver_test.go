package epp

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit/eppschema"
)

// reply is the scripted server's reaction to one command.
type reply struct {
	// xml is sent as a frame; empty sends none.
	xml string
	// raw is sent as it is.
	raw []byte
	// after is the delay before sending.
	after time.Duration
	// drop closes the connection afterwards.
	drop bool
}

// fakeServer is a scripted server. It sends a greeting, accepts every login and
// calls handle for the rest.
type fakeServer struct {
	greeting string
	// greet, if set, replaces the greeting.
	greet *reply
	// handle answers everything except login and logout, or everything if all is
	// set.
	handle    func(request *Node) reply
	handleAll bool
	// serial serialises calls of handle, so that scripts can count.
	serial sync.Mutex
	// parallel disables that.
	parallel bool
	served   sync.WaitGroup
	last     sync.Once

	mu          sync.Mutex
	frames      []string
	connections int
	open        int
	maxOpen     int
	logins      int
	logouts     int
	hellos      int
}

const allServices = `<extURI>` + nsFee + `</extURI><extURI>` + nsSecDNS + `</extURI><extURI>` + nsRGP + `</extURI><extURI>urn:example:unknown-9.9</extURI>`

func greetingXML(extensions string) string {
	return `<?xml version="1.0" encoding="UTF-8"?><epp xmlns="` + nsEPP + `"><greeting><svID>Test registry</svID><svDate>2026-11-15T00:00:00.0Z</svDate>` +
		`<svcMenu><version>1.0</version><lang>en</lang><objURI>` + nsDomain + `</objURI><objURI>` + nsContact + `</objURI><objURI>` + nsHost + `</objURI>` +
		`<svcExtension>` + extensions + `</svcExtension></svcMenu><dcp><access><all/></access><statement><purpose><prov/></purpose>` +
		`<recipient><ours/></recipient><retention><stated/></retention></statement></dcp></greeting></epp>`
}

// responseXML returns a response in schema order.
func responseXML(code int, trid, data, extension string) string {
	text := fmt.Sprintf(`<?xml version="1.0"?><epp xmlns=%q><response><result code="%d"><msg>said</msg></result>`, nsEPP, code)
	if data != "" {
		text += "<resData>" + data + "</resData>"
	}
	if extension != "" {
		text += "<extension>" + extension + "</extension>"
	}
	return text + "<trID><clTRID>" + trid + "</clTRID><svTRID>SV-1</svTRID></trID></response></epp>"
}

func tridOf(request *Node) string { return request.Child("", "command").value("", "clTRID") }

func verbOf(request *Node) string {
	if request.Child("", "hello") != nil {
		return "hello"
	}
	return request.Child("", "command").Children[0].Local
}

// objectOf returns the element inside the verb, such as domain:create.
func objectOf(request *Node) *Node {
	if verb := request.Child("", "command").Children[0]; len(verb.Children) > 0 {
		return verb.Children[0]
	}
	return nil
}

func (f *fakeServer) dial(context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	f.served.Go(func() { f.serve(server) })
	return client, nil
}

func (f *fakeServer) serve(conn net.Conn) {
	defer conn.Close()
	f.mu.Lock()
	f.connections++
	f.open++
	f.maxOpen = max(f.maxOpen, f.open)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.open--
	}()
	first := reply{xml: f.greeting}
	if first.xml == "" {
		first.xml = greetingXML(allServices)
	}
	if f.greet != nil {
		first = *f.greet
	}
	if !first.send(conn) {
		return
	}
	for {
		frame, err := readTestFrame(conn)
		if err != nil {
			return
		}
		request, err := parseDocument(frame)
		if err != nil {
			return
		}
		recordFrame(string(frame))
		f.mu.Lock()
		f.frames = append(f.frames, string(frame))
		verb := verbOf(request)
		switch verb {
		case "login":
			f.logins++
		case "logout":
			f.logouts++
		case "hello":
			f.hellos++
		}
		f.mu.Unlock()
		var r reply
		switch {
		case verb == "hello":
			r.xml = greetingXML(allServices)
		case verb == "login" && !f.handleAll:
			r.xml = responseXML(1000, tridOf(request), "", "")
		case verb == "logout":
			r = reply{xml: responseXML(1500, tridOf(request), "", ""), drop: true}
		default:
			r = f.respond(request)
		}
		if !r.send(conn) {
			return
		}
	}
}

func (f *fakeServer) respond(request *Node) reply {
	if !f.parallel {
		f.serial.Lock()
		defer f.serial.Unlock()
	}
	return f.handle(request)
}

func (r *reply) send(conn net.Conn) bool {
	if r.after > 0 {
		time.Sleep(r.after)
	}
	if r.raw != nil {
		if _, err := conn.Write(r.raw); err != nil {
			return false
		}
	}
	if r.xml != "" {
		if _, err := conn.Write(testFrame(r.xml)); err != nil {
			return false
		}
	}
	return !r.drop
}

func testFrame(xml string) []byte {
	frame := make([]byte, 4, 4+len(xml))
	binary.BigEndian.PutUint32(frame, uint32(4+len(xml)))
	return append(frame, xml...)
}

func readTestFrame(conn io.Reader) ([]byte, error) {
	var header [4]byte
	if _, err := io.ReadFull(conn, header[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(header[:])-4)
	_, err := io.ReadFull(conn, frame)
	return frame, err
}

func (f *fakeServer) count(what *int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return *what
}

// verbs returns the received commands except login, logout and hello.
func (f *fakeServer) verbs() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var verbs []string
	for _, frame := range f.frames {
		request, err := parseDocument([]byte(frame))
		if err != nil {
			continue
		}
		switch verb := verbOf(request); verb {
		case "login", "logout", "hello":
		default:
			verbs = append(verbs, verb)
		}
	}
	return verbs
}

// client returns a Client of the scripted server.
func (f *fakeServer) client(t testing.TB, change func(a *Account)) *Client {
	t.Helper()
	a := Account{Address: "epp.test:700", ClientID: "ClientX", Password: "foo-BAR2"}
	if change != nil {
		change(&a)
	}
	if err := a.validate(); err != nil {
		t.Fatal(err)
	}
	c := newClient(a.withDefaults(), f.dial)
	f.last.Do(func() { t.Cleanup(f.served.Wait) }) // after every client is closed
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		c.Close(ctx)
	})
	return c
}

// respondOK answers everything with 1000.
func respondOK(request *Node) reply { return reply{xml: responseXML(1000, tridOf(request), "", "")} }

// respondCheck answers a check: a name that begins with "taken" is not available.
func respondCheck(request *Node) reply {
	var data strings.Builder
	data.WriteString(`<d:chkData xmlns:d="` + nsDomain + `">`)
	for _, name := range objectOf(request).Children {
		avail := "1"
		if strings.HasPrefix(name.Text, "taken") {
			avail = "0"
		}
		data.WriteString(`<d:cd><d:name avail="` + avail + `">` + name.Text + `</d:name></d:cd>`)
	}
	data.WriteString(`</d:chkData>`)
	return reply{xml: responseXML(1000, tridOf(request), data.String(), "")}
}

// sentFrames collects the frames that the client sent in any test, so that TestMain
// can validate them against the schemas.
var sentFrames = struct {
	sync.Mutex
	frames map[string]string
}{frames: make(map[string]string)}

var (
	clTRIDPattern = regexp.MustCompile(`<clTRID>[^<]*</clTRID>`)
	maxSentFrames = 2000
)

func recordFrame(frame string) {
	if strings.Contains(frame, `xmlns:x="urn:example:`) {
		return // a fictitious gateway's elements have no schema
	}
	if strings.Contains(frame, "<balance:info") {
		return // Verisign's schema of the mapping is not published with those of the RFCs
	}
	sentFrames.Lock()
	defer sentFrames.Unlock()
	if len(sentFrames.frames) < maxSentFrames {
		sentFrames.frames[clTRIDPattern.ReplaceAllString(frame, "")] = frame
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := validateSentFrames(eppschema.Folder()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func TestEPPSchemas_RefuseBrokenFrame(t *testing.T) {
	t.Parallel()
	schemas := eppschema.Folder()
	if schemas == "" {
		t.Skip("EPP_XSD_DIR is not set: frames are not validated against the EPP schemas")
	}
	if err := eppschema.Validate(schemas, []string{`<epp xmlns="urn:ietf:params:xml:ns:epp-1.0"><hullo/></epp>`}); err == nil || !strings.Contains(err.Error(), "hullo") {
		t.Errorf("got %v", err)
	}
}

// validateSentFrames validates every frame with xmllint, an independent
// implementation.
func validateSentFrames(schemas string) error {
	if schemas == "" || len(sentFrames.frames) == 0 {
		return nil
	}
	err := eppschema.Validate(schemas, slices.Collect(maps.Values(sentFrames.frames)))
	if err == nil {
		fmt.Printf("xmllint: %d frames conform to the schemas\n", len(sentFrames.frames))
	}
	return err
}
