package whois

import (
	"math/bits"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// classify interprets the response of a WHOIS server to a query for name, which is
// in lower case A-label form. The code is empty, registrar.FaultThrottled or
// registrar.FaultBroken.
//
// If several rules match, the one whose error costs least wins: a record before
// everything, a refusal before "reserved", "reserved" before "free".
func classify(raw []byte, name string) (lookup.Finding, registrar.Code) {
	name = strings.ToLower(name)
	text, ok := decodeText(raw, name)
	if !ok || strings.TrimSpace(text) == "" || isOtherProtocol(text) {
		return lookup.Finding{}, registrar.FaultBroken
	}
	a := splitLines(text)
	evidence := collectEvidence(a, name)
	switch {
	case evidence.isRecord():
		if evidence.otherDomain && !evidence.ourDomain {
			return lookup.Finding{State: lookup.Undecided}, ""
		}
		return lookup.Finding{State: lookup.Registered, Record: extractRecord(a, name)}, ""
	case evidence.throttled:
		return lookup.Finding{}, registrar.FaultThrottled
	case evidence.reserved:
		return lookup.Finding{State: lookup.Reserved}, ""
	case evidence.mayBeFree():
		return lookup.Finding{State: lookup.Free, Premium: evidence.premium}, ""
	default:
		return lookup.Finding{State: lookup.Undecided}, ""
	}
}

type evidence struct {
	seen  uint32 // has a bit for every kind of record field with a value
	taken bool   // a status field has a value that occurs only in records
	// The domain fields contain the queried name, another, or one that may be the
	// queried one in an unreadable encoding.
	ourDomain, otherDomain, unclearDomain bool

	free, reserved, throttled, premium bool
	outageSeen                         bool // the server could not perform the query
	registered                         bool // a line mentions a current or former registrant
}

// kind is what a field proves: of categories that prove the same, one of them.
func (c category) kind() category {
	switch c {
	case catRegistrarHandle, catAgent:
		return catRegistrar
	case catExpires:
		return catCreated
	case catSigning:
		return catServer
	default:
		return c
	}
}

// strongKinds counts the kinds of fields that occur only in records.
func (e evidence) strongKinds() int {
	return bits.OnesCount32(e.seen &^ (1 << catUpdated))
}

// allKinds also counts the last change, which some servers add to every response.
func (e evidence) allKinds() int {
	return e.strongKinds() + int(e.seen>>catUpdated&1)
}

// isRecord reports whether the response is a record: two kinds of fields, or one
// kind and the name. A line that says "free" raises the threshold.
func (e evidence) isRecord() bool {
	switch {
	case e.strongKinds() >= 2, e.taken && e.strongKinds() >= 1:
		return true
	case e.free || e.reserved:
		return e.ourDomain && e.strongKinds() >= 1 && e.allKinds() >= 2
	case e.ourDomain:
		return e.taken || e.allKinds() >= 1
	default:
		return e.allKinds() >= 2 || e.taken && e.otherDomain
	}
}

// mayBeFree rejects a "free" line next to any field of a record, or to a line
// saying that the query failed or the name is registered.
func (e evidence) mayBeFree() bool {
	return e.free && !e.taken && !e.registered && !e.outageSeen && e.strongKinds() == 0 && (e.ourDomain || !e.otherDomain && !e.unclearDomain)
}

func collectEvidence(a answer, name string) evidence {
	var e evidence
	budget := maxPhraseLines
	for i := range a.lines {
		if !a.lines[i].comment {
			e.readField(a, i, name, &budget)
		}
	}
	// No phrase overrides a complete record, so none is searched for.
	if e.strongKinds() < 2 {
		e.readPhrases(a, name)
	}
	return e
}

// Limits of the lines and bytes matched against the phrases, which is the expensive
// part. No real response without a record comes near them.
const (
	maxPhraseLines = 300
	maxPhraseTotal = 16 << 10
)

// readPhrases matches the phrases, and for a free one looks for lines that contradict it.
// A "free" in a response too long to be read completely is ignored.
func (e *evidence) readPhrases(a answer, name string) {
	lines, total := 0, 0
	legal := false
	type otherLine struct { // without a free phrase
		line  int
		text  string
		terms bool // is part of terms of use
	}
	var beside []otherLine
	for i := range a.lines {
		l := &a.lines[i]
		lower := strings.ToLower(l.body[:min(len(l.body), 2*maxPhraseBytes)])
		// Terms of use do not contain the queried name.
		if legal = legal && !l.afterBlank; legal && !strings.Contains(lower, name) {
			continue
		}
		lines++
		total += len(lower)
		if lines > maxPhraseLines || total > maxPhraseTotal {
			break
		}
		text := normalise(lower, name)
		free := !legal && a.isFreeAt(i, text, name)
		// Outage messages start like terms of use: "the service is down".
		e.outageSeen = e.outageSeen || outage.isIn(text)
		if legal = legal || !free && legalOpeners().MatchString(lower); !legal {
			e.readPhrase(text, free, l.comment)
		}
		if !free {
			beside = append(beside, otherLine{i, text, legal})
		}
	}
	if lines > maxPhraseLines || total > maxPhraseTotal || !a.whole {
		e.free = false
	}
	if !e.mayBeFree() {
		return
	}
	for _, o := range beside {
		e.outageSeen = e.outageSeen || badQuery.isIn(o.text)
		e.registered = e.registered || isRegisteredLine(o.text) || isServerLine(&a.lines[o.line], name) || !o.terms && a.isLifecycleAt(o.line, o.text)
	}
}

func (e *evidence) readPhrase(text string, free, comment bool) {
	// A comment can carry the result ("% nothing found") as a whole line.
	e.free = e.free || free
	e.throttled = e.throttled || throttled.isIn(text)
	if comment {
		return
	}
	e.reserved = e.reserved || len(text) <= maxPhraseBytes && reservedPhrases.match(text)
	e.premium = e.premium || strings.Contains(" "+text+" ", " premium ")
}

// readField evaluates line i as a field of a record. budget limits the fields whose
// values are matched against phrases.
func (e *evidence) readField(a answer, i int, name string, budget *int) {
	l := &a.lines[i]
	if _, ok := nameServerPair(l, name); ok {
		e.seen |= 1 << catServer
		e.ourDomain = true
		return
	}
	if l.cat == catNone {
		return
	}
	value := l.value
	if value == "" && i+1 < len(a.lines) {
		// "Registrar:" with its value on the next line, indented or alone.
		next := &a.lines[i+1]
		alone := next.key == "" && next.cat == catNone && !next.afterBlank
		if (next.indent > 0 || l.key != "" && alone) && !next.comment {
			value = next.body
		}
	}
	value = strings.ToLower(strings.TrimSpace(value))
	if emptyValue(value) || l.cat == catPerson || l.cat == catService {
		return
	}
	if l.cat != catDomain && l.cat != catStatus && l.cat != catAvailable {
		e.seen |= 1 << l.cat.kind()
		return
	}
	if *budget--; *budget < 0 {
		return
	}
	value = value[:min(len(value), 2*maxPhraseBytes)]
	switch l.cat {
	case catDomain:
		e.readDomain(value, name)
	case catStatus:
		e.readStatus(normalise(value, name))
	default: // catAvailable
		switch strings.Trim(value, " .!") {
		case "yes", "true", "1":
			e.free = true
		case "no", "false", "0":
			e.taken = true
		}
	}
}

func (e *evidence) readDomain(value, name string) {
	label, _, _ := strings.Cut(name, ".")
	if first, _, _ := strings.Cut(value, " "); first == label {
		e.ourDomain = true
		return
	}
	other := ""
	for rest, tries := value, 4; rest != "" && tries > 0; tries-- {
		start, end := nextHost(rest)
		if lookup.SameName(rest[start:end], name) {
			e.ourDomain = true
			return
		}
		if other == "" {
			other = rest[start:end]
		}
		rest = rest[end:]
	}
	// Only an ASCII name counts as another: others may have been garbled in transit.
	switch {
	case other == "" && strings.ContainsAny(value, " \t"):
		// Words, not a name.
	case other != "" && isASCII(other) && !strings.Contains(name, "xn--"):
		e.otherDomain = true
	default:
		e.unclearDomain = true
	}
}

func (e *evidence) readStatus(value string) {
	switch {
	case freeValues().MatchString(value):
		e.free = true
	case reservedValues().MatchString(value):
		e.reserved = true
	case takenValues().MatchString(value):
		e.taken = true
	}
}

// nameServerPair matches the format of .to: the label, then a nameserver.
func nameServerPair(l *line, name string) (host string, ok bool) {
	label, _, _ := strings.Cut(name, ".")
	rest, found := cutPrefixFold(l.body, label)
	if !found || label == "" || rest[0] != ' ' && rest[0] != '\t' {
		return "", false
	}
	return hostOf(strings.TrimSpace(rest))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
