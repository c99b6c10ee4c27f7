package epp

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"
)

const (
	maxFrame    = 128 << 10
	frameHeader = 4
)

var errFrameSize = errors.New("invalid frame length")

// frameConn reads and writes frames (RFC 5734, 4).
type frameConn struct {
	conn     net.Conn
	reader   *bufio.Reader
	buffer   []byte
	timeouts Timeouts
}

func newFrameConn(conn net.Conn, timeouts Timeouts) *frameConn {
	return &frameConn{conn: conn, reader: bufio.NewReaderSize(conn, 16<<10), timeouts: timeouts}
}

// read waits for a frame. The result is valid until the next call.
func (l *frameConn) read(timeout time.Duration) ([]byte, error) {
	if l.reader.Buffered() == 0 {
		if err := l.conn.SetReadDeadline(time.Now().Add(timeout)); err != nil {
			return nil, err
		}
		if _, err := l.reader.Peek(1); err != nil {
			return nil, err
		}
	}
	// The frame timeout starts with its first byte.
	if l.reader.Buffered() < frameHeader || l.reader.Buffered() < l.announcedLength() {
		if err := l.conn.SetReadDeadline(time.Now().Add(l.timeouts.Frame)); err != nil {
			return nil, err
		}
	}
	var header [frameHeader]byte
	if _, err := io.ReadFull(l.reader, header[:]); err != nil {
		return nil, err
	}
	// The length includes itself.
	length := int64(binary.BigEndian.Uint32(header[:])) - frameHeader
	if length <= 0 || length > maxFrame {
		return nil, errFrameSize
	}
	if int64(cap(l.buffer)) < length {
		l.buffer = make([]byte, length)
	}
	l.buffer = l.buffer[:length]
	_, err := io.ReadFull(l.reader, l.buffer)
	return l.buffer, err
}

// announcedLength is the length of the frame that has begun to arrive.
func (l *frameConn) announcedLength() int {
	header, err := l.reader.Peek(frameHeader)
	if err != nil {
		return maxFrame
	}
	return int(min(binary.BigEndian.Uint32(header), maxFrame))
}

// write sends a frame, whose first four bytes are reserved for its length.
func (l *frameConn) write(frame []byte) error {
	binary.BigEndian.PutUint32(frame, uint32(len(frame)))
	if err := l.conn.SetWriteDeadline(time.Now().Add(l.timeouts.Frame)); err != nil {
		return err
	}
	_, err := l.conn.Write(frame)
	return err
}
