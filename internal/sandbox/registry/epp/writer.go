package epp

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// XML namespaces.
const (
	eppSpace      = "urn:ietf:params:xml:ns:epp-1.0"
	domainSpace   = "urn:ietf:params:xml:ns:domain-1.0"
	contactSpace  = "urn:ietf:params:xml:ns:contact-1.0"
	hostSpace     = "urn:ietf:params:xml:ns:host-1.0"
	feeSpace      = "urn:ietf:params:xml:ns:epp:fee-1.0"
	secDNSSpace   = "urn:ietf:params:xml:ns:secDNS-1.1"
	rgpSpace      = "urn:ietf:params:xml:ns:rgp-1.0"
	loginSecSpace = "urn:ietf:params:xml:ns:epp:loginSec-1.0"
	balanceSpace  = "http://www.verisign.com/epp/balance-1.0"
	eurSpace      = "http://www.eurid.eu/xml/epp/contact-ext-1.3"
	nicATSpace    = "http://www.nic.at/xsd/at-ext-contact-1.0"
	// Of messages only.
	lowBalanceSpace  = "http://www.verisign.com/epp/lowbalance-poll-1.0"
	maintenanceSpace = "urn:ietf:params:xml:ns:epp:maintenance-1.0"
	changeSpace      = "urn:ietf:params:xml:ns:changePoll-1.0"
	unknownSpace     = "https://registry.example/notice-1.0" // no client knows it
)

// spaceOf maps prefixes to namespaces.
var spaceOf = map[string]string{
	"epp": eppSpace, "domain": domainSpace, "contact": contactSpace, "host": hostSpace,
	"fee": feeSpace, "secDNS": secDNSSpace, "rgp": rgpSpace, "loginSec": loginSecSpace, "contact-ext": eurSpace, "at-ext-contact": nicATSpace,
	"balance": balanceSpace, "lowbalance-poll": lowBalanceSpace, "maint": maintenanceSpace, "changePoll": changeSpace, "sim": unknownSpace,
}

const frameBegin = "\x00\x00\x00\x00" + `<?xml version="1.0" encoding="UTF-8" standalone="no"?>` + "\n" +
	`<epp xmlns="` + eppSpace + `">`

// writer writes XML. Its zero value is ready.
type writer struct {
	text []byte
	open []string
}

func (w *writer) raw(text string) { w.text = append(w.text, text...) }

// begin opens an element; attributes come in pairs. A prefixed element without a
// parent of the same prefix declares it.
func (w *writer) begin(name string, attrs ...string) {
	w.start(name, attrs)
	w.text = append(w.text, '>')
	w.open = append(w.open, name)
}

func (w *writer) start(name string, attrs []string) {
	w.text = append(append(w.text, '<'), name...)
	if prefix, _, found := strings.Cut(name, ":"); found && !w.declared(prefix) {
		w.text = append(append(append(w.text, " xmlns:"...), prefix...), `="`...)
		w.text = append(append(w.text, spaceOf[prefix]...), '"')
	}
	for i := 0; i+1 < len(attrs); i += 2 {
		w.text = append(append(append(w.text, ' '), attrs[i]...), `="`...)
		w.escape(attrs[i+1])
		w.text = append(w.text, '"')
	}
}

func (w *writer) declared(prefix string) bool {
	for _, name := range w.open {
		if strings.HasPrefix(name, prefix) && len(name) > len(prefix) && name[len(prefix)] == ':' {
			return true
		}
	}
	return false
}

// end closes the innermost element.
func (w *writer) end() {
	last := w.open[len(w.open)-1]
	w.open = w.open[:len(w.open)-1]
	w.text = append(append(append(w.text, "</"...), last...), '>')
}

// element writes an element with a text.
func (w *writer) element(name, text string, attrs ...string) {
	w.start(name, attrs)
	if text == "" {
		w.text = append(w.text, "/>"...)
		return
	}
	w.text = append(w.text, '>')
	w.escape(text)
	w.text = append(append(append(w.text, "</"...), name...), '>')
}

