package whois

import (
	"math/bits"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// Classify reads the answer of a WHOIS server to a question about name, which is
// in lower case A-label form. The code is empty, or it says why the answer is
// none: registrar.FaultThrottled or registrar.FaultBroken.
//
// Where several rules match, the one that costs least if it is wrong wins: a
// record before everything, a refusal before "reserved", "reserved" before
// "free".
func Classify(raw []byte, name string) (lookup.Finding, registrar.Code) {
	text, ok := decodeText(raw)
	if !ok || strings.TrimSpace(text) == "" {
		return lookup.Finding{}, registrar.FaultBroken
	}
	evidence := gather(cut(text, strings.ToLower(name)), strings.ToLower(name))
	switch {
	case evidence.isRecord():
		if evidence.otherDomain && !evidence.ourDomain {
			return lookup.Finding{State: lookup.Undecided}, ""
		}
		return lookup.Finding{State: lookup.Registered}, ""
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

// evidence is what the lines of an answer say together.
type evidence struct {
	// seen has a bit for every category of record field that has a value.
	seen uint16
	// taken says that a status field has a value that only records have.
	taken bool
	// ourDomain and otherDomain say whose names the domain fields give.
	// unclearDomain is a name that may be ours in a spelling that we can't read.
	ourDomain, otherDomain, unclearDomain bool

	free, reserved, throttled, premium bool
}

// strong counts the kinds of fields that only a record has.
func (e evidence) strong() int {
	const record = 1<<catRegistrar | 1<<catHolder | 1<<catContact | 1<<catDate | 1<<catServer | 1<<catHandle
	return bits.OnesCount16(e.seen & record)
}

// all counts the date of the last change as well, which some servers put under
// every answer.
func (e evidence) all() int {
	return e.strong() + int(e.seen>>catUpdated&1)
}

// isRecord says that the answer is somebody's record. Two kinds of fields make
// one, or one kind beside the name. A line that says "free" raises the bar.
func (e evidence) isRecord() bool {
	switch {
	case e.strong() >= 2, e.taken && e.strong() >= 1:
		return true
	case e.free || e.reserved:
		return e.ourDomain && e.strong() >= 1 && e.all() >= 2
	case e.ourDomain:
		return e.taken || e.all() >= 1
	default:
		return e.all() >= 2 || e.taken && e.otherDomain
	}
}

// mayBeFree refuses a free line with as much as one field of a record beside it.
func (e evidence) mayBeFree() bool {
	return e.free && !e.taken && e.strong() == 0 && (e.ourDomain || !e.otherDomain && !e.unclearDomain)
}

func gather(a answer, name string) evidence {
	var e evidence
	for i, l := range a.lines {
		if !l.comment {
			e.readField(a, i, name)
		}
	}
	// No phrase can undo a whole record, so none needs to be looked for.
	if e.strong() >= 2 {
		return e
	}
	for _, l := range a.lines {
		if l.legal {
			continue
		}
		// A comment can carry the answer ("% nothing found"), as a whole line.
		if freeLine(l.text, name) {
			e.free = true
		}
		if throttleLine(l.text) {
			e.throttled = true
		}
		if l.comment {
			continue
		}
		if len(l.text) <= maxPhraseBytes && reservedPhrases.MatchString(l.text) {
			e.reserved = true
		}
		if premiumWords.MatchString(l.text) {
			e.premium = true
		}
	}
	return e
}

// readField takes line i as a field of a record.
func (e *evidence) readField(a answer, i int, name string) {
	l := a.lines[i]
	if nameServerPair(l, name) {
		e.seen |= 1 << catServer
		e.ourDomain = true
		return
	}
	key, value := l.key, l.value
	if key == "" {
		key = l.text // a heading without a colon
	}
	cat := categoryOf(key)
	if cat == catNone {
		return
	}
	if value == "" && i+1 < len(a.lines) {
		// "Registrar:" with its value on the next line, further in.
		if next := a.lines[i+1]; next.indented && !next.comment {
			value = next.text
			if next.key != "" {
				value = next.key + ": " + next.value
			}
		}
	}
	if value = strings.TrimSpace(value); emptyValue(value) {
		return
	}
	switch cat {
	case catDomain:
		e.readDomain(value, name)
	case catStatus:
		e.readStatus(normalise(value, name))
	case catAvailable:
		switch strings.Trim(value, " .!") {
		case "yes", "true", "1":
			e.free = true
		case "no", "false", "0":
			e.taken = true
		}
	default:
		e.seen |= 1 << cat
	}
}

// emptyValue says that a field is there for form's sake.
func emptyValue(value string) bool {
	switch strings.Trim(value, " .-") {
	case "", "none", "n/a", "not available", "null", "unknown":
		return true
	default:
		return false
	}
}

func (e *evidence) readDomain(value, name string) {
	label, _, _ := strings.Cut(name, ".")
	first, _, _ := strings.Cut(value, " ")
	if first == label || strings.HasPrefix(value, "@") && !strings.HasPrefix(value, "@other") {
		e.ourDomain = true
		return
	}
	for _, found := range hostName.FindAllString(value, 4) {
		if sameName(found, name) {
			e.ourDomain = true
			return
		}
	}
	if strings.HasPrefix(value, "@other") {
		e.otherDomain = true
		return
	}
	// A name beyond ASCII may have been mangled on its way here, so only a
	// plain one counts as another's.
	found := hostName.FindString(value)
	switch {
	case found == "":
	case isASCII(found) && !strings.Contains(name, "xn--"):
		e.otherDomain = true
	default:
		e.unclearDomain = true
	}
}

func (e *evidence) readStatus(value string) {
	switch {
	case freeValues.MatchString(value):
		e.free = true
	case reservedValues.MatchString(value):
		e.reserved = true
	case takenValues.MatchString(value):
		e.taken = true
	}
}

// throttleLine says that a line refuses us. A condition before the refusal makes
// it a rule and not a fact.
func throttleLine(text string) bool {
	at := throttlePhrases.FindStringIndex(text)
	return at != nil && !condition.MatchString(text[:at[1]])
}

// nameServerPair is a line of .to's form: the label, then a nameserver.
func nameServerPair(l line, name string) bool {
	label, _, _ := strings.Cut(name, ".")
	rest, found := strings.CutPrefix(l.text, label+" ")
	return found && rest == "@other"
}

// freeLine says that a whole line says "free", of the asked name if of any.
func freeLine(text, name string) bool {
	if len(text) > maxPhraseBytes || strings.Contains(text, "@other") {
		return false
	}
	label, _, _ := strings.Cut(name, ".")
	if rest, found := strings.CutPrefix(text, label+"not found"); found && rest == "" {
		return true
	}
	if !freePhrases.MatchString(text) {
		return false
	}
	// "no match for LABEL": a single word that is neither the label nor a
	// common noun is another name.
	_, word, found := strings.Cut(text, " for ")
	if !found || word == "" || strings.Contains(word, " ") {
		return true
	}
	switch word {
	case "@", label, "query", "domain", "registration", "purchase", "object", "name", "request", "search":
		return true
	default:
		return false
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
