package lookup

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestClassifyLabel_ByExtensionRules(t *testing.T) {
	list := fakeCatalog{".de", ".com", ".at", ".ch", ".berlin", ".dev", ".co.uk", ".io", ".org", ".xn--p1acf"}
	for domain, want := range map[string]labelClass{
		"kaffeehaus.de": registrable, "x.de": registrable, "ü.de": registrable, "bücher.de": registrable, "straße.at": registrable,
		"пример.com": registrable, "中文.com": doubtful, "中文字.com": registrable, "пример.xn--p1acf": registrable,
		"пример.de": doubtful, "中文.de": doubtful, "ελλάδα.at": doubtful, "אבג.ch": doubtful,
		"gооgle.com":   doubtful, // two Cyrillic letters among Latin ones
		"aя.com":       doubtful,
		"i̇stanbul.de": doubtful, // with a combining dot
		"ƃook.de":      doubtful,
		"bücher.dev":   doubtful,
		"ü.berlin":     doubtful,
		"ab.berlin":    doubtful,
		"ab.ch":        doubtful,
		"a.co.uk":      doubtful,
		"ab.io":        doubtful,
		"ελλάδα.org":   doubtful,
		"nic.dev":      withheld,
		"www.berlin":   withheld,
		"nic.de":       registrable,
	} {
		name, err := registrar.ParseName(domain, func(tld string) bool { _, ok := list.Extension(tld); return ok })
		if err != nil {
			t.Errorf("%s: %v", domain, err)
			continue
		}
		if got := classifyLabel(name); got != want {
			t.Errorf("classifyLabel(%s) = %d, want %d", domain, got, want)
		}
	}
}
