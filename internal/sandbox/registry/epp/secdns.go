package epp

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

const keyDataRefused = "This registry accepts DS records, not keys."

// dsOrKeys reads dsData or keyData elements (RFC 5910, 4).
func (s *sequence) dsOrKeys() []ledger.DS {
	var keys []ledger.DS
	for _, of := range s.repeated("dsData", 32) {
		keys = append(keys, s.ds(of))
	}
	if len(keys) > 0 {
		return keys
	}
	for _, of := range s.repeated("keyData", 32) {
		s.keyData(of)
		s.deferRefusal(ledger.PolicyForbids, "secDNS:keyData", "", keyDataRefused)
		keys = append(keys, ledger.DS{})
	}
	if len(keys) == 0 {
		s.required("dsData")
	}
	return keys
}

func (s *sequence) ds(of *node) ledger.DS {
	part := children(of)
	key := ledger.DS{
		KeyTag:     uint16(part.number(part.required("keyTag"), 65535)),
		Algorithm:  uint8(part.number(part.required("alg"), 255)),
		DigestType: uint8(part.number(part.required("digestType"), 255)),
		Digest:     strings.ToUpper(part.token(part.required("digest"), 0, 1024)),
	}
	if _, err := hex.DecodeString(key.Digest); err != nil {
		part.fail(syntax("A digest is written in hexadecimal digits."))
	}
	if of := part.optional("keyData"); of != nil {
		part.keyData(of) // allowed, but not stored
	}
	s.merge(part)
	return key
}

func (s *sequence) keyData(of *node) {
	part := children(of)
	part.number(part.required("flags"), 65535)
	part.number(part.required("protocol"), 255)
	part.number(part.required("alg"), 255)
	part.token(part.required("pubKey"), 1, 4096)
	s.merge(part)
}

// sigLife reads maxSigLife, which the registry does not support.
func (s *sequence) sigLife() {
	if of := s.optional("maxSigLife"); of != nil {
		if s.number(of, 1<<30) == 0 {
			s.fail(syntax("A signature lives for at least a second."))
		}
		s.deferRefusal(ledger.NoSuchOption, "secDNS:maxSigLife", "", "The registry does not sign.")
	}
}

// keys reads the DS records of a create.
func (e protocolExtensions) keys() ([]ledger.DS, *ledger.Refusal) {
	of := e["secDNS:create"]
	if of == nil {
		return nil, nil
	}
	s := children(of)
	s.sigLife()
	keys := s.dsOrKeys()
	return keys, s.result()
}

// editKeys reads the DS changes of an update.
func (e protocolExtensions) editKeys(update *ledger.DomainUpdate) *ledger.Refusal {
	of := e["secDNS:update"]
	if of == nil {
		return nil
	}
	s := children(of, "urgent")
	if urgent, given := of.attr("urgent"); given && s.flag("urgent", urgent) {
		s.deferRefusal(ledger.NoSuchOption, "secDNS:update", "", "Urgent processing is not supported.")
	}
	if rem := s.optional("rem"); rem != nil {
		part := children(rem)
		if all := part.optional("all"); all != nil {
			update.RemAllKeys = part.flag("all", part.token(all, 1, 5))
		} else {
			update.RemKeys = part.dsOrKeys()
		}
		s.merge(part)
	}
	if add := s.optional("add"); add != nil {
		part := children(add)
		part.sigLife()
		update.AddKeys = part.dsOrKeys()
		s.merge(part)
	}
	if chg := s.optional("chg"); chg != nil {
		part := children(chg)
		part.sigLife()
		s.merge(part)
	}
	return s.result()
}

// writeKeys writes the DS records of an info.
func writeKeys(w *writer, keys []ledger.DS) {
	w.begin("secDNS:infData")
	for _, key := range keys {
		w.begin("secDNS:dsData")
		w.element("secDNS:keyTag", strconv.Itoa(int(key.KeyTag)))
		w.element("secDNS:alg", strconv.Itoa(int(key.Algorithm)))
		w.element("secDNS:digestType", strconv.Itoa(int(key.DigestType)))
		w.element("secDNS:digest", key.Digest)
		w.end()
	}
	w.end()
}
