package ui

// domainStateTexts name the states of domains (portfolio.State). The template "domainstate" shows them to
// customers and operators alike.
var domainStateTexts = Texts{
	"domain.active":          {"aktiv", "active"},
	"domain.pending":         {"in Arbeit", "pending"},
	"domain.expired":         {"abgelaufen", "expired"},
	"domain.redemption":      {"gelöscht", "deleted"},
	"domain.transit":         {"im Transit bei DENIC", "in transit at DENIC"},
	"domain.leaving":         {"Umzug zu anderem Anbieter beantragt", "transfer to another provider requested"},
	"domain.suspended":       {"nicht im DNS, Adresse unbestätigt", "not in the DNS, address unconfirmed"},
	"domain.held":            {"nicht im DNS", "not in the DNS"},
	"domain.disputed":        {"Zahlung ungeklärt", "payment unresolved"},
	"domain.transferred_out": {"nicht mehr bei uns", "transferred away"},
}
