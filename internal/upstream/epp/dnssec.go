package epp

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
)

// DNSSEC is the key material of a signed domain (RFC 5910). A registry accepts DS
// records or keys, never both.
type DNSSEC struct {
	DS   []DS
	Keys []DNSKey
	// MaxSigLife is in seconds; 0 leaves it to the registry.
	MaxSigLife int
}

// DS is a delegation signer record. Digest is in hexadecimal.
type DS struct {
	KeyTag     uint16
	Algorithm  uint8
	DigestType uint8
	Digest     string
}

// DNSKey is a public key. PublicKey is in base 64.
type DNSKey struct {
	Flags     uint16
	Protocol  uint8
	Algorithm uint8
	PublicKey string
}

// DNSSECChange changes the DNSSEC data of a domain.
type DNSSECChange struct {
	Add, Remove DNSSEC
	// RemoveAll removes all existing records; Remove must be empty then.
	RemoveAll bool
}

func (d *DNSSEC) isEmpty() bool { return len(d.DS) == 0 && len(d.Keys) == 0 }

func (d *DNSSEC) requiredExtensions() []string {
	if d.isEmpty() {
		return nil
	}
	return []string{nsSecDNS}
}

func (d *DNSSEC) writeCreate(w *Writer) {
	if d.isEmpty() {
		return
	}
	w.Start("secDNS:create", Attr{"xmlns:secDNS", nsSecDNS})
	d.write(w, true)
	w.End("secDNS:create")
}

func (d *DNSSEC) write(w *Writer, withLife bool) {
	if len(d.DS) > 0 && len(d.Keys) > 0 {
		w.Fail("secDNS:dsData", "and keyData can't be sent together")
	}
	if withLife && d.MaxSigLife > 0 {
		w.number("secDNS:maxSigLife", d.MaxSigLife)
	}
	for _, ds := range d.DS {
		if raw, err := hex.DecodeString(ds.Digest); err != nil || len(raw) == 0 {
			w.Fail("secDNS:digest", "is not hexadecimal")
		}
		w.Start("secDNS:dsData")
		w.number("secDNS:keyTag", int(ds.KeyTag))
		w.number("secDNS:alg", int(ds.Algorithm))
		w.number("secDNS:digestType", int(ds.DigestType))
		w.Leaf("secDNS:digest", strings.ToUpper(ds.Digest))
		w.End("secDNS:dsData")
	}
	for _, key := range d.Keys {
		if raw, err := base64.StdEncoding.DecodeString(key.PublicKey); err != nil || len(raw) == 0 {
			w.Fail("secDNS:pubKey", "is not base 64")
		}
		w.Start("secDNS:keyData")
		w.number("secDNS:flags", int(key.Flags))
		w.number("secDNS:protocol", int(key.Protocol))
		w.number("secDNS:alg", int(key.Algorithm))
		w.Leaf("secDNS:pubKey", key.PublicKey)
		w.End("secDNS:keyData")
	}
}

func (d *DNSSECChange) isEmpty() bool { return !d.RemoveAll && d.Remove.isEmpty() && d.Add.isEmpty() }

func (d *DNSSECChange) requiredExtensions() []string {
	if d.isEmpty() {
		return nil
	}
	return []string{nsSecDNS}
}

// write puts removals before additions, as the schema requires.
func (d *DNSSECChange) write(w *Writer) {
	if d.isEmpty() {
		return
	}
	w.Start("secDNS:update", Attr{"xmlns:secDNS", nsSecDNS})
	switch {
	case d.RemoveAll && !d.Remove.isEmpty():
		w.Fail("secDNS:rem", "can't be used with a list of records")
	case d.RemoveAll:
		w.Start("secDNS:rem")
		w.Leaf("secDNS:all", "true")
		w.End("secDNS:rem")
	case !d.Remove.isEmpty():
		w.Start("secDNS:rem")
		d.Remove.write(w, false)
		w.End("secDNS:rem")
	}
	if !d.Add.isEmpty() {
		w.Start("secDNS:add")
		d.Add.write(w, true)
		w.End("secDNS:add")
	}
	w.End("secDNS:update")
}

func readDNSSEC(data *Node) DNSSEC {
	var d DNSSEC
	d.MaxSigLife = int(number(data.value(nsSecDNS, "maxSigLife"), 31))
	for _, ds := range data.All(nsSecDNS, "dsData") {
		d.DS = append(d.DS, DS{
			KeyTag:     uint16(number(ds.value(nsSecDNS, "keyTag"), 16)),
			Algorithm:  uint8(number(ds.value(nsSecDNS, "alg"), 8)),
			DigestType: uint8(number(ds.value(nsSecDNS, "digestType"), 8)),
			Digest:     strings.ToUpper(strings.Join(strings.Fields(ds.value(nsSecDNS, "digest")), "")),
		})
	}
	for _, key := range data.All(nsSecDNS, "keyData") {
		d.Keys = append(d.Keys, DNSKey{
			Flags:     uint16(number(key.value(nsSecDNS, "flags"), 16)),
			Protocol:  uint8(number(key.value(nsSecDNS, "protocol"), 8)),
			Algorithm: uint8(number(key.value(nsSecDNS, "alg"), 8)),
			PublicKey: strings.Join(strings.Fields(key.value(nsSecDNS, "pubKey")), ""),
		})
	}
	return d
}

// number parses an unsigned integer of at most bits bits; anything else is 0.
func number(text string, bits int) uint64 {
	value, err := strconv.ParseUint(text, 10, bits)
	if err != nil {
		return 0
	}
	return value
}
