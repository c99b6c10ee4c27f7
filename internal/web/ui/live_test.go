package ui

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

func TestStream_SendsChangesThenEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, polls := newEnv(t, 0), 0
		w := httptest.NewRecorder()
		p.templates.Stream(func(*Request) (View, error) {
			polls++
			return testView(map[bool]string{true: "a", false: "b"}[polls < 4], polls == 6), nil
		})(w, eventsRequest("erika"))
		got := parseEvents(t, w.Body.String())
		if !slices.Equal(eventNames(got), []string{"part", "part", "end"}) || w.Header().Get("Content-Type") != "text/event-stream" || !w.Flushed {
			t.Fatalf("%v: %s", w.Header(), w.Body)
		}
		if got[0].title != "Ding" || got[0].html != "<p>Es ist a erika@example.org</p>" || got[1].html != "<p>Es ist b erika@example.org</p>" || got[0].id == got[1].id {
			t.Errorf("%+v", got)
		}
		if !strings.HasPrefix(w.Body.String(), "retry: ") {
			t.Errorf("no retry delay: %s", w.Body)
		}
	})
}

func TestStream_RendersViewersPageInTheirLanguage(t *testing.T) {
	t.Parallel()
	p := newEnv(t, 0)
	for who, want := range map[string]sseEvent{
		"max": {title: "Thing", html: "<p>It is a max@example.org</p>"},
		"":    {title: "Ding", html: "<p>Es ist a</p>"},
	} {
		w := httptest.NewRecorder()
		p.templates.Stream(func(*Request) (View, error) { return testView("a", true), nil })(w, eventsRequest(who))
		got := parseEvents(t, w.Body.String())
		if !slices.Equal(eventNames(got), []string{"part", "end"}) || got[0].title != want.title || got[0].html != want.html {
			t.Errorf("%q: %s", who, w.Body)
		}
	}
}

func TestStream_LastEventIDSkipsKnownPart(t *testing.T) {
	t.Parallel()
	p := newEnv(t, 0)
	follow := p.templates.Stream(func(*Request) (View, error) { return testView("a", true), nil })
	first, again := httptest.NewRecorder(), httptest.NewRecorder()
	follow(first, eventsRequest("erika"))
	r := eventsRequest("erika")
	r.Header.Set("Last-Event-ID", parseEvents(t, first.Body.String())[0].id)
	follow(again, r)
	if got := eventNames(parseEvents(t, again.Body.String())); !slices.Equal(got, []string{"end"}) {
		t.Errorf("%v: %s", got, again.Body)
	}
}

func TestStream_PollsSlowDownAndStreamEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, start := newEnv(t, 0), time.Now()
		var at []time.Duration
		w := httptest.NewRecorder()
		p.templates.Stream(func(*Request) (View, error) {
			at = append(at, time.Since(start))
			data := "a"
			if time.Since(start) >= 2*time.Minute { // after a change the poll interval is short again
				data = "b"
			}
			return testView(data, false), nil
		})(w, eventsRequest("erika"))
		if took := time.Since(start); took != maxStreamDuration {
			t.Errorf("the stream took %s", took)
		}
		for i := 1; i < len(at); i++ {
			quiet := at[i-1]
			if quiet >= 2*time.Minute {
				quiet -= 2 * time.Minute
			}
			want := keepAliveInterval
			switch {
			case quiet < 10*time.Second:
				want = 500 * time.Millisecond
			case quiet < time.Minute:
				want = 2 * time.Second
			}
			if got := at[i] - at[i-1]; got != want {
				t.Errorf("poll %d came %s after the last, at %s", i, got, at[i])
			}
		}
		if got := eventNames(parseEvents(t, w.Body.String())); !slices.Equal(got, []string{"part", "part"}) {
			t.Errorf("%v", got)
		}
		// The interval between writes is bounded.
		if pulses := strings.Count(w.Body.String(), ":\n\n"); pulses < int(4*time.Minute/keepAliveInterval) {
			t.Errorf("only %d keep-alives", pulses)
		}
	})
}

