package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/export"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

// Reasons for leaving a column out. A new table or column needs a decision.
const (
	reasonSecret     = "a secret, or a hash of one"
	reasonLookupKey  = "found by it: whose or of what the record is"
	reasonRedundant  = "says the same as another column"
	reasonInternal   = "internal state, not about the customer"
	reasonScheduling = "a lease, a pause or a count of tries"
	reasonShortLived = "gone after minutes; what came of it is in another part"
	reasonThirdParty = "about others: agents, applications or operators"
	reasonProviderID = "the payment provider's own name for something, of use to it alone"
)

var omittedColumns = map[string]string{
	// Complete tables.
	"access_tokens": reasonSecret, "refresh_tokens": reasonSecret, "agent_secrets": reasonSecret, "seen_signatures": reasonSecret,
	"webauthn_challenges": reasonShortLived, "consents": reasonShortLived, "authorization_codes": reasonShortLived, "idempotency_keys": reasonShortLived,
	"agents": reasonThirdParty, "clients": reasonThirdParty, "webhook_deliveries": reasonInternal, "invoice_series": reasonInternal, "job_errors": reasonInternal, "price_lists": "the prices of everyone", "seal_keys": reasonInternal, "seal_nodes": reasonInternal, "service_secrets": reasonSecret, "registry_pollers": reasonScheduling, "dispute_listings": reasonScheduling,
	"contact_checks.customer_id": reasonLookupKey, "contact_checks.email_key": reasonRedundant, "contact_checks.step_at": reasonScheduling,
	"contact_checks.confirmed_from": "the network address of a registrant, who may be someone else, or an operator",
	"registry_charges":              "what registries charge us; the item and its price are in the order", "provision_items.fee": "what the registry charges us", "provision_items.premium_fee": "what the registry charges us", "order_items.premium_fee": "what the registry charges us",
	"margin_months": "sums over all customers", "margin_credits": "parts of those sums; the refund and its credit note are in the order",
	"exchange_rates": "public rates", "registry_funds": "our accounts at registries", "registry_balances": "our accounts at registries",
	"registry_messages": "what registries say of names; what follows from it is in the domain",

	"customers.email_key": reasonRedundant, "customers.password_hash": reasonSecret, "customers.totp_sealed": reasonSecret, "customers.user_handle": reasonSecret,
	"customers.totp_step": reasonInternal, "customers.totp_version": reasonInternal, "customers.token_count": reasonInternal, "customers.guest": "never an account that can sign in",
	"registrants.customer_id": reasonLookupKey, "bulk_actions.customer_id": reasonLookupKey, "identities.customer_id": reasonLookupKey, "payment_methods.customer_id": reasonLookupKey,
	"identities.session": reasonProviderID, "identities.url": reasonSecret, "payment_methods.provider_customer": reasonProviderID, "payment_methods.method": reasonProviderID, "payment_methods.setup": reasonShortLived, "payment_methods.setup_default": reasonShortLived,
	"saved_methods.customer_id": reasonLookupKey, "saved_methods.provider_customer": reasonProviderID, "saved_methods.method": reasonProviderID, "saved_methods.fingerprint": reasonProviderID,
	"method_detachments.method": reasonProviderID, "method_detachments.due_at": reasonScheduling, "method_detachments.attempts": reasonScheduling,
	"renewal_consents.customer_id": reasonLookupKey, "holders.customer_id": reasonLookupKey,
	"past_registrants.customer_id": reasonLookupKey, "past_registrants.domain_id": reasonLookupKey,
	"orders.refund_count": reasonRedundant, "refunds.decided_by": "an operator's account", "refunds.settled_by": "an operator's account", "refunds.task": reasonInternal,
	"transfer_lists.customer_id": reasonLookupKey, "transfer_lists.list_sealed": reasonSecret,
	"passkeys.customer_id": reasonLookupKey, "passkeys.credential_id": reasonSecret, "passkeys.credential": reasonSecret,
	"recovery_codes.customer_id": reasonLookupKey, "recovery_codes.hash": reasonSecret,
	"sessions.customer_id": reasonLookupKey, "sessions.hash": reasonSecret, "sessions.device": reasonSecret, "sessions.attempts": reasonInternal,
	"devices.customer_id": reasonLookupKey, "devices.hash": reasonSecret,
	"links.customer_id": reasonLookupKey, "links.hash": reasonSecret,
	"mails.id": reasonInternal, "mails.customer_id": reasonLookupKey, "mails.due_at": reasonScheduling, "mails.attempts": reasonScheduling, "mails.node": reasonScheduling,
	"personal_access_tokens.customer_id": reasonLookupKey, "personal_access_tokens.hash": reasonSecret,
	"grants.customer_id": reasonLookupKey, "grants.generation": reasonInternal, "grants.epoch": reasonInternal, "grants.siblings_until": reasonInternal,
	"agent_links.customer_id": reasonLookupKey,
	"audit_events.id":         reasonInternal, "audit_events.customer_id": reasonLookupKey,

	"domains.customer_id": reasonLookupKey, "domains.tld": reasonRedundant, "domains.account": reasonInternal, "domains.code_sealed": reasonSecret,
	"domains.sync_due": reasonScheduling, "domains.expiry_notice": reasonInternal,
	"registry_records.domain_id": reasonLookupKey,
	"domain_changes.customer_id": reasonLookupKey, "domain_changes.tld": reasonRedundant, "domain_changes.account": reasonInternal, "domain_changes.code_sealed": reasonSecret,
	"domain_changes.due_at": reasonScheduling, "domain_changes.node": reasonScheduling, "domain_changes.attempts": reasonScheduling,
	"outgoing_transfers.customer_id": reasonLookupKey, "outgoing_transfers.tld": reasonRedundant, "outgoing_transfers.account": reasonInternal,
	"outgoing_transfers.due_at": reasonScheduling, "outgoing_transfers.node": reasonScheduling, "outgoing_transfers.attempts": reasonScheduling,
	"domain_locks.customer_id": reasonLookupKey, "domain_locks.set_by": reasonThirdParty, "domain_locks.lifted_by": reasonThirdParty, "domain_locks.hold_step_at": reasonScheduling,

	"inquiries.customer_id": reasonLookupKey, "inquiries.digest": reasonInternal, "inquiries.done_by": reasonThirdParty,
	"withdrawal_notices.customer_id": reasonLookupKey, "withdrawal_notices.done_by": reasonThirdParty, "revenue_days": "sums over all customers",

	"brakes":                reasonInternal,
	"term_ends.customer_id": reasonLookupKey, "term_ends.tld": reasonRedundant, "term_ends.account": reasonInternal, "term_ends.waits_for": reasonInternal,
	"term_ends.due_at": reasonScheduling, "term_ends.node": reasonScheduling, "term_ends.attempts": reasonScheduling,
	"sent_notices.customer_id": reasonLookupKey,

	"orders.customer_id": reasonLookupKey, "orders.items_key": reasonInternal, "orders.pay_link": reasonSecret, "orders.pay_sealed": reasonSecret,
	"orders.verify_link": reasonSecret, "orders.verify_sealed": reasonSecret, "orders.version": reasonInternal, "orders.due_at": reasonScheduling,
	"orders.node": reasonScheduling, "orders.attempts": reasonScheduling, "orders.open_order": reasonRedundant,
	"order_items.order_id": reasonLookupKey, "order_items.position": reasonInternal, "order_items.tld": reasonRedundant, "order_items.account": reasonInternal,
	"order_items.provision_item_id": reasonInternal, "order_items.code_sealed": reasonSecret,
	"renewals.customer_id": reasonLookupKey, "renewals.tld": reasonRedundant,
	"payments.order_id": reasonLookupKey, "payments.customer_id": reasonLookupKey, "payments.session": reasonProviderID, "payments.url": reasonSecret,
	"payments.card":     "the provider's fingerprint of a card, which can only be compared",
	"refunds.order_id":  reasonLookupKey,
	"disputes.order_id": reasonLookupKey, "disputes.charge": reasonProviderID, "disputes.intent": reasonProviderID, "disputes.fee": reasonInternal,
	"disputes.charged": reasonRedundant, "disputes.debit": reasonInternal, "disputes.refundable": reasonInternal, "disputes.open_work": reasonInternal,
	"disputes.decided_by": reasonThirdParty, "disputes.version": reasonInternal, "disputes.due_at": reasonScheduling, "disputes.node": reasonScheduling, "disputes.attempts": reasonScheduling,
	"invoices.order_id": reasonLookupKey, "invoices.series": reasonRedundant, "invoices.number": reasonRedundant,
	"pending_invoices.id": reasonInternal, "pending_invoices.order_id": reasonLookupKey,
	"provision_items.customer_id": reasonLookupKey, "provision_items.tld": reasonRedundant, "provision_items.account": reasonInternal, "provision_items.code_sealed": reasonSecret,
	"provision_items.due_at": reasonScheduling, "provision_items.node": reasonScheduling, "provision_items.attempts": reasonScheduling,
}

