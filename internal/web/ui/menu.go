package ui

import "slices"

type menuEntry struct {
	Path, Label string
	Current     bool
}

// publicLinks are the public pages by language; their paths are translated, too.
var publicLinks = map[string][]menuEntry{
	German:  {{Path: StartPath, Label: "menu.search"}, {Path: PricesPath, Label: "menu.prices"}, {Path: AssistantPath, Label: "menu.assistant"}},
	English: {{Path: StartPath, Label: "menu.search"}, {Path: EnglishPricesPath, Label: "menu.prices"}, {Path: EnglishAssistantPath, Label: "menu.assistant"}},
}

var legalLinks = map[string][]menuEntry{
	German: {
		{Path: ImprintPath, Label: "foot.imprint"},
		{Path: TermsPath, Label: "foot.terms"},
		{Path: PrivacyPath, Label: "foot.privacy"},
		{Path: WithdrawalPath, Label: "foot.withdrawal"},
		{Path: CancellationPath, Label: "foot.cancellation"},
	},
	English: {
		{Path: EnglishImprintPath, Label: "foot.imprint"},
		{Path: EnglishTermsPath, Label: "foot.terms"},
		{Path: EnglishPrivacyPath, Label: "foot.privacy"},
		{Path: EnglishWithdrawalPath, Label: "foot.withdrawal"},
		{Path: EnglishCancellationPath, Label: "foot.cancellation"},
	},
}

var menu = [...]menuEntry{
	{Path: "/portal/domains", Label: "menu.domains"},
	{Path: OrdersPath, Label: "menu.orders"},
	{Path: "/portal/profile", Label: "menu.profile"},
	{Path: "/portal/security", Label: "menu.security"},
	{Path: "/portal/tokens", Label: "menu.tokens"},
	{Path: "/portal/apps", Label: "menu.apps"},
	{Path: "/portal/activity", Label: "menu.activity"},
}

func markCurrent(entries []menuEntry, section string) []menuEntry {
	list := slices.Clone(entries)
	for i := range list {
		list[i].Current = list[i].Path == section
	}
	return list
}
