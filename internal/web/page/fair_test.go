package page

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
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
)

// people are sessions by their secret, which a test may change under way.
type people struct {
	mu sync.Mutex
	by map[string]customer.Customer
}

func (p *people) Visitor(_ context.Context, secret string) (customer.Visitor, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	who, ok := p.by[secret]
	if !ok {
		return customer.Visitor{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	return customer.Visitor{Customer: who, Session: customer.Session{ID: "ses_1"}}, nil
}

func (p *people) becomes(secret string, who *customer.Customer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if who == nil {
		delete(p.by, secret)
		return
	}
	p.by[secret] = *who
}

// fair is a frame with one page that can be followed.
type fair struct {
	people  *people
	views   *Views
	closing chan struct{}
}

func newFair(t *testing.T, streams int) fair {
	t.Helper()
	p := fair{closing: make(chan struct{}), people: &people{by: map[string]customer.Customer{
		"erika": {ID: "cus_1", Email: "erika@example.org", Language: German},
		"max":   {ID: "cus_2", Email: "max@example.org", Language: English},
	}}}
	frame, err := New(Config{
		BaseURL: "http://domains.example", Sessions: p.people, Streams: streams, Closing: p.closing,
		Address: func(r *http.Request) netip.Addr { return netip.MustParseAddr(r.Header.Get("From")) },
	})
	if err != nil {
		t.Fatal(err)
	}
	p.views, err = frame.Parse(fstest.MapFS{
		"templates/thing.html": {Data: []byte(`{{define "content"}}<p>{{t "thing.text"}} {{.Data}}{{if .SignedIn}} {{.Visitor.Customer.Email}}{{end}}</p>{{end}}`)},
	}, Words{German: map[string]string{"thing.title": "Ding", "thing.text": "Es ist"}, English: map[string]string{"thing.title": "Thing", "thing.text": "It is"}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// thing is a view of the page; it is live unless it is done.
func thing(data string, done bool) View {
	view := View{Name: "thing", Title: "thing.title", Data: data}
	if !done {
		view.Live = Live{Events: "/thing/events", Reload: 3 * time.Second}
	}
	return view
}

// always is a look that finds the same for ever.
func always(*Visit) (View, error) { return thing("a", false), nil }

func asked(who string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "http://domains.example/thing/events", nil)
	r.Header.Set("From", "192.0.2.1")
	if who != "" {
		r.AddCookie(&http.Cookie{Name: "dotkontor", Value: who})
	}
	return r
}

type heard struct{ name, id, title, html string }

// heardIn are the events of a stream.
func heardIn(t *testing.T, body string) []heard {
	t.Helper()
	var all []heard
	for piece := range strings.SplitSeq(body, "\n\n") {
		if !strings.HasPrefix(piece, "event: ") {
			continue
		}
		var one heard
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

func names(events []heard) []string {
	var all []string
	for _, event := range events {
		all = append(all, event.name)
	}
	return all
}