// exportedColumns returns the columns of all parts, by table.
func exportedColumns(parts []part) map[string][]string {
	all := make(map[string][]string)
	for _, p := range parts {
		for _, c := range p.columns {
			if c.source != "" {
				all[p.table] = append(all[p.table], c.source)
			}
		}
		for table, names := range exportedColumns(p.nested) {
			all[table] = append(all[table], names...)
		}
	}
	return all
}

func tablesOf(t *testing.T, db *DB) []sqldb.Table {
	t.Helper()
	tx, err := db.sql.Reader().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	tables, err := db.dataTables(t.Context(), tx)
	if err != nil || len(tables) < 30 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	return tables
}

func TestExport_EveryColumnExportedOrOmittedWithReason(t *testing.T) {
	t.Parallel()
	exported, stale := exportedColumns(exportParts()), make(map[string]bool)
	for name := range omittedColumns {
		stale[name] = true
	}
	for _, table := range tablesOf(t, openAt(t, Options{Data: newMigratedSQLite(t)})) {
		if omittedColumns[table.Name] != "" {
			delete(stale, table.Name)
			if len(exported[table.Name]) > 0 {
				t.Errorf("%s is both omitted and exported", table.Name)
			}
			continue
		}
		for _, column := range table.Columns {
			name := table.Name + "." + column
			want, why := slices.Contains(exported[table.Name], column), omittedColumns[name]
			delete(stale, name)
			if want == (why != "") {
				t.Errorf("%s: exported %t, omitted because %q. A column is either in exportParts or in omittedColumns", name, want, why)
			}
		}
	}
	for name := range stale {
		t.Errorf("omitted column %s does not exist", name)
	}
}

