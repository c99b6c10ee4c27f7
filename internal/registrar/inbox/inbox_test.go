package inbox_test

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
)

// The cases are the rows of the table in the package comment.
func TestNeedsOperator_FollowsPolicyTable(t *testing.T) {
	t.Parallel()
	held := inbox.Subject{Domain: "dom_1", Held: true, Known: true}
	ordered := inbox.Subject{Known: true, Transfers: true}
	lost := inbox.Subject{Domain: "dom_1", Known: true}
	deleted, restoring := held, held
	deleted.Deleted, restoring.Restores = true, true
	domain := func(kind inbox.Kind, details inbox.Details) inbox.Message {
		details.Object = inbox.ObjectDomain
		return inbox.Message{Kind: kind, Name: "a.org", Details: details}
	}
	contact := func(kind inbox.Kind, details inbox.Details) inbox.Message {
		details.Object = inbox.ObjectContact
		return inbox.Message{Kind: kind, Details: details}
	}
	transfer := func(status string, ours bool) inbox.Message {
		return domain(inbox.KindTransfer, inbox.Details{Transfer: &inbox.Transfer{Status: status, Ours: ours}})
	}
	pending := func(performed bool) inbox.Details {
		return inbox.Details{Pending: &inbox.Pending{Performed: performed}}
	}
	grace := func(statuses ...string) inbox.Message {
		return domain(inbox.KindRedemption, inbox.Details{Grace: statuses})
	}
	for name, test := range map[string]struct {
		message inbox.Message
		about   inbox.Subject
		unread  bool
	}{
		"another registrar wants our domain": {transfer("pending", false), held, false},
		"we requested it":                    {transfer("pending", true), ordered, false},
		"we ordered it under another id":     {transfer("pending", false), ordered, false},
		"our transfer is approved":           {transfer("serverApproved", true), ordered, false},
		"our transfer is rejected":           {transfer("clientRejected", true), ordered, false},
		"our domain went":                    {transfer("clientApproved", false), held, false},
		"our domain went, sync was faster":   {transfer("clientApproved", false), lost, false},
		"transfer of an unknown domain":      {transfer("serverApproved", false), inbox.Subject{}, true},
		"contact transfer":                   {contact(inbox.KindTransfer, inbox.Details{}), inbox.Subject{}, true},
		"performed":                          {domain(inbox.KindPendingAction, pending(true)), held, false},
		"performed on a contact":             {contact(inbox.KindPendingAction, pending(true)), inbox.Subject{}, false},
		"refused":                            {domain(inbox.KindPendingAction, pending(false)), ordered, true},
		"performed on an unknown domain":     {domain(inbox.KindPendingAction, pending(true)), inbox.Subject{}, true},
		"grace period":                       {grace("autoRenewPeriod"), held, false},
		"deleted by us":                      {grace("redemptionPeriod"), deleted, false},
		"deleted by someone else":            {grace("addPeriod", "pendingDelete"), held, true},
		"being restored":                     {grace("pendingRestore"), restoring, false},
		"renewed by the registry":            {domain(inbox.KindUpdate, inbox.Details{}), held, false},
		"update of a domain that went":       {domain(inbox.KindUpdate, inbox.Details{}), lost, true},
		"update of a contact":                {contact(inbox.KindUpdate, inbox.Details{}), inbox.Subject{}, true},
		"changed by a court":                 {domain(inbox.KindChange, inbox.Details{}), held, true},
		"low balance":                        {inbox.Message{Kind: inbox.KindBalance}, inbox.Subject{}, true},
		"maintenance":                        {inbox.Message{Kind: inbox.KindMaintenance}, inbox.Subject{}, true},
		"text":                               {inbox.Message{Kind: inbox.KindText}, inbox.Subject{}, true},
		"unparsed":                           {domain(inbox.KindUnparsed, inbox.Details{}), held, true},
	} {
		if got := inbox.NeedsOperator(test.message, test.about); got != test.unread {
			t.Errorf("%s: unread %t", name, got)
		}
	}
}

func TestService_OnlyForOperators(t *testing.T) {
	t.Parallel()
	service, err := inbox.New(inbox.Config{Store: struct{ inbox.Store }{}}) // nothing may be called
	if err != nil {
		t.Fatal(err)
	}
	ctx, customer := t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_1"}
	_, _, listErr := service.List(ctx, customer, inbox.Filter{}, true, "")
	_, countErr := service.CountUnread(ctx, customer)
	_, getErr := service.Get(ctx, customer, "msg_1")
	_, balanceErr := service.LowBalances(ctx, customer)
	_, kindErr := service.MarkKindRead(ctx, customer, inbox.KindText, "msg_1")
	for what, err := range map[string]error{
		"list": listErr, "count": countErr, "get": getErr, "balances": balanceErr, "mark": service.MarkRead(ctx, customer, "msg_1", ""), "mark all": kindErr,
	} {
		if registrar.CodeOf(err) != registrar.OperatorsOnly {
			t.Errorf("%s: %v", what, err)
		}
	}
}
