package epp

import (
	"encoding/binary"
	"errors"
	"io"
)

// A frame is a total length of four octets in network order, which includes itself,
// followed by the XML (RFC 5734, 4).
const headerOctets = 4

const (
	// maxFrame limits frames in both directions.
	maxFrame = 1 << 20
	// maxRetainedBuffer is the largest buffer that a connection reuses for later
	// frames.
	maxRetainedBuffer = 64 << 10
)

var (
	errFrameTooLong  = errors.New("epp: frame exceeds the size limit")
	errFrameTooShort = errors.New("epp: frame length is too short")
)

// frameReader reads frames. The slice that next returns is valid until the next
// call.
type frameReader struct {
	from io.Reader
	buf  []byte
}

func (r *frameReader) next() ([]byte, error) {
	var header [headerOctets]byte
	if _, err := io.ReadFull(r.from, header[:]); err != nil {
		return nil, err
	}
	total := int64(binary.BigEndian.Uint32(header[:]))
	if total <= headerOctets {
		return nil, errFrameTooShort
	}
	if total > maxFrame {
		// The beginning identifies a poll message. What has not arrived by the
		// deadline of the command is not needed.
		beginning := make([]byte, maxRetainedBuffer)
		n, _ := io.ReadFull(r.from, beginning)
		return beginning[:n], errFrameTooLong
	}
	size := int(total) - headerOctets
	if cap(r.buf) < size || cap(r.buf) > maxRetainedBuffer && size <= maxRetainedBuffer {
		r.buf = make([]byte, size, max(size, 4<<10))
	}
	r.buf = r.buf[:size]
	if _, err := io.ReadFull(r.from, r.buf); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // the frame was truncated
		}
		return nil, err
	}
	return r.buf, nil
}

// putHeader writes a frame's length into its first four octets.
func putHeader(frame []byte) {
	binary.BigEndian.PutUint32(frame, uint32(len(frame)))
}
