package epp

import "github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"

// balance writes the data of Verisign's low balance message.
func (w *writer) balance(name string, notice *ledger.BalanceNotice) {
	w.begin("lowbalance-poll:pollData")
	w.element("lowbalance-poll:registrarName", name)
	w.element("lowbalance-poll:creditLimit", cents(0))
	w.element("lowbalance-poll:creditThreshold", cents(notice.Threshold), "type", "FIXED")
	w.element("lowbalance-poll:availableCredit", cents(notice.Available))
	w.end()
}

// maintenance writes a maintenance window (RFC 9167, 4.1.3).
func (w *writer) maintenance(notice *ledger.MaintenanceNotice) {
	w.begin("maint:infData")
	w.begin("maint:item")
	w.element("maint:id", notice.ID, "name", "Sandbox")
	w.element("maint:pollType", "create")
	w.begin("maint:systems")
	w.begin("maint:system")
	w.element("maint:name", "EPP")
	w.element("maint:impact", "full")
	w.end()
	w.end()
	w.element("maint:environment", "", "type", "production")
	w.dateTime("maint:start", notice.Start)
	w.dateTime("maint:end", notice.End)
	w.element("maint:reason", "planned")
	w.end()
	w.end()
}

// changed writes a domain that the registry has changed (RFC 8590).
func (a *response) changed(sponsor string, notice *ledger.ChangeNotice) {
	a.data.begin("domain:infData")
	a.data.element("domain:name", notice.Name)
	a.data.element("domain:roid", notice.ROID)
	a.data.element("domain:status", "", "s", "serverUpdateProhibited")
	a.data.element("domain:clID", sponsor)
	a.data.end()
	a.ext.begin("changePoll:changeData", "state", "after")
	a.ext.element("changePoll:operation", "update")
	a.ext.dateTime("changePoll:date", notice.At)
	a.ext.element("changePoll:svTRID", "SIM-"+notice.Case)
	a.ext.element("changePoll:who", "URS Admin")
	a.ext.element("changePoll:caseId", notice.Case, "type", "urs")
	a.ext.element("changePoll:reason", notice.Reason)
	a.ext.end()
}

// balanceInfo answers how much of an account that is paid in advance is left (Verisign's balance
// mapping). The balance there is what the registrar owes.
func (s *session) balanceInfo(c *command, a *response) error {
	q := children(c.object)
	if refusal := q.result(); refusal != nil {
		return refusal
	}
	if _, refusal := s.protocolExtensions(c); refusal != nil {
		return refusal
	}
	funds := s.ledger.FundsOf(s.account)
	if funds == nil {
		return &ledger.Refusal{Code: ledger.NoSuchOption, Reason: "The account is not paid in advance."}
	}
	a.data.begin("balance:infData")
	a.data.element("balance:creditLimit", cents(0))
	a.data.element("balance:balance", cents(-funds.Balance))
	a.data.element("balance:availableCredit", cents(funds.Balance))
	a.data.begin("balance:creditThreshold")
	a.data.element("balance:fixed", cents(funds.Threshold))
	a.data.end()
	a.data.end()
	return nil
}
