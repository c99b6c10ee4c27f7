package dns

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// script turns a query into the packets to send back, in order.
type script func(t *testing.T, question dnsmessage.Message) [][]byte

// startResolver starts a resolver on UDP and TCP ports of the same number.
func startResolver(t *testing.T, udp, tcp script) string {
	t.Helper()
	packets, stream := listenPair(t)
	done := make(chan struct{}, 2)
	go func() {
		defer func() { done <- struct{}{} }()
		buffer := make([]byte, 2048)
		for {
			n, from, err := packets.ReadFrom(buffer)
			if err != nil {
				return
			}
			for _, answer := range udp(t, unpack(t, buffer[:n])) {
				_, _ = packets.WriteTo(answer, from)
			}
		}
	}()
	go func() {
		defer func() { done <- struct{}{} }()
		for {
			conn, err := stream.Accept()
			if err != nil {
				return
			}
			serveStream(t, conn, tcp)
		}
	}()
	t.Cleanup(func() {
		_ = packets.Close()
		_ = stream.Close()
		<-done
		<-done
	})
	return packets.LocalAddr().String()
}

// listenPair finds a port that is free for both protocols.
func listenPair(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	for range 20 {
		packets, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		stream, err := net.Listen("tcp", packets.LocalAddr().String())
		if err == nil {
			return packets, stream
		}
		_ = packets.Close()
	}
	t.Fatal("no port is free for both protocols")
	return nil, nil
}

func serveStream(t *testing.T, conn net.Conn, tcp script) {
	defer func() { _ = conn.Close() }()
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return
	}
	packet := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, packet); err != nil || tcp == nil {
		return
	}
	for _, answer := range tcp(t, unpack(t, packet)) {
		_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
	}
}

func unpack(t *testing.T, packet []byte) dnsmessage.Message {
	var message dnsmessage.Message
	if err := message.Unpack(packet); err != nil {
		t.Errorf("the query can't be parsed: %v", err)
	}
	return message
}

// buildResponse builds a response to the query and applies change.
func buildResponse(t *testing.T, question dnsmessage.Message, change func(*dnsmessage.Message)) []byte {
	message := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: question.ID, Response: true, RecursionAvailable: true},
		Questions: question.Questions,
	}
	if change != nil {
		change(&message)
	}
	packet, err := message.Pack()
	if err != nil {
		t.Errorf("pack: %v", err)
	}
	return packet
}

// respondOnce is a script that sends one packet.
func respondOnce(change func(*dnsmessage.Message)) script {
	return func(t *testing.T, question dnsmessage.Message) [][]byte {
		return [][]byte{buildResponse(t, question, change)}
	}
}

func nsOf(owner string) dnsmessage.Resource {
	return dnsmessage.Resource{
		Header: dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(owner), Type: dnsmessage.TypeNS, Class: dnsmessage.ClassINET, TTL: 60},
		Body:   &dnsmessage.NSResource{NS: dnsmessage.MustNewName("ns1.example.net.")},
	}
}

func withRCode(code dnsmessage.RCode) func(*dnsmessage.Message) {
	return func(m *dnsmessage.Message) { m.RCode = code }
}

func delegated(m *dnsmessage.Message) { m.Answers = append(m.Answers, nsOf(queriedName.ASCII()+".")) }

func newClient(t *testing.T, o Options) *Client {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second
	}
	if o.AttemptTimeout == 0 {
		o.AttemptTimeout = 10 * time.Second
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
