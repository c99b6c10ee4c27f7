package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/keyring"
)

// A column missing from the list would be unreadable once the old key is dropped.
func TestSealedColumns_CoverEveryColumnNamedSealed(t *testing.T) {
	t.Parallel()
	db := openAt(t, Options{Data: newMigratedSQLite(t)})
	known := db.SealedColumns()
	for _, table := range tablesOf(t, db) {
		for _, column := range table.Columns {
			if strings.Contains(column, "sealed") && !slices.Contains(known, table.Name+"."+column) {
				t.Errorf("%s.%s is not in sealedColumns", table.Name, column)
			}
		}
	}
	for _, name := range known {
		if _, err := db.SealedValues(t.Context(), name, nil, 1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func newKeyring(t *testing.T, db *DB, now func() time.Time, keys ...registrar.SealKey) (*keyring.Keyring, error) {
	t.Helper()
	return keyring.Open(t.Context(), keyring.Config{Store: db, Load: func() ([]registrar.SealKey, error) { return keys, nil }, Now: now})
}

func newRotation(t *testing.T, db *DB, now func() time.Time, keys ...registrar.SealKey) *keyring.Rotation {
	t.Helper()
	rotation, err := keyring.NewRotation(keyring.Config{Store: db, Load: func() ([]registrar.SealKey, error) { return keys, nil }, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	rotation.Wait = 0
	return rotation
}

func TestKeyring_RefusesWrongOrMissingKeyByID(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		one, two := registrar.SealKey{1}, registrar.SealKey{2}
		if err := keyring.CheckUnused(t.Context(), db); err != nil {
			t.Errorf("a new database: %v", err)
		}
		if _, err := newKeyring(t, db, nil, one); err != nil {
			t.Fatal(err)
		}
		for name, keys := range map[string][]registrar.SealKey{"same": {one}, "one more": {one, two}, "another first": {two, one}} {
			ring, err := newKeyring(t, db, nil, keys...)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if ring.Seal().WriteID() != one.KeyID() {
				t.Errorf("%s: seals with %s", name, ring.Seal().WriteID())
			}
		}
		_, err := newKeyring(t, db, nil, two)
		var missing *keyring.MissingKeyError
		if !errors.As(err, &missing) || !slices.Equal(missing.Missing, []string{one.KeyID()}) || !strings.Contains(err.Error(), one.KeyID()) ||
			!strings.Contains(err.Error(), "docs/operating.md") {
			t.Errorf("with a wrong key: %v", err)
		}
		if err := keyring.CheckUnused(t.Context(), db); !errors.As(err, &missing) {
			t.Errorf("without a key: %v", err)
		}
		execute(t, db, "UPDATE seal_keys SET canary = 's1."+one.KeyID()+".AAAA'")
		if _, err := newKeyring(t, db, nil, one); err == nil || !strings.Contains(err.Error(), "canary") {
			t.Errorf("with a changed canary: %v", err)
		}
	})
}

func execute(t *testing.T, db *DB, statement string) {
	t.Helper()
	if _, err := db.sql.Writer().ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// A database from before key IDs has no canary yet.
func TestKeyring_LegacyDatabaseVerifiesKeyAgainstValue(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		one, two := registrar.SealKey{1}, registrar.SealKey{2}
		id := newCustomer(t, db, "anna")
		execute(t, db, "UPDATE customers SET totp_sealed = '"+untagged(t, one, registrar.TOTPPurpose(id), "secret")+"'")
		if _, err := newKeyring(t, db, nil, two); !errors.Is(err, keyring.ErrWrongKey) {
			t.Errorf("with another key: %v", err)
		}
		if err := keyring.CheckUnused(t.Context(), db); !errors.Is(err, keyring.ErrWrongKey) {
			t.Errorf("without a key: %v", err)
		}
		if count(t, db, "SELECT count(*) FROM seal_keys") != 0 {
			t.Error("a rejected key was stored")
		}
		if _, err := newKeyring(t, db, nil, one); err != nil {
			t.Error(err)
		}
	})
}

// untagged returns a value as sealed before key IDs existed.
func untagged(t *testing.T, key registrar.SealKey, purpose, secret string) string {
	t.Helper()
	seal, err := registrar.NewSeal(key)
	if err != nil {
		t.Fatal(err)
	}
	tagged := seal.Seal(purpose, secret)
	return tagged[strings.LastIndex(tagged, ".")+1:]
}

func TestKeyring_NodesWithDifferentKeysOneIsRefused(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		results := make(chan error)
		for i := range 8 {
			go func() {
				_, err := keyring.Open(context.WithoutCancel(t.Context()), keyring.Config{
					Store: db, Load: func() ([]registrar.SealKey, error) { return []registrar.SealKey{{byte(i + 1)}}, nil },
				})
				results <- err
			}()
		}
		good := 0
		for range 8 {
			var missing *keyring.MissingKeyError
			if err := <-results; err == nil {
				good++
			} else if !errors.As(err, &missing) {
				t.Error(err)
			}
		}
		if good != 1 {
			t.Errorf("%d keys are accepted, want 1", good)
		}
	})
}

