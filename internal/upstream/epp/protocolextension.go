package epp

import "slices"

// ProtocolExtension adds a gateway's own elements to commands, such as a trustee or
// a reseller brand. See the package comment for standard EPP extensions.
type ProtocolExtension interface {
	// URIs are the namespaces to request at login if the server announces them.
	URIs() []string
	// WriteExtension writes elements into the extension of a command. It is called
	// for every command, after the elements of this package, and must write the
	// same elements when a command is repeated.
	WriteExtension(command Command, w *Writer)
	// ReadExtension receives the response's extension, which may be nil. An error
	// marks the response as unreadable.
	ReadExtension(command Command, extension *Node) error
}

// knownExtensions are the namespaces of the EPP extensions in this package.
var knownExtensions = []string{nsSecDNS, nsRGP, nsFee, nsLoginSec, nsChangePoll, nsContactEURid, nsContactNicAT}

// intersectURIs returns the URIs that both sides support.
func intersectURIs(announced, known []string) []string {
	var both []string
	for _, uri := range announced {
		if slices.Contains(known, uri) && !slices.Contains(both, uri) {
			both = append(both, uri)
		}
	}
	return both
}
