package epp

import (
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Priority is the priority of a command. Each class has a queue of its own; a command
// is sent when no class above it has one that may be sent.
type Priority uint8

const (
	// Orders: money moves, or was paid. It is the class of every command that
	// changes something, and of whatever does not say otherwise.
	PriorityOrder Priority = iota
	// Quotes: a signed-in customer or an agent wants to know what an order would
	// cost, or looks at what they hold.
	PriorityQuote
	// Lookups: anyone searches for names.
	PriorityLookup
	priorityCount = 3
)

// isShared reports whether a class leaves the connections and the share of the pace
// alone that are reserved for Orders.
func (c Priority) isShared() bool { return c != PriorityOrder }

// Command describes a command to an Extender.
type Command struct {
	// Verb is EPP's word: check, info, create, update, renew, transfer, delete,
	// poll, login.
	Verb string
	// Object is domain, contact or host; empty for poll and login.
	Object string
	// Request is the value that the caller handed in, such as a CreateDomain.
	Request any
}

// ProtocolExtension is the hook for a gateway that adds elements of its own to the
// protocol, such as the trustee that a holder needs or the brand of a reseller.
type ProtocolExtension interface {
	// URIs are the namespaces to ask for at login, where the server announces
	// them.
	URIs() []string
	// WriteExtension writes elements into the extension of a command. It is called after
	// our own are written, and for every command; most need nothing. It must
	// give the same elements again when a command is sent again.
	WriteExtension(command Command, w *Writer)
	// ReadExtension is handed what the server answered. extension is nil if there is
	// none. An error makes the answer one that can't be understood.
	ReadExtension(command Command, extension *Node) error
}

// call is one command on its way.
type call struct {
	Command
	// op is the attribute of transfer and poll.
	attrs []Attr
	// safe: sending it twice has the effect of sending it once.
	safe     bool
	priority Priority
	trid     string
	// requiredExtensions are extensions without which the command makes no sense.
	requiredExtensions []string
	body               func(w *Writer)
	// writeExtension writes our own extension elements.
	writeExtension func(w *Writer, has services)
}

// services are what a session may use, by namespace.
type services map[string]bool

const xmlHead = `<?xml version="1.0" encoding="UTF-8" standalone="no"?>` + "\n" + `<epp xmlns="` + nsEPP + `">`

const (
	minTRIDLength = 3
	maxTRIDLength = 64
)

// begin starts a frame with room for its length.
func (w *Writer) begin() {
	w.buf = append(w.buf[:0], 0, 0, 0, 0)
	w.err = nil
	w.buf = append(w.buf, xmlHead...)
}

// finish ends a frame and returns it.
func (w *Writer) finish(bound int) ([]byte, error) {
	w.End("epp")
	if len(w.buf) > bound {
		w.Fail("the command", "is longer than the bound")
	}
	if w.err != nil {
		return nil, w.err
	}
	putHeader(w.buf)
	return w.buf, nil
}

// encode writes the whole frame of a command.
func (c *call) encode(w *Writer, has services, protocolExt ProtocolExtension, bound int) ([]byte, error) {
	for _, uri := range c.requiredExtensions {
		if !has[uri] {
			return nil, &registrar.Error{Kind: registrar.KindUnsupported, Code: ResultUnsupported, Detail: "the server does not offer " + uri}
		}
	}
	w.begin()
	w.Start("command")
	if c.body == nil {
		w.Empty(c.Verb, c.attrs...)
	} else {
		w.Start(c.Verb, c.attrs...)
		c.body(w)
		w.End(c.Verb)
	}
	before := len(w.buf)
	w.Start("extension")
	inside := len(w.buf)
	if c.writeExtension != nil {
		c.writeExtension(w, has)
	}
	if protocolExt != nil {
		protocolExt.WriteExtension(c.Command, w)
	}
	if len(w.buf) == inside {
		w.buf = w.buf[:before] // the schema wants at least one element
	} else {
		w.End("extension")
	}
	w.sized("clTRID", c.trid, minTRIDLength, maxTRIDLength)
	w.End("command")
	return w.finish(bound)
}

func appendHello(w *Writer) []byte {
	w.begin()
	w.Empty("hello")
	frame, err := w.finish(minFrameLimit)
	if err != nil { // it has no content that could be wrong
		return nil
	}
	return frame
}

// knownExtensions are the extensions that this package knows.
func knownExtensions() []string { return []string{nsSecDNS, nsRGP, nsFee, nsLoginSec} }

// intersectURIs is what both sides know.
func intersectURIs(announced, known []string) []string {
	var both []string
	for _, uri := range announced {
		if slices.Contains(known, uri) && !slices.Contains(both, uri) {
			both = append(both, uri)
		}
	}
	return both
}
