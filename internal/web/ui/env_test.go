package ui

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

// fakeSessions are sessions by their secret, which a test may change while it runs.
type fakeSessions struct {
	mu sync.Mutex
	by map[string]account.Customer
}

func (p *fakeSessions) Visitor(_ context.Context, secret string) (account.Visitor, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	who, ok := p.by[secret]
	if !ok {
		return account.Visitor{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	return account.Visitor{Customer: who, Session: account.Session{ID: "ses_1"}}, nil
}

func (p *fakeSessions) set(secret string, who *account.Customer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if who == nil {
		delete(p.by, secret)
		return
	}
	p.by[secret] = *who
}

// env is a frame with one live page.
type env struct {
	sessions  *fakeSessions
	templates *Templates
	closing   chan struct{}
}

func newEnv(t *testing.T, streams int) env {
	t.Helper()
	p := env{closing: make(chan struct{}), sessions: &fakeSessions{by: map[string]account.Customer{
		"erika": {ID: "cus_1", Email: "erika@example.org", Language: German},
		"max":   {ID: "cus_2", Email: "max@example.org", Language: English},
	}}}
	frame, err := New(Config{
		BaseURL: "http://domains.example", Sessions: p.sessions, MaxStreams: streams, Closing: p.closing,
		Address: func(r *http.Request) netip.Addr { return netip.MustParseAddr(r.Header.Get("From")) },
	})
	if err != nil {
		t.Fatal(err)
	}
	p.templates, err = frame.LoadTemplates(fstest.MapFS{
		"templates/thing.html": {Data: []byte(`{{define "content"}}<p>{{t "thing.text"}} {{.Data}}{{if .SignedIn}} {{.Visitor.Customer.Email}}{{end}}</p>{{end}}`)},
	}, Texts{"thing.title": {"Ding", "Thing"}, "thing.text": {"Es ist", "It is"}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// testView is a view of the page; it is live unless it is done.
func testView(data string, done bool) View {
	view := View{Name: "thing", Title: "thing.title", Data: data}
	if !done {
		view.Live = Live{Events: "/thing/events", Reload: 3 * time.Second}
	}
	return view
}

// staticView never changes.
func staticView(*Request) (View, error) { return testView("a", false), nil }

func eventsRequest(who string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "http://domains.example/thing/events", nil)
	r.Header.Set("From", "192.0.2.1")
	if who != "" {
		r.AddCookie(&http.Cookie{Name: "dotkontor", Value: who})
	}
	return r
}

type sseEvent struct{ name, id, title, html string }

// parseEvents parses the events of a stream.
func parseEvents(t *testing.T, body string) []sseEvent {
	t.Helper()
	var all []sseEvent
	for piece := range strings.SplitSeq(body, "\n\n") {
		if !strings.HasPrefix(piece, "event: ") {
			continue
		}
		var one sseEvent
		for line := range strings.SplitSeq(piece, "\n") {
			field, value, _ := strings.Cut(line, ": ")
			switch field {
			case "event":
				one.name = value
			case "id":
				one.id = value
			case "data":
				var data struct{ Title, HTML string }
				if err := json.Unmarshal([]byte(value), &data); err != nil {
					t.Fatal(err)
				}
				one.title, one.html = data.Title, data.HTML
			}
		}
		all = append(all, one)
	}
	return all
}

func eventNames(events []sseEvent) []string {
	var all []string
	for _, event := range events {
		all = append(all, event.name)
	}
	return all
}
