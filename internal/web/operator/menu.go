package operator

import "slices"

type menuEntry struct {
	Path, Label string
	Current     bool
	Work        openWork
}

// openWork is how much work waits on a page, and whether some of it is overdue.
type openWork struct {
	Open int
	Late bool
}

// menuGroup are entries behind one label, so that the menu fits on a phone. A group without a
// label has one entry, which is shown as it is.
type menuGroup struct {
	Label   string
	Entries []menuEntry
	Current bool
	Work    openWork // of all its entries
}

var menuGroups = []menuGroup{
	{Entries: []menuEntry{{Path: homePath, Label: "tab.home"}}},
	{Label: "menu.tasks", Entries: []menuEntry{
		{Path: noticesPath, Label: "tab.notices"},
		{Path: inquiriesPath, Label: "tab.inquiries"},
		{Path: disputesPath, Label: "tab.disputes"},
		{Path: transfersPath, Label: "tab.transfers"},
		{Path: termsPath, Label: "tab.terms"},
		{Path: contactsPath, Label: "tab.contacts"},
	}},
	{Label: "menu.money", Entries: []menuEntry{
		{Path: ordersPath, Label: "tab.orders"},
		{Path: paymentsPath, Label: "tab.payments"},
		{Path: refundsPath, Label: "tab.refunds"},
		{Path: revenuePath, Label: "tab.revenue"},
		{Path: marginPath, Label: "tab.margin"},
	}},
	{Label: "menu.customers", Entries: []menuEntry{
		{Path: customersPath, Label: "tab.customers"},
		{Path: locksPath, Label: "tab.locks"},
		{Path: agentsPath, Label: "tab.agents"},
	}},
	{Label: "menu.systems", Entries: []menuEntry{
		{Path: messagesPath, Label: "tab.messages"},
		{Path: pricesPath, Label: "tab.prices"},
		{Path: jobsPath, Label: "tab.jobs"},
		{Path: healthPath, Label: "tab.health"},
	}},
}

// newMenu returns the menu on a page, with the work that is open by path, and the label of the
// page's entry.
func newMenu(section string, open map[string]openWork) (menu []menuGroup, label string) {
	menu = slices.Clone(menuGroups)
	for g := range menu {
		group := &menu[g]
		group.Entries = slices.Clone(group.Entries)
		for i := range group.Entries {
			entry := &group.Entries[i]
			entry.Work = open[entry.Path]
			group.Work.Open += entry.Work.Open
			group.Work.Late = group.Work.Late || entry.Work.Late
			if entry.Current = entry.Path == section; entry.Current {
				group.Current, label = true, entry.Label
			}
		}
	}
	return menu, label
}
