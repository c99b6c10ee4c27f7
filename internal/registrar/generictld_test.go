package registrar

import "testing"

func TestIsGenericTLD_CountryCodesAndPrivateZonesAreNot(t *testing.T) {
	t.Parallel()
	for extension, want := range map[string]bool{
		".com": true, ".xn--p1acf": true, ".museum": true,
		".de": false, ".co.uk": false, ".xn--p1ai": false, ".de.com": false, "": false,
	} {
		if IsGenericTLD(extension) != want {
			t.Errorf("IsGenericTLD(%q) is %t", extension, !want)
		}
	}
}
