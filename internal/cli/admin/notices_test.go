package admin

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit/clitest"
)

func TestNotices_ListShowsConsentOfWithdrawnOrders(t *testing.T) {
	t.Parallel()
	settings, open, failed := dataDirWithOrders(t)
	db, err := store.Open(t.Context(), store.Options{Data: filepath.Dir(settings)})
	if err != nil {
		t.Fatal(err)
	}
	notices, err := withdrawal.New(withdrawal.Config{Store: db})
	if err != nil {
		t.Fatal(err)
	}
	for _, contract := range []string{"Vergeben.org", "Bestellung " + open, "das von neulich"} {
		_, err := notices.Submit(t.Context(), registrar.Actor{Kind: registrar.ActorPerson}, withdrawal.Notice{
			Kind: withdrawal.Withdrawal, Name: "Anna", Email: "anna@example.com", Contract: contract,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	table, _ := clitest.MustRun(t, &grammar{}, nil, "notices", "list", "--config", settings)
	for _, want := range []string{`open +2026-11-15 +Vergeben\.org`, `open +none +Bestellung ord_`, `open +\? +das von neulich`} {
		if !regexp.MustCompile(want).Match(table) {
			t.Errorf("%s is missing:\n%s", want, table)
		}
	}
	if !regexp.MustCompile(`Received +Due +Kind`).Match(table) {
		t.Errorf("no deadlines:\n%s", table)
	}
	list, _ := clitest.MustRun(t, &grammar{}, nil, "notices", "list", "--json", "--config", settings)
	for _, want := range []string{
		`"orders":[{"id":"` + failed + `","paidAt":"2026-11-15T08:00:00Z","consentAt":"2026-11-15T08:00:00Z","wording":"` + order.ConsentWording("de") + `"}]`,
		`"orders":[{"id":"` + open + `","paidAt":null,"consentAt":null}]`,
	} {
		if !strings.Contains(string(list), want) {
			t.Errorf("%s is missing:\n%s", want, list)
		}
	}
}
