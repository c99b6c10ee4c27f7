package ledger

import (
	"fmt"
	"time"
)

// Kinds of messages that SendMessages queues.
const (
	MessageTransfer    = "transfer"          // a transfer to the account has ended
	MessagePerformed   = "pending_performed" // a pending command was performed
	MessageRefused     = "pending_refused"   // or refused
	MessageRenewal     = "renewal"           // the registry has renewed a domain
	MessageChange      = "change"            // the registry has changed a domain of the account
	MessageBalance     = "balance"           // of an account that is paid in advance
	MessageMaintenance = "maintenance"       // a maintenance window
	MessageText        = "text"              // nothing but a text
	MessageUnknown     = "unknown"           // data in a namespace that no client knows
)

// messageKinds are all kinds; true means that the message is about a domain.
var messageKinds = map[string]bool{
	MessageTransfer: true, MessagePerformed: true, MessageRefused: true, MessageRenewal: true, MessageChange: true,
	MessageBalance: false, MessageMaintenance: false, MessageText: false, MessageUnknown: false,
}

// MessageRequest is a message to queue; Name is the domain it is about.
type MessageRequest struct {
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
}

// SendMessages queues messages for an account, all or none, and returns their ids. But for
// changes, the domains may be those of others.
func (l *Ledger) SendMessages(account string, requests []MessageRequest) (ids []uint64, err error) {
	if _, exists := l.accounts[account]; !exists {
		return nil, fmt.Errorf("there is no account %q", account)
	}
	if len(requests) > maxQueue {
		return nil, fmt.Errorf("at most %d messages can be queued", maxQueue)
	}
	for _, request := range requests {
		if _, exists := messageKinds[request.Kind]; !exists {
			return nil, fmt.Errorf("%q is not a kind of message", request.Kind)
		}
	}
	err = l.do(Request{Account: account}, func(t *tx) *Refusal {
		for _, request := range requests {
			message, refusal := t.messageOf(request)
			if refusal != nil {
				return refusal
			}
			t.enqueueMessage(account, message)
			ids = append(ids, t.serial)
		}
		return nil
	})
	return ids, err
}

func (t *tx) messageOf(request MessageRequest) (m Message, refusal *Refusal) {
	account, name := t.by.Account, request.Name
	var place NameEntry
	if messageKinds[request.Kind] {
		if place, refusal = t.l.lookUp(name); refusal != nil {
			return m, refusal
		}
	}
	number := fmt.Sprint(t.serial + 1)
	switch request.Kind {
	case MessageTransfer:
		m.Text = "Transfer completed"
		m.Transfer = &Transfer{Name: name, Status: serverApproved, Requester: account, Requested: t.now.Add(-transferTime), Actor: registrySponsor, Decided: t.now}
	case MessagePerformed, MessageRefused:
		m.Text = "Pending action completed"
		m.Pending = &Pending{Name: name, Granted: request.Kind == MessagePerformed, Asked: TRID{Server: "SIM-" + number}, At: t.now}
	case MessageRenewal:
		m.Text = "Domain renewed"
		m.Renewal = &Renewal{Name: name, Expires: t.now.AddDate(1, 0, 0)}
	case MessageChange:
		domain, refusal := t.ownDomain(name, place)
		if refusal != nil {
			return m, refusal
		}
		m.Text = "The registry has changed a domain"
		m.Change = &ChangeNotice{Name: name, ROID: domain.ROID, At: t.now, Case: "URS-" + number, Reason: "URS lock"}
	case MessageBalance:
		funds := t.funds(account)
		if funds == nil {
			return m, refuse(PolicyForbids, "", "", "The account is not paid in advance.")
		}
		m = balanceMessage(funds)
	case MessageMaintenance:
		start := t.now.Add(48 * time.Hour).Truncate(time.Hour)
		m.Text = "Maintenance"
		m.Maintenance = &MaintenanceNotice{ID: "SIM-" + number, Start: start, End: start.Add(2 * time.Hour)}
	case MessageText:
		m.Text = "Notice " + number + " of the registry"
	case MessageUnknown:
		m.Text, m.Unknown = "Notice "+number+" of the registry", true
	}
	return m, nil
}
