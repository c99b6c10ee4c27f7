// Package signing proves that a request comes from an agent that holds a secret,
// and that it was made just now.
//
// The signature is an HMAC-SHA256 over the Timestamp header as sent, a full stop
// and the raw body. It promises that a request with another body or another
// time does not pass, and that comparing takes the same time whatever differs.
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
	ErrMissing error = &registrar.Error{Kind: registrar.KindInvalid, Code: "signature_required"}
	// ErrInvalid: none of the secrets has signed this time and body, or one of
	// the headers can't be read.
	ErrInvalid error = &registrar.Error{Kind: registrar.KindInvalid, Code: "invalid_signature"}
	// ErrStale: the time is too far from ours.
	ErrStale error = &registrar.Error{Kind: registrar.KindInvalid, Code: "stale_timestamp"}
)

// Compute signs body with secret. timestamp is the header as it will be sent.
func Compute(secret, timestamp string, body []byte) string {
	return base64.RawURLEncoding.EncodeToString(sum(secret, timestamp, body))
}

func sum(secret, timestamp string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp)) // a hash never fails to take bytes
	mac.Write([]byte{'.'})
	mac.Write(body)
	return mac.Sum(nil)
}

// Verify says whether one of secrets has signed body at the time in timestamp.
// The two headers are taken as they were sent. The time is looked at first, so
// that a client with a wrong clock learns of its clock.
//
// What it returns is the signature itself. One signature has many spellings, so
// a memory against replay must remember this and never the header.
func Verify(now time.Time, secrets []string, timestamp, signature string, body []byte) (mac [sha256.Size]byte, err error) {
	if timestamp == "" || signature == "" {
		return mac, ErrMissing
	}
	signed, ok := parseTime(timestamp)
	if !ok {
		return mac, ErrInvalid
	}
	if now.Sub(signed).Abs() > Tolerance {
		return mac, ErrStale
	}
	given, ok := decode(signature)
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
		if hmac.Equal(given, sum(secret, timestamp, body)) {
			matched = true
		}
	}
	if !matched {
		return mac, ErrInvalid
	}
	copy(mac[:], given)
	return mac, nil
}

// parseTime reads RFC 3339, with or without fractions of a second, or whole
// seconds since 1970.
func parseTime(text string) (time.Time, bool) {
	if seconds, err := strconv.ParseUint(text, 10, 40); err == nil {
		return time.Unix(int64(seconds), 0), true
	}
	parsed, err := time.Parse(time.RFC3339, text)
	return parsed, err == nil
}

var toURLAlphabet = strings.NewReplacer("+", "-", "/", "_")

// decode reads base64 in either alphabet, padded or not, and hex. The length
// tells which: 32 bytes are 43 letters of base64 or 64 of hex.
func decode(text string) ([]byte, bool) {
	if len(text) == hex.EncodedLen(sha256.Size) {
		given, err := hex.DecodeString(text)
		return given, err == nil
	}
	text = strings.TrimSuffix(text, "=")
	if len(text) != base64.RawURLEncoding.EncodedLen(sha256.Size) {
		return nil, false
	}
	given, err := base64.RawURLEncoding.Strict().DecodeString(toURLAlphabet.Replace(text))
	return given, err == nil && len(given) == sha256.Size
}
