package web

import (
	"net/http"
	"net/netip"
	"strings"
)

// addressFinder says whose budget a request spends.
type addressFinder struct{ trusted []netip.Prefix }

// find is the address of the peer, or, if the peer is a trusted proxy, the
// right-most address in its forwarding header that is not a trusted proxy too.
//
// Some proxies write X-Forwarded-For, some Forwarded, and pass the other through
// as the client wrote it. So if both are there and disagree, neither is
// believed, and the request counts against the proxy itself.
func (f addressFinder) find(r *http.Request) netip.Addr {
	peer := peerOf(r.RemoteAddr)
	if len(f.trusted) == 0 || !f.trusts(peer) {
		return peer
	}
	xff, forwarded := r.Header["X-Forwarded-For"], r.Header["Forwarded"]
	switch {
	case len(xff) == 0 && len(forwarded) == 0:
		return peer
	case len(forwarded) == 0:
		return f.rightmost(peer, xff, plainHop)
	case len(xff) == 0:
		return f.rightmost(peer, forwarded, forwardedHop)
	}
	one, other := f.rightmost(peer, xff, plainHop), f.rightmost(peer, forwarded, forwardedHop)
	if one != other {
		return peer
	}
	return one
}

func peerOf(remote string) netip.Addr {
	peer, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap().WithZone("")
}

func (f addressFinder) trusts(addr netip.Addr) bool {
	for _, network := range f.trusted {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

// rightmost walks the hops from the nearest to the farthest. What a trusted hop
// reports is believed; the walk ends at the first address that is not trusted,
// or before the first hop that can't be read.
func (f addressFinder) rightmost(peer netip.Addr, lines []string, parse func(string) (netip.Addr, bool)) netip.Addr {
	nearest := peer
	hops := strings.Split(strings.Join(lines, ","), ",")
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

// plainHop reads one element of X-Forwarded-For; some proxies add the port.
func plainHop(text string) (netip.Addr, bool) {
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

// forwardedHop reads the for= of one element of Forwarded (RFC 7239, 4).
func forwardedHop(text string) (netip.Addr, bool) {
	for pair := range strings.SplitSeq(text, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if strings.EqualFold(key, "for") {
			return plainHop(strings.Trim(value, `"`))
		}
	}
	return netip.Addr{}, false
}
