package whois

import (
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// A record is read from the top with one block in mind. A block begins with a
// heading ("Registrar:" alone, "[Holder]", "Name servers in listed order") or
// with the first field of a paragraph, and it ends with an empty line, the next
// heading, or a line that stands further left. What a line may give depends on
// the block: under a person's heading nothing is read but fields that no person
// has.

// block is what the lines below a heading are about.
type block struct {
	cat    category
	indent int
	// deeper says that a line further in has followed the heading.
	deeper bool
	// filled says that any line has followed it.
	filled bool
	// soft is a block that a field with a value began, and not a heading.
	soft bool
	// bare is a heading without a colon, or in brackets.
	bare bool
}

func (b block) private() bool {
	return b.cat == catHolder || b.cat == catContact || b.cat == catPerson
}

// recordReader gathers a record.
type recordReader struct {
	name   string
	order  dateOrder
	record lookup.Record
	block  block
	// fallback holds dates of paragraphs about somebody else than the name. They
	// count if there are no others.
	fallback      lookup.Record
	registrarRank int // the rank of record.Registrar
	namesTried    int
	datesTried    int
}

// The ranks of what may name a registrar.
const (
	rankHandle = iota + 1
	rankField
	rankName
)

// extractRecord reads the record in a, which is one about name.
func extractRecord(a answer, name string) *lookup.Record {
	r := recordReader{name: name, order: orderIn(a, name)}
	for i := range a.lines {
		if l := &a.lines[i]; !l.comment {
			r.read(l)
		}
	}
	if r.record.Created.IsZero() && r.record.Updated.IsZero() {
		r.record.Created, r.record.Updated = r.fallback.Created, r.fallback.Updated
	}
	return &r.record
}

func (r *recordReader) read(l *line) {
	r.leaveBlock(l)
	switch {
	case l.key != "" && l.value != "":
		r.field(l)
	case l.key != "":
		r.heading(l)
	case l.cat != catNone:
		r.enter(l, false)
		r.block.bare = true
	default:
		r.text(l)
	}
}

// leaveBlock ends the block if line l can't belong to it.
func (r *recordReader) leaveBlock(l *line) {
	b := &r.block
	if b.cat == catNone {
		return
	}
	server := b.cat == catServer && l.key == "" && len(serverNames(l.body, r.name)) > 0
	switch {
	case l.afterBlank && (b.filled || b.soft) && !server,
		l.afterBlank && !b.filled && l.indent <= b.indent && !b.bare && !server,
		b.deeper && l.indent <= b.indent && !server:
		*b = block{}
		return
	}
	b.filled = true
	b.deeper = b.deeper || l.indent > b.indent
}

func (r *recordReader) enter(l *line, soft bool) {
	r.block = block{cat: l.cat, indent: l.indent, soft: soft, bare: strings.HasPrefix(l.body, "[")}
}

// heading reads a key without a value.
func (r *recordReader) heading(l *line) {
	switch l.cat {
	case catNone, catAgent, catHandle, catAvailable, catSigning, catRegistrarHandle, catService:
		// An empty field, or a heading that we do not know. Inside a person's
		// block it is likely the person's.
		if !r.block.private() && l.indent <= r.block.indent {
			r.block = block{}
			if l.cat != catNone {
				r.enter(l, false)
			}
		}
	case catHolder, catContact, catPerson:
		if r.block.cat == catRegistrar && !r.block.deeper || r.block.cat == catRegistrar && registrarParts[l.key] {
			return // "Name:" of a registrar that did not give one
		}
		r.enter(l, false)
	default:
		r.enter(l, false)
	}
}

// registrarParts are the fields of a registrar's block that name it.
var registrarParts = map[string]bool{
	"name": true, "organization": true, "organisation": true, "organization name": true, "organisation name": true, "org": true, "org name": true,
	"company": true, "company name": true, "registrar": true, "registrar name": true, "nom": true, "nombre": true, "organizacion": true, "legal name": true,
}

// contactOrRegistrarFields are fields that a registrar's block has as well as a person's.
var contactOrRegistrarFields = map[string]bool{
	"nic handle": true, "nic hdl": true, "nichandle": true, "address": true, "street": true, "city": true, "postal code": true, "country": true,
	"phone": true, "phone number": true, "telephone": true, "fax": true, "fax no": true, "email": true, "e mail": true, "mail": true, "id number": true,
}

// field reads "key: value".
func (r *recordReader) field(l *line) {
	if r.block.cat == catRegistrar && !r.block.soft && registrarParts[l.key] {
		r.setRegistrar(l.value, rankField)
		return
	}
	if r.block.cat == catServer && !r.block.soft && l.cat == catNone || r.block.cat == catServer && l.key == "name" {
		r.servers(l.value)
		return
	}
	switch l.cat {
	case catServer:
		r.servers(l.value)
		if !r.block.private() {
			r.enter(l, true) // more may stand on the next lines
		}
	case catRegistrar:
		r.registrarField(l)
	case catRegistrarHandle:
		r.setRegistrar(l.value, rankHandle)
	case catStatus:
		if !r.block.private() {
			r.statuses(l.value)
		}
	case catCreated, catUpdated, catExpires:
		r.dateField(l)
	case catHolder, catContact, catPerson:
		if r.block.cat == catRegistrar && !r.block.soft && contactOrRegistrarFields[l.key] {
			return
		}
		if l.afterBlank && !r.block.bare || r.block.cat == catServer || r.block.cat == catRegistrar {
			r.enter(l, true)
		}
	default:
		// Not about the name.
	}
}

func (r *recordReader) registrarField(l *line) {
	rank := rankField
	if strings.HasSuffix(l.key, " name") || strings.HasSuffix(l.key, " organization") {
		rank = rankName
	}
	r.setRegistrar(l.value, rank)
	if l.afterBlank {
		r.enter(l, true)
	}
}

// dateField keeps dates of the name apart from those of contacts, registrars and
// sets of nameservers. Only names expire, and some keys say whose date it is.
func (r *recordReader) dateField(l *line) {
	// An empty field in a list looks like a heading. It is one if lines stand
	// further in below it, or if it has no colon.
	headed := r.block.deeper || r.block.bare || r.block.soft
	if headed && r.block.cat == catService {
		return // when the server was fed, not when the name was
	}
	to := &r.record
	about := r.block.private() || r.block.cat == catRegistrar || headed && (r.block.cat == catAgent || r.block.cat == catSigning)
	if about && l.cat != catExpires && !strings.Contains(l.key, "domain") && !strings.Contains(l.key, "record") {
		to = &r.fallback
	}
	r.date(l.cat, l.value, l.order, to)
}

// text reads a line without a key.
func (r *recordReader) text(l *line) {
	if host, ok := nameServerPair(l, r.name); ok {
		r.servers(host)
		return
	}
	switch r.block.cat {
	case catServer:
		r.servers(l.body)
		return
	case catRegistrar:
		if !r.block.soft && r.block.filled {
			r.setRegistrar(l.body, rankField)
		}
	case catStatus:
		// Only what stands further in belongs to the heading for sure.
		if l.indent > r.block.indent {
			r.statuses(l.body)
		}
	case catCreated, catUpdated, catExpires:
		r.date(r.block.cat, l.body, l.order, &r.record)
	default:
		// A person's block, or none.
	}
	for _, p := range dateSentences {
		if rest, found := cutPrefixFold(l.body, p.opening); found {
			r.date(p.cat, strings.TrimLeft(rest, " .:"), l.order, &r.record)
			return
		}
	}
}

// dateSentences are fields that have no colon.
var dateSentences = []struct {
	opening string
	cat     category
}{
	{"record created on", catCreated},
	{"record created", catCreated},
	{"record expires on", catExpires},
	{"record expires", catExpires},
	{"record last updated on", catUpdated},
	{"record last updated", catUpdated},
	{"record last modified on", catUpdated},
	{"record updated on", catUpdated},
	{"domain created on", catCreated},
	{"domain expires on", catExpires},
	{"domain last updated on", catUpdated},
	{"domain registered on", catCreated},
	{"registered on", catCreated},
	{"registered since", catCreated},
	{"registered until", catExpires},
	{"created on", catCreated},
	{"expires on", catExpires},
	{"valid until", catExpires},
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) <= len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}

