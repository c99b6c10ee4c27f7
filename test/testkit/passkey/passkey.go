// Package passkey simulates a passkey device and its browser.
package passkey

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

// Device is a passkey device and its browser as the server sees them: ES256,
// discoverable, with user verification.
type Device struct {
	t   *testing.T
	key *ecdsa.PrivateKey
	// ID and Handle identify the passkey and its account; Counter is the number of
	// uses that the device reports.
	ID, Handle []byte
	Counter    uint32
	// Origin is that of the page.
	Origin string
	// Unverified omits user verification.
	Unverified bool
}

// NewDevice returns a device without a passkey, at a page of origin.
func NewDevice(t *testing.T, origin string) *Device {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id)
	return &Device{t: t, key: key, ID: id, Origin: origin}
}

var encode = base64.RawURLEncoding.EncodeToString

// authenticatorData is the authenticator data of WebAuthn, 6.1.
func (a *Device) authenticatorData(rpID string, attested []byte) []byte {
	hash := sha256.Sum256([]byte(rpID))
	flags := byte(0x01) // present
	if !a.Unverified {
		flags |= 0x04
	}
	if attested != nil {
		flags |= 0x40
	}
	out := append(hash[:], flags)
	out = binary.BigEndian.AppendUint32(out, a.Counter)
	return append(out, attested...)
}

func (a *Device) clientData(kind, challenge string) []byte {
	text, err := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.Origin, "crossOrigin": false})
	if err != nil {
		a.t.Fatal(err)
	}
	return text
}

// Create answers navigator.credentials.create.
func (a *Device) Create(options []byte) []byte {
	a.t.Helper()
	var asked struct {
		PublicKey struct {
			Challenge string `json:"challenge"`
			RP        struct {
				ID string `json:"id"`
			} `json:"rp"`
			User struct {
				ID string `json:"id"`
			} `json:"user"`
			AuthenticatorSelection struct {
				ResidentKey      string `json:"residentKey"`
				UserVerification string `json:"userVerification"`
			} `json:"authenticatorSelection"`
		} `json:"publicKey"`
	}
	if err := json.Unmarshal(options, &asked); err != nil {
		a.t.Fatal(err)
	}
	if s := asked.PublicKey.AuthenticatorSelection; s.ResidentKey != "required" || s.UserVerification != "required" {
		a.t.Errorf("creation options are %+v", s)
	}
	var err error
	if a.Handle, err = base64.RawURLEncoding.DecodeString(asked.PublicKey.User.ID); err != nil {
		a.t.Fatal(err)
	}
	point, err := a.key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		a.t.Fatal(err)
	}
	public, err := cbor.Marshal(map[int]any{1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]})
	if err != nil {
		a.t.Fatal(err)
	}
	var noMaker [16]byte
	attested := binary.BigEndian.AppendUint16(noMaker[:], uint16(len(a.ID)))
	attested = append(append(attested, a.ID...), public...)
	object, err := cbor.Marshal(map[string]any{
		"fmt": "none", "attStmt": map[string]any{}, "authData": a.authenticatorData(asked.PublicKey.RP.ID, attested),
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return a.encodeResponse(map[string]any{
		"clientDataJSON":    encode(a.clientData("webauthn.create", asked.PublicKey.Challenge)),
		"attestationObject": encode(object),
	})
}

// Get answers navigator.credentials.get.
func (a *Device) Get(options []byte) []byte {
	a.t.Helper()
	var asked struct {
		PublicKey struct {
			Challenge        string `json:"challenge"`
			RPID             string `json:"rpId"`
			UserVerification string `json:"userVerification"`
		} `json:"publicKey"`
	}
	if err := json.Unmarshal(options, &asked); err != nil {
		a.t.Fatal(err)
	}
	if asked.PublicKey.UserVerification != "required" {
		a.t.Errorf("user verification is not required: %q", asked.PublicKey.UserVerification)
	}
	data := a.authenticatorData(asked.PublicKey.RPID, nil)
	client := a.clientData("webauthn.get", asked.PublicKey.Challenge)
	clientHash := sha256.Sum256(client)
	signed := sha256.Sum256(append(append([]byte{}, data...), clientHash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, signed[:])
	if err != nil {
		a.t.Fatal(err)
	}
	return a.encodeResponse(map[string]any{
		"clientDataJSON": encode(client), "authenticatorData": encode(data),
		"signature": encode(signature), "userHandle": encode(a.Handle),
	})
}

func (a *Device) encodeResponse(response map[string]any) []byte {
	text, err := json.Marshal(map[string]any{
		"id": encode(a.ID), "rawId": encode(a.ID), "type": "public-key", "response": response,
		"clientExtensionResults": map[string]any{},
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return text
}
