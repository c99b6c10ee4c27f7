package page

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
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

func TestAStreamTellsWhatIsAnotherAndThatItIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, looks := newFair(t, 0), 0
		w := httptest.NewRecorder()
		p.views.Follow(func(*Visit) (View, error) {
			looks++
			return thing(map[bool]string{true: "a", false: "b"}[looks < 4], looks == 6), nil
		})(w, asked("erika"))
		got := heardIn(t, w.Body.String())
		if !slices.Equal(names(got), []string{"part", "part", "end"}) || w.Header().Get("Content-Type") != "text/event-stream" || !w.Flushed {
			t.Fatalf("%v: %s", w.Header(), w.Body)
		}
		if got[0].title != "Ding" || got[0].html != "<p>Es ist a erika@example.org</p>" || got[1].html != "<p>Es ist b erika@example.org</p>" || got[0].id == got[1].id {
			t.Errorf("%+v", got)
		}
		if !strings.HasPrefix(w.Body.String(), "retry: ") {
			t.Errorf("nobody is told when to come back: %s", w.Body)
		}
	})
}

func TestEverybodyHearsTheirOwnPageInTheirLanguage(t *testing.T) {
	t.Parallel()
	p := newFair(t, 0)
	for who, want := range map[string]heard{
		"max": {title: "Thing", html: "<p>It is a max@example.org</p>"},
		"":    {title: "Ding", html: "<p>Es ist a</p>"},
	} {
		w := httptest.NewRecorder()
		p.views.Follow(func(*Visit) (View, error) { return thing("a", true), nil })(w, asked(who))
		got := heardIn(t, w.Body.String())
		if !slices.Equal(names(got), []string{"part", "end"}) || got[0].title != want.title || got[0].html != want.html {
			t.Errorf("%q: %s", who, w.Body)
		}
	}
}

func TestWhoComesBackIsNotToldAgain(t *testing.T) {
	t.Parallel()
	p := newFair(t, 0)
	follow := p.views.Follow(func(*Visit) (View, error) { return thing("a", true), nil })
	first, again := httptest.NewRecorder(), httptest.NewRecorder()
	follow(first, asked("erika"))
	r := asked("erika")
	r.Header.Set("Last-Event-ID", heardIn(t, first.Body.String())[0].id)
	follow(again, r)
	if got := names(heardIn(t, again.Body.String())); !slices.Equal(got, []string{"end"}) {
		t.Errorf("%v: %s", got, again.Body)
	}
}

func TestLooksSlackenAndEveryStreamEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, began := newFair(t, 0), time.Now()
		var at []time.Duration
		w := httptest.NewRecorder()
		p.views.Follow(func(*Visit) (View, error) {
			at = append(at, time.Since(began))
			data := "a"
			if time.Since(began) >= 2*time.Minute { // news: whoever waits for the next is not kept waiting
				data = "b"
			}
			return thing(data, false), nil
		})(w, asked("erika"))
		if took := time.Since(began); took != longestStream {
			t.Errorf("the stream took %s", took)
		}
		for i := 1; i < len(at); i++ {
			quiet := at[i-1]
			if quiet >= 2*time.Minute {
				quiet -= 2 * time.Minute
			}
			want := longestSilence
			switch {
			case quiet < 10*time.Second:
				want = 500 * time.Millisecond
			case quiet < time.Minute:
				want = 2 * time.Second
			}
			if got := at[i] - at[i-1]; got != want {
				t.Errorf("look %d came %s after the last, at %s", i, got, at[i])
			}
		}
		if got := names(heardIn(t, w.Body.String())); !slices.Equal(got, []string{"part", "part"}) {
			t.Errorf("%v", got)
		}
		// Nobody has to wait for longer than that until something is written.
		if pulses := strings.Count(w.Body.String(), ":\n\n"); pulses < int(4*time.Minute/longestSilence) {
			t.Errorf("only %d signs of life", pulses)
		}
	})
}

func TestTheEndOfTheProcessEndsStreamsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, began := newFair(t, 0), time.Now()
		time.AfterFunc(70*time.Second, func() { close(p.closing) }) // while a look is ten seconds away
		w := httptest.NewRecorder()
		p.views.Follow(always)(w, asked("erika"))
		if took := time.Since(began); took != 70*time.Second {
			t.Errorf("it took %s", took)
		}
		if got := names(heardIn(t, w.Body.String())); !slices.Equal(got, []string{"part"}) {
			t.Errorf("%v", got)
		}
		w = httptest.NewRecorder()
		p.views.Follow(always)(w, asked("erika"))
		if took := time.Since(began); took != 70*time.Second {
			t.Errorf("a late one took %s", took)
		}
	})
}

func TestWhoeverSignsOutSeesNoMore(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]*customer.Customer{
		"signed out":       nil,
		"somebody else":    {ID: "cus_2", Email: "max@example.org", Language: German},
		"another language": {ID: "cus_1", Email: "erika@example.org", Language: English},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, looks := newFair(t, 0), 0
				w := httptest.NewRecorder()
				time.AfterFunc(3*time.Second, func() { p.people.becomes("erika", later) })
				p.views.Follow(func(*Visit) (View, error) { looks++; return thing("a", false), nil })(w, asked("erika"))
				if got := names(heardIn(t, w.Body.String())); !slices.Equal(got, []string{"part", "reload"}) || looks > 7 {
					t.Errorf("%v after %d looks", got, looks)
				}
			})
		})
	}
}

func TestWhoGetsNoPageGetsNoStream(t *testing.T) {
	t.Parallel()
	p := newFair(t, 0)
	for kind, want := range map[registrar.Kind]int{
		registrar.KindNotFound: http.StatusNotFound, registrar.KindUnauthenticated: http.StatusSeeOther, registrar.KindUpstream: http.StatusServiceUnavailable,
	} {
		look := func(*Visit) (View, error) { return View{}, &registrar.Error{Kind: kind} }
		page, stream := httptest.NewRecorder(), httptest.NewRecorder()
		p.views.frame.Open(p.views.Show(look))(page, asked("erika"))
		p.views.Follow(look)(stream, asked("erika"))
		if page.Code != want || stream.Code != want || page.Body.String() != stream.Body.String() || strings.HasPrefix(stream.Header().Get("Content-Type"), "text/event") {
			t.Errorf("%s: %d and %d: %s", kind, page.Code, stream.Code, stream.Body)
		}
	}
}

// noted keeps what the log would say.
type noted struct {
	*httptest.ResponseRecorder
	code    registrar.Code
	streams int
}

func (n *noted) Note(note wire.Note) { n.code = note.Code }
func (n *noted) NoteStream()         { n.streams++ }

func TestAFailureUnderWayEndsTheStreamAndIsNoted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, looks := newFair(t, 0), 0
		w := &noted{ResponseRecorder: httptest.NewRecorder()}
		p.views.Follow(func(*Visit) (View, error) {
			if looks++; looks == 3 {
				return View{}, &registrar.Error{Kind: registrar.KindInternal, Code: "store"}
			}
			return thing("a", false), nil
		})(w, asked("erika"))
		if got := names(heardIn(t, w.Body.String())); !slices.Equal(got, []string{"part"}) || w.code != "store" || w.streams != 1 || looks != 3 {
			t.Errorf("%v, %q, %d streams, %d looks: %s", got, w.code, w.streams, looks, w.Body)
		}
	})
}

// A look that hangs is bounded like a page, and not by the whole stream.
func TestALookTakesNoLongerThanAPage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, looks, began := newFair(t, 0), 0, time.Now()
		w := &noted{ResponseRecorder: httptest.NewRecorder()}
		p.views.Follow(func(v *Visit) (View, error) {
			if looks++; looks == 2 {
				<-v.R.Context().Done()
				return View{}, v.R.Context().Err()
			}
			return thing("a", false), nil
		})(w, asked("erika"))
		if took := time.Since(began); took != longestVisit+500*time.Millisecond || w.code != tookLong {
			t.Errorf("it took %s and said %q", took, w.code)
		}
	})
}

