package invoicepdf

import (
	"strings"
	"testing"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

func TestCountryName_IsThatOfCLDR(t *testing.T) {
	t.Parallel()
	for _, code := range account.Countries() {
		want := strings.ToUpper(display.German.Regions().Name(language.MustParseRegion(code)))
		if got := countryName("de", code); got != want {
			t.Errorf("%s is %q, want %q", code, got, want)
		}
	}
	if got := countryName("de", "QQ"); got != "QQ" {
		t.Errorf("an unknown code is %q", got)
	}
	if got := countryName("en", "GB"); got != "UNITED KINGDOM" {
		t.Errorf("an English document names %q", got)
	}
}
