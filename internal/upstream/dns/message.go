package dns

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

const (
	// ednsBytes fits into one packet on every path (DNS flag day 2020).
	ednsBytes      = 1232
	maxAnswerBytes = 64 << 10
	// maxForeignPackets limits the mismatching packets per attempt.
	maxForeignPackets = 100
)

type verdict uint8

const (
	// verdictNone: the packet does not match the query; it may be forged.
	verdictNone verdict = iota
	verdictDelegated
	verdictNotDelegated
	verdictTruncated
	verdictRefused
	verdictFailed
)

var errMalformed = errors.New("dns: malformed response")

// packQuery encodes a recursive query with EDNS (RFC 6891).
func packQuery(id uint16, question dnsmessage.Question) ([]byte, error) {
	var edns dnsmessage.ResourceHeader
	if err := edns.SetEDNS0(ednsBytes, dnsmessage.RCodeSuccess, false); err != nil {
		return nil, err
	}
	message := dnsmessage.Message{
		Header:      dnsmessage.Header{ID: id, RecursionDesired: true},
		Questions:   []dnsmessage.Question{question},
		Additionals: []dnsmessage.Resource{{Header: edns, Body: &dnsmessage.OPTResource{}}},
	}
	return message.Pack()
}

// exchange sends the packet over a new connection and waits for a response to it.
func (c *Client) exchange(ctx context.Context, network, server string, packet []byte, id uint16, question dnsmessage.Question) (verdict, error) {
	conn, err := c.dial(ctx, network, server)
	if err != nil {
		return verdictNone, err
	}
	defer func() { _ = conn.Close() }()
	// Closing the connection ends blocked reads and writes at the deadline and on
	// cancel.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()

	stream := network == "tcp"
	if stream {
		packet = append(binary.BigEndian.AppendUint16(nil, uint16(len(packet))), packet...)
	}
	if _, err := conn.Write(packet); err != nil {
		return verdictNone, err
	}
	buffer := make([]byte, ednsBytes)
	if stream {
		buffer = make([]byte, maxAnswerBytes)
	}
	resend := !stream && conn.SetReadDeadline(time.Now().Add(resendAfter)) == nil
	for range maxForeignPackets {
		n, err := readMessage(conn, stream, buffer)
		if resend && errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil {
			// The same packet over the same socket: a response to either matches,
			// and spoofing does not get easier.
			resend = false
			if err := conn.SetReadDeadline(time.Time{}); err != nil {
				return verdictNone, err
			}
			if _, err := conn.Write(packet); err != nil {
				return verdictNone, err
			}
			continue
		}
		if err != nil {
			return verdictNone, err
		}
		answer, err := parseResponse(buffer[:n], id, question)
		if err != nil || answer != verdictNone {
			return answer, err
		}
	}
	return verdictNone, errMalformed
}

// readMessage reads one message. Over TCP it is preceded by its length (RFC 1035,
// 4.2.2).
func readMessage(conn net.Conn, stream bool, buffer []byte) (int, error) {
	if !stream {
		return conn.Read(buffer)
	}
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return 0, err
	}
	n := int(binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, buffer[:n]); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, errMalformed
		}
		return 0, err
	}
	return n, nil
}

// parseResponse parses a response to question. A packet with another id or question
// is verdictNone; one that can't be parsed up to the deciding record is malformed.
func parseResponse(packet []byte, id uint16, question dnsmessage.Question) (verdict, error) {
	var parser dnsmessage.Parser
	header, err := parser.Start(packet)
	if err != nil {
		return verdictNone, errMalformed
	}
	if header.ID != id || !header.Response || header.OpCode != 0 {
		return verdictNone, nil
	}
	echoed, err := parser.Question()
	switch {
	case errors.Is(err, dnsmessage.ErrSectionDone):
		// Servers that can't parse a query may omit it from the response.
		if header.RCode != dnsmessage.RCodeSuccess && header.RCode != dnsmessage.RCodeNameError {
			return verdictForRCode(header.RCode), nil
		}
		return verdictNone, nil
	case err != nil:
		return verdictNone, errMalformed
	case echoed.Type != question.Type || echoed.Class != question.Class || !sameOwner(echoed.Name, question.Name):
		return verdictNone, nil
	}
	if err := parser.SkipAllQuestions(); err != nil {
		return verdictNone, errMalformed
	}
	if header.Truncated {
		return verdictTruncated, nil
	}
	if header.RCode != dnsmessage.RCodeSuccess {
		return verdictForRCode(header.RCode), nil
	}
	return findDelegation(&parser, question.Name)
}

func verdictForRCode(code dnsmessage.RCode) verdict {
	switch code {
	case dnsmessage.RCodeNameError:
		return verdictNotDelegated
	case dnsmessage.RCodeRefused:
		return verdictRefused
	default:
		return verdictFailed
	}
}

// findDelegation looks for an NS record of owner in the answer section and, for
// referrals, in the authority section.
func findDelegation(parser *dnsmessage.Parser, owner dnsmessage.Name) (verdict, error) {
	sections := []struct {
		next func() (dnsmessage.ResourceHeader, error)
		skip func() error
	}{
		{parser.AnswerHeader, parser.SkipAnswer},
		{parser.AuthorityHeader, parser.SkipAuthority},
	}
	found := verdictNotDelegated
	for _, section := range sections {
		for {
			record, err := section.next()
			if errors.Is(err, dnsmessage.ErrSectionDone) {
				break
			}
			if err != nil {
				return verdictNone, errMalformed
			}
			if err := section.skip(); err != nil {
				return verdictNone, errMalformed
			}
			if record.Type == dnsmessage.TypeNS && record.Class == dnsmessage.ClassINET && sameOwner(record.Name, owner) {
				found = verdictDelegated
			}
		}
	}
	return found, nil
}

func sameOwner(a, b dnsmessage.Name) bool { return strings.EqualFold(a.String(), b.String()) }
