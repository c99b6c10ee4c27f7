package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit"
)

const (
	wantedChart = 200.0 // milliseconds
	// chartMeasure begins the measurement of each engine. It is judged by the median: the p99
	// of a hundred requests is a pause of a shared host.
	chartMeasure = "operator page, median of the slowest, on "
	// chartRequests is how often each page is requested, after chartWarmups.
	chartRequests = 100
	chartWarmups  = 5
	// chartExtensions is the number of extensions sold, each in every month of two years.
	chartExtensions = 500
	// openEvery is which share of the work is open: one in so many.
	openEvery = 1000
)

// chartPages are the operators' charts, their start page with the counts of open work, and
// their lists.
var chartPages = []string{
	"/operator", "/operator/margin", "/operator/margin?year={last year}", "/operator/margin.csv", "/operator/revenue",
	"/operator/disputes", "/operator/refunds", "/operator/refunds?state=undecided", "/operator/payments?state=refunded", "/operator/registry-messages", "/operator/registry-messages?kind=change",
	"/operator/orders", "/operator/orders?state=completed", "/operator/payments", "/operator/outgoing-transfers", "/operator/inquiries",
	"/operator/notices", "/operator/terms",
}

// benchCharts measures the operators' pages with many order items in the database, at the
// client.
func benchCharts(ctx context.Context, b bench) ([]measurement, error) {
	return onBothDatabases(ctx, b, func(ctx context.Context, where, url string) ([]measurement, error) {
		return measureCharts(ctx, b, where, url)
	})
}

// startWithRows starts the product with rows that fill generates between the start of the world and
// that of the product. stop also removes its files.
func startWithRows(ctx context.Context, b bench, section, where, url string, fill func(engineKind, store.Options) error) (running *testkit.Product, stop func() error, err error) {
	folder := filepath.Join(b.folder, section+"-"+strings.ToLower(where))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, nil, err
	}
	kind, opts, settings := onSQLite, store.Options{Data: filepath.Join(folder, "world")}, []string(nil)
	if url != "" {
		kind, opts = onPostgres, store.Options{URL: url}
		settings = []string{"DOTKONTOR_DATABASE_URL=" + url, "DOTKONTOR_SECRET_KEY=" + config.NewKey()}
	}
	running, err = testkit.StartProductBehind(ctx, b.binary, folder, nil, settings, func(text string) (string, error) {
		return text, fill(kind, opts)
	})
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(folder))
	}
	return running, func() error { return errors.Join(running.Stop(), os.RemoveAll(folder)) }, nil
}

