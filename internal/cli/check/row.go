package check

import (
	"cmp"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// row is the result of one name, from a service or from the sources. Its JSON form has the
// fields of the service's CheckResult, and two for errors.
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
	// Error is a code, Message its text; both are empty if the lookup succeeded.
	Error   string `json:"error,omitempty"`
	Message string `json:"message,omitempty"`
}

// Error codes, the same as those of the service's MCP tools.
const (
	errorInvalid     = "invalid_input"
	errorUnsupported = "unsupported_extension"
	errorRateLimited = "rate_limited"
	errorUpstream    = "upstream_failed"
	errorInternal    = "internal"
)

// errorCodes are the codes of kinds; all others are errorInternal.
var errorCodes = map[registrar.Kind]string{
	registrar.KindInvalid: errorInvalid, registrar.KindUnsupported: errorUnsupported,
	registrar.KindRateLimited: errorRateLimited, registrar.KindUpstream: errorUpstream,
}

func (r row) free() bool { return r.Available != nil && *r.Available }

func (r row) failed() bool { return r.Error != "" }

func newRow(given string, answer lookup.Answer, err error) row {
	r := row{Domain: cmp.Or(answer.Domain, given), TLD: answer.TLD}
	if err != nil {
		r.Error, r.Message = cmp.Or(errorCodes[registrar.KindOf(err)], errorInternal), errorText(err)
		return r
	}
	if answer.Availability != lookup.Unknown {
		r.Available = new(answer.Availability == lookup.Available)
	}
	if p := answer.Prices; p != nil {
		r.RegisterEUR, r.RenewEUR, r.TransferEUR = &p.Register, &p.Renew, &p.Transfer
	}
	r.Terms = httpjson.NewCheckResult(answer).Terms
	r.Source, r.Reason, r.Premium = string(answer.Source), string(answer.Reason), answer.Premium
	r.CheckedAt = answer.CheckedAt.UTC().Format(time.RFC3339)
	return r
}

var errorTexts = map[registrar.Code]string{
	registrar.ExtensionNotCarried: "extension not offered",
	registrar.FaultTimeout:        "registry timed out",
	registrar.FaultRefused:        "registry unreachable",
	registrar.FaultThrottled:      "registry is throttling",
	registrar.FaultBroken:         "invalid response from the registry",
	registrar.FaultBusy:           "too many concurrent lookups",
	lookup.Undetermined:           "undetermined",
}

func errorText(err error) string {
	return cmp.Or(cli.NameProblem(err), errorTexts[registrar.CodeOf(err)], "internal error")
}