// sealEverything stores a value in each sealed column, some without a key ID, and
// returns their number.
func sealEverything(t *testing.T, db *DB, key registrar.SealKey) int {
	t.Helper()
	seal, err := registrar.NewSeal(key)
	if err != nil {
		t.Fatal(err)
	}
	var statements []string
	add := func(format string, values ...any) { statements = append(statements, fmt.Sprintf(format, values...)) }
	const rows = 3
	for i := range rows {
		value := func(purpose string) string {
			if i == 0 {
				return untagged(t, key, purpose, "secret of "+purpose)
			}
			return seal.Seal(purpose, "secret of "+purpose)
		}
		n := fmt.Sprint(i)
		id := newCustomer(t, db, "kunde"+n)
		add("UPDATE customers SET totp_sealed = '%s' WHERE id = '%s'", value(registrar.TOTPPurpose(id)), id)
		add("INSERT INTO webauthn_challenges (hash, kind, customer_id, data, expires_at) VALUES ('h%s', 'second_factor', '%s', '%s', 9000000000000000)", n, id, value(registrar.TOTPPurpose(id)))
		add("INSERT INTO webauthn_challenges (hash, kind, customer_id, data, expires_at) VALUES ('p%s', 'sign_in', '', 'not sealed', 9000000000000000)", n)
		add("INSERT INTO agents (id, name, profile, key_hash, webhook_sealed, created_at) VALUES ('a%s', 'a%s', 'ours', 'k%s', '%s', 1)", n, n, n, value(registrar.AgentWebhookPurpose("a"+n)))
		add("INSERT INTO transfer_lists (customer_id, names, list_sealed, expires_at) VALUES ('%s', 'n.de', '%s', 9000000000000000)", id, value(registrar.TransferListPurpose(id)))
		add("INSERT INTO service_secrets (name, sealed, created_at) VALUES ('x%s', '%s', 1)", n, value(registrar.ServiceSecretPurpose("x"+n)))
		add("INSERT INTO agent_secrets (id, agent_id, sealed, created_at) VALUES ('s%s', 'a%s', '%s', 1)", n, n, value(registrar.AgentSecretPurpose("a"+n, "s"+n)))
		add("INSERT INTO idempotency_keys (scope, key, body_hash, run, status, response_sealed, lease_ends, ends_at) VALUES ('sc', 'k%s', '', '', 200, '%s', 1, 9000000000000000)", n, value(registrar.ResponsePurpose("sc", "k"+n)))
		add("INSERT INTO orders (id, customer_id, email_key, state, channel, by_kind, by_id, by_address, by_name, items_key, net, vat, gross, vat_rate, vat_rule, vat_country, vat_id, vat_unchecked, pay_link, pay_sealed, verify_link, verify_sealed, open_order, created_at, updated_at, expires_at) "+
			"VALUES ('o%s', '%s', '', 'canceled', 'mcp', 'token', '', '', '', 'i%s', 0, 0, 0, 0, '', '', '', 0, 'pl%s', '%s', 'vl%s', '%s', 0, 1, 1, 1)",
			n, id, n, n, value(registrar.PayLinkPurpose("o"+n)), n, value(registrar.VerifyLinkPurpose("o"+n)))
		code := func() string { return value(registrar.AuthCodePurpose("n" + n + ".de")) }
		add("INSERT INTO order_items (id, order_id, position, name, tld, kind, years, net, vat, gross, account, provision_item_id, domain_id, code_sealed, state, failure) VALUES ('oi%s', 'o%s', 0, 'n%s.de', '.de', 'transfer', 1, 0, 0, 0, '', '', '', '%s', 'failed', '')", n, n, n, code())
		add("INSERT INTO provision_items (id, customer_id, name, tld, kind, years, payment, state, account, domain_id, code_sealed, requested_at, due_at, created_at, updated_at) VALUES ('l%s', '%s', 'n%s.de', '.de', 'register', 1, 'p%s', 'active', '', '', '%s', 1, 0, 1, 1)", n, id, n, n, code())
		add("INSERT INTO domains (id, customer_id, name, tld, status, created_at, updated_at, code_sealed) VALUES ('d%s', '%s', 'n%s.de', '.de', 'active', 1, 1, '%s')", n, id, n, code())
		add("INSERT INTO domain_changes (id, customer_id, domain_id, name, tld, account, kind, desired, code_sealed, state, by_kind, by_id, by_address, due_at, created_at, updated_at) VALUES ('c%s', '%s', 'd%s', 'n%s.de', '.de', '', 'auth_code', '{}', '%s', 'done', 'person', '', '', 0, 1, 1)", n, id, n, n, code())
	}
	for _, statement := range statements {
		if _, err := db.sql.Writer().ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%v: %s", err, statement)
		}
	}
	return rows * len(sealedColumns)
}

