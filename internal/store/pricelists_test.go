package store

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

func listWith(t *testing.T, price string) *catalog.Catalog {
	t.Helper()
	list, err := catalog.Parse(strings.NewReader(
		"tld,register,renew,transfer,restore,min_years,max_years,popular,requires,verify,rdap,whois\n" +
			".de," + price + ",5.90,5.90,17.90,1,1,yes,,,,\n"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// lockedBuffer is a log for concurrent use.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatal("did not happen: " + what)
}

var priceListEvent = registrar.AuditEvent{Actor: registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}, Action: "prices_replaced"}

func TestPriceList_ShippedUntilImported(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		edition, err := db.PriceList(t.Context())
		if err != nil || edition.Number != 0 || edition.List.Len() != 490 {
			t.Fatalf("edition %d, %v", edition.Number, err)
		}
		edition, err = db.ReplacePriceList(t.Context(), edition, listWith(t, "9.90"), priceListEvent)
		if err != nil || edition.Number != 1 {
			t.Fatalf("edition %d, %v", edition.Number, err)
		}
		if edition, err = db.PriceList(t.Context()); err != nil || edition.Number != 1 || edition.List.Len() != 1 {
			t.Fatalf("edition %d, %v", edition.Number, err)
		}
		if edition, err = db.ReplacePriceList(t.Context(), edition, nil, priceListEvent); err != nil || edition.List.Len() != 490 {
			t.Fatalf("reset: edition %d, %v", edition.Number, err)
		}
		if edition, err = db.PriceList(t.Context()); err != nil || edition.Number != 2 || edition.List.Len() != 490 {
			t.Fatalf("edition %d, %v", edition.Number, err)
		}
	})
}

func TestReplacePriceList_SecondOfTwoRacingImportsFails(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		compared, err := db.PriceList(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var outcomes [8]error
		var all sync.WaitGroup
		for i := range outcomes {
			all.Go(func() {
				_, outcomes[i] = db.ReplacePriceList(t.Context(), compared, listWith(t, "9.90"), priceListEvent)
			})
		}
		all.Wait()
		won := 0
		for _, err := range outcomes {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, catalog.ErrEditionConflict):
				t.Error(err)
			}
		}
		if won != 1 {
			t.Errorf("%d imports based on the same edition took effect", won)
		}
	})
}

func TestWatchPriceList_SecondNodeQuotesNewPricesWithinASecond(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		live := catalog.NewLive(listWith(t, "1.00"))
		log := &lockedBuffer{}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			db.WatchPriceList(ctx, time.Millisecond, 0, live, slog.New(slog.NewTextHandler(log, nil)))
		}()
		price := func() registrar.Cents {
			ext, _ := live.Extension(".de")
			return ext.Register
		}
		edition, err := db.ReplacePriceList(t.Context(), catalog.Edition{}, listWith(t, "9.90"), priceListEvent)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the new price", func() bool { return price() == 990 })

		err = db.write(t.Context(), func(q *query.Queries) error {
			_, err := q.InsertPriceList(t.Context(), query.InsertPriceListParams{Edition: edition.Number + 1, Content: "nonsense"})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the rejection in the log", func() bool { return strings.Contains(log.String(), "price list rejected") })
		if price() != 990 {
			t.Errorf("an invalid list changed the price to %s", price())
		}
		// The invalid edition can be replaced.
		broken, err := db.PriceList(t.Context())
		if err == nil || broken.Number != edition.Number+1 {
			t.Fatalf("edition %d, %v", broken.Number, err)
		}
		if _, err := db.ReplacePriceList(t.Context(), broken, listWith(t, "3.00"), priceListEvent); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the next valid list", func() bool { return price() == 300 })
		if got := strings.Count(log.String(), "price list rejected"); got != 1 {
			t.Errorf("the invalid list was logged %d times", got)
		}
		stop()
		<-done
	})
}

func TestReadPriceList_CreatesNoDatabase(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	edition, err := ReadPriceList(t.Context(), Options{Data: folder})
	if err != nil || edition.List.Len() != 490 {
		t.Fatalf("%v", err)
	}
	if _, err := Backup(t.Context(), Options{Data: folder}, time.Now(), &bytes.Buffer{}); err == nil {
		t.Error("a database was created")
	}
	db, err := Open(t.Context(), Options{Data: folder})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ReplacePriceList(t.Context(), catalog.Edition{}, listWith(t, "9.90"), priceListEvent); err != nil {
		t.Fatal(err)
	}
	if edition, err = ReadPriceList(t.Context(), Options{Data: folder}); err != nil || edition.Number != 1 {
		t.Errorf("edition %d, %v", edition.Number, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
