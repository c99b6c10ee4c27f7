package registry

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

const (
	maxPackets   = 1024 // concurrent UDP queries; further ones wait
	packetBuffer = 4 << 20
	ednsSize     = 1232
	dnsTimeout   = 10 * time.Second // between two queries on one TCP connection
	dnsTTL       = 300
)

// openDNS starts the resolver on one port for UDP and TCP. A port that is free for
// one may be in use for the other, so several are tried.
func (r *Registry) openDNS() error {
	var lastErr error
	for range 32 {
		listener, err := r.servers.listen("127.0.0.1:0")
		if err != nil {
			return err
		}
		var config net.ListenConfig
		packets, err := config.ListenPacket(r.servers.ctx, "udp", listener.Addr().String())
		if err != nil {
			lastErr = err
			_ = listener.Close() // try the next port
			continue
		}
		if socket, ok := packets.(*net.UDPConn); ok {
			// A busy resolver needs a large buffer. The system may grant less; then
			// bursts lose packets.
			_ = socket.SetReadBuffer(packetBuffer)
		}
		if !r.servers.track(packets) {
			return net.ErrClosed
		}
		r.dns = listener.Addr().String()
		resolver := &resolver{Registry: r, rng: r.faultRNGFor("dns")}
		r.servers.run(func() { resolver.servePackets(packets) })
		r.servers.run(func() { listener.serve(resolver.serveStream) })
		return nil
	}
	return fmt.Errorf("no port is free for both UDP and TCP: %w", lastErr)
}

// resolver answers like a recursive resolver with a warm cache.
type resolver struct {
	*Registry
	rng *faultRNG
}

func (r *resolver) servePackets(packets net.PacketConn) {
	places := make(chan struct{}, maxPackets)
	buffer := make([]byte, dns.MaxMsgSize)
	for {
		n, peer, err := packets.ReadFrom(buffer)
		if err != nil {
			if !sleep(r.servers.ctx, time.Millisecond) {
				return // the sandbox is closing
			}
			continue
		}
		question := append([]byte(nil), buffer[:n]...)
		select {
		case places <- struct{}{}:
		case <-r.servers.ctx.Done():
			return
		}
		started := r.servers.run(func() {
			defer func() { <-places }()
			// A nil reply drops the query.
			if reply, _ := r.reply(question, false); reply != nil {
				_, _ = packets.WriteTo(reply, peer) // UDP is unreliable anyway
			}
		})
		if !started {
			return
		}
	}
}

// serveStream answers the queries of one TCP connection in order, each preceded by
// its length (RFC 1035, 4.2.2).
func (r *resolver) serveStream(peer *trackedConn) {
	for {
		if err := peer.SetDeadline(time.Now().Add(dnsTimeout)); err != nil {
			return
		}
		var length [2]byte
		if _, err := io.ReadFull(peer, length[:]); err != nil {
			return
		}
		question := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(peer, question); err != nil {
			return
		}
		reply, misbehaviour := r.reply(question, true)
		if reply == nil {
			if misbehaviour == misbehaveHang {
				peer.hang(r.timings.hang)
			}
			return
		}
		if err := peer.SetDeadline(time.Now().Add(dnsTimeout)); err != nil {
			return
		}
		frame := binary.BigEndian.AppendUint16(make([]byte, 0, 2+len(reply)), uint16(len(reply)))
		if _, err := peer.Write(append(frame, reply...)); err != nil {
			return
		}
	}
}

// reply builds the response to one packet; nil means none, and the misbehaviour
// says why.
func (r *resolver) reply(packet []byte, stream bool) ([]byte, misbehaviour) {
	if len(packet) < 12 || packet[2]&0x80 != 0 {
		return nil, misbehaveReset // not a query
	}
	if !sleep(r.servers.ctx, r.opts.Latency) {
		return nil, misbehaveReset
	}
	id := packet[:2]
	question := new(dns.Msg)
	if err := question.Unpack(packet); err != nil {
		return []byte{id[0], id[1], 0x80, dns.RcodeFormatError, 0, 0, 0, 0, 0, 0, 0, 0}, misbehaveNot
	}
	answer, misbehaviour := r.resolve(question)
	switch misbehaviour {
	case misbehaveHang:
		return nil, misbehaviour
	case misbehaveGarble:
		return garbledPacket(id), misbehaviour
	case misbehaveNot:
		mishap := r.rng.next()
		if mishap.fault != faultNone {
			r.opts.Logger.Debug("sandbox chaos", "host", "dns", "fault", mishap.String())
		}
		switch mishap.fault {
		case faultSlow:
			if !sleep(r.servers.ctx, mishap.delay) {
				return nil, misbehaveReset
			}
		case faultBroken:
			if mishap.variant%2 == 0 {
				return garbledPacket(id), misbehaveNot
			}
			answer = new(dns.Msg).SetRcode(question, dns.RcodeServerFailure)
		case faultThrottled:
			answer = new(dns.Msg).SetRcode(question, dns.RcodeRefused)
		case faultDropped:
			return nil, misbehaveReset
		}
	}
	return packResponse(question, answer, stream), misbehaviour
}

// packResponse encodes a response within the client's size limit.
func packResponse(question, answer *dns.Msg, stream bool) []byte {
	answer.RecursionAvailable = true
	size := dns.MinMsgSize
	if edns := question.IsEdns0(); edns != nil {
		answer.SetEdns0(ednsSize, false)
		size = min(max(size, int(edns.UDPSize())), ednsSize)
	}
	if stream {
		size = dns.MaxMsgSize
	}
	answer.Compress = true
	answer.Truncate(size)
	packed, err := answer.Pack()
	if err != nil {
		return nil
	}
	return packed
}

