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
	// maxForeignPackets bounds how many foreign packets one try looks at.
	maxForeignPackets = 100
)

// verdict is what an answer says.
type verdict uint8

const (
	// saysNothing: the packet does not answer our question; it may be forged.
	verdictNone verdict = iota
	verdictDelegated
	verdictNotDelegated
	verdictTruncated
	verdictRefused
	verdictFailed
)

var errMalformed = errors.New("a malformed answer")

// packQuery writes a recursive question with EDNS (RFC 6891).
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

// exchange sends the packet over a new connection and waits for an answer to it.
func (c *Client) exchange(ctx context.Context, network, server string, packet []byte, id uint16, question dnsmessage.Question) (verdict, error) {
	conn, err := c.dial(ctx, network, server)
	if err != nil {
		return verdictNone, err
	}
	defer func() { _ = conn.Close() }()
	// Closing ends every read and write, at the deadline and on cancel.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()

	stream := network == "tcp"
	if stream {
		packet = append(binary.BigEndian.AppendUint16(nil, uint16(len(packet))), packet...)
	}
	if err := writeMessage(conn, packet); err != nil {
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
			// The same packet over the same socket: an answer to either fits,
			// and a forger has no more to aim at than before.
			resend = false
			if err := errors.Join(conn.SetReadDeadline(time.Time{}), writeMessage(conn, packet)); err != nil {
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

func writeMessage(conn net.Conn, packet []byte) error {
	_, err := conn.Write(packet)
	return err
}

// readMessage reads one message. Over TCP its length comes first (RFC 1035, 4.2.2).
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

// parseResponse reads an answer to question. A packet with another number or another
// question says nothing; one that can't be read to the point where it decides is
// malformed.
func parseResponse(packet []byte, id uint16, question dnsmessage.Question) (verdict, error) {
	var parser dnsmessage.Parser
	header, err := parser.Start(packet)
	if err != nil {
		return verdictNone, errMalformed
	}
	if header.ID != id || !header.Response || header.OpCode != 0 {
		return verdictNone, nil
	}
	asked, err := parser.Question()
	switch {
	case errors.Is(err, dnsmessage.ErrSectionDone):
		// Servers that can't read a question may send none back.
		if header.RCode != dnsmessage.RCodeSuccess && header.RCode != dnsmessage.RCodeNameError {
			return verdictForRCode(header.RCode), nil
		}
		return verdictNone, nil
	case err != nil:
		return verdictNone, errMalformed
	case asked.Type != question.Type || asked.Class != question.Class || !sameOwner(asked.Name, question.Name):
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

// findDelegation looks for an NS record of owner among the answers and, for a
// server that refers instead of resolving, among the authorities.
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
