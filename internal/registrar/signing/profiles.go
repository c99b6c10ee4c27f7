package signing

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// Profile selects which bytes of a request are signed. The protocol leaves that open,
// and existing implementations differ; profiles support agents that can't be changed.
type Profile string

// The profiles.
const (
	// Ours signs the Timestamp header, a full stop and the raw body.
	Ours Profile = "ours"
	// Body signs the raw body alone. Its timestamp is not signed, so such a request can
	// be replayed later: avoid it where possible.
	Body Profile = "body"
	// Canonical signs four lines: the method, the path with its query, the
	// Timestamp header and the SHA-256 of the raw body in lower-case hex. They are
	// separated by line feeds, with none at the end.
	Canonical Profile = "canonical"
)

// Known reports whether the profile exists.
func (p Profile) Known() bool { return p == Ours || p == Body || p == Canonical }

// Request has the parts of a request that can be signed.
type Request struct {
	// Timestamp is the header as sent.
	Timestamp string
	// Method and Path are for Canonical only.
	Method, Path string
	Body         []byte
}

// Compute returns the signature of a request: base64url without padding.
func (p Profile) Compute(secret string, r Request) string {
	mac := p.sum(secret, r)
	return base64.RawURLEncoding.EncodeToString(mac[:])
}

// sum returns the raw signature.
func (p Profile) sum(secret string, r Request) [sha256.Size]byte {
	switch p {
	case Body:
		return hmacSHA256(secret, "", "", r.Body)
	case Canonical:
		digest := sha256.Sum256(r.Body)
		return hmacSHA256(secret, r.Method+"\n"+r.Path+"\n"+r.Timestamp+"\n", hex.EncodeToString(digest[:]), nil)
	default:
		return hmacSHA256(secret, r.Timestamp, ".", r.Body)
	}
}

// stackBufferSize fits most requests on the stack.
const stackBufferSize = 2048

// hmacSHA256 computes HMAC-SHA256 (RFC 2104) over three concatenated parts. crypto/hmac
// spends more time on its allocations than on hashing a request, and without a key all
// live agents are tried. A test compares it with crypto/hmac.
func hmacSHA256(secret, head, middle string, body []byte) [sha256.Size]byte {
	var key [sha256.BlockSize]byte
	if len(secret) > len(key) {
		short := sha256.Sum256([]byte(secret))
		copy(key[:], short[:])
	} else {
		copy(key[:], secret)
	}
	inner := make([]byte, sha256.BlockSize, stackBufferSize)
	var outer [sha256.BlockSize + sha256.Size]byte
	for i, k := range key {
		inner[i], outer[i] = k^0x36, k^0x5c
	}
	inner = append(append(append(inner, head...), middle...), body...)
	sum := sha256.Sum256(inner)
	copy(outer[sha256.BlockSize:], sum[:])
	return sha256.Sum256(outer[:])
}