// garbledPacket has the right id and looks like a response, but its first name
// points outside the packet.
func garbledPacket(id []byte) []byte {
	return []byte{id[0], id[1], 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff}
}

// resolve answers a parsed query.
func (r *resolver) resolve(question *dns.Msg) (*dns.Msg, misbehaviour) {
	answer := new(dns.Msg)
	switch {
	case question.Opcode != dns.OpcodeQuery:
		return answer.SetRcode(question, dns.RcodeNotImplemented), misbehaveNot
	case len(question.Question) != 1:
		return answer.SetRcode(question, dns.RcodeFormatError), misbehaveNot
	case question.Question[0].Qclass != dns.ClassINET:
		return answer.SetRcode(question, dns.RcodeRefused), misbehaveNot
	}
	q := question.Question[0]
	name := strings.ToLower(strings.TrimSuffix(q.Name, "."))
	if _, apex := r.world.zones["."+name]; apex || r.world.parent[name] || name == "" {
		return addRecords(answer.SetReply(question), q, zoneData{servers: zoneServers(name)}, soa(q.Name, name)), misbehaveNot
	}
	label, zone, found := r.world.split(name)
	if !found {
		return addDenial(answer.SetRcode(question, dns.RcodeNameError), ".", ""), misbehaveNot
	}
	zoneName := strings.TrimPrefix(zone.TLD, ".")
	// A host below a domain exists if the domain does.
	domain := label[strings.LastIndexByte(label, '.')+1:]
	switch misbehaviour := misbehaviourOf(domain); misbehaviour {
	case misbehaveHang, misbehaveGarble:
		return nil, misbehaviour
	case misbehaveReset, misbehaveThrottle:
		return answer.SetRcode(question, dns.RcodeRefused), misbehaviour
	case misbehaveDecline:
		return addDenial(answer.SetRcode(question, dns.RcodeNameError), zoneName+".", zoneName), misbehaviour
	}
	what, rec := r.find(domain, zone)
	if what != stateTaken {
		return addDenial(answer.SetRcode(question, dns.RcodeNameError), zoneName+".", zoneName), misbehaveNot
	}
	data := zoneData{servers: rec.nameservers, keys: rec.keys}
	if domain != label {
		// A host is not delegated, but it may have glue.
		data = zoneData{addresses: r.ledger.Glue(name)}
	}
	if len(data.addresses) == 0 {
		data.addresses = []string{fmt.Sprintf("192.0.2.%d", 1+hashText(rec.name)%254)} // TEST-NET-1, RFC 5737
	}
	return addRecords(answer.SetReply(question), q, data, soa(rec.name+".", rec.name)), misbehaveNot
}

// zoneData is the DNS data of a name.
type zoneData struct {
	servers   []string
	addresses []string
	keys      []ledger.DS
}

// addRecords adds the requested records to the answer section, or the SOA to the
// authority section if there are none of that type.
func addRecords(answer *dns.Msg, q dns.Question, data zoneData, authority *dns.SOA) *dns.Msg {
	header := dns.RR_Header{Name: q.Name, Rrtype: q.Qtype, Class: dns.ClassINET, Ttl: dnsTTL}
	switch q.Qtype {
	case dns.TypeNS:
		for _, host := range data.servers {
			answer.Answer = append(answer.Answer, &dns.NS{Hdr: header, Ns: host + "."})
		}
	case dns.TypeA:
		for _, address := range data.addresses {
			if ip := net.ParseIP(address); ip.To4() != nil {
				answer.Answer = append(answer.Answer, &dns.A{Hdr: header, A: ip})
			}
		}
	case dns.TypeAAAA:
		for _, address := range data.addresses {
			if ip := net.ParseIP(address); ip.To4() == nil {
				answer.Answer = append(answer.Answer, &dns.AAAA{Hdr: header, AAAA: ip})
			}
		}
	case dns.TypeDS:
		for _, key := range data.keys {
			answer.Answer = append(answer.Answer, &dns.DS{
				Hdr: header, KeyTag: key.KeyTag, Algorithm: key.Algorithm, DigestType: key.DigestType, Digest: key.Digest,
			})
		}
	case dns.TypeSOA:
		if strings.EqualFold(authority.Hdr.Name, q.Name) {
			answer.Answer = append(answer.Answer, authority)
		}
	}
	if len(answer.Answer) == 0 {
		answer.Ns = append(answer.Ns, authority)
	}
	return answer
}

func addDenial(answer *dns.Msg, owner, zone string) *dns.Msg {
	answer.Ns = append(answer.Ns, soa(owner, zone))
	return answer
}

func soa(owner, zone string) *dns.SOA {
	return &dns.SOA{
		Hdr: dns.RR_Header{Name: owner, Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: dnsTTL},
		Ns:  zoneServers(zone)[0] + ".", Mbox: "hostmaster.registry.example.",
		Serial: 2026111500, Refresh: 7200, Retry: 900, Expire: 1209600, Minttl: dnsTTL,
	}
}

// zoneServers are the nameservers of a registry's own zone.
func zoneServers(zone string) []string {
	host := "dns." + strings.ReplaceAll(zone, ".", "-") + ".registry.example"
	if zone == "" {
		host = "dns.root.registry.example"
	}
	return []string{"a." + host, "b." + host}
}
