package registrar

import "strings"

// idnCountryTLDs are the internationalized country-code TLDs (IANA's root zone database).
var idnCountryTLDs = setOf(`
xn--2scrj9c xn--3e0b707e xn--3hcrj9c xn--45br5cyl xn--45brj9c xn--4dbrk0ce xn--54b7fta0cc xn--80ao21a xn--90a3ac
xn--90ae xn--90ais xn--clchc0ea0b2g2a9gcd xn--d1alf xn--e1a4c xn--fiqs8s xn--fiqz9s xn--fpcrj9c3d xn--fzc2c9e2c
xn--gecrj9c xn--h2breg3eve xn--h2brj9c xn--h2brj9c8c xn--j1amh xn--j6w193g xn--kprw13d xn--kpry57d xn--l1acc
xn--lgbbat1ad8j xn--mgb9awbf xn--mgba3a4f16a xn--mgbaam7a8h xn--mgbah1a3hjkrd xn--mgbai9azgqp6j xn--mgbayh7gpa
xn--mgbbh1a xn--mgbbh1a71e xn--mgbc0a9azcg xn--mgbcpq6gpa1a xn--mgberp4a5d4ar xn--mgbgu82a xn--mgbpl2fh xn--mgbtx2b
xn--mgbx4cd0ab xn--mix891f xn--node xn--o3cw4h xn--ogbpf8fl xn--p1ai xn--pgbs0dh xn--q7ce6a xn--qxa6a xn--qxam
xn--rvc1e0am3e xn--s9brj9c xn--wgbh1c xn--wgbl6a xn--xkc2al3hye2a xn--xkc2dl3a5ee0h xn--y9a3aq xn--yfro4i67o
xn--ygbi2ammx`)

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// IsGenericTLD reports whether ICANN's policies for gTLDs, such as the Transfer Policy, apply to
// an extension (".com"). They don't apply to ccTLDs, nor to extensions below another domain
// (".de.com"), which are not ICANN's.
func IsGenericTLD(extension string) bool {
	tld, below := strings.CutPrefix(extension, ".")
	return below && len(tld) > 2 && !strings.Contains(tld, ".") && !idnCountryTLDs[tld]
}
