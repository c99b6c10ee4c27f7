package page

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web/wire"
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

// longestStream ends every stream, so that none outlives what it was opened for; a
// page that is still looked at comes back.
const longestStream = 5 * time.Minute

// pace is how long to wait for the next look, by how long nothing has changed. Most
// orders are done within seconds, and a transfer takes days.
func pace(unchanged time.Duration) time.Duration {
	switch {
	case unchanged < 10*time.Second:
		return 500 * time.Millisecond
	case unchanged < time.Minute:
		return 2 * time.Second
	default:
		return longestSilence
	}
}

// Look says what a page shows now. It is called for the page and again and again for
// its stream, so it changes nothing and writes nothing.
type Look func(*Visit) (View, error)

// MembersLook is a look for those who have signed in, as Members is a page for them.
func MembersLook(look Look) Look {
	return func(v *Visit) (View, error) {
		if !v.SignedIn {
			return View{}, &registrar.Error{Kind: registrar.KindUnauthenticated, Code: "no_session"}
		}
		return look(v)
	}
}

// Show is the page of a look.
func (views *Views) Show(look Look) Func {
	return func(v *Visit) error {
		view, err := look(v)
		if err != nil {
			return err
		}
		return views.Render(v, view)
	}
}

// Follow is the stream of a page's look, for our own script: an event "part" with the
// heading and the content as soon as they are others, "end" once nothing changes by
// itself any more, and "reload" if somebody else is signed in by now, or in another
// language. What counts is what the look finds, so it does not matter which node
// changes something. Each look asks anew who is there: what a visitor may not see on
// the page is not in the stream either, and who gets no page gets the same refusal.
//
// A stream that ends without "end" was cut by its time, by the end of the process or
// by a failure. Browsers then come back by themselves.
func (views *Views) Follow(look Look) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := views.frame.visit(w, r, largestForm)
		defer v.end()
		if err == nil {
			err = views.follow(v, r, look)
		}
		if err != nil {
			v.fail(err)
		}
	}
}

// follow returns an error only as long as nothing was written. r is the request
// without the end of the visit.
func (views *Views) follow(v *Visit, r *http.Request, look Look) error {
	f := views.frame
	leave, err := v.Place()
	if err != nil {
		return err
	}
	defer leave()
	now, err := views.glance(v, look)
	if err != nil {
		return err
	}
	out := v.Events()
	if r.Method == http.MethodHead {
		v.W.WriteHeader(http.StatusOK)
		return nil
	}
	wire.NoteStream(v.W)
	ctx, cancel := context.WithTimeout(r.Context(), longestStream)
	defer cancel()
	// The server's limit for reading a request would end its context.
	_ = out.wire.SetReadDeadline(time.Now().Add(longestStream + slowestReader))
	out.comeBackIn(time.Second + rand.N(2*time.Second)) //nolint:gosec // only so that not all come at once
	seen, changed := r.Header.Get("Last-Event-ID"), time.Now()
	for {
		if now.id == seen {
			out.keepAlive()
		} else {
			out.sendAs(now.id, "part", map[string]any{"title": now.title, "html": now.html})
			seen, changed = now.id, time.Now()
		}
		if !now.underWay {
			out.Send("end", map[string]any{})
			return nil
		}
		if out.err != nil || !f.wait(ctx, pace(time.Since(changed))) {
			return nil
		}
		var same bool
		if now, same, err = views.glanceAgain(v, r, look); err != nil {
			if ctx.Err() == nil { // else whoever has left caused it
				wire.Annotate(v.W, inTime(err))
			}
			return nil
		}
		if !same {
			out.Send("reload", map[string]any{})
			return nil
		}
	}
}

// whoever is as whom a visitor is counted.
func (v *Visit) whoever() string {
	actor := v.Actor()
	if actor.Customer != "" {
		return actor.Customer
	}
	return registrar.Network(actor.Address)
}

// wait is false if the stream is over.
func (f *Frame) wait(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
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

// glance is what a page shows at one moment. Its id is another one if anything in it
// is.
type glance struct {
	id, title, html string
	underWay        bool
}

func (views *Views) glance(v *Visit, look Look) (glance, error) {
	view, err := look(v)
	if err != nil {
		return glance{}, err
	}
	now := glance{title: views.Text(v.Language, view.Title), underWay: view.Live.Events != ""}
	if now.html, err = views.Part(v.Language, view.Name, "content", views.shownTo(v, view)); err != nil {
		return glance{}, err
	}
	sum := sha256.Sum256([]byte(now.title + "\n" + now.html))
	now.id = base64.RawURLEncoding.EncodeToString(sum[:12])
	return now, nil
}

// glanceAgain is a visit of its own: whoever has signed out since sees no more. It
// is not the same if the page around it would be another one.
func (views *Views) glanceAgain(before *Visit, r *http.Request, look Look) (now glance, same bool, err error) {
	v, err := views.frame.visit(before.W, r, largestForm)
	defer v.end()
	if err != nil {
		return glance{}, false, err
	}
	if v.Visitor.Customer.ID != before.Visitor.Customer.ID || v.Language != before.Language {
		return glance{}, false, nil
	}
	now, err = views.glance(v, look)
	return now, true, err
}
