package portal

import (
	"maps"

	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// mergeTexts returns all texts of the portal. Those about domains have files of their
// own.
func mergeTexts() ui.Texts {
	join := func(tables ...map[string]string) map[string]string {
		all := make(map[string]string)
		for _, table := range tables {
			maps.Copy(all, table)
		}
		return all
	}
	return ui.Texts{German: join(german, germanDomains), English: join(english, englishDomains)}
}
