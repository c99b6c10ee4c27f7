package ui

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// Live is how a page goes on while what it shows is under way. The zero value means
// that nothing changes by itself.
type Live struct {
	// Events is the path of the stream that Follow serves.
	Events string
	// Reload is when the page asks again where there is no script, or no stream.
	Reload time.Duration
}

// Seconds is Reload as browsers want it.
func (l Live) Seconds() int { return int(l.Reload / time.Second) }

// maxStreamDuration ends every stream, so that none outlives what it was opened for; a
// page that is still looked at comes back.
const maxStreamDuration = 5 * time.Minute

// pollInterval is how long to wait for the next look, by how long nothing has changed. Most
// orders are done within seconds, and a transfer takes days.
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

// ViewFunc says what a page shows now. It is called for the page and again and again for
// its stream, so it changes nothing and writes nothing.
type ViewFunc func(*Request) (View, error)

// SignedInView is a look for those who have signed in, as Members is a page for them.
func SignedInView(viewFunc ViewFunc) ViewFunc {
	return func(req *Request) (View, error) {
		if !req.SignedIn {
			return View{}, &registrar.Error{Kind: registrar.KindUnauthenticated, Code: "no_session"}
		}
		return viewFunc(req)
	}
}

// RenderFunc is the page of a look.
func (templates *Templates) RenderFunc(viewFunc ViewFunc) PageFunc {
	return func(req *Request) error {
		view, err := viewFunc(req)
		if err != nil {
			return err
		}
		return templates.Render(req, view)
	}
}

// Stream is the stream of a page's look, for our own script: an event "part" with the
// heading and the content as soon as they are others, "end" once nothing changes by
// itself any more, and "reload" if somebody else is signed in by now, or in another
// language. What counts is what the look finds, so it does not matter which node
// changes something. Each look asks anew who is there: what a visitor may not see on
// the page is not in the stream either, and who gets no page gets the same refusal.
//
// A stream that ends without "end" was cut by its time, by the end of the process or
// by a failure. Browsers then come back by themselves.
func (templates *Templates) Stream(viewFunc ViewFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		req, err := templates.frame.newRequest(w, r, maxFormBytes)
		defer req.cancel()
		if err == nil {
			err = templates.stream(req, r, viewFunc)
		}
		if err != nil {
			req.renderError(err)
		}
	}
}

// stream returns an error only as long as nothing was written. r is the request
// without the end of the visit.
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
	// The server's limit for reading a request would end its context.
	_ = out.conn.SetReadDeadline(time.Now().Add(maxStreamDuration + eventWriteTimeout))
	out.setRetry(time.Second + rand.N(2*time.Second)) //nolint:gosec // only so that not all come at once
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
			if ctx.Err() == nil { // else whoever has left caused it
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

// streamClient is as whom a visitor is counted.
func (req *Request) streamClient() string {
	actor := req.Actor()
	if actor.Customer != "" {
		return actor.Customer
	}
	return registrar.Network(actor.Address)
}

// waitForPoll is false if the stream is over.
func (f *Frame) waitForPoll(ctx context.Context, interval time.Duration) bool {
	timer := time.NewTimer(interval)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	case <-f.closing:
		return false
	}
}

// snapshot is what a page shows at one moment. Its id is another one if anything in it
// is.
type snapshot struct {
	id, title, html string
	live            bool
}

func (templates *Templates) snapshot(req *Request, viewFunc ViewFunc) (snapshot, error) {
	view, err := viewFunc(req)
	if err != nil {
		return snapshot{}, err
	}
	now := snapshot{title: templates.Text(req.Language, view.Title), live: view.Live.Events != ""}
	if now.html, err = templates.RenderPart(req.Language, view.Name, "content", templates.pageDataFor(req, view)); err != nil {
		return snapshot{}, err
	}
	sum := sha256.Sum256([]byte(now.title + "\n" + now.html))
	now.id = base64.RawURLEncoding.EncodeToString(sum[:12])
	return now, nil
}

// refresh is a visit of its own: whoever has signed out since sees no more. It
// is not the same if the page around it would be another one.
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
