package dispute_test

import (
	"context"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
)

// listStore lists one dispute; other calls panic.
type listStore struct{ dispute.Store }

func (listStore) ListDisputes(context.Context, bool, string, int) ([]dispute.Dispute, error) {
	return []dispute.Dispute{{Customer: "cus_1", CustomerEmail: "erika@example.org"}}, nil
}

// noCalls panics on every call.
type noCalls struct {
	dispute.Changes
	dispute.Transfers
}

func TestList_AddressesOnlyAfterAuditEvent(t *testing.T) {
	t.Parallel()
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}
	recorded, full := "", false
	service, err := dispute.New(dispute.Config{
		Store: listStore{}, Changes: noCalls{}, Transfers: noCalls{},
		RecordListView: func(_ context.Context, _ registrar.Actor, what string) (bool, error) {
			recorded = what
			return !full, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, open := range []bool{true, false} {
		if listed, _, err := service.List(t.Context(), operator, open, ""); err != nil || len(listed) != 1 || listed[0].CustomerEmail != "" || recorded != "" {
			t.Errorf("open %t: %+v, recorded %q, %v", open, listed, recorded, err)
		}
	}
	shown, err := service.ListAudited(t.Context(), operator, "", "")
	if err != nil || recorded != "disputes" || shown.Unaudited || shown.Open[0].CustomerEmail == "" || shown.Ended[0].CustomerEmail == "" {
		t.Errorf("audited: %+v, recorded %q, %v", shown, recorded, err)
	}
	full = true
	shown, err = service.ListAudited(t.Context(), operator, "", "")
	if err != nil || !shown.Unaudited || shown.Open[0].CustomerEmail+shown.Ended[0].CustomerEmail != "" {
		t.Errorf("not audited: %+v, %v", shown, err)
	}
}
