package registrar

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
)

// fixedNonceKey derives the key of the nonces of SealFixed, so that no key has two uses.
func fixedNonceKey(key SealKey) []byte {
	mac := hmac.New(sha256.New, key[:])
	mac.Write([]byte("dotkontor seal fixed nonce\n"))
	return mac.Sum(nil)
}

// SealFixed is Seal with the same result for the same text, for identifiers that are
// published. Without the key, a value reveals neither its text nor whether the texts of two
// values are related. The nonce is an HMAC of the text, so two texts don't share one.
//
// The result changes when the key is rotated. It has no key id, which would be the same
// beginning for all values.
func (s *Seal) SealFixed(purpose, text string) string {
	r := s.keys.Load()
	aead := r.aeads[r.writeID]
	mac := hmac.New(sha256.New, r.nonceKeys[r.writeID])
	mac.Write([]byte(purpose + "\n" + text))
	nonce := mac.Sum(nil)[:aead.NonceSize()]
	return base64.RawURLEncoding.EncodeToString(aead.Seal(nonce, nonce, []byte(text), []byte(purpose)))
}

// OpenFixed returns the text of a value of SealFixed, sealed with any of the keys.
func (s *Seal) OpenFixed(purpose, sealed string) (string, error) {
	if SealedBy(sealed) != "" { // a value of Seal
		return "", &openError{"a fixed value is not well-formed"}
	}
	return s.Open(purpose, sealed)
}
