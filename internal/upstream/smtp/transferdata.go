package smtp

import "cmp"

// transferData is the template data of mails about transfers to other registrars. Times are
// formatted.
type transferData struct {
	Gaining         string // the other registrar's id; empty if unknown
	Requested, Acts string // Acts is when the registry moves the domain; both are empty if unknown
	ActsOn          string // the day of Acts
	Ended, EndedOn  string // when it ended, and on which day
	Stoppable       bool
	Why             string // why an operator rejected it
	Stop            string // the page with the transfer
}

func (l *language) transferData(data map[string]string, page string) transferData {
	day := l.formatDate(data["at"]) // of a mail that an earlier release has queued, there is no time
	return transferData{
		ActsOn: l.formatLocalDay(data["acts_at"]), Ended: cmp.Or(l.formatTime(data["ended_at"]), day), EndedOn: cmp.Or(l.formatLocalDay(data["ended_at"]), day),
		Gaining: quoteForeign(data["gaining"], 40), Requested: l.formatTime(data["requested"]), Acts: l.formatTime(data["acts_at"]),
		Stoppable: data["stoppable"] == "true", Why: data["reason"], Stop: page + "/transfer",
	}
}