func TestStream_ShutdownEndsItAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, start := newEnv(t, 0), time.Now()
		time.AfterFunc(70*time.Second, func() { close(p.closing) }) // while the next poll is ten seconds away
		w := httptest.NewRecorder()
		p.templates.Stream(staticView)(w, eventsRequest("erika"))
		if took := time.Since(start); took != 70*time.Second {
			t.Errorf("it took %s", took)
		}
		if got := eventNames(parseEvents(t, w.Body.String())); !slices.Equal(got, []string{"part"}) {
			t.Errorf("%v", got)
		}
		w = httptest.NewRecorder()
		p.templates.Stream(staticView)(w, eventsRequest("erika"))
		if took := time.Since(start); took != 70*time.Second {
			t.Errorf("a late one took %s", took)
		}
	})
}

func TestStream_ReloadsWhenVisitorOrLanguageChanges(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]*account.Customer{
		"signed out":       nil,
		"another customer": {ID: "cus_2", Email: "max@example.org", Language: German},
		"another language": {ID: "cus_1", Email: "erika@example.org", Language: English},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, polls := newEnv(t, 0), 0
				w := httptest.NewRecorder()
				time.AfterFunc(3*time.Second, func() { p.sessions.set("erika", later) })
				p.templates.Stream(func(*Request) (View, error) { polls++; return testView("a", false), nil })(w, eventsRequest("erika"))
				if got := eventNames(parseEvents(t, w.Body.String())); !slices.Equal(got, []string{"part", "reload"}) || polls > 7 {
					t.Errorf("%v after %d polls", got, polls)
				}
			})
		})
	}
}

func TestStream_RefusedLikeItsPage(t *testing.T) {
	t.Parallel()
	p := newEnv(t, 0)
	for kind, want := range map[registrar.Kind]int{
		registrar.KindNotFound: http.StatusNotFound, registrar.KindUnauthenticated: http.StatusSeeOther, registrar.KindUpstream: http.StatusServiceUnavailable,
	} {
		viewFunc := func(*Request) (View, error) { return View{}, &registrar.Error{Kind: kind} }
		page, stream := httptest.NewRecorder(), httptest.NewRecorder()
		p.templates.frame.Page(p.templates.RenderFunc(viewFunc))(page, eventsRequest("erika"))
		p.templates.Stream(viewFunc)(stream, eventsRequest("erika"))
		if page.Code != want || stream.Code != want || page.Body.String() != stream.Body.String() || strings.HasPrefix(stream.Header().Get("Content-Type"), "text/event") {
			t.Errorf("%s: %d and %d: %s", kind, page.Code, stream.Code, stream.Body)
		}
	}
}

// recordingWriter records the error for the log.
type recordingWriter struct {
	*httptest.ResponseRecorder
	code    registrar.Code
	streams int
}

func (n *recordingWriter) RecordError(note httpjson.ErrorInfo) { n.code = note.Code }
func (n *recordingWriter) MarkStream()                         { n.streams++ }

func TestStream_FailureEndsItAndIsRecorded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, polls := newEnv(t, 0), 0
		w := &recordingWriter{ResponseRecorder: httptest.NewRecorder()}
		p.templates.Stream(func(*Request) (View, error) {
			if polls++; polls == 3 {
				return View{}, &registrar.Error{Kind: registrar.KindInternal, Code: "store"}
			}
			return testView("a", false), nil
		})(w, eventsRequest("erika"))
		if got := eventNames(parseEvents(t, w.Body.String())); !slices.Equal(got, []string{"part"}) || w.code != "store" || w.streams != 1 || polls != 3 {
			t.Errorf("%v, %q, %d streams, %d polls: %s", got, w.code, w.streams, polls, w.Body)
		}
	})
}

// A hanging poll is bounded like a page, not by the whole stream.
func TestStream_PollHasPageTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, polls, start := newEnv(t, 0), 0, time.Now()
		w := &recordingWriter{ResponseRecorder: httptest.NewRecorder()}
		p.templates.Stream(func(req *Request) (View, error) {
			if polls++; polls == 2 {
				<-req.R.Context().Done()
				return View{}, req.R.Context().Err()
			}
			return testView("a", false), nil
		})(w, eventsRequest("erika"))
		if took := time.Since(start); took != requestTimeout+500*time.Millisecond || w.code != codeTimeout {
			t.Errorf("it took %s: %q", took, w.code)
		}
	})
}