func measureCharts(ctx context.Context, b bench, where, url string) (lines []measurement, err error) {
	year := time.Now().Year()
	var session string
	running, stop, err := startWithRows(ctx, b, "charts", where, url, func(kind engineKind, opts store.Options) (err error) {
		session, err = seedCharts(ctx, b, kind, opts, year)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	v := &pageClient{base: running.Server.Ready, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, cookie: "dotkontor=" + session}
	if err := v.checkMargins(ctx, year, b.rows); err != nil {
		return nil, err
	}
	type result struct {
		page  string
		times []float64
		cpu   float64 // milliseconds of the product for each request
	}
	var results []result
	for _, page := range chartPages {
		b.progress("%d times %s on %s", chartRequests, page, where)
		one := result{page: page}
		path := strings.ReplaceAll(page, "{last year}", strconv.Itoa(year-1))
		before := time.Duration(0)
		for n := range chartWarmups + chartRequests {
			if n == chartWarmups {
				before, _ = running.Server.CPU()
			}
			began := time.Now()
			if err := v.get(ctx, path); err != nil {
				return nil, fmt.Errorf("%s: %w", page, err)
			}
			if n >= chartWarmups {
				one.times = append(one.times, float64(time.Since(began).Microseconds())/1000)
			}
		}
		after, _ := running.Server.CPU()
		one.cpu = float64((after - before).Microseconds()) / 1000 / chartRequests
		results = append(results, one)
	}
	median := func(r result) float64 { return percentile(r.times, 0.5) }
	slowest := slices.MaxFunc(results, func(x, y result) int { return cmp.Compare(median(x), median(y)) })
	lines = []measurement{newMeasurement(chartMeasure+where, median(slowest), milliseconds, atMost(wantedChart),
		fmt.Sprintf("%s; %s order items, as many orders, payments, refunds, disputes and messages", slowest.page, grouped(strconv.Itoa(b.rows))))}
	for _, r := range results {
		lines = append(lines, newMeasurement("  "+r.page+", median", median(r), milliseconds, nil,
			fmt.Sprintf("p99 %.1f ms; %.1f ms of CPU time of the product", percentile(r.times, 0.99), r.cpu)))
	}
	return lines, nil
}

// checkMargins compares the files of two years with what was generated.
func (v *pageClient) checkMargins(ctx context.Context, year, items int) error {
	total := 0
	for _, of := range []int{year - 1, year} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.base+"/operator/margin.csv?year="+strconv.Itoa(of), http.NoBody)
		if err != nil {
			return err
		}
		request.Header.Set("Cookie", v.cookie)
		response, err := v.client.Do(request)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			return err
		}
		reader := csv.NewReader(strings.NewReader(string(text)))
		reader.Comma = ';' // the operator reads German
		rows, err := reader.ReadAll()
		if err != nil || response.StatusCode != http.StatusOK {
			return fmt.Errorf("the file of %d: status %d, %w", of, response.StatusCode, err)
		}
		for _, row := range rows[1:] {
			sold, err := strconv.Atoi(row[2])
			if err != nil {
				return err
			}
			total += sold
		}
	}
	if total != items {
		return fmt.Errorf("the margins are those of %d items instead of %d", total, items)
	}
	return nil
}

// seedCharts generates rows and returns the session of an operator.
func seedCharts(ctx context.Context, b bench, kind engineKind, opts store.Options, year int) (session string, err error) {
	db, err := store.Open(ctx, opts) // PostgreSQL has no schema before
	if err != nil {
		return "", err
	}
	if err := db.Close(); err != nil {
		return "", err
	}
	if _, err := loadRows(ctx, kind, opts, chartData(int64(b.rows), year), b.progress); err != nil {
		return "", err
	}
	operators, err := seedBuyers(ctx, opts, 1)
	if err != nil {
		return "", err
	}
	if db, err = store.Open(ctx, opts); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, statement := range []string{
		`UPDATE customers SET operator = 1 WHERE id IN (SELECT customer_id FROM sessions WHERE user_agent = 'bench')`,
		`UPDATE sessions SET auth_method = 'passkey' WHERE user_agent = 'bench'`,
		// As the product does it for one charge after the other; see AddChargeToMargin.
		`INSERT INTO margin_months (month, tld, shard, items, revenue, euros, unknown_items, unknown_revenue)
		 SELECT month, tld, CAST(substr(id, 5, 12) AS BIGINT) / 7 % 4 AS part, count(*), sum(revenue), sum(euros), sum(1 - eur_known), sum(CASE WHEN eur_known = 0 THEN revenue ELSE 0 END)
		 FROM registry_charges GROUP BY month, tld, part`,
	} {
		if _, err := db.SQL().Writer().ExecContext(ctx, statement); err != nil {
			return "", err
		}
	}
	return operators[0].session, nil
}

