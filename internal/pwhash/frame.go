package pwhash

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

// greeting is what a process says first. The number changes with the protocol.
const greeting = "dotkontor hashes 1\n"

const (
	// maxFrameSize bounds a frame of either direction. A password has at most 1,024
	// bytes, to which normalisation may add.
	maxFrameSize = 8 << 10
	// requestHeaderSize is number, memory, passes, size, lanes and length of the salt.
	requestHeaderSize  = 8 + 4 + 4 + 4 + 1 + 1
	responseHeaderSize = 8 // its question's number
	// maxSaltSize and mostKey are what a length of one byte and common sense allow.
	maxSaltSize = 255
	maxKeySize  = 1024
)

var (
	errInvalidFrame     = errors.New("hashing: a frame that is none of ours")
	errResponseMismatch = errors.New("hashing: an answer to something else")
)

// writeFrame sends a payload behind its length, in one write.
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

// readFrame returns io.EOF where the other side has ended between two frames.
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
		return nil, fmt.Errorf("hashing: half a frame: %w", err)
	}
	return payload, nil
}

// request is a derivation with a number, by which its answer is known.
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

// parseRequest refuses what argon2 would panic about.
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

// parseResponse is the key of this question.
func (q request) parseResponse(b []byte) ([]byte, error) {
	if len(b) != responseHeaderSize+int(q.Size) || binary.BigEndian.Uint64(b) != q.id {
		return nil, errResponseMismatch
	}
	return b[responseHeaderSize:], nil
}
