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
	"github.com/dotkontor/dotkontor/internal/registrar/dossier"
)

// Why something is not handed over. Who adds a table or a column decides.
const (
	aSecret   = "a secret, or a hash of one"
	aKey      = "found by it: whose or of what the record is"
	known     = "says the same as another column"
	machinery = "how the service does its work, which tells nothing of the customer"
	forWork   = "a lease, a pause or a count of tries"
	brief     = "gone after minutes; what came of it is in another part"
	ofOthers  = "about others: agents, applications or operators"
	provider  = "the payment provider's own name for something, of use to it alone"
)

var leftOut = map[string]string{
	// Whole tables.
	"access_tokens": aSecret, "refresh_tokens": aSecret, "agent_secrets": aSecret, "signatures_seen": aSecret,
	"ceremonies": brief, "consents": brief, "codes": brief, "idempotency": brief,
	"agents": ofOthers, "clients": ofOthers, "agent_events": machinery, "invoice_series": machinery, "setbacks": machinery, "price_lists": "the prices of everyone", "seal_keys": machinery, "seal_nodes": machinery,
	"registry_messages": "what registries say of names; what follows from it is in the domain",

	"customers.email_key": known, "customers.password_hash": aSecret, "customers.totp_sealed": aSecret, "customers.user_handle": aSecret,
	"customers.totp_step": machinery, "customers.totp_version": machinery, "customers.token_count": machinery, "customers.shadow": "never of somebody who can sign in",
	"registrants.customer_id": aKey, "identities.customer_id": aKey, "payment_methods.customer_id": aKey,
	"identities.session": provider, "identities.url": aSecret, "payment_methods.holder": provider, "payment_methods.method": provider,
	"passkeys.customer_id": aKey, "passkeys.credential_id": aSecret, "passkeys.credential": aSecret,
	"recovery_codes.customer_id": aKey, "recovery_codes.hash": aSecret,
	"sessions.customer_id": aKey, "sessions.hash": aSecret, "sessions.device": aSecret, "sessions.attempts": machinery,
	"devices.customer_id": aKey, "devices.hash": aSecret,
	"links.customer_id": aKey, "links.hash": aSecret,
	"mails.id": machinery, "mails.customer_id": aKey, "mails.due_at": forWork, "mails.attempts": forWork, "mails.node": forWork,
	"tokens.customer_id": aKey, "tokens.hash": aSecret,
	"grants.customer_id": aKey, "grants.generation": machinery, "grants.epoch": machinery, "grants.siblings_until": machinery,
	"agent_links.customer_id": aKey,
	"deeds.id":                machinery, "deeds.customer_id": aKey,

	"domains.customer_id": aKey, "domains.tld": known, "domains.account": machinery, "domains.code_sealed": aSecret,
	"domains.sync_due": forWork, "domains.notified": machinery,
	"registry_records.domain_id": aKey,
	"changes.customer_id":        aKey, "changes.tld": known, "changes.account": machinery, "changes.code_sealed": aSecret,
	"changes.due_at": forWork, "changes.node": forWork, "changes.attempts": forWork,
	"domain_locks.customer_id": aKey, "domain_locks.set_by": ofOthers, "domain_locks.lifted_by": ofOthers,

	"orders.customer_id": aKey, "orders.items_key": machinery, "orders.pay_link": aSecret, "orders.pay_sealed": aSecret,
	"orders.verify_link": aSecret, "orders.verify_sealed": aSecret, "orders.version": machinery, "orders.due_at": forWork,
	"orders.node": forWork, "orders.attempts": forWork, "orders.open_order": known,
	"order_items.order_id": aKey, "order_items.place": machinery, "order_items.tld": known, "order_items.account": machinery,
	"order_items.line_id": machinery, "order_items.code_sealed": aSecret,
	"payments.order_id": aKey, "payments.customer_id": aKey, "payments.session": provider, "payments.url": aSecret,
	"payments.card":     "the provider's fingerprint of a card, which can only be compared",
	"refunds.order_id":  aKey,
	"invoices.order_id": aKey, "invoices.series": known, "invoices.number": known,
	"invoices_due.id": machinery, "invoices_due.order_id": aKey,
	"lines.customer_id": aKey, "lines.tld": known, "lines.account": machinery, "lines.code_sealed": aSecret,
	"lines.due_at": forWork, "lines.node": forWork, "lines.attempts": forWork,
}

