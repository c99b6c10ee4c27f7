package httpjson

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// CheckResult is the contract's CheckResult with our additions.
type CheckResult struct {
	Domain      string           `json:"domain"`
	TLD         string           `json:"tld"`
	Available   *bool            `json:"available"`
	RegisterEUR *registrar.Cents `json:"registerEur,omitempty"`
	RenewEUR    *registrar.Cents `json:"renewEur,omitempty"`
	TransferEUR *registrar.Cents `json:"transferEur,omitempty"`
	Terms
	evidence
}

// Terms are conditions of sale besides the prices. The contract does not require them.
type Terms struct {
	RestoreEUR      *registrar.Cents `json:"restoreEur,omitempty"` // the price of restoring a deleted name; omitted if that is not possible here
	MinYears        int              `json:"minYears,omitempty"`   // the term of a registration; omitted if it is one year
	Requires        string           `json:"requires,omitempty"`   // a registry requirement for the holder
	Orderable       *bool            `json:"orderable,omitempty"`  // omitted if nothing was decided
	OrderableReason registrar.Code   `json:"orderableReason,omitempty"`
}

func newTerms(tld string, restore *registrar.Cents, renew registrar.Cents, minYears int, requires string, decided bool, refusal registrar.Code) Terms {
	t := Terms{Requires: requires}
	if restore != nil && lifecycle.DaysToRestore(tld, *restore, renew) > 0 {
		t.RestoreEUR = restore
	}
	if minYears > 1 {
		t.MinYears = minYears
	}
	switch {
	case !decided:
	case refusal == "":
		t.Orderable = &yes
	default:
		t.Orderable, t.OrderableReason = &no, refusal
	}
	return t
}

func termsOf(answer lookup.Answer) Terms {
	var (
		restore *registrar.Cents
		renew   registrar.Cents
	)
	if answer.Prices != nil {
		restore, renew = &answer.Prices.Restore, answer.Prices.Renew
	}
	return newTerms(answer.TLD, restore, renew, answer.MinYears, answer.Requires, answer.Order.Decided, answer.Order.Refusal)
}

// PriceResult is the price list entry of one extension with its conditions.
type PriceResult struct {
	TLD         string          `json:"tld"`
	RegisterEUR registrar.Cents `json:"registerEur"`
	RenewEUR    registrar.Cents `json:"renewEur"`
	TransferEUR registrar.Cents `json:"transferEur"`
	Terms
}

// NewPriceResult also says whether names of the extension can be registered here.
func NewPriceResult(ext registrar.Extension) PriceResult {
	return PriceResult{
		TLD: ext.TLD, RegisterEUR: ext.Register, RenewEUR: ext.Renew, TransferEUR: ext.Transfer,
		Terms: newTerms(ext.TLD, &ext.Restore, ext.Renew, ext.MinYears, ext.Requires, ext.Sale.Decided, ext.Sale.NoRegistration),
	}
}

// evidence says which source decided, when and why. The contract does not require it.
type evidence struct {
	CheckedAt time.Time     `json:"checkedAt,omitzero"` // whole seconds in UTC
	Source    lookup.Source `json:"source,omitempty"`
	Reason    lookup.Reason `json:"reason,omitempty"`
	Premium   bool          `json:"premium,omitempty"`
}

func evidenceOf(answer lookup.Answer) evidence {
	return evidence{
		CheckedAt: answer.CheckedAt.UTC().Truncate(time.Second), Source: answer.Source, Reason: answer.Reason, Premium: answer.Premium,
	}
}

// UnsupportedResult is the contract's UnsupportedResult.
type UnsupportedResult struct {
	Domain    string `json:"domain"`
	TLD       string `json:"tld"`
	Supported bool   `json:"supported"`
}

// SearchResult is the contract's SearchResult.
type SearchResult struct {
	SLD     string        `json:"sld"`
	Results []SearchEntry `json:"results"`
}

// SearchEntry is the result for one extension.
type SearchEntry struct {
	Domain    string           `json:"domain"`
	TLD       string           `json:"tld"`
	Available *bool            `json:"available"`
	PriceEUR  *registrar.Cents `json:"priceEur"`
	Error     bool             `json:"error,omitempty"`
	Terms
	evidence
}

// NewCheckResult converts answer to the contract's form.
func NewCheckResult(answer lookup.Answer) CheckResult {
	body := CheckResult{
		Domain: answer.Domain, TLD: answer.TLD, Available: available(answer), Terms: termsOf(answer), evidence: evidenceOf(answer),
	}
	if p := answer.Prices; p != nil {
		body.RegisterEUR, body.RenewEUR, body.TransferEUR = &p.Register, &p.Renew, &p.Transfer
	}
	return body
}

// NewSearchResult converts result to the contract's form. onError receives the error of
// each failed entry.
func NewSearchResult(result lookup.Result, onError func(error)) SearchResult {
	body := SearchResult{SLD: result.Label, Results: make([]SearchEntry, 0, len(result.Entries))}
	for _, entry := range result.Entries {
		item := SearchEntry{
			Domain: entry.Domain, TLD: entry.TLD, Available: available(entry.Answer),
			Terms: termsOf(entry.Answer), evidence: evidenceOf(entry.Answer),
		}
		switch {
		case entry.Err != nil:
			item.Error = true
			onError(entry.Err)
		case entry.Prices != nil:
			item.PriceEUR = &entry.Prices.Register
		}
		body.Results = append(body.Results, item)
	}
	return body
}

var yes, no = true, false

// available is the contract's boolean or null.
func available(answer lookup.Answer) *bool {
	switch answer.Availability {
	case lookup.Available:
		return &yes
	case lookup.Taken:
		return &no
	default:
		return nil
	}
}

// WhoisResult is the non-personal part of a record. It has no field that could carry a
// contact.
type WhoisResult struct {
	Domain      string   `json:"domain"`
	TLD         string   `json:"tld"`
	Registered  bool     `json:"registered"`
	Status      []string `json:"status"`
	CreatedAt   *string  `json:"createdAt"`
	UpdatedAt   *string  `json:"updatedAt"`
	ExpiresAt   *string  `json:"expiresAt"`
	Nameservers []string `json:"nameservers"`
	Registrar   *string  `json:"registrar"`
}

// NewWhoisResult converts a record; missing values are null.
func NewWhoisResult(answer lookup.WhoisAnswer) WhoisResult {
	record := answer.Record
	result := WhoisResult{
		Domain: answer.Domain, TLD: answer.TLD, Registered: answer.Registered,
		Status: nonNil(record.Status), Nameservers: nonNil(record.Nameservers),
		CreatedAt: rfc3339(record.Created), UpdatedAt: rfc3339(record.Updated), ExpiresAt: rfc3339(record.Expires),
	}
	if record.Registrar != "" {
		result.Registrar = &record.Registrar
	}
	return result
}

func nonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func rfc3339(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC().Format(time.RFC3339))
}

// Totals are the sums of an order. VATRate is in percent.
type Totals struct {
	NetEUR   registrar.Cents `json:"netEur"`
	VATEUR   registrar.Cents `json:"vatEur"`
	GrossEUR registrar.Cents `json:"grossEur"`
	VATRate  float64         `json:"vatRate"`
}

// NewTotals converts the totals of an order.
func NewTotals(t order.Totals) Totals {
	return Totals{NetEUR: t.Net, VATEUR: t.VAT, GrossEUR: t.Gross, VATRate: float64(t.RateBasisPoints) / 100}
}
