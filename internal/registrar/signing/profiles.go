package signing

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// Profile is which bytes of a request are signed. The protocol leaves that to the
// parties, and those who have built it before us have done it in several ways; an
// agent that can't be changed can be met in its own.
type Profile string

// The profiles.
const (
	// Ours signs the Timestamp header, a full stop and the raw body.
	Ours Profile = "ours"
	// Body signs the raw body alone. Its time is not signed, so such a request
	// could be sent again at another time: nobody should choose this freely.
	Body Profile = "body"
	// Canonical signs four lines: the method, the path with its query, the
	// Timestamp header and the SHA-256 of the raw body in lower-case hex. They are
	// separated by line feeds, with none at the end.
	Canonical Profile = "canonical"
)

// Known says whether there is such a profile.
func (p Profile) Known() bool { return p == Ours || p == Body || p == Canonical }

// Request is what can be signed of a request.
type Request struct {
	// Timestamp is the header as sent.
	Timestamp string
	// Method and Path are for Canonical only.
	Method, Path string
	Body         []byte
}

// Compute signs a request with secret: base64url without padding.
func (p Profile) Compute(secret string, r Request) string {
	var mac [sha256.Size]byte
	return base64.RawURLEncoding.EncodeToString(p.sum(mac[:0], secret, r))
}

// sum appends the signature to into.
func (p Profile) sum(into []byte, secret string, r Request) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	switch p { // a hash never fails to take bytes
	case Body:
	case Canonical:
		digest := sha256.Sum256(r.Body)
		mac.Write([]byte(r.Method + "\n" + r.Path + "\n" + r.Timestamp + "\n" + hex.EncodeToString(digest[:])))
		return mac.Sum(into)
	default:
		mac.Write([]byte(r.Timestamp))
		mac.Write([]byte{'.'})
	}
	mac.Write(r.Body)
	return mac.Sum(into)
}
