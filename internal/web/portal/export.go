package portal

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/dotkontor/dotkontor/internal/web/page"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

const (
	exportPath = "/portal/profile/export"

	// exportWithin is how long the whole file may take, and pieceWithin how long somebody may
	// take to receive the next piece of it.
	exportWithin = 10 * time.Minute
	pieceWithin  = 20 * time.Second
	// heldBack is how much is kept until something leaves: nearly every file is smaller,
	// and what goes wrong with it is told on a page.
	heldBack = 256 << 10
)

// export hands over all that is stored about the customer as one file. It wants a
// recent sign-in: a browser that somebody has left open must not give everything away.
func (h *Handler) export(v *page.Visit) error {
	if !v.Recent() {
		return v.SignInFirst(page.SignInAgainPath)
	}
	leave, err := v.Place()
	if err != nil {
		return err
	}
	defer leave()
	// A large file takes longer than a page may. Who has left is noticed by the next piece.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.R.Context()), exportWithin)
	defer cancel()
	file := &download{v: v, name: "dotkontor-" + v.Now.UTC().Format(time.DateOnly) + ".json"}
	if err := h.dossier.Write(ctx, v.Actor(), file); err != nil {
		if !file.begun {
			return err
		}
		wire.Annotate(v.W, err)
		file.cut()
		return nil
	}
	return file.finish()
}

// download is a file that is written while it is made.
type download struct {
	v     *page.Visit
	name  string
	held  bytes.Buffer
	begun bool
}

// Write holds back what comes first.
func (d *download) Write(piece []byte) (int, error) {
	if !d.begun && d.held.Len()+len(piece) <= heldBack {
		return d.held.Write(piece)
	}
	if err := d.begin(); err != nil {
		return 0, err
	}
	return d.send(piece)
}

func (d *download) begin() error {
	if d.begun {
		return nil
	}
	d.begun = true
	d.describe()
	d.v.W.WriteHeader(http.StatusOK)
	_, err := d.send(d.held.Bytes())
	d.held = bytes.Buffer{}
	return err
}

func (d *download) describe() {
	header := d.v.W.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Disposition", `attachment; filename="`+d.name+`"`)
}

// send gives whoever receives it a while for each piece.
func (d *download) send(piece []byte) (int, error) {
	control := http.NewResponseController(d.v.W)
	if err := control.SetWriteDeadline(time.Now().Add(pieceWithin)); err != nil {
		return 0, err
	}
	n, err := d.v.W.Write(piece)
	if err != nil {
		return n, err
	}
	return n, control.Flush()
}

// cut ends the connection without the end of the file, so that nobody takes what they
// have for all of it.
func (d *download) cut() {
	_ = http.NewResponseController(d.v.W).SetWriteDeadline(time.Unix(1, 0)) // it can't be more broken
}

// finish sends what was held back, whose length is known.
func (d *download) finish() error {
	if d.begun {
		return nil
	}
	d.describe()
	// Making it may have taken most of the time that an answer has.
	if err := http.NewResponseController(d.v.W).SetWriteDeadline(time.Now().Add(pieceWithin)); err != nil {
		return err
	}
	wire.WriteBytes(d.v.W, http.StatusOK, []string{"application/json"}, d.held.Bytes())
	return nil
}