func (r *recordReader) setRegistrar(value string, rank int) {
	// Of an answer in two languages we keep the name that more people can read.
	again := rank == r.registrarRank && len(value) <= maxLineBytes && !isLatin(r.record.Registrar) && isLatin(value)
	if rank <= r.registrarRank && !again {
		return
	}
	if name, ok := registrarName(value); ok {
		r.record.Registrar, r.registrarRank = name, rank
	}
}

func (r *recordReader) servers(value string) {
	if r.namesTried++; r.namesTried > maxTries {
		return
	}
	for _, host := range serverNames(value, r.name) {
		if len(r.record.Nameservers) < maxServers && !slices.Contains(r.record.Nameservers, host) {
			r.record.Nameservers = append(r.record.Nameservers, host)
		}
	}
}

func (r *recordReader) statuses(value string) {
	if len(value) > maxLineBytes/2 {
		return
	}
	for part := range strings.FieldsFuncSeq(value, func(c rune) bool { return c == ',' || c == ';' || c == '|' }) {
		if len(r.record.Status) == maxStatuses {
			return
		}
		if word, ok := statusWord(part); ok && !slices.Contains(r.record.Status, word) {
			r.record.Status = append(r.record.Status, word)
		}
	}
}

// date keeps the first date of each kind: the name's own comes before those of
// its parts.
func (r *recordReader) date(cat category, value string, order dateOrder, to *lookup.Record) {
	var slot *time.Time
	switch cat {
	case catCreated:
		slot = &to.Created
	case catUpdated:
		slot = &to.Updated
	default:
		slot = &to.Expires
	}
	if !slot.IsZero() {
		return
	}
	if r.datesTried++; r.datesTried > maxTries {
		return
	}
	if order == orderUnknown {
		order = r.order
	}
	if t, ok := parseDate(value, order); ok {
		*slot = t
	}
}
