package registry

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
	"time"
)

const (
	maxQuestion     = 512 // bytes including the line end
	questionTimeout = 10 * time.Second
	replyTimeout    = 10 * time.Second
)

// openWHOIS starts the server of one WHOIS host.
func (r *Registry) openWHOIS(host string, zones zoneSet) error {
	listener, err := r.servers.listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	r.hosts[host] = listener.Addr().String()
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		return err
	}
	server := &whoisServer{Registry: r, host: host, style: whoisStyleOf(name), zones: zones, rng: r.faultRNGFor(host)}
	for _, latin := range latin1Hosts {
		server.latin1 = server.latin1 || latin == name
	}
	r.servers.run(func() { listener.serve(server.serve) })
	return nil
}

type whoisServer struct {
	*Registry
	host   string
	style  whoisStyle
	latin1 bool
	zones  zoneSet
	rng    *faultRNG
}

// serve implements RFC 3912: one line in, one text out, close.
func (s *whoisServer) serve(peer *trackedConn) {
	question, err := readQuestion(peer)
	if err != nil && !errors.Is(err, errTooLong) {
		return // the peer left or sent nothing
	}
	if !sleep(s.servers.ctx, s.opts.Latency) {
		return
	}
	text, misbehaviour := s.decide(question)
	if errors.Is(err, errTooLong) {
		text, misbehaviour = notUnderstood, misbehaveNot
	}
	switch misbehaviour {
	case misbehaveHang:
		peer.hang(s.timings.hang)
		return
	case misbehaveReset:
		peer.reset()
		return
	case misbehaveGarble:
		s.send(peer, randomBytes(hashText(question)))
		return
	case misbehaveNot:
		mishap := s.rng.next()
		if mishap.fault != faultNone {
			s.opts.Logger.Debug("sandbox chaos", "host", s.host, "fault", mishap.String())
		}
		switch mishap.fault {
		case faultSlow:
			if !sleep(s.servers.ctx, mishap.delay) {
				return
			}
		case faultBroken:
			// A truncated text could be a valid sentence, so junk always follows
			// it.
			beginning := s.encode(text)
			beginning = beginning[:len(beginning)/3*int(mishap.variant%2)]
			s.send(peer, append(beginning, randomBytes(mishap.variant)...))
			return
		case faultThrottled:
			text = s.style.throttled
		case faultDropped:
			peer.reset()
			return
		}
	}
	s.send(peer, s.encode(text))
}

var errTooLong = errors.New("the query is too long")

// readQuestion reads one line. A line ended by EOF counts too.
func readQuestion(peer *trackedConn) (string, error) {
	if err := peer.SetReadDeadline(time.Now().Add(questionTimeout)); err != nil {
		return "", err
	}
	line, err := bufio.NewReaderSize(io.LimitReader(peer, maxQuestion), maxQuestion).ReadString('\n')
	switch {
	case len(line) == maxQuestion && !strings.HasSuffix(line, "\n"):
		return "", errTooLong
	case err != nil && (line == "" || !errors.Is(err, io.EOF)):
		return "", err
	}
	return strings.TrimSpace(line), nil
}

// decide returns the response text and the misbehaviour.
func (s *whoisServer) decide(question string) (string, misbehaviour) {
	for _, prefix := range s.style.prefixes {
		if rest, found := strings.CutPrefix(question, prefix); found {
			question = strings.TrimSpace(rest)
			break
		}
	}
	name, ok := normalise(question)
	if !ok {
		return notUnderstood, misbehaveNot
	}
	label, zone, found := s.world.split(name)
	if !found || !s.zones[zone.TLD] || strings.Contains(label, ".") {
		return notProvided, misbehaveNot
	}
	switch misbehaviour := misbehaviourOf(label); misbehaviour {
	case misbehaveNot:
	case misbehaveThrottle:
		return s.style.throttled, misbehaviour
	case misbehaveDecline:
		return notProvided, misbehaviour
	default:
		return "", misbehaviour
	}
	now := s.Now()
	what, rec := s.find(label, zone)
	switch what {
	case stateTaken, stateUndelegated:
		return s.style.render(s.style.taken, rec, now), misbehaveNot
	case stateReserved, stateOpenlyReserved:
		return s.style.render(s.style.reserved, record{name: name}, now), misbehaveNot
	case statePremium:
		return s.style.render(s.style.free+premiumRemark, record{name: name}, now), misbehaveNot
	default:
		return s.style.render(s.style.free, record{name: name}, now), misbehaveNot
	}
}

// encode converts a text to the wire format: CRLF line ends, and ISO-8859-1 for
// latin1Hosts.
func (s *whoisServer) encode(text string) []byte {
	text = strings.TrimRight(text, "\n") + "\n"
	text = strings.ReplaceAll(text, "\n", "\r\n")
	if !s.latin1 {
		return []byte(text)
	}
	wire := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			r = '?'
		}
		wire = append(wire, byte(r))
	}
	return wire
}

func (s *whoisServer) send(peer *trackedConn, wire []byte) {
	if err := peer.SetWriteDeadline(time.Now().Add(replyTimeout)); err != nil {
		return
	}
	_, _ = peer.Write(wire) // the client may have left
}

// randomBytes returns binary junk with zero bytes and without letters, so that it
// contains no words.
func randomBytes(seed uint64) []byte {
	rubbish := make([]byte, 0, 96)
	for len(rubbish) < cap(rubbish) {
		seed = mix(seed)
		rubbish = append(rubbish, 0x00, byte(0x80|seed), byte(seed>>8%0x20))
	}
	return rubbish
}
