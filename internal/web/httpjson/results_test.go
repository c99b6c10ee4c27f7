package httpjson

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// The fast encoder produces the same bytes as encoding/json or declines.
func TestCheckResult_AppendJSONMatchesEncodingJSON(t *testing.T) {
	price, free := registrar.Cents(690), registrar.Cents(0)
	for _, body := range []CheckResult{
		{Domain: "a.de", TLD: ".de"},
		{Domain: "a.de", TLD: ".de", Available: &yes, RegisterEUR: &price, RenewEUR: &price, TransferEUR: &free},
		{Domain: "a.de", TLD: ".de", Available: &no, evidence: evidence{
			CheckedAt: time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC), Source: lookup.SourceRDAP, Reason: lookup.ReasonRegistered, Premium: true,
		}},
		{Domain: "a.ai", TLD: ".ai", Available: &yes, Terms: Terms{
			RestoreEUR: &price, MinYears: 2, Requires: "eu_presence", Orderable: &no, OrderableReason: "no_registry_account",
		}},
		{Domain: "a.ai", TLD: ".ai", Terms: Terms{Orderable: &yes}},
	} {
		want, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := body.AppendJSON(nil); !ok || string(got) != string(want) {
			t.Errorf("got  %s, %v\nwant %s", got, ok, want)
		}
	}
	for _, domain := range []string{"bücher.de", `a"b`, "a\\b", "a<b", "a\nb"} {
		if got, ok := (CheckResult{Domain: domain}).AppendJSON(nil); ok {
			t.Errorf("%q is encoded as %s", domain, got)
		}
	}
}

func TestPriceResult_RestorePriceOnlyWhereDeletedNamesCanBeRestored(t *testing.T) {
	for _, ext := range []registrar.Extension{
		{TLD: ".com", Restore: 4990, Renew: 1150}, {TLD: ".de", Restore: 1790, Renew: 990}, {TLD: ".com", Renew: 1150}, {TLD: ".com", Restore: 4990},
	} {
		want := ext.TLD == ".com" && ext.Restore > 0 && ext.Renew > 0 // DENIC has no redemption period
		listed := NewPriceResult(ext).RestoreEUR
		checked := NewCheckResult(lookup.Answer{TLD: ext.TLD, Prices: &lookup.Prices{Restore: ext.Restore, Renew: ext.Renew}}).RestoreEUR
		if (listed != nil) != want || (checked != nil) != want {
			t.Errorf("%s at %d: %v in the price list, %v of a check", ext.TLD, ext.Restore, listed, checked)
		}
	}
}
