package ui

// eppStatusTexts explain the statuses of domains (RFC 5731, 2.3 and RFC 3915, 3.1). The
// template "eppstatus" shows them with the registry's own word.
var eppStatusTexts = Texts{
	"epp_status.ok":                       {"keine Einschränkung", "no restrictions"},
	"epp_status.inactive":                 {"ohne Nameserver", "no nameservers"},
	"epp_status.addPeriod":                {"gerade registriert", "just registered"},
	"epp_status.autoRenewPeriod":          {"von der Registry verlängert", "renewed by the registry"},
	"epp_status.renewPeriod":              {"gerade verlängert", "just renewed"},
	"epp_status.transferPeriod":           {"gerade umgezogen", "just transferred"},
	"epp_status.redemptionPeriod":         {"gelöscht, in der Rückholfrist", "deleted, in the redemption period"},
	"epp_status.pendingCreate":            {"Registrierung läuft", "registration pending"},
	"epp_status.pendingDelete":            {"wird gelöscht", "being deleted"},
	"epp_status.pendingRenew":             {"Verlängerung läuft", "renewal pending"},
	"epp_status.pendingRestore":           {"Wiederherstellung läuft", "restore pending"},
	"epp_status.pendingTransfer":          {"Umzug läuft", "transfer pending"},
	"epp_status.pendingUpdate":            {"Änderung läuft", "update pending"},
	"epp_status.clientDeleteProhibited":   {"Löschen gesperrt, vom Anbieter", "deletion locked by the provider"},
	"epp_status.clientHold":               {"aus dem DNS genommen, vom Anbieter", "taken out of the DNS by the provider"},
	"epp_status.clientRenewProhibited":    {"Verlängern gesperrt, vom Anbieter", "renewal locked by the provider"},
	"epp_status.clientTransferProhibited": {"Umzug gesperrt, vom Anbieter", "transfer locked by the provider"},
	"epp_status.clientUpdateProhibited":   {"Ändern gesperrt, vom Anbieter", "changes locked by the provider"},
	"epp_status.serverDeleteProhibited":   {"Löschen gesperrt, von der Registry", "deletion locked by the registry"},
	"epp_status.serverHold":               {"aus dem DNS genommen, von der Registry", "taken out of the DNS by the registry"},
	"epp_status.serverRenewProhibited":    {"Verlängern gesperrt, von der Registry", "renewal locked by the registry"},
	"epp_status.serverTransferProhibited": {"Umzug gesperrt, von der Registry", "transfer locked by the registry"},
	"epp_status.serverUpdateProhibited":   {"Ändern gesperrt, von der Registry", "changes locked by the registry"},
}

// EPPStatusText returns what a status means, in English; empty if it is not known.
func EPPStatusText(status string) string { return eppStatusTexts["epp_status."+status][1] }
