package ui

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// Live describes how a page updates itself. The zero value means that it does not.
type Live struct {
	Events string        // the path of the page's stream
	Reload time.Duration // the reload interval without script or stream
}

// Seconds returns Reload for the HTML attribute.
func (l Live) Seconds() int { return int(l.Reload / time.Second) }

// maxStreamDuration bounds every stream; a page that is still open reconnects.
const maxStreamDuration = 5 * time.Minute

// pollInterval returns the delay before the next poll, by the time without a change.
// Most orders are done within seconds, and a transfer takes days.
func pollInterval(unchanged time.Duration) time.Duration {
	switch {
	case unchanged < 10*time.Second:
		return 500 * time.Millisecond
	case unchanged < time.Minute:
		return 2 * time.Second
	default:
		return keepAliveInterval
	}
}

// ViewFunc returns the current view of a page. It is called for the page and repeatedly
// for its stream, so it must not change or write anything.
type ViewFunc func(*Request) (View, error)

// SignedInView requires a signed-in visitor, like SignedInPage.
func SignedInView(viewFunc ViewFunc) ViewFunc {
	return func(req *Request) (View, error) {
		if !req.SignedIn {
			return View{}, &registrar.Error{Kind: registrar.KindUnauthenticated, Code: noSession}
		}
		return viewFunc(req)
	}
}

// RenderFunc returns the page of a ViewFunc.
func (templates *Templates) RenderFunc(viewFunc ViewFunc) PageFunc {
	return func(req *Request) error {
		view, err := viewFunc(req)
		if err != nil {
			return err
		}
		return templates.Render(req, view)
	}
}

// Stream serves the updates of a page for our own script: an event "part" with heading
// and content whenever they change, "end" once nothing changes any more, and "reload"
// if another account or language is active by now. It polls the ViewFunc, so changes by
// other nodes are seen as well. Each poll verifies the session again: a stream never
// contains what the page would not show.
//
// A stream that ends without "end" was cut by its time limit, by a shutdown or by an
// error. Browsers then reconnect.
func (templates *Templates) Stream(viewFunc ViewFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		templates.frame.UploadPage(maxFormBytes, func(req *Request) error { return templates.stream(req, r, viewFunc) })(w, r)
	}
}

// stream returns an error only if nothing was written. r is the request without the
// page's timeout.
func (templates *Templates) stream(req *Request, r *http.Request, viewFunc ViewFunc) error {
	f := templates.frame
	release, err := req.AcquireStream()
	if err != nil {
		return err
	}
	defer release()
	now, err := templates.snapshot(req, viewFunc)
	if err != nil {
		return err
	}
	out := req.Events()
	if r.Method == http.MethodHead {
		req.W.WriteHeader(http.StatusOK)
		return nil
	}
	httpjson.MarkStream(req.W)
	ctx, cancel := context.WithTimeout(r.Context(), maxStreamDuration)
	defer cancel()
	// The server's read deadline would cancel the request's context.
	_ = out.conn.SetReadDeadline(time.Now().Add(maxStreamDuration + eventWriteTimeout))
	out.setRetry(time.Second + rand.N(2*time.Second)) //nolint:gosec  // spreads the reconnects
	seen, changed := r.Header.Get("Last-Event-ID"), time.Now()
	for {
		if now.id == seen {
			out.keepAlive()
		} else {
			out.sendWithID(now.id, "part", map[string]any{"title": now.title, "html": now.html})
			seen, changed = now.id, time.Now()
		}
		if !now.live {
			out.Send("end", map[string]any{})
			return nil
		}
		if out.err != nil || !f.waitForPoll(ctx, pollInterval(time.Since(changed))) {
			return nil
		}
		var same bool
		if now, same, err = templates.refresh(req, r, viewFunc); err != nil {
			if ctx.Err() == nil { // otherwise the client left
				httpjson.RecordError(req.W, asTimeout(err))
			}
			return nil
		}
		if !same {
			out.Send("reload", map[string]any{})
			return nil
		}
	}
}