// jsonColumns are the columns that hold JSON.
var jsonColumns = []string{"mails.data", "orders.contact", "refunds.parts", "invoices.content", "pending_invoices.buyer", "orders.registrant", "order_items.registrant", "domains.registrant", "past_registrants.registrant", "provision_items.registrant", "domain_changes.desired", "registry_records.data"}

// canary returns a value that identifies its customer and column.
func canary(who, table, column string) string { return who + "~" + table + "~" + column + "~" }

// fillTables inserts one row of a customer into every table.
func fillTables(t *testing.T, db *DB, types map[string]string, who string) {
	t.Helper()
	// Columns that link rows, and columns by which parts find theirs.
	named := map[string]string{
		"customer_id": "customers", "order_id": "orders", "agent_id": "agents", "client_id": "clients", "payment_id": "payments", "domain_id": "domains",
	}
	for i, table := range tablesOf(t, db) {
		var names, places []string
		var values []any
		for j, column := range table.Columns {
			full := table.Name + "." + column
			var value any = canary(who, table.Name, column)
			switch {
			case types[full] == "BIGINT":
				value = int64(i*100+j) + int64(who[0])*1_000_000 // unique per row
			case column == "id":
				value = canary(who, table.Name, "id")
			case named[column] != "":
				value = canary(who, named[column], "id")
			case slices.Contains(jsonColumns, full):
				value = `{"json":"` + canary(who, table.Name, column) + `"}`
			case full == "customers.email_key" || full == "withdrawal_notices.email":
				value = who + "@example.org"
			case full == "registrants.vat_id" || full == "vat_checks.vat_id":
				value = canary(who, "vat_checks", "vat_id")
			}
			names, values = append(names, sqldb.QuoteIdent(column)), append(values, value)
			places = append(places, fmt.Sprintf("$%d", len(values)))
		}
		statement := "INSERT INTO " + sqldb.QuoteIdent(table.Name) + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(places, ", ") + ")"
		if _, err := db.sql.Writer().ExecContext(t.Context(), statement, values...); err != nil {
			t.Fatalf("%s: %v", table.Name, err)
		}
	}
}

// columnTypes returns the types of all columns, which are the same on both engines.
func columnTypes(t *testing.T) map[string]string {
	t.Helper()
	db := openAt(t, Options{Data: newMigratedSQLite(t)})
	types := make(map[string]string)
	for _, table := range tablesOf(t, db) {
		for _, column := range table.Columns {
			var kind string
			ask := `SELECT type FROM pragma_table_info($1) WHERE name = $2`
			if err := db.sql.Reader().QueryRowContext(t.Context(), ask, table.Name, column).Scan(&kind); err != nil {
				t.Fatal(err)
			}
			types[table.Name+"."+column] = kind
		}
	}
	return types
}

