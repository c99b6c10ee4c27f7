package registrar

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
)

// Seal encrypts what the database holds and the service must be able to read
// again: the secrets of authenticator apps, the auth codes of domains. The key is
// not in the database.
type Seal struct{ box cipher.AEAD }

// NewSeal makes a Seal of a key.
func NewSeal(key [32]byte) (*Seal, error) {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	box, err := cipher.NewGCM(block)
	return &Seal{box: box}, err
}

// ErrSealed says that something was sealed with another key, or for another
// purpose, or was changed since.
var ErrSealed = errors.New("what is sealed can't be opened with this secret key")

// Close encrypts a secret for one purpose, such as "totp:" and an account's id.
// The purpose goes in, so that a row can't be copied to another place.
func (s *Seal) Close(purpose, secret string) string {
	nonce := make([]byte, s.box.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return base64.RawURLEncoding.EncodeToString(s.box.Seal(nonce, nonce, []byte(secret), []byte(purpose)))
}

// Open decrypts what was sealed for the same purpose.
func (s *Seal) Open(purpose, sealed string) (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || len(raw) < s.box.NonceSize() {
		return "", ErrSealed
	}
	secret, err := s.box.Open(nil, raw[:s.box.NonceSize()], raw[s.box.NonceSize():], []byte(purpose))
	if err != nil {
		return "", ErrSealed
	}
	return string(secret), nil
}

// CodePurpose binds the sealed auth code of a name to it. An order closes the
// code, and whoever carries the order out opens it.
func CodePurpose(name string) string { return "auth:" + name }
