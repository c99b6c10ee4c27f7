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

// evidence is what the lines of an answer say together.
type evidence struct {
	// seen has a bit for every kind of record field that has a value.
	seen uint16
	// taken says that a status field has a value that only records have.
	taken bool
	// ourDomain and otherDomain say whose names the domain fields give.
	// unclearDomain is a name that may be ours in a spelling that we can't read.
	ourDomain, otherDomain, unclearDomain bool

	free, reserved, throttled, premium bool
	// outageSeen says that the server could not look, so that it found nothing.
	outageSeen bool
	// registered says that a line speaks of somebody who has the name, or had it.
	registered bool
}

// fieldKind is what a field proves. Several categories can prove the same.
type fieldKind uint8

const (
	kindNone fieldKind = iota
	kindRegistrar
	kindHolder
	kindContact
	kindDate
	kindUpdated
	kindServer
	kindHandle
)

// categoryKinds says what the categories prove; those with values that decide by
// themselves are not in it.
var categoryKinds = [...]fieldKind{
	catRegistrar:       kindRegistrar,
	catRegistrarHandle: kindRegistrar,
	catAgent:           kindRegistrar,
	catHolder:          kindHolder,
	catContact:         kindContact,
	catCreated:         kindDate,
	catExpires:         kindDate,
	catUpdated:         kindUpdated,
	catServer:          kindServer,
	catSigning:         kindServer,
	catHandle:          kindHandle,
	catAvailable:       kindNone,
}

// strongKinds counts the kinds of fields that only a record has.
func (e evidence) strongKinds() int {
	return bits.OnesCount16(e.seen &^ (1 << kindUpdated))
}

// allKinds counts the date of the last change as well, which some servers put under
// every answer.
func (e evidence) allKinds() int {
	return e.strongKinds() + int(e.seen>>kindUpdated&1)
}

// isRecord says that the answer is somebody's record. Two kinds of fields make
// one, or one kind beside the name. A line that says "free" raises the bar.
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

// mayBeFree refuses a free line with as much as one field of a record beside it,
// or with a line that says that the server could not look or that the name is
// somebody's.
func (e evidence) mayBeFree() bool {
	return e.free && !e.taken && !e.registered && !e.outageSeen && e.strongKinds() == 0 && (e.ourDomain || !e.otherDomain && !e.unclearDomain)
}

func collectEvidence(a answer, name string) evidence {
	var e evidence
	budget := maxPhraseLines
	for i := range a.lines {
		if l := &a.lines[i]; !l.comment {
			e.readField(a, i, name, &budget)
		}
	}
	// No phrase can undo a whole record, so none needs to be looked for.
	if e.strongKinds() < 2 {
		e.readPhrases(a, name)
	}
	return e
}

// maxPhraseLines and maxPhraseTotal bound the lines that are held against the
// phrases, which is what costs, and their bytes. No honest answer without a
// record comes near them.
const (
	maxPhraseLines = 300
	maxPhraseTotal = 16 << 10
)

// readPhrases looks for sentences. An answer that is too long to be read to its
// end is not believed if it says "free".
func (e *evidence) readPhrases(a answer, name string) {
	lines, total := 0, 0
	legal := false
	var beside []otherLine
	for i := range a.lines {
		l := &a.lines[i]
		lower := strings.ToLower(l.body[:min(len(l.body), 2*maxPhraseBytes)])
		// Terms do not name the name.
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
		// An outage is told in the words that open terms: "the service is down".
		e.outageSeen = e.outageSeen || isOutageLine(text)
		if legal = legal || !free && legalOpeners.MatchString(lower); !legal {
			e.readPhrase(text, free, l.comment)
		}
		if !free {
			beside = append(beside, otherLine{i, text, legal})
		}
	}
	if lines > maxPhraseLines || total > maxPhraseTotal || !a.whole {
		e.free = false
	}
	if e.mayBeFree() {
		e.readContradictions(a, beside, name)
	}
}

// otherLine is a line that does not say "free", and whether it stands in terms.
type otherLine struct {
	line  int
	text  string
	terms bool
}

// readContradictions looks for what takes the weight from a free line.
func (e *evidence) readContradictions(a answer, beside []otherLine, name string) {
	for _, s := range beside {
		e.outageSeen = e.outageSeen || isBadQueryLine(s.text)
		e.registered = e.registered || isRegisteredLine(s.text) || isServerLine(&a.lines[s.line], name) || !s.terms && a.isLifecycleAt(s.line, s.text)
	}
}

func (e *evidence) readPhrase(text string, free, comment bool) {
	// A comment can carry the answer ("% nothing found"), as a whole line.
	e.free = e.free || free
	e.throttled = e.throttled || isThrottleLine(text)
	if comment {
		return
	}
	if len(text) <= maxPhraseBytes && hasAny(text, reservedStems) && reservedPhrases.MatchString(text) {
		e.reserved = true
	}
	if hasPremiumWord(text) {
		e.premium = true
	}
}

func hasPremiumWord(text string) bool {
	return strings.Contains(" "+text+" ", " premium ")
}

// readField takes line i as a field of a record. budget bounds the fields whose
// values are held against phrases.
func (e *evidence) readField(a answer, i int, name string, budget *int) {
	l := &a.lines[i]
	if _, ok := nameServerPair(l, name); ok {
		e.seen |= 1 << kindServer
		e.ourDomain = true
		return
	}
	if l.cat == catNone {
		return
	}
	value := l.value
	if value == "" && i+1 < len(a.lines) {
		// "Registrar:" with its value on the next line, further in or alone.
		next := &a.lines[i+1]
		alone := next.key == "" && next.cat == catNone && !next.afterBlank
		if (next.indent > 0 || l.key != "" && alone) && !next.comment {
			value = next.body
		}
	}
	value = strings.ToLower(strings.TrimSpace(value))
	if emptyValue(value) {
		return
	}
	if l.cat == catPerson || l.cat == catService {
		return
	}
	if kind := categoryKinds[l.cat]; kind != kindNone {
		e.seen |= 1 << kind
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
	case catAvailable:
		switch strings.Trim(value, " .!") {
		case "yes", "true", "1":
			e.free = true
		case "no", "false", "0":
			e.taken = true
		}
	default:
		// The others prove a kind, or nothing.
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
		if sameName(rest[start:end], name) {
			e.ourDomain = true
			return
		}
		if other == "" {
			other = rest[start:end]
		}
		rest = rest[end:]
	}
	// A name beyond ASCII may have been mangled on its way here, so only a
	// plain one counts as another's.
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
	case freeValues.MatchString(value):
		e.free = true
	case reservedValues.MatchString(value):
		e.reserved = true
	case takenValues.MatchString(value):
		e.taken = true
	}
}

// isThrottleLine says that a line refuses us. A condition before the refusal makes
// it a rule and not a fact.
func isThrottleLine(text string) bool {
	if !hasAny(text, throttleStems) {
		return false
	}
	at := throttlePhrases.FindStringIndex(text)
	return at != nil && !conditionalPattern.MatchString(text[:at[1]])
}

// nameServerPair is a line of .to's form: the label, then a nameserver.
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
