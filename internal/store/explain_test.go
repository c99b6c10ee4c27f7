package store

import (
	"context"
	"database/sql"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

// queryTexts returns the texts of all generated queries, by name.
func queryTexts(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("query/*.sql.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no generated queries, %v", err)
	}
	queries := make(map[string]string)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range parsed.Decls {
			constants, ok := declaration.(*ast.GenDecl)
			if !ok || constants.Tok != token.CONST {
				continue
			}
			for _, spec := range constants.Specs {
				value, ok := spec.(*ast.ValueSpec)
				if !ok || len(value.Values) != 1 {
					t.Fatalf("%s has a constant that is not a query", file)
				}
				literal, ok := value.Values[0].(*ast.BasicLit)
				if !ok {
					t.Fatalf("%s: %s is not a string", file, value.Names[0])
				}
				text, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				queries[value.Names[0].Name] = text
			}
		}
	}
	return queries
}

var parameter = regexp.MustCompile(`\$(\d+)`)

// parameters returns the number of a query's parameters.
func parameters(text string) int {
	most := 0
	for _, found := range parameter.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(found[1])
		most = max(most, n)
	}
	return most
}

var (
	limited = regexp.MustCompile(`(?i)\bLIMIT\b`)
	// SQLite: a full scan of a table or index. In index order it may stop at a LIMIT.
	sqliteScan   = regexp.MustCompile(`^SCAN (\w+)`)
	sqliteByKey  = regexp.MustCompile(`^SCAN \w+ USING (COVERING )?INDEX `)
	sqliteNoRows = regexp.MustCompile(`^SCAN (CONSTANT ROW|\(subquery|\d+ CONSTANT|json_each VIRTUAL)`)
	// PostgreSQL: the same; an index without a condition is scanned completely.
	postgresIndex = regexp.MustCompile(`(Index Scan|Index Only Scan|Bitmap Index Scan)`)
)

// fullScans returns the plan steps whose cost grows with the total number of rows.
func fullScans(engine sqldb.Engine, text string, plan []string) []string {
	var found []string
	if engine == sqldb.SQLite {
		for _, step := range plan {
			scan := sqliteScan.FindStringSubmatch(step)
			if scan == nil || sqliteNoRows.MatchString(step) {
				continue
			}
			stops := limited.MatchString(text) && sqliteByKey.MatchString(step)
			// Output of another plan step is judged at that step.
			if !stops && !slices.Contains(plan, "CO-ROUTINE "+scan[1]) {
				found = append(found, step)
			}
		}
		return found
	}
	for i, step := range plan {
		if strings.Contains(step, "Seq Scan") {
			found = append(found, step)
		}
		if !postgresIndex.MatchString(step) {
			continue
		}
		// Details of a step follow it without an arrow.
		condition, filter := false, false
		for _, detail := range plan[i+1:] {
			if strings.Contains(detail, "->") {
				break
			}
			condition = condition || strings.Contains(detail, "Index Cond:")
			filter = filter || strings.Contains(detail, "Filter:")
		}
		// Without a filter, each scanned row counts towards the LIMIT.
		if !condition && (filter || !limited.MatchString(text)) {
			found = append(found, step)
		}
	}
	return found
}

func TestQueries_EveryQueryUsesAnIndex(t *testing.T) {
	t.Parallel()
	queries := queryTexts(t)
	delete(queries, "countDueWork") // only a sandbox asks, after its clock was moved
	delete(queries, "makeOverdueOrdersDue")
	eachEngine(t, func(t *testing.T, db *DB) {
		for name, text := range queries {
			plan := planOf(t, db, name, text)
			if found := fullScans(db.sql.Engine(), text, plan); len(found) > 0 {
				t.Errorf("%s reads a whole table or index:\n%s\n%s", name, text, strings.Join(plan, "\n"))
			}
		}
	})
}

// Of these lists, few of very many rows qualify. Only an index over just those reads no others,
// which a plan with an index and a filter does not show.
func TestQueries_RareRowsHaveTheirOwnIndex(t *testing.T) {
	t.Parallel()
	queries := queryTexts(t)
	eachEngine(t, func(t *testing.T, db *DB) {
		for name, index := range map[string]string{
			"listAllPendingRefunds": "refunds_open", "listPendingRefunds": "refunds_open_since", "listAllRefundedPayments": "refunds_made", "listOrderIDsOfNotice": "refunds_notice",
			"listNoticesOfCustomer": "withdrawal_notices_email", "keepNoticesOfAddress": "withdrawal_notices_email",
			"listClosedDomainIDs": "term_ends_closed", "listPlannedTermEnds": "term_ends_planned", "listLockingDisputes": "disputes_locking",
		} {
			if plan := strings.Join(planOf(t, db, name, queries[name]), "\n"); !slices.Contains(strings.Fields(plan), index) {
				t.Errorf("%s does not use %s:\n%s", name, index, plan)
			}
		}
	})
}

// Most errors belong to other jobs.
func TestQueries_FailedItemsReadErrorsOfItemsOnly(t *testing.T) {
	t.Parallel()
	text := queryTexts(t)["listFailedItems"]
	eachEngine(t, func(t *testing.T, db *DB) {
		plan := planOf(t, db, "listFailedItems", text)
		if !slices.ContainsFunc(plan, func(step string) bool {
			return strings.Contains(step, "job>?") || strings.Contains(step, "Index Cond:") && strings.Contains(step, "(job > 'item:'")
		}) {
			t.Errorf("it reads errors of all jobs:\n%s", strings.Join(plan, "\n"))
		}
	})
}

