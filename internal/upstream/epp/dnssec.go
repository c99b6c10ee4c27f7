package epp

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
)

// writeDSChange writes a change of the DS records of a domain (RFC 5910). Removals
// come before additions, as the schema requires.
func writeDSChange(w *Writer, add, remove []domainchange.DS) {
	w.Start("secDNS:update", Attr{"xmlns:secDNS", nsSecDNS})
	writeDS(w, "secDNS:rem", remove)
	writeDS(w, "secDNS:add", add)
	w.End("secDNS:update")
}

func writeDS(w *Writer, tag string, records []domainchange.DS) {
	if len(records) == 0 {
		return
	}
	w.Start(tag)
	for _, ds := range records {
		if raw, err := hex.DecodeString(ds.Digest); err != nil || len(raw) == 0 {
			w.Fail("secDNS:digest", "is not hexadecimal")
		}
		w.Start("secDNS:dsData")
		w.Leaf("secDNS:keyTag", strconv.Itoa(int(ds.KeyTag)))
		w.Leaf("secDNS:alg", strconv.Itoa(int(ds.Algorithm)))
		w.Leaf("secDNS:digestType", strconv.Itoa(int(ds.DigestType)))
		w.Leaf("secDNS:digest", strings.ToUpper(ds.Digest))
		w.End("secDNS:dsData")
	}
	w.End(tag)
}

func readDS(data *Node) []domainchange.DS {
	var records []domainchange.DS
	for _, ds := range data.All(nsSecDNS, "dsData") {
		records = append(records, domainchange.DS{
			KeyTag:     uint16(number(ds.value(nsSecDNS, "keyTag"), 16)),
			Algorithm:  uint8(number(ds.value(nsSecDNS, "alg"), 8)),
			DigestType: uint8(number(ds.value(nsSecDNS, "digestType"), 8)),
			Digest:     strings.ToUpper(strings.Join(strings.Fields(ds.value(nsSecDNS, "digest")), "")),
		})
	}
	return records
}

// number parses an unsigned integer of at most bits bits; anything else is 0.
func number(text string, bits int) uint64 {
	value, err := strconv.ParseUint(text, 10, bits)
	if err != nil {
		return 0
	}
	return value
}
