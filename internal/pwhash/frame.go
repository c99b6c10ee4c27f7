package pwhash

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

// greeting is the first output of a process. The number is the protocol version.
const greeting = "dotkontor hashes 1\n"

const (
	// maxFrameSize bounds a frame in either direction. A password has at most 1,024 bytes,
	// to which normalisation may add.
	maxFrameSize       = 8 << 10
	requestHeaderSize  = 8 + 4 + 4 + 4 + 1 + 1 // id, memory, passes, size, lanes and salt length
	responseHeaderSize = 8                     // the request id
	maxSaltSize        = 255                   // follows from the one-byte length; maxKeySize is a sanity limit
	maxKeySize         = 1024
)

var (
	errInvalidFrame     = errors.New("pwhash: invalid frame")
	errResponseMismatch = errors.New("pwhash: response does not match the request")
)

// writeFrame sends a length-prefixed payload in one write.
func writeFrame(w io.Writer, payload []byte) error {
	if len(payload) > maxFrameSize {
		return errInvalidFrame
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(payload)), uint32(len(payload)))
	frame = append(frame, payload...)
	defer clear(frame)
	_, err := w.Write(frame)
	return err
}

// readFrame returns io.EOF if the other side has closed between two frames.
func readFrame(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxFrameSize {
		return nil, errInvalidFrame
	}
	payload := make([]byte, size)
	if _, err := io.ReadFull(r, payload); err != nil {
		return nil, fmt.Errorf("pwhash: truncated frame: %w", err)
	}
	return payload, nil
}

// request is a derivation with an id, which its response repeats.
type request struct {
	id uint64
	account.Derivation
}

func (q request) payload() ([]byte, error) {
	if len(q.Salt) > maxSaltSize || q.Size > maxKeySize || requestHeaderSize+len(q.Salt)+len(q.Password) > maxFrameSize {
		return nil, errInvalidFrame
	}
	b := make([]byte, 0, requestHeaderSize+len(q.Salt)+len(q.Password))
	b = binary.BigEndian.AppendUint64(b, q.id)
	b = binary.BigEndian.AppendUint32(b, q.Cost.Memory)
	b = binary.BigEndian.AppendUint32(b, q.Cost.Passes)
	b = binary.BigEndian.AppendUint32(b, q.Size)
	b = append(b, q.Lanes, byte(len(q.Salt)))
	b = append(b, q.Salt...)
	return append(b, q.Password...), nil
}

// parseRequest refuses parameters that would make argon2 panic.
func parseRequest(b []byte) (request, error) {
	if len(b) < requestHeaderSize {
		return request{}, errInvalidFrame
	}
	var q request
	q.id = binary.BigEndian.Uint64(b)
	q.Cost.Memory = binary.BigEndian.Uint32(b[8:])
	q.Cost.Passes = binary.BigEndian.Uint32(b[12:])
	q.Size = binary.BigEndian.Uint32(b[16:])
	q.Lanes = b[20]
	rest, salt := b[requestHeaderSize:], int(b[21])
	if q.Lanes == 0 || q.Cost.Passes == 0 || q.Size == 0 || q.Size > maxKeySize || salt > len(rest) {
		return request{}, errInvalidFrame
	}
	q.Salt, q.Password = rest[:salt], rest[salt:]
	return q, nil
}

func responsePayload(id uint64, key []byte) []byte {
	return append(binary.BigEndian.AppendUint64(nil, id), key...)
}

// parseResponse returns the key for this request.
func (q request) parseResponse(b []byte) ([]byte, error) {
	if len(b) != responseHeaderSize+int(q.Size) || binary.BigEndian.Uint64(b) != q.id {
		return nil, errResponseMismatch
	}
	return b[responseHeaderSize:], nil
}