// SQLite has no statistics in this product, so it may take an index by state for a selective one,
// and read all payments that were ever captured to find those of one customer.
func TestQueries_SQLiteSelectsByStateOnlyWhereRowsLeaveIt(t *testing.T) {
	t.Parallel()
	// Orders leave these states within minutes or, to be verified, days.
	passing := []string{"getOrderInPayment", "listCustomerTLDs", "listOrderIDsAwaitingIdentity"}
	queries := queryTexts(t)
	delete(queries, "makeOverdueOrdersDue") // only a sandbox asks, after its clock was moved
	eachEngine(t, func(t *testing.T, db *DB) {
		if db.sql.Engine() != sqldb.SQLite {
			t.Skip("PostgreSQL has statistics")
		}
		for name, text := range queries {
			plan := strings.Join(planOf(t, db, name, text), "\n")
			if strings.Contains(plan, "(state=?)") != slices.Contains(passing, name) {
				t.Errorf("%s: selects by state alone, or does not any more:\n%s", name, plan)
			}
		}
	})
}

// The detection itself works.
func TestFullScans_DetectsQueryWithoutIndex(t *testing.T) {
	t.Parallel()
	bad := []string{
		"SELECT id FROM personal_access_tokens WHERE name = $1",
		"SELECT id FROM personal_access_tokens WHERE name = $1 ORDER BY id",
		"SELECT count(*) FROM personal_access_tokens",
		"UPDATE personal_access_tokens SET name = $1 WHERE last_used_at = $2",
		"DELETE FROM personal_access_tokens WHERE id IN (SELECT id FROM personal_access_tokens WHERE name = $1)",
		"SELECT t.id FROM personal_access_tokens t JOIN customers c ON c.language = t.name WHERE t.id = $1",
		"SELECT count(*) FROM (SELECT id FROM personal_access_tokens WHERE name = $1 ORDER BY last_used_at LIMIT 5) AS t",
	}
	good := []string{
		"SELECT id FROM personal_access_tokens WHERE customer_id = $1 AND name = $2",
		"SELECT id FROM personal_access_tokens ORDER BY id LIMIT $1",
		"SELECT count(*) FROM (SELECT id FROM personal_access_tokens WHERE customer_id = $1 ORDER BY id LIMIT 5) AS t",
		"DELETE FROM personal_access_tokens WHERE id IN (SELECT id FROM personal_access_tokens WHERE customer_id = $1 ORDER BY id LIMIT $2)",
		"INSERT INTO links (hash, kind, customer_id, email, expires_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
	}
	eachEngine(t, func(t *testing.T, db *DB) {
		worse := bad
		if db.sql.Engine() == sqldb.Postgres { // SQLite's plan does not show the filter
			worse = append(slices.Clone(bad), "SELECT id FROM personal_access_tokens WHERE name = $1 ORDER BY id LIMIT 5")
		}
		for _, text := range worse {
			if plan := planOf(t, db, "bad", text); len(fullScans(db.sql.Engine(), text, plan)) == 0 {
				t.Errorf("full scan not detected: %s\n%s", text, strings.Join(plan, "\n"))
			}
		}
		for _, text := range good {
			if plan := planOf(t, db, "good", text); len(fullScans(db.sql.Engine(), text, plan)) != 0 {
				t.Errorf("indexed query reported: %s\n%s", text, strings.Join(plan, "\n"))
			}
		}
	})
}

// planOf returns the plan of a query for any parameter values.
func planOf(t *testing.T, db *DB, name, text string) []string {
	t.Helper()
	connection, err := db.sql.Writer().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if db.sql.Engine() == sqldb.SQLite {
		return sqlitePlan(t.Context(), t, connection, name, text)
	}
	return postgresPlan(t.Context(), t, connection, name, text)
}

func sqlitePlan(ctx context.Context, t *testing.T, connection *sql.Conn, name, text string) []string {
	t.Helper()
	text = sqldb.ForSQLite(text)
	rows, err := connection.QueryContext(ctx, "EXPLAIN QUERY PLAN "+text, make([]any, parameters(text))...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, detail)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan
}

// planIndex matches the index that a step of PostgreSQL's plan reads.
var planIndex = regexp.MustCompile(`Index (?:Only )?Scan(?: Backward)? (?:using|on) (\w+)`)

// postgresPlan returns the generic plan. Tables are empty in a test, so a sequential
// scan would be cheapest; it is disabled and appears only if there is no other way. For
// the same reason a small partial index looks as good as the primary key: if a plan
// scans a whole index, it is planned again without that index.
func postgresPlan(ctx context.Context, t *testing.T, connection *sql.Conn, name, text string) []string {
	t.Helper()
	tx, err := connection.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		tx.Rollback() // restores the indexes; prepared statements stay
		connection.ExecContext(ctx, "DEALLOCATE planned")
	}()
	do := func(statement string) {
		t.Helper()
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	do("SET LOCAL enable_seqscan = off")
	do("SET LOCAL plan_cache_mode = force_generic_plan")
	do("PREPARE planned AS " + text)
	execute := "EXPLAIN EXECUTE planned"
	if n := parameters(text); n > 0 {
		execute += "(" + strings.TrimSuffix(strings.Repeat("NULL, ", n), ", ") + ")"
	}
	for {
		plan := queryStrings(t, tx, execute)
		if len(plan) == 0 {
			t.Fatalf("%s: no plan", name)
		}
		found := fullScans(sqldb.Postgres, text, plan)
		if len(found) == 0 {
			return plan
		}
		index := planIndex.FindStringSubmatch(found[0])
		if index == nil || strings.HasSuffix(index[1], "_pkey") {
			return plan
		}
		do("DROP INDEX " + index[1])
	}
}