// handedOver are the columns of all parts, by table.
func handedOver(parts []part) map[string][]string {
	all := make(map[string][]string)
	for _, p := range parts {
		for _, c := range p.columns {
			if c.of != "" {
				all[p.table] = append(all[p.table], c.of)
			}
		}
		for table, names := range handedOver(p.within) {
			all[table] = append(all[table], names...)
		}
	}
	return all
}

func tablesOf(t *testing.T, db *DB) []table {
	t.Helper()
	tx, err := db.reader.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	tables, err := db.tables(t.Context(), tx)
	if err != nil || len(tables) < 30 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	return tables
}

func TestEveryColumnIsInTheDossierOrLeftOutForAReason(t *testing.T) {
	t.Parallel()
	told, stale := handedOver(dossierParts()), make(map[string]bool)
	for name := range leftOut {
		stale[name] = true
	}
	for _, table := range tablesOf(t, openAt(t, Options{Data: t.TempDir()})) {
		if leftOut[table.name] != "" {
			delete(stale, table.name)
			if len(told[table.name]) > 0 {
				t.Errorf("%s is left out, and handed over", table.name)
			}
			continue
		}
		for _, column := range table.columns {
			name := table.name + "." + column
			handed, why := slices.Contains(told[table.name], column), leftOut[name]
			delete(stale, name)
			if handed == (why != "") {
				t.Errorf("%s: handed over %t, left out because %q. A column is either in dossierParts or in leftOut", name, handed, why)
			}
		}
	}
	for name := range stale {
		t.Errorf("there is no %s to be left out", name)
	}
}

// notTexts are columns that hold JSON.
var notTexts = []string{"mails.data", "orders.contact", "invoices.content", "invoices_due.buyer", "orders.registrant", "lines.registrant", "changes.wanted", "registry_records.data"}

// canary is a value that tells whose it is, and of which column.
func canary(who, table, column string) string { return who + "~" + table + "~" + column + "~" }

// fill gives somebody one row in every table.
func fill(t *testing.T, db *DB, types map[string]string, who string) {
	t.Helper()
	// What rows refer to each other by, and what parts find theirs by.
	named := map[string]string{
		"customer_id": "customers", "order_id": "orders", "agent_id": "agents", "client_id": "clients", "payment_id": "payments", "domain_id": "domains",
	}
	for i, table := range tablesOf(t, db) {
		var names, places []string
		var values []any
		for j, column := range table.columns {
			full := table.name + "." + column
			var value any = canary(who, table.name, column)
			switch {
			case types[full] == "BIGINT":
				value = int64(i*100+j) + int64(who[0])*1_000_000 // different for each
			case column == "id":
				value = canary(who, table.name, "id")
			case named[column] != "":
				value = canary(who, named[column], "id")
			case slices.Contains(notTexts, full):
				value = `{"json":"` + canary(who, table.name, column) + `"}`
			case full == "customers.email_key" || full == "declarations.email":
				value = who + "@example.org"
			case full == "registrants.vat_id" || full == "vat_checks.vat_id":
				value = canary(who, "vat_checks", "vat_id")
			}
			names, values = append(names, quoted(column)), append(values, value)
			places = append(places, fmt.Sprintf("$%d", len(values)))
		}
		statement := "INSERT INTO " + quoted(table.name) + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(places, ", ") + ")"
		if _, err := db.writer.ExecContext(t.Context(), statement, values...); err != nil {
			t.Fatalf("%s: %v", table.name, err)
		}
	}
}

// typesOf are the types of all columns, which both engines have in common.
func typesOf(t *testing.T) map[string]string {
	t.Helper()
	db := openAt(t, Options{Data: t.TempDir()})
	types := make(map[string]string)
	for _, table := range tablesOf(t, db) {
		for _, column := range table.columns {
			var kind string
			ask := `SELECT type FROM pragma_table_info($1) WHERE name = $2`
			if err := db.reader.QueryRowContext(t.Context(), ask, table.name, column).Scan(&kind); err != nil {
				t.Fatal(err)
			}
			types[table.name+"."+column] = kind
		}
	}
	return types
}