func TestStream_ClientGoneIsNotAnError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, start := newEnv(t, 0), time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second+time.Millisecond, cancel)
		w := &recordingWriter{ResponseRecorder: httptest.NewRecorder()}
		p.templates.Stream(func(req *Request) (View, error) {
			select {
			case <-req.R.Context().Done():
				return View{}, req.R.Context().Err()
			case <-time.After(100 * time.Millisecond):
				return testView("a", false), nil
			}
		})(w, eventsRequest("erika").WithContext(ctx))
		if took := time.Since(start); took != 5*time.Second+time.Millisecond || w.code != "" {
			t.Errorf("it took %s: %q", took, w.code)
		}
		if c := p.templates.frame.streamLimiter; c.open != 0 || len(c.openByClient) != 0 {
			t.Errorf("%d streams are open", c.open)
		}
	})
}

// syncRecorder can be read while it is written.
type syncRecorder struct {
	*httptest.ResponseRecorder
	mu sync.Mutex
}

func (s *syncRecorder) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ResponseRecorder.Write(b)
}

func (s *syncRecorder) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Code == http.StatusOK && strings.Contains(s.Body.String(), "event: part")
}

func TestStream_LimitsPerClientAndInTotal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newEnv(t, maxStreamsPerClient+2)
		var all sync.WaitGroup
		answer := func(r *http.Request) *syncRecorder {
			w := &syncRecorder{ResponseRecorder: httptest.NewRecorder()}
			all.Go(func() { p.templates.Stream(staticView)(w, r) })
			synctest.Wait()
			return w
		}
		from := func(address string) *http.Request {
			r := eventsRequest("")
			r.Header.Set("From", address)
			return r
		}
		for range maxStreamsPerClient {
			if w := answer(eventsRequest("erika")); !w.isOpen() {
				t.Fatalf("%d: %s", w.Code, w.Body)
			}
		}
		if w := answer(eventsRequest("erika")); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
			t.Errorf("one too many: %d %v", w.Code, w.Header())
		}
		// Another account at the same address is counted separately.
		for _, r := range []*http.Request{eventsRequest("max"), from("192.0.2.1")} {
			if w := answer(r); !w.isOpen() {
				t.Errorf("another visitor: %d", w.Code)
			}
		}
		if w := answer(eventsRequest("max")); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("the node is full: %d", w.Code)
		}
		close(p.closing)
		all.Wait()
		p.templates.frame.cfg.Closing = nil
		// The streams are released, and an IPv6 network counts as one client.
		for i := range maxStreamsPerClient {
			if w := answer(from(netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 15: byte(i)}).String())); !w.isOpen() {
				t.Fatalf("%d: %d", i, w.Code)
			}
		}
		if w := answer(from("2001:db8::ffff")); w.Code != http.StatusTooManyRequests {
			t.Errorf("another address of the same network: %d", w.Code)
		}
		if w := answer(from("2001:db8:0:1::1")); !w.isOpen() {
			t.Errorf("another network: %d", w.Code)
		}
		all.Wait()
	})
}

func TestStream_HeadReturnsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, start := newEnv(t, 0), time.Now()
		r := eventsRequest("erika")
		r.Method = http.MethodHead
		w := httptest.NewRecorder()
		p.templates.Stream(staticView)(w, r)
		if time.Since(start) != 0 || w.Body.Len() != 0 || w.Header().Get("Content-Type") != "text/event-stream" {
			t.Errorf("%s, %v: %s", time.Since(start), w.Header(), w.Body)
		}
	})
}

func TestLivePage_RefreshesOnlyWithoutScript(t *testing.T) {
	t.Parallel()
	p := newEnv(t, 0)
	for _, done := range []bool{false, true} {
		w := httptest.NewRecorder()
		p.templates.frame.Page(p.templates.RenderFunc(func(*Request) (View, error) { return testView("a", done), nil }))(w, eventsRequest(""))
		for _, piece := range []string{
			`<noscript><meta http-equiv="refresh" content="3"></noscript>`, `data-events="/thing/events" data-reload="3"`, "progress.js", `role="status"`,
		} {
			if strings.Contains(w.Body.String(), piece) == done {
				t.Errorf("done %t, %s: %s", done, piece, w.Body)
			}
		}
		if w.Header().Get("Refresh") != "" {
			t.Error("a live page reloads")
		}
	}
}

// brokenWriter is a disconnected reader.
type brokenWriter struct{ *httptest.ResponseRecorder }

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken") }

func TestStream_WriteErrorEndsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, start := newEnv(t, 0), time.Now()
		p.templates.Stream(staticView)(brokenWriter{httptest.NewRecorder()}, eventsRequest("erika"))
		if took := time.Since(start); took != 0 {
			t.Errorf("it took %s", took)
		}
	})
}