func countReadable(t *testing.T, db *DB, key registrar.SealKey) int {
	t.Helper()
	seal, err := registrar.NewSeal(key)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, column := range db.SealedColumns() {
		values, err := db.SealedValues(t.Context(), column, nil, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range values {
			if text, err := seal.Open(value.Purpose, value.Sealed); err == nil && text == "secret of "+value.Purpose && registrar.SealedBy(value.Sealed) != "" {
				n++
			}
		}
	}
	return n
}

func TestRotation_ResealsEveryColumnAndResumesAfterInterruption(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		one, two := registrar.SealKey{1}, registrar.SealKey{2}
		if _, err := newKeyring(t, db, nil, one); err != nil {
			t.Fatal(err)
		}
		all := sealEverything(t, db, one)
		rotation := newRotation(t, db, nil, one, two)
		// The rotation is interrupted at each line of progress.
		for stopAt, done := 1, false; !done; stopAt++ {
			ctx, stop := context.WithCancel(t.Context())
			lines := 0
			rotation.Progress = func(string) {
				if lines++; lines == stopAt {
					stop()
				}
			}
			err := rotation.Rotate(ctx)
			stop()
			if done = err == nil && lines < stopAt; err != nil && !errors.Is(err, context.Canceled) {
				t.Fatalf("stopped at %d: %v", stopAt, err)
			}
			both, err := registrar.NewSeal(one, two)
			if err != nil {
				t.Fatal(err)
			}
			for _, column := range db.SealedColumns() {
				values, err := db.SealedValues(t.Context(), column, nil, 1000)
				if err != nil {
					t.Fatal(err)
				}
				for _, value := range values {
					if _, err := both.Open(value.Purpose, value.Sealed); err != nil {
						t.Errorf("stopped at %d: %s %v: %v", stopAt, column, value.Key, err)
					}
				}
			}
		}
		if got := countReadable(t, db, two); got != all {
			t.Errorf("%d of %d values open with the new key alone", got, all)
		}
		if count(t, db, "SELECT count(*) FROM webauthn_challenges WHERE data = 'not sealed'") != 3 {
			t.Error("a value that is not sealed was changed")
		}
		if _, err := newKeyring(t, db, nil, two); err == nil {
			t.Error("the old key is not required although it was not dropped")
		}
		if err := rotation.Retire(t.Context(), two.KeyID()); err == nil {
			t.Error("the active key was dropped")
		}
		if err := rotation.Retire(t.Context(), one.KeyID()); err != nil {
			t.Fatal(err)
		}
		ring, err := newKeyring(t, db, nil, two)
		if err != nil || ring.Seal().WriteID() != two.KeyID() {
			t.Errorf("after the rotation: %v", err)
		}
		if target, err := newRotation(t, db, nil, one, two).Target(t.Context()); err != nil || target != "" {
			t.Errorf("a retired key is the rotation target: %q, %v", target, err)
		}
	})
}

