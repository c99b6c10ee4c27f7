package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
)

func reader(text string) *bufio.Reader {
	return bufio.NewReaderSize(strings.NewReader(text), maxResponse)
}

func TestReadResponse_PipelinedResponses(t *testing.T) {
	t.Parallel()
	r := reader("HTTP/1.1 200 OK\r\nDate: today\r\ncontent-length:  5\r\n\r\nfirst" +
		"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n" +
		"HTTP/1.1 404\r\nContent-Length: 6\r\n\r\nthird!")
	for _, want := range []struct {
		status int
		body   string
	}{{200, "first"}, {429, ""}, {404, "third!"}} {
		got, err := readResponse(r)
		if err != nil || got.status != want.status || string(got.body) != want.body {
			t.Fatalf("got %d %q, %v; want %d %q", got.status, got.body, err, want.status, want.body)
		}
	}
	if _, err := readResponse(r); !errors.Is(err, io.EOF) {
		t.Errorf("after the last answer: %v, want the end", err)
	}
}

func TestReadResponse_UnsupportedResponsesAreErrors(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"an older protocol":      "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
		"no protocol":            "hello\r\n\r\n",
		"a short status":         "HTTP/1.1 20\r\nContent-Length: 0\r\n\r\n",
		"a status with letters":  "HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n",
		"a status below 100":     "HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n",
		"no length":              "HTTP/1.1 200 OK\r\n\r\n",
		"a length with letters":  "HTTP/1.1 200 OK\r\nContent-Length: 1e3\r\n\r\n",
		"a negative length":      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"an endless length":      "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
		"chunks":                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"a closing connection":   "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n",
		"half a head":            "HTTP/1.1 200 OK\r\nContent-Le",
		"half a body":            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
		"a body over the buffer": "HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n" + strings.Repeat("x", 20_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := readResponse(reader(text)); err == nil {
				t.Errorf("read as %d %q, want an error", got.status, got.body)
			}
		})
	}
}

func TestClient_DoesNotAllocate(t *testing.T) { // not parallel: it counts allocations
	text := []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
	source := bytes.NewReader(text)
	r := bufio.NewReaderSize(source, maxResponse)
	q := newRequestTemplate(checkSpec(), &atomic.Uint64{})
	var failure error
	allocations := testing.AllocsPerRun(100, func() {
		source.Reset(text)
		r.Reset(source)
		q.next()
		if _, err := readResponse(r); err != nil {
			failure = err
		}
	})
	if failure != nil {
		t.Fatal(failure)
	}
	if allocations != 0 {
		t.Errorf("%v allocations for one exchange, want none", allocations)
	}
}

func TestWriteAddress_CyclesThroughDistinctAddresses(t *testing.T) {
	t.Parallel()
	network := netip.MustParsePrefix("10.0.0.0/8")
	seen := make(map[netip.Addr]bool, addresses)
	text := make([]byte, addressWidth)
	for n := range uint64(addresses) {
		writeAddress(text, n)
		addr, err := netip.ParseAddr(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if !network.Contains(addr) || seen[addr] {
			t.Fatalf("address %d is %s, want a new one of %s", n, addr, network)
		}
		seen[addr] = true
	}
	first := make([]byte, addressWidth)
	writeAddress(first, 0)
	writeAddress(text, addresses)
	if !bytes.Equal(first, text) {
		t.Errorf("after all had their turn comes %s, want %s", text, first)
	}
}

func TestRequestTemplate_ParsesWithNetHTTP(t *testing.T) {
	t.Parallel()
	turn := &atomic.Uint64{}
	one, other := newRequestTemplate(checkSpec(), turn), newRequestTemplate(checkSpec(), turn)
	var from []string
	for _, q := range []requestTemplate{one, other, one} {
		request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(q.next())))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(request.Body)
		if err != nil {
			t.Fatal(err)
		}
		if request.Method != http.MethodPost || request.URL.Path != checkRoute || string(body) != `{"domain":"google.com"}` {
			t.Errorf("%s %s %s", request.Method, request.URL, body)
		}
		from = append(from, request.Header.Get("X-Forwarded-For"))
	}
	if want := "10.100.100.100 10.101.100.100 10.102.100.100"; strings.Join(from, " ") != want {
		t.Errorf("the questions come from %v, want %s", from, want)
	}
}
