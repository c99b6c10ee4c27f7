package pwhash

import (
	"errors"
	"io"
	"runtime"
)

// Serve is the process side: it handles requests until its input ends.
func Serve(in io.Reader, out io.Writer) error {
	if _, err := io.WriteString(out, greeting); err != nil {
		return err
	}
	for {
		if err := serveOne(in, out); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		// The hash's memory is garbage now; collecting it before the next request allows its reuse.
		runtime.GC()
	}
}

func serveOne(in io.Reader, out io.Writer) error {
	payload, err := readFrame(in)
	if err != nil {
		return err
	}
	defer clear(payload) // it contains the password
	q, err := parseRequest(payload)
	if err != nil {
		return err
	}
	key := q.Key()
	defer clear(key)
	return writeFrame(out, responsePayload(q.id, key))
}
