package ratelimit

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
)

// Key identifies one budget. Three 32-bit fields keep a key and its entry at 24 bytes.
type Key struct {
	high, low uint32 // the network
	// kind distinguishes address families and texts. Texts have its lowest bit set and use
	// the others for their digest; addresses have it clear.
	kind uint32
}

const (
	kindUnknown uint32 = iota << 1
	kindIPv4
	kindIPv6

	textBit uint32 = 1
)

// AddressKey returns the key of a network address. An IPv6 address counts as its /64, the
// smallest assignment to one customer. An IPv4-mapped address is its IPv4 address. The
// zone is ignored. All invalid addresses share one budget.
func AddressKey(addr netip.Addr) Key {
	addr = addr.Unmap()
	switch {
	case addr.Is4():
		bytes := addr.As4()
		return Key{low: binary.BigEndian.Uint32(bytes[:]), kind: kindIPv4}
	case addr.Is6():
		bytes := addr.As16()
		return Key{high: binary.BigEndian.Uint32(bytes[:4]), low: binary.BigEndian.Uint32(bytes[4:8]), kind: kindIPv6}
	default:
		return Key{kind: kindUnknown}
	}
}

// AppendTo appends the 12 bytes of the key, which are the same on every node.
func (k Key) AppendTo(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, k.high)
	b = binary.BigEndian.AppendUint32(b, k.low)
	return binary.BigEndian.AppendUint32(b, k.kind)
}

// TextKey returns the key of a text, such as a token. It holds only a digest, so no secret
// stays in memory and every key has the same size. One of the 96 bits marks it as text,
// so no text shares a budget with an address.
func TextKey(text string) Key {
	digest := sha256.Sum256([]byte(text))
	return Key{
		high: binary.BigEndian.Uint32(digest[:4]),
		low:  binary.BigEndian.Uint32(digest[4:8]),
		kind: binary.BigEndian.Uint32(digest[8:12]) | textBit,
	}
}