func TestRotation_KeepsKeyStillInUse(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		one, two := registrar.SealKey{1}, registrar.SealKey{2}
		if _, err := newKeyring(t, db, nil, one); err != nil {
			t.Fatal(err)
		}
		id := newCustomer(t, db, "anna")
		for name, value := range map[string]string{
			"tagged": sealValue(t, one, registrar.TOTPPurpose(id)), "untagged": untagged(t, one, registrar.TOTPPurpose(id), "secret"),
		} {
			rotation := newRotation(t, db, nil, one, two)
			if err := rotation.Rotate(t.Context()); err != nil {
				t.Fatal(err)
			}
			execute(t, db, "UPDATE customers SET totp_sealed = '"+value+"'")
			if err := rotation.Retire(t.Context(), one.KeyID()); err == nil || !strings.Contains(err.Error(), "1 in customers.totp_sealed") {
				t.Errorf("%s: got %v", name, err)
			}
			if _, err := newKeyring(t, db, nil, two); err == nil {
				t.Errorf("%s: the key is no longer required", name)
			}
		}
	})
}

func sealValue(t *testing.T, key registrar.SealKey, purpose string) string {
	t.Helper()
	seal, err := registrar.NewSeal(key)
	if err != nil {
		t.Fatal(err)
	}
	return seal.Seal(purpose, "secret")
}

func TestRotation_WaitsForEveryRunningNode(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		one, two := registrar.SealKey{1}, registrar.SealKey{2}
		now := time.Now()
		clock := func() time.Time { return now }
		behind, err := newKeyring(t, db, clock, one)
		if err != nil {
			t.Fatal(err)
		}
		if err := behind.RegisterNode(t.Context(), "node_behind"); err != nil {
			t.Fatal(err)
		}
		rotation := newRotation(t, db, clock, one, two)
		if err := rotation.Rotate(t.Context()); err == nil || !strings.Contains(err.Error(), "node_behind") {
			t.Errorf("got %v", err)
		}
		if count(t, db, "SELECT count(*) FROM seal_keys") != 1 {
			t.Error("the stored key is unknown to a running node, which could not restart")
		}
		// A node whose report does not change for a while is considered dead.
		for range 3 {
			now = now.Add(30 * time.Second)
			if err := rotation.Rotate(t.Context()); err == nil {
				t.Fatal("a node was considered dead within two minutes")
			}
		}
		now = now.Add(30 * time.Second)
		if err := rotation.Rotate(t.Context()); err != nil {
			t.Fatal(err)
		}
		// The node may be unable to write for a moment, so its key is not dropped yet.
		if err := rotation.Retire(t.Context(), one.KeyID()); err == nil || !strings.Contains(err.Error(), "node_behind (last report ") {
			t.Errorf("the key of a silent node was dropped: %v", err)
		}
		// If the node is alive after all, it must not join again.
		var missing *keyring.MissingKeyError
		if err := behind.RegisterNode(t.Context(), "node_behind"); !errors.As(err, &missing) {
			t.Errorf("a node without the active key joined: %v", err)
		}
	})
}

