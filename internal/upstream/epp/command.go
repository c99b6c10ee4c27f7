package epp

import "github.com/dotkontor/dotkontor/internal/registrar"

// Command describes a command to a ProtocolExtension.
type Command struct {
	// Verb is the EPP command: check, info, create, update, renew, transfer,
	// delete, poll or login.
	Verb string
	// Object is domain, contact or host; empty for poll and login.
	Object string
	// Request is the caller's request value, such as a CreateDomain.
	Request any
}

// call is a command with everything needed to encode and send it.
type call struct {
	Command
	// attrs holds the op attribute of transfer and poll.
	attrs []Attr
	// safe means that sending the command twice has the same effect as once.
	safe     bool
	priority Priority
	trid     string
	// requiredExtension is the EPP extension without which the command is not sent.
	requiredExtension string
	// body writes the content of the object's element, such as domain:create, or of
	// the command if it has no object.
	body func(w *Writer)
	// writeExtension writes the elements of the EPP extensions of this package.
	writeExtension func(w *Writer, has services)
}

// services are the namespaces that a session may use.
type services map[string]bool

const xmlHead = `<?xml version="1.0" encoding="UTF-8" standalone="no"?>` + "\n" + `<epp xmlns="` + nsEPP + `">`

// begin starts a frame and reserves space for its length.
func (w *Writer) begin() {
	w.buf = append(w.buf[:0], 0, 0, 0, 0)
	w.err = nil
	w.raw(xmlHead)
}

func (w *Writer) finish() ([]byte, error) {
	w.End("epp")
	if len(w.buf) > maxFrame {
		w.Fail("command", "exceeds the frame limit")
	}
	if w.err != nil {
		return nil, w.err
	}
	putHeader(w.buf)
	return w.buf, nil
}

func (c *call) encode(w *Writer, has services, protocolExt ProtocolExtension) ([]byte, error) {
	if uri := c.requiredExtension; uri != "" && !has[uri] {
		return nil, &registrar.Error{Kind: registrar.KindUnsupported, Code: ResultUnsupported, Detail: "the server does not offer " + uri}
	}
	w.begin()
	w.Start("command")
	if c.body == nil {
		w.Empty(c.Verb, c.attrs...)
	} else {
		w.Start(c.Verb, c.attrs...)
		if c.Object != "" {
			w.raw("<", c.Object, ":", c.Verb, " xmlns:", c.Object, `="urn:ietf:params:xml:ns:`, c.Object, `-1.0">`)
		}
		c.body(w)
		if c.Object != "" {
			w.raw("</", c.Object, ":", c.Verb, ">")
		}
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
		w.buf = w.buf[:before] // the schema requires at least one element
	} else {
		w.End("extension")
	}
	w.sized("clTRID", c.trid, 3, 64)
	w.End("command")
	return w.finish()
}
