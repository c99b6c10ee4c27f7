package registrar

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// Seal encrypts values that the database holds and the service must read again. The
// keys are not in the database. The purposes in sealpurpose.go are the complete list of
// sealed values.
//
// A sealed value names its key, so that several keys can be in use during a rotation:
// one key seals, all of them open. Both can change while the Seal is in use.
//
// A value is s1.KEYID.BASE64, where BASE64 is nonce and AES-256-GCM ciphertext with the
// purpose as additional data. Values from before key ids are BASE64 alone, which has no
// dot; every key is tried on them.
type Seal struct{ keys atomic.Pointer[keySet] }

// keySet is an immutable set of keys.
type keySet struct {
	aeads     map[string]cipher.AEAD
	nonceKeys map[string][]byte // of SealFixed
	ids       []string          // in the given order
	writeID   string
}

// SealKey is an AES-256 key.
type SealKey [32]byte

// KeyID identifies a key without revealing it: 64 bits of a hash of 256 random ones.
func (k SealKey) KeyID() string {
	sum := sha256.Sum256(append([]byte("dotkontor seal key id\n"), k[:]...))
	return hex.EncodeToString(sum[:8])
}

// NewSeal returns a Seal that seals with the first key and opens with all.
func NewSeal(keys ...SealKey) (*Seal, error) {
	s := &Seal{}
	if len(keys) == 0 {
		return nil, errors.New("registrar: NewSeal: no key")
	}
	err := s.SetKeys(keys, keys[0].KeyID())
	return s, err
}

// SetKeys replaces all keys. writeID selects the one that seals.
func (s *Seal) SetKeys(keys []SealKey, writeID string) error {
	next := &keySet{aeads: make(map[string]cipher.AEAD), nonceKeys: make(map[string][]byte), writeID: writeID}
	for _, key := range keys {
		id := key.KeyID()
		if next.aeads[id] != nil {
			continue
		}
		block, err := aes.NewCipher(key[:])
		if err != nil {
			return err
		}
		if next.aeads[id], err = cipher.NewGCM(block); err != nil {
			return err
		}
		next.nonceKeys[id] = fixedNonceKey(key)
		next.ids = append(next.ids, id)
	}
	if next.aeads[writeID] == nil {
		return fmt.Errorf("registrar: seal key %s is not among the given ones", writeID)
	}
	s.keys.Store(next)
	return nil
}

// KeyIDs returns the ids of all keys, in the given order.
func (s *Seal) KeyIDs() []string { return slices.Clone(s.keys.Load().ids) }

// WriteID returns the id of the key that seals.
func (s *Seal) WriteID() string { return s.keys.Load().writeID }

// ErrOpenFailed means that a value was sealed with another key or for another purpose,
// or was modified.
var ErrOpenFailed = errors.New("sealed value can't be opened with this secret key")

// openError is ErrOpenFailed with its reason for the log.
type openError struct{ reason string }

func (*openError) Error() string      { return ErrOpenFailed.Error() }
func (*openError) Unwrap() error      { return ErrOpenFailed }
func (e *openError) LogCause() string { return "keyring: " + e.reason }

const sealVersion = "s1"

// SealedBy returns the id of the key that a value was sealed with; empty for a value
// from before key ids.
func SealedBy(sealed string) string {
	version, rest, tagged := strings.Cut(sealed, ".")
	if id, _, ok := strings.Cut(rest, "."); tagged && ok && version == sealVersion {
		return id
	}
	return ""
}

// Seal encrypts a secret for one purpose. The purpose is authenticated, so that a value
// can't be moved to another row.
func (s *Seal) Seal(purpose, secret string) string {
	r := s.keys.Load()
	return r.seal(r.writeID, purpose, secret)
}

// SealWith is Seal with a given key; false if there is no such key.
func (s *Seal) SealWith(keyID, purpose, secret string) (string, bool) {
	r := s.keys.Load()
	if r.aeads[keyID] == nil {
		return "", false
	}
	return r.seal(keyID, purpose, secret), true
}

func (r *keySet) seal(keyID, purpose, secret string) string {
	aead := r.aeads[keyID]
	nonce := make([]byte, aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return sealVersion + "." + keyID + "." + base64.RawURLEncoding.EncodeToString(aead.Seal(nonce, nonce, []byte(secret), []byte(purpose)))
}

// Open decrypts a value that was sealed for the same purpose.
func (s *Seal) Open(purpose, sealed string) (string, error) {
	_, secret, err := s.keys.Load().open(purpose, sealed)
	return secret, err
}

// FindKeyID returns the id of the key that a value was sealed with, by trying all keys
// if the value does not name it. It is empty if no key opens such a value.
func (s *Seal) FindKeyID(purpose, sealed string) string {
	if id := SealedBy(sealed); id != "" {
		return id
	}
	id, _, _ := s.keys.Load().open(purpose, sealed)
	return id
}

func (r *keySet) open(purpose, sealed string) (keyID, secret string, err error) {
	candidates, text, keyText := r.ids, sealed, "any configured key"
	if id := SealedBy(sealed); id != "" {
		candidates, text = []string{id}, sealed[len(sealVersion)+1+len(id)+1:]
		keyText = "key " + PlainReference(id)
		if r.aeads[id] == nil {
			return "", "", &openError{keyText + " is missing"}
		}
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return "", "", &openError{"a sealed value is not well-formed"}
	}
	for _, id := range candidates {
		aead := r.aeads[id]
		if aead == nil || len(raw) < aead.NonceSize() {
			continue
		}
		if secret, err := aead.Open(nil, raw[:aead.NonceSize()], raw[aead.NonceSize():], []byte(purpose)); err == nil {
			return id, string(secret), nil
		}
	}
	return "", "", &openError{"a sealed value can't be opened with " + keyText + ": it was changed or moved, or its key is missing"}
}

// Reseal returns a value sealed with the current key. A value that already is, is
// empty, or can't be opened is returned unchanged.
func (s *Seal) Reseal(purpose, sealed string) string {
	if sealed == "" || SealedBy(sealed) == s.WriteID() {
		return sealed
	}
	secret, err := s.Open(purpose, sealed)
	if err != nil {
		return sealed
	}
	return s.Seal(purpose, secret)
}