func TestRotation_ClockSkewDoesNotHideNodes(t *testing.T) {
	t.Parallel()
	for name, skew := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachEngine(t, func(t *testing.T, db *DB) {
				one, two := registrar.SealKey{1}, registrar.SealKey{2}
				now := time.Now()
				running, err := newKeyring(t, db, func() time.Time { return now }, one)
				if err != nil {
					t.Fatal(err)
				}
				if err := running.RegisterNode(t.Context(), "node_running"); err != nil {
					t.Fatal(err)
				}
				rotation := newRotation(t, db, func() time.Time { return now.Add(skew) }, one, two)
				mustWait := func() {
					t.Helper()
					if err := rotation.Rotate(t.Context()); err == nil || !strings.Contains(err.Error(), "node_running") {
						t.Errorf("got %v, want an error that names the node without the key", err)
					}
				}
				mustWait()
				for range 10 { // it reports every 30 seconds
					now = now.Add(30 * time.Second)
					if err := running.Refresh(t.Context()); err != nil {
						t.Fatal(err)
					}
					mustWait()
				}
				// Neither the node nor the rotation can reach a hanging database.
				now = now.Add(10 * time.Minute)
				mustWait()
				if count(t, db, "SELECT count(*) FROM seal_keys") != 1 {
					t.Error("the stored key is unknown to a running node")
				}
			})
		})
	}
}

func TestSealNodes_DeletesOnlyStaleReports(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		now := time.Now()
		execute(t, db, fmt.Sprintf("INSERT INTO seal_nodes (name, key_ids, write_id, seen_at) VALUES ('killed', 'k', 'k', %d)", micros(now.Add(-25*time.Hour))))
		const running = 2*reconcilePageSize + 1
		rows := make([]string, 0, running)
		for i := range running {
			rows = append(rows, fmt.Sprintf("('node_%05d', 'k', 'k', %d)", i, micros(now.Add(-23*time.Hour))))
		}
		execute(t, db, "INSERT INTO seal_nodes (name, key_ids, write_id, seen_at) VALUES "+strings.Join(rows, ", "))
		if err := db.PutSealNode(t.Context(), keyring.Node{Name: "reporting", KeyIDs: []string{"k"}, WriteID: "k", SeenAt: now}); err != nil {
			t.Fatal(err)
		}
		nodes, err := db.SealNodes(t.Context())
		if err != nil || len(nodes) != running+1 || nodes[running].Name != "reporting" {
			t.Errorf("got %d reports (%v), want %d without the stale one", len(nodes), err, running+1)
		}
	})
}