// optional writes an element unless its text is empty.
func (w *writer) optional(name, text string) {
	if text != "" {
		w.element(name, text)
	}
}

// dateTime writes a time unless it is zero.
func (w *writer) dateTime(name string, at time.Time) {
	if !at.IsZero() {
		w.element(name, dateTime(at))
	}
}

func (w *writer) escape(text string) {
	for i := range len(text) {
		switch c := text[i]; c {
		case '<':
			w.text = append(w.text, "&lt;"...)
		case '>':
			w.text = append(w.text, "&gt;"...)
		case '&':
			w.text = append(w.text, "&amp;"...)
		case '"':
			w.text = append(w.text, "&quot;"...)
		default:
			w.text = append(w.text, c)
		}
	}
}

func dateTime(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

func cents(amount int64) string {
	sign := ""
	if amount < 0 {
		sign, amount = "-", -amount
	}
	return fmt.Sprintf("%s%d.%02d", sign, amount/100, amount%100)
}

// resultTexts are the messages of RFC 5730, 3.
var resultTexts = map[ledger.Code]string{
	ledger.Done:              "Command completed successfully",
	ledger.DonePending:       "Command completed successfully; action pending",
	ledger.NoMessages:        "Command completed successfully; no messages",
	ledger.AckToDequeue:      "Command completed successfully; ack to dequeue",
	ledger.DoneEnding:        "Command completed successfully; ending session",
	ledger.UnknownCommand:    "Unknown command",
	ledger.SyntaxError:       "Command syntax error",
	ledger.UseError:          "Command use error",
	ledger.Missing:           "Required parameter missing",
	ledger.OutOfRange:        "Parameter value range error",
	ledger.ValueSyntax:       "Parameter value syntax error",
	ledger.NoSuchVersion:     "Unimplemented protocol version",
	ledger.NoSuchCommand:     "Unimplemented command",
	ledger.NoSuchOption:      "Unimplemented option",
	ledger.NoSuchExtension:   "Unimplemented extension",
	ledger.BillingFailure:    "Billing failure",
	ledger.NotRenewable:      "Object is not eligible for renewal",
	ledger.NotTransferable:   "Object is not eligible for transfer",
	ledger.NotAuthenticated:  "Authentication error",
	ledger.NotAuthorised:     "Authorization error",
	ledger.WrongAuthInfo:     "Invalid authorization information",
	ledger.TransferPending:   "Object pending transfer",
	ledger.NoTransferPending: "Object not pending transfer",
	ledger.Exists:            "Object exists",
	ledger.NotFound:          "Object does not exist",
	ledger.StatusForbids:     "Object status prohibits operation",
	ledger.StillUsed:         "Object association prohibits operation",
	ledger.PolicyForbids:     "Parameter value policy error",
	ledger.NoSuchService:     "Unimplemented object service",
	ledger.Failed:            "Command failed",
	ledger.FailedClosing:     "Command failed; server closing connection",
	ledger.NotAuthClosing:    "Authentication error; server closing connection",
	ledger.LimitClosing:      "Session limit exceeded; server closing connection",
}

// result writes the result of a response; refusal may be nil.
func (w *writer) result(code ledger.Code, refusal *ledger.Refusal) {
	w.raw(`<result code="`)
	w.text = strconv.AppendInt(w.text, int64(code), 10)
	w.raw(`"><msg>`)
	w.raw(resultTexts[code])
	w.raw("</msg>")
	if refusal != nil && refusal.Reason != "" {
		w.raw("<extValue><value>")
		if refusal.Element == "" {
			w.raw("<undef/>")
		} else {
			w.element(refusal.Element, printable(refusal.Value))
		}
		w.raw("</value>")
		w.element("reason", refusal.Reason)
		w.raw("</extValue>")
	}
	w.raw("</result>")
}

// printable sanitises client input for a response.
func printable(text string) string {
	if len(text) > 255 {
		text = text[:255]
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == '\ufffd' || r == '\ufffe' || r == '\uffff' {
			return ' '
		}
		return r
	}, text)
}
