package redis

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
)

// sealer encrypts cached values. They name servers and registrars, which identify a searched
// name.
type sealer struct{ aead cipher.AEAD }

func newSealer(key []byte) (*sealer, error) {
	derived, err := hkdf.Key(sha256.New, key, nil, "dotkontor shared cache", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &sealer{aead: aead}, err
}

// seal binds the value to the key that it is stored under.
func (s *sealer) seal(key string, value []byte) string {
	return string(s.aead.Seal(nil, nil, value, []byte(key)))
}

var errForged = errors.New("redis: a cached value was not written by one of our nodes")

func (s *sealer) open(key, sealed string) ([]byte, error) {
	value, err := s.aead.Open(nil, nil, []byte(sealed), []byte(key))
	if err != nil {
		return nil, errForged
	}
	return value, nil
}