// chartData is the past of two years: everything is done but for one in openEvery, and no job
// is due.
func chartData(rows int64, year int) dataset {
	start := time.Date(year-1, 1, 1, 0, 0, 0, 0, time.UTC)
	perRow := time.Since(start).Microseconds() / rows
	past := columnFormula{
		fmt.Sprintf("%d + i * %d", start.UnixMicro(), perRow), func(i int64) any { return start.UnixMicro() + i*perRow },
	}
	// open is one value for open work and another for the rest.
	open := func(yes, no string) columnFormula {
		return columnFormula{expression: fmt.Sprintf("CASE WHEN i %% %d = 0 THEN %s ELSE %s END", openEvery, yes, no)}
	}
	done := open("0", past.expression)
	tld := columnFormula{expression: fmt.Sprintf("'.tld' || (i %% %d)", chartExtensions)}
	nothing := constantText("")
	zero := constantInt(0)
	data := dataset{rows: rows, tables: []string{
		"customers", "disputes", "domains", "inquiries", "invoices", "order_items", "orders", "outgoing_transfers", "payments", "provision_items",
		"refunds", "registry_charges", "registry_messages", "term_ends", "withdrawal_notices",
	}, columns: map[string]columnFormula{
		"customers.data_reminder_at":         constantInt(farFuture),
		"disputes.lock_state":                constantText("none"),
		"disputes.open_work":                 open("1", "0"),
		"disputes.opened_at":                 past,
		"disputes.reason":                    constantText("fraudulent"),
		"disputes.currency":                  constantText("eur"),
		"disputes.status":                    open("'needs_response'", "'lost'"),
		"domains.sync_due":                   zero,
		"inquiries.topic":                    constantText("other"),
		"inquiries.done_at":                  done,
		"invoices.issued_at":                 past,
		"invoices.kind":                      constantText("invoice"),
		"order_items.state":                  constantText("active"),
		"order_items.tld":                    tld,
		"orders.channel":                     constantText("portal"),
		"orders.open_order":                  zero,
		"orders.paid_at":                     past,
		"orders.state":                       constantText("completed"),
		"orders.vat_rule":                    constantText("domestic"),
		"outgoing_transfers.reason":          nothing,
		"outgoing_transfers.failure":         nothing,
		"outgoing_transfers.by_kind":         nothing,
		"outgoing_transfers.registry_status": constantText("pending"),
		"outgoing_transfers.state":           open("'pending'", "'stopped'"),
		"outgoing_transfers.ended_at":        done,
		"payments.kind":                      constantText("page"),
		"payments.failure":                   nothing,
		"provision_items.payment":            sequentialText("manual:", ""),
		"provision_items.state":              constantText("active"),
		"refunds.source":                     constantText("provider"),
		"refunds.reason":                     nothing,
		"refunds.provider":                   scatteredText(),
		"refunds.failure":                    nothing,
		"refunds.task":                       open("'assign'", "''"),
		"registry_charges.eur_known":         {expression: "CASE WHEN i % 50 = 0 THEN 0 ELSE 1 END"},
		"registry_charges.euros":             {expression: "CASE WHEN i % 50 = 0 THEN 0 ELSE 700 + i % 300 END"},
		// Every extension is sold in every month.
		"registry_charges.month": {expression: fmt.Sprintf(
			"(%d + i / %d %% 2) || CASE WHEN i / %d %% 12 < 9 THEN '-0' ELSE '-' END || (1 + i / %d %% 12)",
			year-1, chartExtensions, 2*chartExtensions, 2*chartExtensions)},
		"registry_charges.revenue":   {expression: "1000 + i % 500"},
		"registry_charges.tld":       tld,
		"registry_messages.details":  constantText("{}"),
		"registry_messages.kind":     {expression: "CASE WHEN i % 3 = 0 THEN 'change' ELSE 'text' END"},
		"registry_messages.unread":   open("1", "0"),
		"term_ends.ended_at":         done,
		"term_ends.state":            constantText("closed"),
		"term_ends.step_at":          zero,
		"term_ends.waits_for":        open("'operator'", "''"),
		"withdrawal_notices.kind":    constantText("withdrawal"),
		"withdrawal_notices.ground":  nothing,
		"withdrawal_notices.end_day": nothing,
		"withdrawal_notices.done_at": done,
	}}
	for _, table := range data.tables {
		for column, value := range map[string]columnFormula{
			"due_at": zero, "node": nothing, "attempts": zero, "totp_sealed": nothing, "code_sealed": nothing, "pay_sealed": nothing, "verify_sealed": nothing,
		} {
			data.columns[table+"."+column] = value
		}
	}
	return data
}
