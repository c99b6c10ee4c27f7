package hashing

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/dotkontor/dotkontor/internal/registrar/customer"
)

// greeting is what a process says first. The number changes with the protocol.
const greeting = "dotkontor hashes 1\n"

const (
	// mostBytes bounds a frame of either direction. A password has at most 1,024
	// bytes, to which normalisation may add.
	mostBytes = 8 << 10
	// questionHead is number, memory, passes, size, lanes and length of the salt.
	questionHead = 8 + 4 + 4 + 4 + 1 + 1
	answerHead   = 8 // its question's number
	// mostSalt and mostKey are what a length of one byte and common sense allow.
	mostSalt = 255
	mostKey  = 1024
)

var (
	errFrame  = errors.New("hashing: a frame that is none of ours")
	errAnswer = errors.New("hashing: an answer to something else")
)

// writeFrame sends a payload behind its length, in one write.
func writeFrame(w io.Writer, payload []byte) error {
	if len(payload) > mostBytes {
		return errFrame
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
	if size > mostBytes {
		return nil, errFrame
	}
	payload := make([]byte, size)
	if _, err := io.ReadFull(r, payload); err != nil {
		return nil, fmt.Errorf("hashing: half a frame: %w", err)
	}
	return payload, nil
}

// question is a derivation with a number, by which its answer is known.
type question struct {
	number uint64
	customer.Derivation
}

func (q question) payload() ([]byte, error) {
	if len(q.Salt) > mostSalt || q.Size > mostKey || questionHead+len(q.Salt)+len(q.Password) > mostBytes {
		return nil, errFrame
	}
	b := make([]byte, 0, questionHead+len(q.Salt)+len(q.Password))
	b = binary.BigEndian.AppendUint64(b, q.number)
	b = binary.BigEndian.AppendUint32(b, q.Cost.Memory)
	b = binary.BigEndian.AppendUint32(b, q.Cost.Passes)
	b = binary.BigEndian.AppendUint32(b, q.Size)
	b = append(b, q.Lanes, byte(len(q.Salt)))
	b = append(b, q.Salt...)
	return append(b, q.Password...), nil
}

// readQuestion refuses what argon2 would panic about.
func readQuestion(b []byte) (question, error) {
	if len(b) < questionHead {
		return question{}, errFrame
	}
	var q question
	q.number = binary.BigEndian.Uint64(b)
	q.Cost.Memory = binary.BigEndian.Uint32(b[8:])
	q.Cost.Passes = binary.BigEndian.Uint32(b[12:])
	q.Size = binary.BigEndian.Uint32(b[16:])
	q.Lanes = b[20]
	rest, salt := b[questionHead:], int(b[21])
	if q.Lanes == 0 || q.Cost.Passes == 0 || q.Size == 0 || q.Size > mostKey || salt > len(rest) {
		return question{}, errFrame
	}
	q.Salt, q.Password = rest[:salt], rest[salt:]
	return q, nil
}

func answerPayload(number uint64, key []byte) []byte {
	return append(binary.BigEndian.AppendUint64(nil, number), key...)
}

// readAnswer is the key of this question.
func (q question) readAnswer(b []byte) ([]byte, error) {
	if len(b) != answerHead+int(q.Size) || binary.BigEndian.Uint64(b) != q.number {
		return nil, errAnswer
	}
	return b[answerHead:], nil
}