func TestKeyring_ReloadFollowsConfigAndKeepsNeededKeys(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		one, two := registrar.SealKey{1}, registrar.SealKey{2}
		configured, broken := []registrar.SealKey{one}, error(nil)
		ring, err := keyring.Open(t.Context(), keyring.Config{
			Store: db, Load: func() ([]registrar.SealKey, error) { return configured, broken },
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := ring.RegisterNode(t.Context(), "node_1"); err != nil {
			t.Fatal(err)
		}
		value := ring.Seal().Seal("p", "secret")
		refresh := func(faults string) {
			t.Helper()
			if err := ring.Refresh(t.Context()); (err != nil) != (faults != "") || err != nil && !strings.Contains(err.Error(), faults) {
				t.Errorf("got %v, want %q", err, faults)
			}
			if got, err := ring.Seal().Open("p", value); err != nil || got != "secret" {
				t.Errorf("a value of the first key: %q, %v", got, err)
			}
		}
		configured = []registrar.SealKey{one, two}
		refresh("")
		if nodes, err := db.SealNodes(t.Context()); err != nil || len(nodes) != 1 || !slices.Equal(nodes[0].KeyIDs, []string{one.KeyID(), two.KeyID()}) {
			t.Errorf("the node reports %+v, %v", nodes, err)
		}
		// The rotation waits for the node, which is refreshed here like in Run.
		rotation := newRotation(t, db, nil, one, two)
		if err := rotation.Rotate(t.Context()); err == nil || !strings.Contains(err.Error(), "node_1") {
			t.Errorf("the rotation does not wait until the node seals with the new key: %v", err)
		}
		refresh("")
		if ring.Seal().WriteID() != two.KeyID() {
			t.Error("the node still seals with the old key")
		}
		if err := rotation.Rotate(t.Context()); err != nil {
			t.Error(err)
		}
		configured = []registrar.SealKey{two}
		refresh("has lost key " + one.KeyID())
		configured, broken = nil, errors.New("no such file")
		refresh("no such file")
		configured, broken = []registrar.SealKey{one, two}, nil
		refresh("")
		if err := rotation.Retire(t.Context(), one.KeyID()); err != nil {
			t.Fatal(err)
		}
		configured = []registrar.SealKey{two}
		if err := ring.Refresh(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := ring.Seal().Open("p", value); err == nil {
			t.Error("a retired key that is not configured still works")
		}
	})
}

func TestRotation_LostKeyIsAbandonedOnlyByName(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		lost, fresh := registrar.SealKey{1}, registrar.SealKey{2}
		if _, err := newKeyring(t, db, nil, lost); err != nil {
			t.Fatal(err)
		}
		id := newCustomer(t, db, "anna")
		value := sealValue(t, lost, registrar.TOTPPurpose(id))
		execute(t, db, "UPDATE customers SET totp_sealed = '"+value+"'")
		rotation := newRotation(t, db, nil, fresh)
		var missing *keyring.MissingKeyError
		if err := rotation.Rotate(t.Context()); !errors.As(err, &missing) {
			t.Errorf("a rotation without the old key: %v", err)
		}
		if err := newRotation(t, db, nil, lost, fresh).Abandon(t.Context(), lost.KeyID()); err == nil {
			t.Error("a configured key was abandoned")
		}
		if err := rotation.Abandon(t.Context(), lost.KeyID()); err != nil {
			t.Fatal(err)
		}
		ring, err := newKeyring(t, db, nil, fresh)
		if err != nil || ring.Seal().WriteID() != fresh.KeyID() {
			t.Errorf("afterwards: %v", err)
		}
		// A second factor that can't be decrypted stays enabled.
		if count(t, db, "SELECT count(*) FROM customers WHERE totp_sealed = '"+value+"'") != 1 {
			t.Error("the second factor was disabled")
		}
	})
}

// A rotation may replace the sealed secret between reading the account and checking the
// code.
func TestSecondFactor_AcceptsCodeAfterConcurrentReseal(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		id := newCustomer(t, db, "anna")
		change := func(do func(account.Tx) (bool, error)) bool {
			t.Helper()
			var ok bool
			if err := db.UpdateCustomers(t.Context(), func(tx account.Tx) (err error) {
				ok, err = do(tx)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return ok
		}
		set := func(version int64, text string) bool {
			return change(func(tx account.Tx) (bool, error) { return tx.SetSecondFactor(t.Context(), id, version, text, 1) })
		}
		if !set(0, "first") {
			t.Fatal("the second factor was not set")
		}
		seen, ok, err := db.ReadCustomers().AccountByID(t.Context(), id)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		execute(t, db, "UPDATE customers SET totp_sealed = 'resealed'")
		if !change(func(tx account.Tx) (bool, error) { return tx.UseTOTPStep(t.Context(), id, seen.TOTPVersion, 2) }) {
			t.Error("a code of the same secret is refused")
		}
		if !change(func(tx account.Tx) (bool, error) { return tx.ReplacePasswordHash(t.Context(), seen, "hash") }) {
			t.Error("a sign-in failed because of a key rotation")
		}
		seen.PasswordHash = "hash"
		if !set(seen.TOTPVersion, "another") {
			t.Fatal("the secret was not replaced")
		}
		if change(func(tx account.Tx) (bool, error) { return tx.UseTOTPStep(t.Context(), id, seen.TOTPVersion, 3) }) ||
			change(func(tx account.Tx) (bool, error) { return tx.ReplacePasswordHash(t.Context(), seen, "hash") }) ||
			set(seen.TOTPVersion, "late") {
			t.Error("a code of the old second factor is accepted after a change")
		}
	})
}
