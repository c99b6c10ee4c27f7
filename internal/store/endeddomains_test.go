package store

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
)

func TestListEndedDomains_DeletedOrHandedOverSinceTheOrder(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		exec := func(text string, values ...any) {
			t.Helper()
			if _, err := db.sql.Writer().ExecContext(ctx, text, values...); err != nil {
				t.Fatal(err)
			}
		}
		for name, test := range map[string]struct {
			tld, state, cause string
			deleted           int64
			want              lifecycle.EndedDomain
		}{
			"refunded":    {".org", "closed", "refund", micros(testTime), lifecycle.EndedDomain{At: testTime}},
			"redemption":  {".org", "redemption", "", micros(testTime), lifecycle.EndedDomain{At: testTime}},
			"handed-over": {".de", "closed", "", micros(testTime), lifecycle.EndedDomain{At: testTime, HandedOver: true}},
			"refunded-de": {".de", "closed", "refund", micros(testTime), lifecycle.EndedDomain{At: testTime, HandedOver: true}},
			"in-progress": {".org", "deleting", "refund", 0, lifecycle.EndedDomain{}},
			"restored":    {".org", "paid", "", micros(testTime), lifecycle.EndedDomain{}},
			"left":        {".org", "closed", "", 0, lifecycle.EndedDomain{}}, // to another registrar
		} {
			o := addPaidOrder(t, db, anna, name+".org")
			exec(`UPDATE order_items SET state = 'active' WHERE order_id = $1`, o.ID)
			exec(`UPDATE provision_items SET domain_id = $1 WHERE id = $2`, "dom_"+name, o.Items[0].ProvisionItem)
			exec(`INSERT INTO term_ends (domain_id, term_end, customer_id, name, tld, account, state, step_at, due_at, deleted_at, updated_at, cause)
				VALUES ($1, $2, $3, $4, $5, 'a', $6, 0, 0, $7, $2, $8)`, "dom_"+name, micros(testTime), anna, name+test.tld, test.tld, test.state, test.deleted, test.cause)
			ended, err := db.ListEndedDomains(ctx, o.ID)
			if err != nil || ended[o.Items[0].ID] != test.want {
				t.Errorf("%s: %+v, %v", name, ended, err)
			}
		}
	})
}
