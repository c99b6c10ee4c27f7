package registrar

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"hash/crc32"
	"math/big"
	"strings"
)

// SecretKind is what a secret opens. Its prefix says so to whoever finds one, and
// keeps a secret of one kind from passing as another.
type SecretKind string

// The kinds of secrets. The prefixes are part of the contract with secret
// scanners: they never change.
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
	ChallengeSecret         SecretKind = "dotkontor_ceremony_"
	// PayLink and VerifyLink are in the addresses where a human pays an order or
	// shows who they are.
	PayLink    SecretKind = "dotkontor_pay_"
	VerifyLink SecretKind = "dotkontor_verify_"
	// AgentKey names an agent that checks out for customers, AgentSecret signs its
	// requests, and AgentHook our messages to it.
	AgentKey           SecretKind = "dotkontor_agent_"
	AgentSecret        SecretKind = "acps_"
	AgentWebhookSecret SecretKind = "acpw_"
)

// secretKinds is all of them.
var secretKinds = [...]SecretKind{
	PersonalToken, SessionSecret, DeviceSecret, LinkSecret, AccessToken, RefreshToken, ClientSecret, AuthorizationCodeSecret,
	ConsentSecret, ChallengeSecret, PayLink, VerifyLink, AgentKey, AgentSecret, AgentWebhookSecret,
}

// ContainsSecret says whether text has something in it that looks like one of our
// secrets, whole or cut.
func ContainsSecret(text string) bool {
	for _, kind := range secretKinds {
		if strings.Contains(text, string(kind)) {
			return true
		}
	}
	return false
}

const (
	base62       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	randomDigits = 43 // 62^43 > 2^256
	checkDigits  = 6  // 62^6 > 2^32
)

// SecretHash is what is stored of a secret: SHA-256, base64url without padding.
// A secret has 256 random bits, so a plain hash can't be tried through.
type SecretHash string

// NewSecret returns a secret of 256 random bits with a CRC-32 at its end, by
// which a scanner tells a real one from a similar text, and its hash. The value
// is shown to its owner once and kept nowhere.
func NewSecret(kind SecretKind) (value string, hash SecretHash) {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails
	value = string(kind) + encodeBase62(new(big.Int).SetBytes(raw[:]), randomDigits)
	value += checksum(value)
	return value, hashOf(value)
}

// HashSecret returns the hash under which a secret of this kind would be stored.
// It is false for everything that NewSecret could not have made, so that typing
// errors and foreign tokens cost no question to the store.
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

func checksum(text string) string {
	return encodeBase62(new(big.Int).SetUint64(uint64(crc32.ChecksumIEEE([]byte(text)))), checkDigits)
}

// encodeBase62 writes n in base 62, filled up with zeros.
func encodeBase62(n *big.Int, width int) string {
	out := make([]byte, width)
	rest, base, digit := new(big.Int).Set(n), big.NewInt(62), new(big.Int)
	for i := width - 1; i >= 0; i-- {
		rest.DivMod(rest, base, digit)
		out[i] = base62[digit.Int64()]
	}
	return string(out)
}
