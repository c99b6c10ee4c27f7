package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
)

// maxResponse bounds the header line and body of a response; both must fit the buffer.
const maxResponse = 16 << 10

// rawResponse is one response. Its body is valid until the next read.
type rawResponse struct {
	status int
	body   []byte
}

// readResponse reads one HTTP/1.1 response without allocating, because a client that
// works more than the server would measure itself. It supports only what the servers
// send (Content-Length, keep-alive) and rejects everything else.
func readResponse(r *bufio.Reader) (rawResponse, error) {
	status, err := readStatus(r)
	if err != nil {
		return rawResponse{}, err
	}
	length, err := readHead(r)
	if err != nil {
		return rawResponse{}, err
	}
	body, err := r.Peek(length)
	if err != nil {
		return rawResponse{}, fmt.Errorf("a body of %d bytes: %w", length, err)
	}
	_, err = r.Discard(length)
	return rawResponse{status: status, body: body}, err
}

// readStatus reads "HTTP/1.1 200 OK".
func readStatus(r *bufio.Reader) (int, error) {
	text, err := r.ReadSlice('\n')
	if err != nil {
		return 0, fmt.Errorf("the status line: %w", err)
	}
	rest, found := bytes.CutPrefix(text, []byte("HTTP/1.1 "))
	if !found || len(rest) < 4 || (rest[3] != ' ' && rest[3] != '\r') {
		return 0, errors.New("the status line is not HTTP/1.1's")
	}
	status, ok := number(rest[:3])
	if !ok || status < 100 {
		return 0, errors.New("the status is not a number of three digits")
	}
	return status, nil
}

// readHead reads the header fields and the empty line, and returns the body's length.
func readHead(r *bufio.Reader) (length int, err error) {
	length = -1
	for {
		text, err := r.ReadSlice('\n')
		if err != nil {
			return 0, fmt.Errorf("the head: %w", err)
		}
		text = bytes.TrimRight(text, "\r\n")
		if len(text) == 0 {
			break
		}
		name, value, _ := bytes.Cut(text, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			var ok bool
			if length, ok = number(value); !ok {
				return 0, errors.New("the length of the body is not a number")
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			return 0, errors.New("the body comes in chunks, which this client does not read")
		case bytes.EqualFold(name, []byte("Connection")) && bytes.EqualFold(value, []byte("close")):
			return 0, errors.New("the server closes the connection")
		}
	}
	if length < 0 {
		return 0, errors.New("the answer has no length")
	}
	return length, nil
}

// number parses digits without the string that strconv needs, which would be an
// allocation.
func number(digits []byte) (int, bool) {
	if len(digits) == 0 || len(digits) > 9 {
		return 0, false
	}
	n := 0
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = n*10 + int(d-'0')
	}
	return n, true
}

const (
	// addresses is the number of client addresses, used in rotation. Each stays far
	// below its limit, and all fit into the limiter's memory.
	addresses = 1 << 20
	// Each octet has three digits, so that every request has the same length and the
	// address can be overwritten in place.
	firstOctet, lastOctet = 100, 255
	octetCount            = lastOctet - firstOctet + 1
	addressWidth          = len("10.100.100.100")
)

// writeAddress writes the n-th address of 10.0.0.0/8 with three digits in each further
// octet.
func writeAddress(to []byte, n uint64) {
	n %= addresses
	to = append(to[:0], "10"...)
	for range 3 {
		to = append(to, '.')
		to = strconv.AppendUint(to, firstOctet+n%octetCount, 10)
		n /= octetCount
	}
}

// requestTemplate is a request that has another address each time.
type requestTemplate struct {
	text    []byte
	address []byte // the part of text that changes
	counter *atomic.Uint64
}

// requestSpec is the request that a section sends to all of its servers.
type requestSpec struct {
	path string
	host string
	// fields are further header lines, each with its line end.
	fields string
	body   string
}

// newRequestTemplate returns a request that can be sent. Templates that share turn use
// every address once before one repeats. The Host is a fixed name, so that all servers
// get the same bytes.
func newRequestTemplate(i requestSpec, turn *atomic.Uint64) requestTemplate {
	head := "POST " + i.path + " HTTP/1.1\r\nHost: " + i.host + "\r\nContent-Type: application/json\r\n" + i.fields +
		"Content-Length: " + strconv.Itoa(len(i.body)) + "\r\nX-Forwarded-For: "
	blank := "10.100.100.100"
	q := requestTemplate{text: []byte(head + blank + "\r\n\r\n" + i.body), counter: turn}
	q.address = q.text[len(head) : len(head)+addressWidth : len(head)+addressWidth]
	return q
}

// next returns the request with the next address. It is valid until the next call.
func (q requestTemplate) next() []byte {
	writeAddress(q.address, q.counter.Add(1)-1)
	return q.text
}
