package registrar

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"hash/crc32"
	"math/big"
	"slices"
	"strings"
)

// SecretKind is the purpose of a secret. Its prefix identifies a leaked secret and
// keeps one kind from being accepted as another.
type SecretKind string

// The kinds of secrets. The prefixes are registered with secret scanners and never
// change.
const (
	PersonalToken           SecretKind = "dotkontor_live_"    //nolint:gosec // a prefix
	SessionSecret           SecretKind = "dotkontor_session_" //nolint:gosec // a prefix
	DeviceSecret            SecretKind = "dotkontor_device_"
	LinkSecret              SecretKind = "dotkontor_link_" //nolint:gosec // a prefix
	AccessToken             SecretKind = "dotkontor_access_"
	RefreshToken            SecretKind = "dotkontor_refresh_" //nolint:gosec // a prefix
	ClientSecret            SecretKind = "dotkontor_client_"
	AuthorizationCodeSecret SecretKind = "dotkontor_code_"    //nolint:gosec // a prefix
	ConsentSecret           SecretKind = "dotkontor_consent_" //nolint:gosec // a prefix
	ChallengeSecret         SecretKind = "dotkontor_challenge_"
	// PayLink and VerifyLink are in the links to pay an order or verify an identity.
	PayLink    SecretKind = "dotkontor_pay_"
	VerifyLink SecretKind = "dotkontor_verify_"
	// AgentKey identifies a checkout agent, AgentSecret signs its requests, and
	// AgentWebhookSecret signs webhooks to it.
	AgentKey           SecretKind = "dotkontor_agent_"
	AgentSecret        SecretKind = "acps_"
	AgentWebhookSecret SecretKind = "acpw_"
)

var secretKinds = [...]SecretKind{
	PersonalToken, SessionSecret, DeviceSecret, LinkSecret, AccessToken, RefreshToken, ClientSecret, AuthorizationCodeSecret,
	ConsentSecret, ChallengeSecret, PayLink, VerifyLink, AgentKey, AgentSecret, AgentWebhookSecret,
}

// ContainsSecret reports whether text contains a secret of this service, complete or
// truncated.
func ContainsSecret(text string) bool {
	return slices.ContainsFunc(secretKinds[:], func(kind SecretKind) bool { return strings.Contains(text, string(kind)) })
}

const (
	base62       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	randomDigits = 43 // 62^43 > 2^256
	checkDigits  = 6  // 62^6 > 2^32
)

// SecretHash is the stored form of a secret: SHA-256, base64url without padding. A
// secret has 256 random bits, so a plain hash can't be brute-forced.
type SecretHash string

// NewSecret returns a secret of 256 random bits with a CRC-32, by which a scanner
// distinguishes real ones from similar text, and its hash. The value is shown to its
// owner once and never stored.
func NewSecret(kind SecretKind) (value string, hash SecretHash) {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails
	value = string(kind) + encodeBase62(new(big.Int).SetBytes(raw[:]), randomDigits)
	value += checksum(value)
	return value, hashOf(value)
}

// HashSecret returns the hash under which a secret of this kind is stored. It is false
// for anything NewSecret could not have created, so that typos and foreign tokens cost
// no query.
func HashSecret(kind SecretKind, value string) (SecretHash, bool) {
	body, ok := strings.CutPrefix(value, string(kind))
	if !ok || len(body) != randomDigits+checkDigits {
		return "", false
	}
	split := len(value) - checkDigits
	if checksum(value[:split]) != value[split:] {
		return "", false
	}
	return hashOf(value), true
}

func hashOf(value string) SecretHash {
	sum := sha256.Sum256([]byte(value))
	return SecretHash(base64.RawURLEncoding.EncodeToString(sum[:]))
}

// checksum is computed for every request with a token, so it does without big.Int.
func checksum(text string) string {
	var out [checkDigits]byte
	rest := crc32.ChecksumIEEE([]byte(text))
	for i := checkDigits - 1; i >= 0; i-- {
		out[i] = base62[rest%62]
		rest /= 62
	}
	return string(out[:])
}

// encodeBase62 encodes n in base 62, padded with zeros.
func encodeBase62(n *big.Int, width int) string {
	out := make([]byte, width)
	rest, base, digit := new(big.Int).Set(n), big.NewInt(62), new(big.Int)
	for i := width - 1; i >= 0; i-- {
		rest.DivMod(rest, base, digit)
		out[i] = base62[digit.Int64()]
	}
	return string(out)
}

// NewAuthCode returns a random auth code for a domain. Registries require upper and
// lower case, a digit and a special character.
func NewAuthCode(length int) string {
	const upper, lower, digits, signs = "ABCDEFGHJKLMNPQRSTUVWXYZ", "abcdefghijkmnpqrstuvwxyz", "23456789", "-+.=_"
	raw := make([]byte, length)
	_, _ = rand.Read(raw) // never fails
	kinds := []string{upper, lower, digits, signs}
	for i, b := range raw {
		from := upper + lower + digits
		if i < len(kinds) {
			from = kinds[i]
		}
		raw[i] = from[int(b)%len(from)]
	}
	return string(raw)
}
