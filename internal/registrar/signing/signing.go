// Package signing verifies that a request comes from an agent that holds a secret, and
// that it is recent.
//
// The signature is an HMAC-SHA256 over the Timestamp header as sent, a full stop and the raw body.
// A request with another body or timestamp is rejected, and the comparison takes constant time.
// Agents built for other merchants may sign other bytes; see Profile.
//
// The package knows no agents: the caller passes the candidate secrets. It stores no
// signatures either; detecting replays within Tolerance is up to the caller.
package signing

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// The headers that carry a signature.
const (
	TimestampHeader = "Timestamp"
	SignatureHeader = "Signature"
)

// Tolerance is the accepted clock difference, in either direction.
const Tolerance = 300 * time.Second

// The errors of Verify. Compare with errors.Is.
var (
	// ErrMissing: one of the two headers is absent.
	ErrMissing error = &registrar.Error{Kind: registrar.KindUnauthenticated, Code: "signature_required"}
	// ErrInvalid: no secret matches the signature, or a header is malformed.
	ErrInvalid error = &registrar.Error{Kind: registrar.KindUnauthenticated, Code: "invalid_signature"}
	// ErrStale: the timestamp is outside Tolerance.
	ErrStale error = &registrar.Error{Kind: registrar.KindUnauthenticated, Code: "stale_timestamp"}
)

// Compute signs body with secret. timestamp is the header as it will be sent.
func Compute(secret, timestamp string, body []byte) string {
	return Ours.Compute(secret, Request{Timestamp: timestamp, Body: body})
}

// Profile selects which bytes of a request are signed. The protocol leaves that open,
// and existing implementations differ; profiles support agents that can't be changed.
type Profile string

// The profiles.
const (
	Ours Profile = "ours" // signs the Timestamp header, a full stop and the raw body
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
	Timestamp string // the header as sent
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

// CheckTimestamp requires both headers and a timestamp within Tolerance.
func CheckTimestamp(now time.Time, timestamp, signature string) error {
	if timestamp == "" || signature == "" {
		return ErrMissing
	}
	signed, ok := parseTime(timestamp)
	if !ok {
		return ErrInvalid
	}
	if now.Sub(signed).Abs() > Tolerance {
		return ErrStale
	}
	return nil
}

// Verify checks that one of secrets has signed the request in this profile. The timestamp
// is checked first, so that a client with a wrong clock learns of it.
//
// It returns the raw signature. One signature has many encodings, so replay detection
// must store this value and never the header.
func (p Profile) Verify(now time.Time, secrets []string, r Request, signature string) (mac [sha256.Size]byte, err error) {
	if err := CheckTimestamp(now, r.Timestamp, signature); err != nil {
		return mac, err
	}
	given, ok := decodeSignature(signature)
	if !ok {
		return mac, ErrInvalid
	}
	// All secrets are tried, so that the duration does not reveal which one matched.
	matched := false
	for _, secret := range secrets {
		if secret == "" { // an empty secret is public
			continue
		}
		want := p.sum(secret, r)
		matched = hmac.Equal(given[:], want[:]) || matched
	}
	if !matched {
		return mac, ErrInvalid
	}
	return given, nil
}

// parseTime parses RFC 3339, with or without fractional seconds, or Unix seconds.
func parseTime(text string) (time.Time, bool) {
	if len(text) < len("2006-01-02T15:04:05Z") { // cheaper than a ParseUint error
		seconds, err := strconv.ParseUint(text, 10, 40)
		return time.Unix(int64(seconds), 0), err == nil
	}
	parsed, err := time.Parse(time.RFC3339, text)
	return parsed, err == nil
}

// decodeSignature accepts base64 in either alphabet, padded or not, and hex. The length
// tells them apart: 32 bytes are 43 characters of base64 or 64 of hex.
func decodeSignature(text string) (mac [sha256.Size]byte, ok bool) {
	if len(text) == hex.EncodedLen(sha256.Size) {
		_, err := hex.Decode(mac[:], []byte(text))
		return mac, err == nil
	}
	const length = 43
	if len(text) == length+1 && text[length] == '=' {
		text = text[:length]
	}
	if len(text) != length {
		return mac, false
	}
	var encoded [length]byte
	copy(encoded[:], text)
	alphabet := urlAlphabet
	if strings.IndexByte(text, '+') >= 0 || strings.IndexByte(text, '/') >= 0 {
		alphabet = stdAlphabet
	}
	n, err := alphabet.Decode(mac[:], encoded[:])
	return mac, err == nil && n == sha256.Size // shorter if the decoder skipped a line break
}

// Strict decoding rejects trailing bits, so that a signature has one encoding per alphabet.
var (
	urlAlphabet = base64.RawURLEncoding.Strict()
	stdAlphabet = base64.RawStdEncoding.Strict()
)
