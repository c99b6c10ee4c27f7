package ratelimit

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
)

// Key names one budget. Keys are equal if and only if they share it.
type Key struct {
	network uint64
	// kind tells address families and texts apart. Texts have its lowest bit
	// set and use the others for their digest; addresses have it clear.
	kind uint64
}

const (
	kindUnknown uint64 = iota << 1
	kindIPv4
	kindIPv6

	textBit uint64 = 1
)

// AddressKey is the budget of a network address. An IPv6 address counts as its
// /64, since that is the least that one customer is given. An IPv4 address
// written as IPv6 is that IPv4 address. A zone says nothing about who is
// calling and is dropped. All invalid addresses share one budget.
func AddressKey(addr netip.Addr) Key {
	addr = addr.Unmap()
	switch {
	case addr.Is4():
		bytes := addr.As4()
		return Key{network: uint64(binary.BigEndian.Uint32(bytes[:])), kind: kindIPv4}
	case addr.Is6():
		bytes := addr.As16()
		return Key{network: binary.BigEndian.Uint64(bytes[:8]), kind: kindIPv6}
	default:
		return Key{kind: kindUnknown}
	}
}

// TextKey is the budget of anything that is known by a text, such as a token.
// It keeps a digest only, so that no secret stays in memory and every key has
// the same size. One of the 128 bits says that it is a text, hence no text can
// share a budget with an address.
func TextKey(text string) Key {
	digest := sha256.Sum256([]byte(text))
	return Key{
		network: binary.BigEndian.Uint64(digest[:8]),
		kind:    binary.BigEndian.Uint64(digest[8:16]) | textBit,
	}
}
