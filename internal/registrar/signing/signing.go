// Package signing proves that a request comes from an agent that holds a secret,
// and that it was made just now.
//
// The signature is an HMAC-SHA256 over the Timestamp header as sent, a full stop
// and the raw body. It promises that a request with another body or another
// time does not pass, and that comparing takes the same time whatever differs.
// Agents that were built for other shops may sign other bytes: profiles.go.
//
// It refuses to know agents: the caller hands in the secrets that may have
// signed. It does not remember signatures either; a repeated request is the
// caller's to notice, within Tolerance.
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

// Tolerance is how far the sender's clock may be from ours, in either direction.
const Tolerance = 300 * time.Second

// What can be wrong with a signature. Compare with errors.Is.
var (
	// ErrMissing: one of the two headers is not there.
	ErrMissing error = &registrar.Error{Kind: registrar.KindUnauthenticated, Code: "signature_required"}
	// ErrInvalid: none of the secrets has signed this time and body, or one of
	// the headers can't be read.
	ErrInvalid error = &registrar.Error{Kind: registrar.KindUnauthenticated, Code: "invalid_signature"}
	// ErrStale: the time is too far from ours.
	ErrStale error = &registrar.Error{Kind: registrar.KindUnauthenticated, Code: "stale_timestamp"}
)

// Compute signs body with secret. timestamp is the header as it will be sent.
func Compute(secret, timestamp string, body []byte) string {
	return Ours.Compute(secret, Request{Timestamp: timestamp, Body: body})
}

// Verify says whether one of secrets has signed body at the time in timestamp.
// The two headers are taken as they were sent. The time is looked at first, so
// that a client with a wrong clock learns of its clock.
//
// What it returns is the signature itself. One signature has many spellings, so
// a memory against replay must remember this and never the header.
func Verify(now time.Time, secrets []string, timestamp, signature string, body []byte) (mac [sha256.Size]byte, err error) {
	return Ours.Verify(now, secrets, Request{Timestamp: timestamp, Body: body}, signature)
}

// CheckTimestamp says of two headers what can be said without any secret: that one is
// missing, or that the time is too far from ours or none at all.
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

// Verify says whether one of secrets has signed the request in this profile; see
// the function of that name.
func (p Profile) Verify(now time.Time, secrets []string, r Request, signature string) (mac [sha256.Size]byte, err error) {
	if err := CheckTimestamp(now, r.Timestamp, signature); err != nil {
		return mac, err
	}
	given, ok := decodeSignature(signature)
	if !ok {
		return mac, ErrInvalid
	}
	// All secrets are tried, also after a match: how long it takes must not
	// tell which one it was.
	matched := false
	for _, secret := range secrets {
		if secret == "" { // everybody can sign with nothing
			continue
		}
		want := p.sum(secret, r)
		if hmac.Equal(given[:], want[:]) {
			matched = true
		}
	}
	if !matched {
		return mac, ErrInvalid
	}
	return given, nil
}

// parseTime reads RFC 3339, with or without fractions of a second, or whole
// seconds since 1970.
func parseTime(text string) (time.Time, bool) {
	if len(text) < len("2006-01-02T15:04:05Z") { // an error of ParseUint costs more than this look
		seconds, err := strconv.ParseUint(text, 10, 40)
		return time.Unix(int64(seconds), 0), err == nil
	}
	parsed, err := time.Parse(time.RFC3339, text)
	return parsed, err == nil
}

// decodeSignature reads base64 in either alphabet, padded or not, and hex. The length
// tells which: 32 bytes are 43 letters of base64 or 64 of hex.
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
	return mac, err == nil && n == sha256.Size // which it is not where the decoder has skipped a line break
}

// Both refuse loose bits at the end, so that no two texts of one alphabet are one
// signature.
var (
	urlAlphabet = base64.RawURLEncoding.Strict()
	stdAlphabet = base64.RawStdEncoding.Strict()
)
