package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/retention"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

// personalColumns are names of columns that hold, or lead to, data about a person.
var personalColumns = []string{
	"customer_id", "email", "email_key", "recipient", "address", "by_address", "renewal_address", "confirmed_from", "user_agent",
	"phone", "street", "registrant", "contact", "buyer", "vat_id", "grant_id", "order_id", "domain_id",
}

// impersonalTables have such a column and nothing about a person beside it.
var impersonalTables = map[string]string{
	"registry_charges": "what registries charge us", "margin_credits": "parts of sums",
}

func retentionRules() map[string]retention.Rule {
	rules := make(map[string]retention.Rule)
	for _, rule := range retention.Rules() {
		for _, table := range rule.Tables {
			rules[table] = rule
		}
	}
	return rules
}

func TestRetention_EveryPersonalTableHasRule(t *testing.T) {
	t.Parallel()
	rules, exported := retentionRules(), exportedColumns(exportParts())
	for _, table := range tablesOf(t, openAt(t, Options{Data: newMigratedSQLite(t)})) {
		personal := len(exported[table.Name]) > 0 || slices.ContainsFunc(table.Columns, func(c string) bool { return slices.Contains(personalColumns, c) })
		_, ruled := rules[table.Name]
		if impersonal := impersonalTables[table.Name] != ""; personal && ruled == impersonal {
			t.Errorf("%s has a rule: %t, is impersonal: %t. A table with personal data needs a row in retention.csv", table.Name, ruled, impersonal)
		}
		delete(rules, table.Name)
	}
	for table := range rules {
		t.Errorf("there is a rule for the table %s, which does not exist", table)
	}
}

// countRowsOf counts the rows of a table that fillTables has inserted for a customer.
func countRowsOf(t *testing.T, db *DB, types map[string]string, table sqldb.Table, who string) int {
	t.Helper()
	var conditions []string
	for _, column := range table.Columns {
		if types[table.Name+"."+column] == "TEXT" {
			conditions = append(conditions, fmt.Sprintf("%s LIKE '%%%s~%%'", sqldb.QuoteIdent(column), who))
		}
	}
	return count(t, db, "SELECT count(*) FROM "+sqldb.QuoteIdent(table.Name)+" WHERE "+strings.Join(conditions, " OR "))
}

func TestCloseAccount_FollowsRetentionTable(t *testing.T) {
	t.Parallel()
	types, rules := columnTypes(t), retentionRules()
	eachEngine(t, func(t *testing.T, db *DB) {
		fillTables(t, db, types, "erika")
		fillTables(t, db, types, "mallory")
		execStatement(t, db, `UPDATE customers SET disabled_at = 0`)
		erika := canary("erika", "customers", "id")
		if err := db.UpdateCustomers(t.Context(), func(tx account.Tx) error {
			if closed, err := tx.CloseAccount(t.Context(), erika, "1@closed.invalid", testTime); err != nil || !closed {
				t.Fatal(closed, err)
			}
			if err := tx.DeleteSessionsExcept(t.Context(), erika, ""); err != nil {
				return err
			}
			return tx.DeleteDevices(t.Context(), erika)
		}); err != nil {
			t.Fatal(err)
		}
		for _, table := range tablesOf(t, db) {
			fate, left := rules[table.Name].AtClosure, countRowsOf(t, db, types, table, "erika")
			if fate == retention.Deleted && left != 0 || fate == retention.Kept && left == 0 {
				t.Errorf("%s is to be %s, and %d rows are left", table.Name, fate, left)
			}
			if fate != "" && countRowsOf(t, db, types, table, "mallory") == 0 {
				t.Errorf("%s of another customer is empty", table.Name)
			}
		}
		if n := count(t, db, `SELECT count(*) FROM customers WHERE email LIKE 'erika%' OR email_key LIKE 'erika%' OR password_hash LIKE 'erika%' OR totp_sealed LIKE 'erika%' OR basket LIKE 'erika%'`); n != 0 {
			t.Error("the account has still an address or a credential")
		}
	})
}