func dossierOf(t *testing.T, db *DB, customer string) string {
	t.Helper()
	now := time.Now()
	service, err := dossier.New(dossier.Config{Store: db, Base: "https://shop.example", Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	actor := registrar.Actor{Kind: registrar.ActorPerson, Customer: customer, Through: "ses_1", SignedInAt: now}
	if err := service.Write(t.Context(), actor, &file); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(file.Bytes()) {
		t.Fatalf("it is no JSON:\n%s", file.String())
	}
	return file.String()
}

// Each column holds a text of its own, so what is in the file says what was read.
func TestADossierHoldsAllOfItsCustomerAndNothingSecretOrOfOthers(t *testing.T) {
	t.Parallel()
	types := typesOf(t)
	told := handedOver(dossierParts())
	eachEngine(t, func(t *testing.T, db *DB) {
		fill(t, db, types, "erika")
		fill(t, db, types, "mallory")
		file := dossierOf(t, db, canary("erika", "customers", "id"))
		if strings.Contains(file, "mallory") {
			t.Errorf("it has something of somebody else:\n%s", file)
		}
		for full, kind := range types {
			table, column, _ := strings.Cut(full, ".")
			if kind != "TEXT" || strings.HasSuffix(column, "_id") || column == "id" || full == "customers.email_key" || full == "declarations.email" {
				continue
			}
			handed := slices.Contains(told[table], column) || full == "agents.name" // what a linked one is called
			if got := strings.Contains(file, canary("erika", table, column)); got != handed {
				t.Errorf("%s is handed over: %t, and it should be %t", full, got, handed)
			}
		}
		for _, want := range []string{
			`"pdf": "https://shop.example/portal/invoices/` + canary("erika", "invoices", "id") + `/pdf"`, `"email": "erika@example.org"`,
			`"hasSecondFactor": true`, string(dossier.Exported),
		} {
			if !strings.Contains(file, want) {
				t.Errorf("%s is not in it", want)
			}
		}
	})
}

// Which operator it was, and where they sit, is not the customer's business.
func TestADossierNamesNoOperator(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		fill(t, db, typesOf(t), "erika")
		for _, statement := range []string{
			"UPDATE deeds SET actor_kind = 'operator'", "UPDATE changes SET by_kind = 'operator'", "UPDATE orders SET by_kind = 'operator'",
			"UPDATE agent_links SET by_kind = 'operator'",
		} {
			if _, err := db.writer.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		file := dossierOf(t, db, canary("erika", "customers", "id"))
		for _, never := range []string{
			canary("erika", "deeds", "actor"), canary("erika", "deeds", "through"), canary("erika", "deeds", "address"),
			canary("erika", "changes", "by_id"), canary("erika", "changes", "by_address"), canary("erika", "orders", "by_address"),
			canary("erika", "agent_links", "by_id"),
		} {
			if strings.Contains(file, never) {
				t.Errorf("%s is in it", never)
			}
		}
		if !strings.Contains(file, canary("erika", "deeds", "action")) {
			t.Error("what the operator did is not in it")
		}
	})
}

// sums counts records.
type sums struct {
	part  string
	count map[string]int
}

func (s *sums) Part(name string, _ bool) error { s.part = name; return nil }
func (s *sums) Add(dossier.Record) error       { s.count[s.part]++; return nil }

func TestALongListIsWholeThoughItIsReadInPages(t *testing.T) {
	t.Parallel()
	const many = 2*dossierPage + 50
	eachEngine(t, func(t *testing.T, db *DB) {
		fill(t, db, typesOf(t), "erika")
		id := canary("erika", "customers", "id")
		for i := range many {
			deed := registrar.Deed{
				Actor: registrar.Actor{Kind: registrar.ActorPerson, Customer: id}, Action: "looked", Customer: id, Object: fmt.Sprint(i), At: time.Now(),
			}
			if err := db.Note(t.Context(), deed); err != nil {
				t.Fatal(err)
			}
		}
		got := &sums{count: make(map[string]int)}
		if err := db.Everything(context.WithoutCancel(t.Context()), id, "", got); err != nil {
			t.Fatal(err)
		}
		if got.count["activity"] != many+1 || got.count["account"] != 1 {
			t.Errorf("%v", got.count)
		}
	})
}

func TestEveryPartOfADossierFindsItsRowsByAnIndex(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		var look func(parts []part, page bool)
		look = func(parts []part, page bool) {
			for _, p := range parts {
				text := p.text(page)
				if found := wholeReads(db.engine, text, planOf(t, db, p.name, text)); len(found) > 0 {
					t.Errorf("%s reads a whole table or index:\n%s\n%s", p.name, text, strings.Join(found, "\n"))
				}
				look(p.within, false)
			}
		}
		look(dossierParts(), true)
	})
}
