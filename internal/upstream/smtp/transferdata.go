package smtp

// transferData is the template data of mails about transfers to other registrars. Times are
// formatted.
type transferData struct {
	Gaining         string // the other registrar's id; empty if unknown
	Requested, Acts string // Acts is when the registry moves the domain; both are empty if unknown
	Stoppable       bool
	Why             string // why an operator rejected it
	Stop            string // the page with the transfer
}

func (l *language) transferData(data map[string]string, page string) transferData {
	return transferData{
		Gaining: quoteForeign(data["gaining"], 40), Requested: l.formatTime(data["requested"]), Acts: l.formatTime(data["acts_at"]),
		Stoppable: data["stoppable"] == "true", Why: data["reason"], Stop: page + "/transfer",
	}
}