// streamClient returns the key by which a visitor's streams are counted.
func (req *Request) streamClient() string {
	actor := req.Actor()
	if actor.Customer != "" {
		return actor.Customer
	}
	return registrar.Network(actor.Address)
}

// waitForPoll returns false if the stream is over.
func (f *Frame) waitForPoll(ctx context.Context, interval time.Duration) bool {
	timer := time.NewTimer(interval)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	case <-f.cfg.Closing:
		return false
	}
}

// snapshot is the content of a page at one moment. Its id changes with the content.
type snapshot struct {
	id, title, html string
	live            bool
}

func (templates *Templates) snapshot(req *Request, viewFunc ViewFunc) (snapshot, error) {
	view, err := viewFunc(req)
	if err != nil {
		return snapshot{}, err
	}
	now := snapshot{title: templates.Text(req.Language, view.Title, view.TitleValue), live: view.Live.Events != ""}
	if now.html, err = templates.RenderPart(req.Language, view.Name, "content", templates.pageDataFor(req, view)); err != nil {
		return snapshot{}, err
	}
	sum := sha256.Sum256([]byte(now.title + "\n" + now.html))
	now.id = base64.RawURLEncoding.EncodeToString(sum[:12])
	return now, nil
}

// refresh renders the page as a new request, so that an ended session sees nothing
// more. same is false if the surrounding page would differ.
func (templates *Templates) refresh(before *Request, r *http.Request, viewFunc ViewFunc) (now snapshot, same bool, err error) {
	req, err := templates.frame.newRequest(before.W, r, maxFormBytes)
	defer req.cancel()
	if err != nil {
		return snapshot{}, false, err
	}
	if req.Visitor.Customer.ID != before.Visitor.Customer.ID || req.Language != before.Language {
		return snapshot{}, false, nil
	}
	now, err = templates.snapshot(req, viewFunc)
	return now, true, err
}

// streamLimiter limits the open streams and large downloads, in total and per client.
// Requests beyond the limit fail at once: pages reload instead.
type streamLimiter struct {
	limit, clientLimit int

	mu           sync.Mutex
	open         int
	openByClient map[string]int
}

const (
	// defaultMaxStreams applies if the configuration sets no limit.
	defaultMaxStreams = 1000
	// maxStreamsPerClient applies per account or, without one, per network. Hidden
	// pages close their stream, so it exceeds what one person has visible.
	maxStreamsPerClient = 20
	// streamRetryAfter is the Retry-After of a refused stream.
	streamRetryAfter = 30 * time.Second
)

const (
	tooManyStreams    registrar.Code = "too_many_streams"
	tooManyOwnStreams registrar.Code = "too_many_own_streams"
)

func newStreamLimiter(limit int) *streamLimiter {
	if limit <= 0 {
		limit = defaultMaxStreams
	}
	return &streamLimiter{limit: limit, clientLimit: maxStreamsPerClient, openByClient: make(map[string]int)}
}

// AcquireStream counts this request as a stream, because it takes longer than a page
// may; release ends that.
func (req *Request) AcquireStream() (release func(), err error) {
	return req.frame.streamLimiter.acquire(req.streamClient())
}

func (c *streamLimiter) acquire(client string) (release func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.openByClient[client] >= c.clientLimit:
		return nil, &registrar.Error{Kind: registrar.KindRateLimited, Code: tooManyOwnStreams, RetryAfter: streamRetryAfter}
	case c.open >= c.limit:
		return nil, &registrar.Error{Kind: registrar.KindRateLimited, Code: tooManyStreams, RetryAfter: streamRetryAfter}
	}
	c.open++
	c.openByClient[client]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open--
		if c.openByClient[client]--; c.openByClient[client] == 0 {
			delete(c.openByClient, client)
		}
	}, nil
}
