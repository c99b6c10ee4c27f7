// Package registrar holds the words that every other package speaks: a domain
// Name, an Extension with its prices, an amount in Cents, an Error with a kind.
//
// It promises three things. A Name that exists is well-formed: ParseName is
// the only way to make one. A price is a whole number of cents and never a
// float. An Error says in two separate fields what a caller may read (its
// Code, which a transport turns into a sentence) and what an operator may read
// (its Detail), and neither ever carries a searched name.
//
// It refuses to do I/O, to know a wire format other than the JSON number of an
// amount, and to speak a human language.
package registrar
