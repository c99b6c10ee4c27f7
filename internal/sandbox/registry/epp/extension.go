package epp

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// protocolExtensions are the EPP extensions of one command, by prefix and name.
type protocolExtensions map[string]*node

// prefixOf is the inverse of spaceOf.
var prefixOf = func() map[string]string {
	prefixes := map[string]string{}
	for prefix, space := range spaceOf {
		prefixes[space] = prefix
	}
	return prefixes
}()

// protocolExtensions collects the EPP extensions of a command. One that the command
// can't carry, or the login did not name, is 2103.
func (s *session) protocolExtensions(c *command, allowed ...string) (protocolExtensions, *ledger.Refusal) {
	if len(c.ext) == 0 {
		return nil, nil
	}
	found := protocolExtensions{}
	for _, ext := range c.ext {
		name := prefixOf[ext.space] + ":" + ext.name
		if !slices.Contains(allowed, name) || c.verb != "login" && !s.services[ext.space] {
			return nil, &ledger.Refusal{Code: ledger.NoSuchExtension, Reason: "The extension " + printable(ext.name) + " can't be used here."}
		}
		if found[name] != nil {
			return nil, syntax("The extension " + ext.name + " appears twice.")
		}
		found[name] = ext
	}
	return found, nil
}

// agreedFee reads the fee that a client agrees to; nil if there is none.
func (e protocolExtensions) agreedFee(name string) (*ledger.AgreedFee, *ledger.Refusal) {
	of := e[name]
	if of == nil {
		return nil, nil
	}
	s := children(of)
	offer := &ledger.AgreedFee{}
	if currency := s.optional("currency"); currency != nil {
		offer.Currency = s.currency(currency)
	}
	fees := s.repeated("fee", 16)
	if len(fees) == 0 {
		s.required("fee")
	}
	for _, fee := range fees {
		offer.Cents += s.money(fee, 1, "description", "lang", "refundable", "grace-period", "applied")
	}
	for _, credit := range s.repeated("credit", 16) {
		offer.Cents += s.money(credit, -1, "description", "lang")
	}
	return offer, s.result()
}

func (s *sequence) currency(of *node) string {
	text := of.text
	if len(text) != 3 || strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" || len(of.children) > 0 {
		s.fail(syntax("A currency is three capital letters."))
	}
	return text
}

// money reads a decimal number with the given sign as cents, dropping fractions of
// a cent.
func (s *sequence) money(of *node, sign int64, attrs ...string) int64 {
	text := s.token(of, 1, 20, attrs...)
	negative := strings.HasPrefix(text, "-")
	text = strings.TrimLeft(text, "+-")
	whole, part, _ := strings.Cut(text, ".")
	if whole+part == "" || len(whole) > 12 || strings.Trim(whole+part, "0123456789") != "" {
		s.fail(syntax("The value of " + of.name + " is not an amount."))
		return 0
	}
	cents, err := strconv.ParseInt("0"+whole+(part + "00")[:2], 10, 64)
	if err != nil || negative != (sign < 0) && cents != 0 {
		s.fail(syntax("The value of " + of.name + " is not an amount."))
	}
	return sign * cents
}

// feeResult writes the fee or refund of a command for clients with the fee
// extension.
func (s *session) feeResult(w *writer, name string, years int, fee, credit int64) {
	if !s.services[feeSpace] {
		return
	}
	w.begin("fee:" + name)
	w.element("fee:currency", ledger.Currency)
	if years > 0 {
		w.element("fee:period", strconv.Itoa(years), "unit", "y")
	}
	if credit > 0 {
		w.element("fee:credit", cents(-credit))
	} else {
		w.element("fee:fee", cents(fee))
	}
	w.end()
}

// feeQuery is the price query for one operation.
type feeQuery struct {
	name     string
	years    int
	op       ledger.Operation
	unusable string // why there is no price
}

var feeOperations = map[string]ledger.Operation{
	"create": ledger.Create, "renew": ledger.Renew, "transfer": ledger.TransferIn, "restore": ledger.Restore,
	"delete": ledger.Delete, "update": ledger.Update,
}

// feeCheck reads the price queries of a check (RFC 8748, 5.1.1).
func feeCheck(of *node) (currency string, questions []feeQuery, refusal *ledger.Refusal) {
	s := children(of)
	if c := s.optional("currency"); c != nil {
		currency = s.currency(c)
	}
	commands := s.repeated("command", 16)
	if len(commands) == 0 {
		s.required("command")
	}
	for _, c := range commands {
		part := children(c, "name", "customName", "phase", "subphase")
		name, _ := c.attr("name")
		part.pick("name", name, "create", "delete", "renew", "update", "transfer", "restore", "custom")
		q := feeQuery{name: name, years: part.period(part.optional("period"))}
		op, known := feeOperations[name]
		q.op = op
		if _, phase := c.attr("phase"); !known || phase {
			q.unusable = "Not offered"
		}
		s.merge(part)
		questions = append(questions, q)
	}
	return currency, questions, s.result()
}

// feeAnswers writes the prices of the names in a check.
func feeAnswers(w *writer, names []string, answers []ledger.Availability, currency string, questions []feeQuery) {
	w.begin("fee:chkData")
	w.element("fee:currency", ledger.Currency)
	for i, name := range names {
		tariff := answers[i].Place.Fees
		reason := ""
		switch {
		case currency != "" && currency != ledger.Currency:
			reason = "Only " + ledger.Currency
		case tariff.Class == "":
			reason = "Invalid name"
		case answers[i].Place.State == ledger.Reserved:
			reason = "Reserved"
		}
		if reason != "" {
			w.begin("fee:cd", "avail", "0")
			w.element("fee:objID", name)
			w.element("fee:reason", reason)
			w.end()
			continue
		}
		w.begin("fee:cd", "avail", "1")
		w.element("fee:objID", name)
		w.element("fee:class", tariff.Class)
		for _, q := range questions {
			q.answer(w, answers[i].Place)
		}
		w.end()
	}
	w.end()
}

func (q feeQuery) answer(w *writer, place ledger.NameEntry) {
	standard := "0"
	if place.Fees.Standard() {
		standard = "1"
	}
	w.begin("fee:command", "name", q.name, "standard", standard)
	defer w.end()
	years := max(q.years, 1)
	if q.op == ledger.Create && q.years == 0 {
		years = max(place.Policy.MinYears, 1)
	}
	if q.op == ledger.Create || q.op == ledger.Renew || q.op == ledger.TransferIn {
		w.element("fee:period", strconv.Itoa(years), "unit", "y")
	}
	reason := q.unusable
	if years > 10 || q.op == ledger.Create && years < place.Policy.MinYears || q.op == ledger.TransferIn && years != 1 {
		reason = "Term not offered"
	}
	if reason != "" {
		w.element("fee:reason", reason)
		return
	}
	attrs := []string{}
	if grace, known := graceOf[q.op]; known && !place.Policy.Gateway {
		attrs = append(attrs, "refundable", "1", "grace-period", grace)
	}
	w.element("fee:fee", cents(place.Fees.Cost(q.op, years)), attrs...)
}

// graceOf are the refund periods.
var graceOf = map[ledger.Operation]string{ledger.Create: "P5D", ledger.Renew: "P5D", ledger.TransferIn: "P5D"}
