package web

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// addrResolver finds the client address, to which budgets apply.
type addrResolver struct{ trusted []netip.Prefix }

// clientAddr returns the address of the peer or, if the peer is a trusted proxy, the
// right-most address in its forwarding header that is not a trusted proxy.
//
// Some proxies set X-Forwarded-For, others Forwarded, and pass the other header through
// as the client sent it. If both are present and disagree, neither is trusted and the
// request counts against the proxy itself.
func (f addrResolver) clientAddr(r *http.Request) netip.Addr {
	peer := peerAddr(r.RemoteAddr)
	if len(f.trusted) == 0 || !f.trusts(peer) {
		return peer
	}
	xff, forwarded := r.Header["X-Forwarded-For"], r.Header["Forwarded"]
	switch {
	case len(xff) == 0 && len(forwarded) == 0:
		return peer
	case len(forwarded) == 0:
		return f.rightmostUntrusted(peer, xff, parseForwardedFor)
	case len(xff) == 0:
		return f.rightmostUntrusted(peer, forwarded, parseForwarded)
	}
	one, other := f.rightmostUntrusted(peer, xff, parseForwardedFor), f.rightmostUntrusted(peer, forwarded, parseForwarded)
	if one != other {
		return peer
	}
	return one
}

// country returns the client's country that a trusted proxy reports in a header, as two
// capital letters; empty if the peer is not trusted or does not know.
func (f addrResolver) country(r *http.Request, header string) string {
	if header == "" || !f.trusts(peerAddr(r.RemoteAddr)) {
		return ""
	}
	values := r.Header.Values(header)
	if len(values) != 1 || len(values[0]) != 2 {
		return ""
	}
	code := strings.ToUpper(values[0])
	if strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return ""
	}
	return code
}

func peerAddr(remote string) netip.Addr {
	peer, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap().WithZone("")
}

func (f addrResolver) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(f.trusted, func(network netip.Prefix) bool { return network.Contains(addr) })
}

// rightmostUntrusted walks the hops from the nearest to the farthest. It stops at the
// first address that is not trusted, or before the first hop that can't be parsed.
func (f addrResolver) rightmostUntrusted(peer netip.Addr, lines []string, parse func(string) (netip.Addr, bool)) netip.Addr {
	if len(lines) == 1 && !strings.ContainsAny(lines[0], `,"`) { // one proxy, as almost always
		if addr, ok := parse(strings.TrimSpace(lines[0])); ok {
			return addr
		}
		return peer
	}
	nearest := peer
	hops, ok := splitOutsideQuotes(strings.Join(lines, ","), ',')
	if !ok {
		return peer
	}
	for i := len(hops) - 1; i >= 0; i-- {
		addr, ok := parse(strings.TrimSpace(hops[i]))
		if !ok {
			return nearest
		}
		if !f.trusts(addr) {
			return addr
		}
		nearest = addr
	}
	return nearest
}

// splitOutsideQuotes splits a header field, but not inside a quoted string (RFC 9110,
// 5.6.4): a proxy may quote what the client sent, such as its Host, next to the
// address. An unterminated quote makes the whole field invalid, because the parts
// written by the proxy can't be distinguished from the client's.
func splitOutsideQuotes(text string, separator byte) (parts []string, ok bool) {
	if !strings.Contains(text, `"`) {
		return strings.Split(text, string(separator)), true
	}
	quoted, begin := false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++ // an escaped character is literal
		case c == '"':
			quoted = !quoted
		case c == separator && !quoted:
			parts = append(parts, text[begin:i])
			begin = i + 1
		}
	}
	return append(parts, text[begin:]), !quoted
}

// parseForwardedFor parses one element of X-Forwarded-For; some proxies add the port.
func parseForwardedFor(text string) (netip.Addr, bool) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr.Unmap().WithZone(""), true
	}
	if addr, err := netip.ParseAddrPort(text); err == nil {
		return addr.Addr().Unmap().WithZone(""), true
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return addr.Unmap().WithZone(""), err == nil
	}
	return netip.Addr{}, false
}

// parseForwarded parses the for= of one element of Forwarded (RFC 7239, 4). An element
// with two of them is rejected as tampered.
func parseForwarded(text string) (found netip.Addr, ok bool) {
	pairs, whole := splitOutsideQuotes(text, ';')
	if !whole {
		return netip.Addr{}, false
	}
	for _, pair := range pairs {
		key, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if !strings.EqualFold(key, "for") {
			continue
		}
		if ok {
			return netip.Addr{}, false
		}
		if found, ok = parseForwardedFor(strings.Trim(value, `"`)); !ok {
			return netip.Addr{}, false
		}
	}
	return found, ok
}
