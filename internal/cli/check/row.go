package check

import (
	"errors"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// row is the answer about one name, wherever it came from. Its JSON form has the
// fields of the service's CheckResult, and two for a name without an answer.
type row struct {
	Domain      string           `json:"domain"`
	TLD         string           `json:"tld,omitempty"`
	Available   *bool            `json:"available"`
	RegisterEUR *registrar.Cents `json:"registerEur,omitempty"`
	RenewEUR    *registrar.Cents `json:"renewEur,omitempty"`
	TransferEUR *registrar.Cents `json:"transferEur,omitempty"`
	httpjson.Terms
	Source    string `json:"source,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Premium   bool   `json:"premium,omitempty"`
	CheckedAt string `json:"checkedAt,omitempty"`
	// Error is a word for programs, Message a sentence for people; both are
	// empty if there is an answer.
	Error   string `json:"error,omitempty"`
	Message string `json:"message,omitempty"`
}

// The words for a name without an answer. They are those of the service's tools
// for agents.
const (
	errorInvalid     = "invalid_input"
	errorUnsupported = "unsupported_extension"
	errorRateLimited = "rate_limited"
	errorUpstream    = "upstream_failed"
	errorInternal    = "internal"
)

// errorCodeOf turns a kind into its word.
func errorCodeOf(kind registrar.Kind) string {
	switch kind {
	case registrar.KindInvalid:
		return errorInvalid
	case registrar.KindUnsupported:
		return errorUnsupported
	case registrar.KindRateLimited:
		return errorRateLimited
	case registrar.KindUpstream:
		return errorUpstream
	default:
		return errorInternal
	}
}

func (r row) free() bool { return r.Available != nil && *r.Available }

func (r row) failed() bool { return r.Error != "" }

// newRow is what the engine says about the name that was given.
func newRow(given string, answer lookup.Answer, err error) row {
	r := row{Domain: answer.Domain, TLD: answer.TLD}
	if r.Domain == "" {
		r.Domain = given
	}
	if err != nil {
		r.Error, r.Message = errorCodeOf(registrar.KindOf(err)), errorText(err)
		return r
	}
	if answer.Availability != lookup.Unknown {
		free := answer.Availability == lookup.Available
		r.Available = &free
	}
	if p := answer.Prices; p != nil {
		r.RegisterEUR, r.RenewEUR, r.TransferEUR = &p.Register, &p.Renew, &p.Transfer
	}
	r.Terms = httpjson.NewCheckResult(answer).Terms
	r.Source, r.Reason, r.Premium = string(answer.Source), string(answer.Reason), answer.Premium
	r.CheckedAt = answer.CheckedAt.UTC().Format(time.RFC3339)
	return r
}

// errorTexts are what a person reads in a terminal about a name without an
// answer: short, German first.
var errorTexts = map[registrar.Code]string{
	registrar.NameEmpty:           "leer / empty",
	registrar.NameNoExtension:     "ohne Endung / no extension",
	registrar.NameIsExtension:     "nur eine Endung / an extension only",
	registrar.NameSubdomain:       "mehr als ein Namensteil vor der Endung / more than one label before the extension",
	registrar.NameEmptyLabel:      "leerer Namensteil / empty label",
	registrar.NameLabelTooLong:    "Namensteil über 63 Zeichen / label over 63 characters",
	registrar.NameTooLong:         "Name über 253 Zeichen / name over 253 characters",
	registrar.NameHyphenEdge:      "Bindestrich am Rand / hyphen at an edge",
	registrar.NameHyphens34:       "zwei Bindestriche an 3. und 4. Stelle / hyphens at 3 and 4",
	registrar.NamePunycode:        "ungültiges xn-- / invalid xn--",
	registrar.NameUnderscore:      "Unterstrich / underscore",
	registrar.NameAddress:         "eine IP-Adresse / an IP address",
	registrar.NameURL:             "eine Internetadresse / a URL",
	registrar.NamePort:            "Doppelpunkt oder Port / colon or port",
	registrar.NameEmail:           "eine E-Mail-Adresse / an e-mail address",
	registrar.NameControl:         "Steuerzeichen / control character",
	registrar.NameSpace:           "Leerzeichen / white space",
	registrar.NameCharacter:       "unzulässiges Zeichen / character not allowed",
	registrar.NameNotASCII:        "nur a-z, 0-9 und - / a-z, 0-9 and - only",
	registrar.ExtensionNotCarried: "Endung nicht im Angebot / extension not carried",
	registrar.FaultTimeout:        "keine Antwort der Registry / no answer of the registry",
	registrar.FaultRefused:        "Registry nicht erreichbar / registry not reachable",
	registrar.FaultThrottled:      "Registry drosselt / registry throttles",
	registrar.FaultBroken:         "Antwort der Registry unverständlich / broken answer of the registry",
	registrar.FaultBusy:           "zu viele Abfragen zugleich / too many questions at once",
	lookup.Undetermined:           "nicht feststellbar / cannot be determined",
}

func errorText(err error) string {
	var e *registrar.Error
	if errors.As(err, &e) {
		if text, known := errorTexts[e.Code]; known {
			return text
		}
	}
	return "interner Fehler / internal error"
}
