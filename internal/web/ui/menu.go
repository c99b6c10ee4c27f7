package ui

import "slices"

type menuEntry struct {
	Path, Label string
	Current     bool
}

// translatedLink is a link to a page whose path is translated, too.
type translatedLink struct{ label, german, english string }

var publicLinks = []translatedLink{
	{"menu.search", StartPath, StartPath},
	{"menu.prices", PricesPath, EnglishPricesPath},
	{"menu.transfer", TransferPath, EnglishTransferPath},
	{"menu.assistant", AssistantPath, EnglishAssistantPath},
	{"menu.help", HelpPath, EnglishHelpPath},
}

var legalLinks = []translatedLink{
	{"menu.help", HelpPath, EnglishHelpPath},
	{"foot.contact", ContactPath, EnglishContactPath},
	{"foot.imprint", ImprintPath, EnglishImprintPath},
	{"foot.terms", TermsPath, EnglishTermsPath},
	{"foot.privacy", PrivacyPath, EnglishPrivacyPath},
	{"foot.withdrawal", WithdrawalPath, EnglishWithdrawalPath},
	{"foot.cancellation", CancellationPath, EnglishCancellationPath},
}

func linksIn(language string, links []translatedLink, section string) []menuEntry {
	list := make([]menuEntry, len(links))
	for i, link := range links {
		path := InLanguage(language, link.german, link.english)
		list[i] = menuEntry{Path: path, Label: link.label, Current: path == section}
	}
	return list
}

// publicLinks returns the links of the header to pages that exist.
func (f *Frame) publicLinks() []translatedLink {
	return slices.DeleteFunc(slices.Clone(publicLinks), func(link translatedLink) bool {
		return link.german == TransferPath && !f.cfg.Orders || link.german == HelpPath && !f.cfg.Legal
	})
}

// translations returns the German and the English path of a public page.
func translations(section string) (german, english string, found bool) {
	if section == StartPath {
		return StartPath, EnglishStartPath, true
	}
	for _, link := range slices.Concat(publicLinks, legalLinks) {
		if section == link.german || section == link.english {
			return link.german, link.english, true
		}
	}
	return "", "", false
}

// menu is the menu of signed-in visitors.
var menu = [...]menuEntry{
	{Path: HomePath, Label: "menu.overview"},
	{Path: "/portal/domains", Label: "menu.domains"},
	{Path: OrdersPath, Label: "menu.orders"},
	{Path: InvoicesPath, Label: "menu.invoices"},
	{Path: PaymentMethodsPath, Label: "menu.payment_methods"},
	{Path: "/portal/profile", Label: "menu.profile"},
	{Path: "/portal/security", Label: "menu.security"},
	{Path: AgentsPath, Label: "menu.agents"},
	{Path: "/portal/activity", Label: "menu.activity"},
}

func markCurrent(entries []menuEntry, section string) []menuEntry {
	list := slices.Clone(entries)
	for i := range list {
		list[i].Current = list[i].Path == section
	}
	return list
}
