package portal

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

const (
	exportPath = "/portal/profile/export"

	// exportTimeout limits the whole file, chunkTimeout the transfer of each piece.
	exportTimeout = 10 * time.Minute
	chunkTimeout  = 20 * time.Second
	// exportBufferBytes are buffered before anything is sent: nearly every file is
	// smaller, and its errors can still be shown on a page.
	exportBufferBytes = 256 << 10
)

// export serves everything stored about the customer as one file. It requires a recent
// sign-in: an unattended browser must not give everything away.
func (h *Handler) export(req *ui.Request) error {
	release, err := req.AcquireStream()
	if err != nil {
		return err
	}
	defer release()
	// A large file takes longer than a page may. A disconnected client is noticed at
	// the next write.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(req.R.Context()), exportTimeout)
	defer cancel()
	file := &download{ResponseWriter: req.W, name: "dotkontor-" + req.Now.UTC().Format(time.DateOnly) + ".json"}
	err = h.Exporter.Write(ctx, req.Actor(), file)
	switch {
	case err == nil:
		return file.finish()
	case !file.started:
		return err
	}
	httpjson.RecordError(req.W, err)
	// Closes the connection without the end of the file, so that it is not taken for
	// complete. Nothing more can be done.
	_ = http.NewResponseController(req.W).SetWriteDeadline(time.Unix(1, 0))
	return nil
}

// download is a file that is sent while it is being written.
type download struct {
	http.ResponseWriter
	name    string
	buffer  bytes.Buffer
	started bool
}

// Write buffers the beginning.
func (d *download) Write(piece []byte) (int, error) {
	if d.started {
		return d.send(piece)
	}
	if d.buffer.Len()+len(piece) <= exportBufferBytes {
		return d.buffer.Write(piece)
	}
	d.started = true
	d.setHeaders()
	d.WriteHeader(http.StatusOK)
	if _, err := d.send(d.buffer.Bytes()); err != nil {
		return 0, err
	}
	d.buffer = bytes.Buffer{}
	return d.send(piece)
}

func (d *download) setHeaders() {
	d.Header().Set("Content-Type", "application/json")
	d.Header().Set("Content-Disposition", `attachment; filename="`+d.name+`"`)
}

// send sets a deadline for each piece.
func (d *download) send(piece []byte) (int, error) {
	control := http.NewResponseController(d.ResponseWriter)
	if err := control.SetWriteDeadline(time.Now().Add(chunkTimeout)); err != nil {
		return 0, err
	}
	n, err := d.ResponseWriter.Write(piece)
	if err != nil {
		return n, err
	}
	return n, control.Flush()
}

// finish sends the buffer, whose length is known, unless the file was larger.
func (d *download) finish() error {
	if d.started {
		return nil
	}
	d.setHeaders()
	// Creating the file may have used most of the response's time.
	if err := http.NewResponseController(d.ResponseWriter).SetWriteDeadline(time.Now().Add(chunkTimeout)); err != nil {
		return err
	}
	httpjson.WriteBytes(d.ResponseWriter, http.StatusOK, []string{"application/json"}, d.buffer.Bytes())
	return nil
}
