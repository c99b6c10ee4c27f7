package registrar

import "testing"

func TestFormatPlace_FollowsTheCountry(t *testing.T) {
	t.Parallel()
	for want, place := range map[string][4]string{
		"51147 Köln":            {"51147", "Köln", "", "DE"},
		"Austin, TX 78701":      {"78701", "Austin", "TX", "US"},
		"Dublin, D07 X2P5":      {"D07 X2P5", "Dublin", "", "IE"},
		"London, SW1A 1AA":      {"SW1A 1AA", "London", "", "GB"},
		"06000 México, CDMX":    {"06000", "México", "CDMX", "MX"},
		"Doha":                  {"", "Doha", "", "QA"},
		"1010 Wien, Innenstadt": {"1010", "Wien", "Innenstadt", "AT"},
	} {
		if got := FormatPlace(place[0], place[1], place[2], place[3]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCountryName_IsThatOfTheLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{{"de", "US", "Vereinigte Staaten"}, {"en", "US", "United States"}, {"en", "ZZ", "ZZ"}} {
		if got := CountryName(c[0], c[1]); got != c[2] {
			t.Errorf("%s in %s is %q, want %q", c[1], c[0], got, c[2])
		}
	}
}
