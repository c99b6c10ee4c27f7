package whois

import (
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// A record is read from the top, tracking the current block. A block begins with a
// heading ("Registrar:" alone, "[Holder]", "Name servers in listed order") or with
// the first field of a paragraph. It ends with an empty line, the next heading, or
// a less indented line. The block determines what is read: under a contact's
// heading, only fields that no contact has.

// block describes the lines below a heading.
type block struct {
	cat    category
	indent int
	deeper bool // an indented line has followed the heading
	filled bool // any line has followed it
	soft   bool // a block started by a field with a value instead of a heading
	bare   bool // a heading without a colon, or in brackets
}

func (b block) private() bool {
	return b.cat == catHolder || b.cat == catContact || b.cat == catPerson
}

type recordReader struct {
	name          string
	order         dateOrder
	record        lookup.Record
	block         block
	fallback      lookup.Record // dates of paragraphs about other objects, if there are no others
	registrarRank int           // the rank of record.Registrar
	namesTried    int
	datesTried    int
}

// Ranks of the possible sources of a registrar's name.
const (
	rankHandle = iota + 1
	rankField
	rankName
)

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
	outdented := l.indent <= b.indent
	if !server && (l.afterBlank && (b.filled || b.soft || outdented && !b.bare) || b.deeper && outdented) {
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
		// An empty field or an unknown heading. Inside a contact's block it
		// probably belongs to the contact.
		if !r.block.private() && l.indent <= r.block.indent {
			r.block = block{}
			if l.cat != catNone {
				r.enter(l, false)
			}
		}
	case catHolder, catContact, catPerson:
		if r.block.cat == catRegistrar && !r.block.deeper || r.block.cat == catRegistrar && registrarParts[l.key] {
			return // "Name:" without a value in a registrar block
		}
		r.enter(l, false)
	default:
		r.enter(l, false)
	}
}

// registrarParts are the fields that name the registrar inside its block.
var registrarParts = map[string]bool{
	"name": true, "organization": true, "organisation": true, "organization name": true, "organisation name": true, "org": true, "org name": true,
	"company": true, "company name": true, "registrar": true, "registrar name": true, "nom": true, "nombre": true, "organizacion": true, "legal name": true,
}

// contactOrRegistrarFields occur in registrar and contact blocks.
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
			r.enter(l, true) // the value may continue on the next lines
		}
	case catRegistrar:
		rank := rankField
		if strings.HasSuffix(l.key, " name") || strings.HasSuffix(l.key, " organization") {
			rank = rankName
		}
		r.setRegistrar(l.value, rank)
		if l.afterBlank {
			r.enter(l, true)
		}
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

// dateField separates dates of the name from those of contacts, registrars and
// nameserver sets. Only names expire, and some keys name their object.
func (r *recordReader) dateField(l *line) {
	// An empty field in a list looks like a heading. It is one if indented lines
	// follow, or if it has no colon.
	headed := r.block.deeper || r.block.bare || r.block.soft
	if headed && r.block.cat == catService {
		return // the date of the server's data, not of the name
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
		// Only indented lines certainly belong to the heading.
		if l.indent > r.block.indent {
			r.statuses(l.body)
		}
	case catCreated, catUpdated, catExpires:
		r.date(r.block.cat, l.body, l.order, &r.record)
	default:
		// A contact's block, or none.
	}
	for _, group := range dateSentences {
		for _, opening := range group.words {
			if rest, found := cutPrefixFold(l.body, opening); found {
				r.date(group.cat, strings.TrimLeft(rest, " .:"), l.order, &r.record)
				return
			}
		}
	}
}

// dateSentences are fields without a colon.
var dateSentences = []wordGroup{
	{catCreated, []string{"record created on", "record created", "domain created on", "domain registered on", "registered on", "registered since", "created on"}},
	{catExpires, []string{"record expires on", "record expires", "domain expires on", "registered until", "expires on", "valid until"}},
	{catUpdated, []string{"record last updated on", "record last updated", "record last modified on", "record updated on", "domain last updated on"}},
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) <= len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}

func (r *recordReader) setRegistrar(value string, rank int) {
	// Of a response in two languages, the Latin name is used.
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
		r.record.AddNameserver(host)
	}
}

func (r *recordReader) statuses(value string) {
	if len(value) > maxLineBytes/2 {
		return
	}
	for part := range strings.FieldsFuncSeq(value, func(c rune) bool { return c == ',' || c == ';' || c == '|' }) {
		if word, ok := statusWord(part); ok {
			r.record.AddStatus(word)
		}
	}
}

// date records the first date of each kind, which is the name's own.
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
