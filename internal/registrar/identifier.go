package registrar

import (
	"crypto/rand"
	"time"
)

// identifierAlphabet is Crockford's base 32 in lower case, which omits letters that
// look like digits.
const identifierAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID returns an identifier: the prefix, 48 bits of time in milliseconds and 80
// random bits, as 26 characters. Identifiers of one prefix sort by time, which keeps
// indexes compact. They are unique and hard to guess, but not secret: knowing one
// grants nothing.
func NewID(prefix string, now time.Time) string {
	var raw [16]byte
	milliseconds := uint64(now.UnixMilli())
	for i := range 6 {
		raw[i] = byte(milliseconds >> (40 - 8*i))
	}
	_, _ = rand.Read(raw[6:]) // never fails
	id := make([]byte, 0, len(prefix)+26)
	id = append(id, prefix...)
	// 26 digits of 5 bits hold 130 bits, so the first digit has two leading zeros.
	var bits, bitCount uint32
	bitCount = 2
	for _, b := range raw {
		bits = bits<<8 | uint32(b)
		for bitCount += 8; bitCount >= 5; bitCount -= 5 {
			id = append(id, identifierAlphabet[bits>>(bitCount-5)&31])
		}
	}
	return string(id)
}
