package cli

import "github.com/dotkontor/dotkontor/internal/registrar"

var nameProblems = map[registrar.Code]string{
	registrar.NameEmpty:        "empty",
	registrar.NameNoExtension:  "no extension",
	registrar.NameIsExtension:  "only an extension",
	registrar.NameSubdomain:    "more than one label before the extension",
	registrar.NameEmptyLabel:   "empty label",
	registrar.NameLabelTooLong: "label over 63 characters",
	registrar.NameTooLong:      "name over 253 characters",
	registrar.NameHyphenEdge:   "hyphen at start or end",
	registrar.NameHyphens34:    "hyphens in positions 3 and 4",
	registrar.NamePunycode:     "invalid xn--",
	registrar.NameUnderscore:   "underscore",
	registrar.NameAddress:      "an IP address",
	registrar.NameURL:          "a URL",
	registrar.NamePort:         "colon or port",
	registrar.NameEmail:        "an email address",
	registrar.NameControl:      "control character",
	registrar.NameSpace:        "white space",
	registrar.NameCharacter:    "character not allowed",
	registrar.NameNotASCII:     "only a-z, 0-9 and - are allowed",
}

// NameProblem says what is wrong with a domain name, in words for a line of output; "" if err
// is not about that.
func NameProblem(err error) string { return nameProblems[registrar.CodeOf(err)] }