func exportOf(t *testing.T, db *DB, customer string) string {
	t.Helper()
	now := time.Now()
	service, err := export.New(export.Config{Store: db, BaseURL: "https://shop.example", Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	actor := registrar.Actor{Kind: registrar.ActorPerson, Customer: customer, Through: "ses_1", SignedInAt: now}
	if err := service.Write(t.Context(), actor, &file); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(file.Bytes()) {
		t.Fatalf("the export is not JSON:\n%s", file.String())
	}
	return file.String()
}

// Each column holds a unique text, so the file shows which columns were read.
func TestExport_OwnDataOnlyAndNoSecrets(t *testing.T) {
	t.Parallel()
	types := columnTypes(t)
	exported := exportedColumns(exportParts())
	eachEngine(t, func(t *testing.T, db *DB) {
		fillTables(t, db, types, "erika")
		fillTables(t, db, types, "mallory")
		file := exportOf(t, db, canary("erika", "customers", "id"))
		if strings.Contains(file, "mallory") {
			t.Errorf("the export contains another customer's data:\n%s", file)
		}
		for full, kind := range types {
			table, column, _ := strings.Cut(full, ".")
			if kind != "TEXT" || strings.HasSuffix(column, "_id") || column == "id" || full == "customers.email_key" || full == "withdrawal_notices.email" {
				continue
			}
			want := slices.Contains(exported[table], column) || full == "agents.name" // the name of a linked agent
			if got := strings.Contains(file, canary("erika", table, column)); got != want {
				t.Errorf("%s exported: %t, want %t", full, got, want)
			}
		}
		for _, want := range []string{
			`"pdf": "https://shop.example/portal/invoices/` + canary("erika", "invoices", "id") + `/pdf"`, `"email": "erika@example.org"`,
			`"hasSecondFactor": true`, string(export.DataExported),
		} {
			if !strings.Contains(file, want) {
				t.Errorf("the export lacks %s", want)
			}
		}
	})
}

// Customers do not learn which operator acted, or from where.
func TestExport_OmitsOperatorIdentity(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		fillTables(t, db, columnTypes(t), "erika")
		for _, statement := range []string{
			"UPDATE audit_events SET actor_kind = 'operator'", "UPDATE domain_changes SET by_kind = 'operator'", "UPDATE outgoing_transfers SET by_kind = 'operator'", "UPDATE orders SET by_kind = 'operator'",
			"UPDATE agent_links SET by_kind = 'operator'",
		} {
			if _, err := db.sql.Writer().ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		file := exportOf(t, db, canary("erika", "customers", "id"))
		for _, never := range []string{
			canary("erika", "audit_events", "actor"), canary("erika", "audit_events", "through"), canary("erika", "audit_events", "address"),
			canary("erika", "domain_changes", "by_id"), canary("erika", "domain_changes", "by_address"), canary("erika", "outgoing_transfers", "by_address"), canary("erika", "orders", "by_address"),
			canary("erika", "agent_links", "by_id"),
		} {
			if strings.Contains(file, never) {
				t.Errorf("the export contains %s", never)
			}
		}
		if !strings.Contains(file, canary("erika", "audit_events", "action")) {
			t.Error("the export lacks the operator's action")
		}
	})
}

// countingSink counts records.
type countingSink struct {
	part  string
	count map[string]int
}

func (s *countingSink) BeginSection(name string, _ bool) error { s.part = name; return nil }
func (s *countingSink) AddRecord(export.Record) error          { s.count[s.part]++; return nil }

func TestExport_ReadsAllPages(t *testing.T) {
	t.Parallel()
	const many = 2*exportPageSize + 50
	eachEngine(t, func(t *testing.T, db *DB) {
		fillTables(t, db, columnTypes(t), "erika")
		id := canary("erika", "customers", "id")
		for i := range many {
			event := registrar.AuditEvent{
				Actor: registrar.Actor{Kind: registrar.ActorPerson, Customer: id}, Action: "looked", Customer: id, Object: fmt.Sprint(i), At: time.Now(),
			}
			if err := db.RecordAuditEvent(t.Context(), event); err != nil {
				t.Fatal(err)
			}
		}
		got := &countingSink{count: make(map[string]int)}
		if err := db.ExportCustomer(context.WithoutCancel(t.Context()), id, "", got); err != nil {
			t.Fatal(err)
		}
		if got.count["activity"] != many+1 || got.count["account"] != 1 {
			t.Errorf("%v", got.count)
		}
	})
}

func TestExport_EveryPartUsesAnIndex(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		var look func(parts []part, page bool)
		look = func(parts []part, page bool) {
			for _, p := range parts {
				text := p.sql(page)
				if found := fullScans(db.sql.Engine(), text, planOf(t, db, p.name, text)); len(found) > 0 {
					t.Errorf("%s reads a whole table or index:\n%s\n%s", p.name, text, strings.Join(found, "\n"))
				}
				look(p.nested, false)
			}
		}
		look(exportParts(), true)
	})
}