func TestWhoeverHasLeftIsForgottenWithoutANote(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, began := newFair(t, 0), time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second+time.Millisecond, cancel)
		w := &noted{ResponseRecorder: httptest.NewRecorder()}
		p.views.Follow(func(v *Visit) (View, error) {
			select {
			case <-v.R.Context().Done():
				return View{}, v.R.Context().Err()
			case <-time.After(100 * time.Millisecond):
				return thing("a", false), nil
			}
		})(w, asked("erika").WithContext(ctx))
		if took := time.Since(began); took != 5*time.Second+time.Millisecond || w.code != "" {
			t.Errorf("it took %s and said %q", took, w.code)
		}
		if c := p.views.frame.crowd; c.all != 0 || len(c.each) != 0 {
			t.Errorf("%d places are taken", c.all)
		}
	})
}

// shared is a recorder that is read while it is written.
type shared struct {
	*httptest.ResponseRecorder
	mu sync.Mutex
}

func (s *shared) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ResponseRecorder.Write(b)
}

func (s *shared) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Code == http.StatusOK && strings.Contains(s.Body.String(), "event: part")
}

func TestStreamsAreBoundedForEachAndForAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFair(t, mostStreamsEach+2)
		var all sync.WaitGroup
		answer := func(r *http.Request) *shared {
			w := &shared{ResponseRecorder: httptest.NewRecorder()}
			all.Go(func() { p.views.Follow(always)(w, r) })
			synctest.Wait()
			return w
		}
		from := func(address string) *http.Request {
			r := asked("")
			r.Header.Set("From", address)
			return r
		}
		for range mostStreamsEach {
			if w := answer(asked("erika")); !w.isOpen() {
				t.Fatalf("%d: %s", w.Code, w.Body)
			}
		}
		if w := answer(asked("erika")); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
			t.Errorf("one too many: %d %v", w.Code, w.Header())
		}
		// Somebody else at the same address is somebody else.
		for _, r := range []*http.Request{asked("max"), from("192.0.2.1")} {
			if w := answer(r); !w.isOpen() {
				t.Errorf("another visitor: %d", w.Code)
			}
		}
		if w := answer(asked("max")); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("the node is full: %d", w.Code)
		}
		close(p.closing)
		all.Wait()
		p.views.frame.closing = nil
		// The places are free again, and a whole network of IPv6 is one visitor.
		for i := range mostStreamsEach {
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

func TestAHeadIsNoStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, began := newFair(t, 0), time.Now()
		r := asked("erika")
		r.Method = http.MethodHead
		w := httptest.NewRecorder()
		p.views.Follow(always)(w, r)
		if time.Since(began) != 0 || w.Body.Len() != 0 || w.Header().Get("Content-Type") != "text/event-stream" {
			t.Errorf("%s, %v: %s", time.Since(began), w.Header(), w.Body)
		}
	})
}

func TestALivePageReloadsItselfOnlyWithoutScript(t *testing.T) {
	t.Parallel()
	p := newFair(t, 0)
	for _, done := range []bool{false, true} {
		w := httptest.NewRecorder()
		p.views.frame.Open(p.views.Show(func(*Visit) (View, error) { return thing("a", done), nil }))(w, asked(""))
		for _, piece := range []string{
			`<noscript><meta http-equiv="refresh" content="3"></noscript>`, `data-events="/thing/events" data-reload="3"`, "progress.js", `role="status"`,
		} {
			if strings.Contains(w.Body.String(), piece) == done {
				t.Errorf("done %t, %s: %s", done, piece, w.Body)
			}
		}
		if w.Header().Get("Refresh") != "" {
			t.Error("a page that is followed goes away")
		}
	}
}

// brokenWriter is a reader that is gone.
type brokenWriter struct{ *httptest.ResponseRecorder }

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken") }

func TestAReaderThatIsGoneEndsTheStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, began := newFair(t, 0), time.Now()
		p.views.Follow(always)(brokenWriter{httptest.NewRecorder()}, asked("erika"))
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %s", took)
		}
	})
}
