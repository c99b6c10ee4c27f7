package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/bulk"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/overview"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

func newPortfolioService(t *testing.T, db *DB) *portfolio.Service {
	t.Helper()
	return portfolio.New(db, func() time.Time { return testTime })
}

func TestListDomains_OwnDomainsSortedByName(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service, anna, bert := t.Context(), newPortfolioService(t, db), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		paid := testTime.AddDate(1, 0, 0)
		for i, status := range registrar.DomainStatuses() {
			// Names that sort differently by bytes and by a linguistic collation.
			label := []string{"ab", "a-c", "xn--mller-kva", "zz", "0a", "aa"}[i]
			if _, err := service.Add(ctx, operatorActor(), portfolio.AddParams{
				Customer: anna, Name: registrar.NewName(label, ".de"), Status: status, PaidUntil: paid,
			}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := service.Add(ctx, operatorActor(), portfolio.AddParams{
			Customer: bert, Name: registrar.NewName("bert", ".de"), Status: registrar.DomainPending,
		}); err != nil {
			t.Fatal(err)
		}
		token := registrar.Actor{Kind: registrar.ActorToken, Customer: anna}
		domains, err := service.List(ctx, token)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, domain := range domains {
			names = append(names, domain.Name+" "+string(domain.Status))
			if !domain.PaidUntil.Equal(paid) || domain.TLD != ".de" || domain.Renews() || domain.Customer != anna {
				t.Errorf("got %+v", domain)
			}
		}
		if want := []string{
			"0a.de active", "a-c.de expired", "aa.de transferred_out", "ab.de redemption", "xn--mller-kva.de transit", "zz.de pending",
		}; !slices.Equal(names, want) {
			t.Errorf("got %q, want %q", names, want)
		}
		if domains, err := service.List(ctx, personActor(bert)); err != nil || len(domains) != 1 || !domains[0].PaidUntil.IsZero() {
			t.Errorf("bert sees %+v, %v", domains, err)
		}
	})
}

func TestAddDomain_RequiresConfirmedAccount(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		insertAccount(t, db, "late", false)
		for _, id := range []string{"late", "cus_unknown"} {
			_, err := newPortfolioService(t, db).Add(t.Context(), operatorActor(), portfolio.AddParams{
				Customer: id, Name: registrar.NewName("late", ".de"), Status: registrar.DomainPending,
			})
			wantCode(t, err, registrar.KindNotFound, registrar.NoSuchCustomer)
		}
	})
}

func TestAddDomain_RacingCallersOneHoldsName(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		service, anna, bert := newPortfolioService(t, db), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		add := func(ctx context.Context, customer string, status registrar.DomainStatus) error {
			_, err := service.Add(ctx, operatorActor(), portfolio.AddParams{
				Customer: customer, Name: registrar.NewName("one", ".com"), Status: status, PaidUntil: testTime,
			})
			return err
		}
		var held atomic.Int64
		var wait sync.WaitGroup
		for i := range 20 {
			wait.Go(func() {
				err := add(t.Context(), []string{anna, bert}[i%2], registrar.DomainActive)
				switch {
				case err == nil:
					held.Add(1)
				case !errors.Is(err, &registrar.Error{Kind: registrar.KindConflict, Code: registrar.NameHeld}):
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if held.Load() != 1 {
			t.Errorf("%d customers hold the name, want one", held.Load())
		}
		if events := count(t, db, "SELECT count(*) FROM audit_events"); events != 1 {
			t.Errorf("%d audit events, want one", events)
		}
		execStatement(t, db, "UPDATE domains SET status = 'transferred_out'")
		if err := add(t.Context(), bert, registrar.DomainActive); err != nil {
			t.Errorf("a name that was transferred out can't return: %v", err)
		}
		if err := add(t.Context(), "cus_unknown", registrar.DomainTransferredOut); !errors.Is(err, &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.NoSuchCustomer}) {
			t.Errorf("got %v", err)
		}
	})
}

func TestPortfolio_FindsHeldDomainByName(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna, bert := newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		addHeldDomain(t, db, bert, "fremd.org", registrar.DomainActive)
		addHeldDomain(t, db, anna, "weg.org", registrar.DomainTransferredOut)
		addHeldDomain(t, db, anna, "zurueck.org", registrar.DomainTransferredOut)
		addHeldDomain(t, db, anna, "zurueck.org", registrar.DomainActive)
		addHeldDomain(t, db, anna, "kommt.org", registrar.DomainPending)
		holdings := portfolio.New(db, time.Now)
		for name, want := range map[string]bool{
			"fremd.org": false, "weg.org": false, "zurueck.org": true, "kommt.org": true, "ommt.org": false, "nie.org": false, "": false,
		} {
			domain, held, err := holdings.FindByName(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: anna}, name)
			if err != nil || held != want || held && (domain.Name != name || domain.Customer != anna || domain.Status == registrar.DomainTransferredOut) {
				t.Errorf("%s: %t %+v, %v", name, held, domain, err)
			}
		}
		if _, _, err := holdings.FindByName(t.Context(), registrar.Actor{}, "kommt.org"); registrar.KindOf(err) != registrar.KindUnauthenticated {
			t.Errorf("without a customer: %v", err)
		}
	})
}

func TestPageOfDomains_ContinuesAfterCursor(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna, bert := newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		addHeldDomain(t, db, bert, "fremd.org", registrar.DomainActive)
		// A name that was transferred out and returned has two rows.
		for _, name := range []string{"a-eins.org", "zwei.org", "b-drei.org"} {
			addHeldDomain(t, db, anna, name, registrar.DomainActive)
		}
		addHeldDomain(t, db, anna, "zwei.org", registrar.DomainTransferredOut)
		var names []string
		filter := portfolio.Filter{}
		for range 10 {
			some, err := db.ListDomainsPage(t.Context(), anna, filter, 1)
			if err != nil {
				t.Fatal(err)
			}
			if len(some) == 0 {
				break
			}
			names = append(names, some[0].Name)
			filter.AfterName, filter.AfterID = some[0].Name, some[0].ID
		}
		if want := []string{"a-eins.org", "b-drei.org", "zwei.org", "zwei.org"}; !slices.Equal(names, want) {
			t.Errorf("pages: %v", names)
		}
		some, err := db.ListDomainsPage(t.Context(), anna, portfolio.Filter{Part: "ei", Status: registrar.DomainActive}, 10)
		if err != nil || len(some) != 3 {
			t.Errorf("found %v, %v", some, err)
		}
		groups, err := db.CountDomainGroups(t.Context(), anna)
		counts := map[registrar.DomainStatus]int{}
		for _, group := range groups {
			counts[registrar.DomainStatus(group.State)] += group.Domains
		}
		if err != nil || counts[registrar.DomainActive] != 3 || counts[registrar.DomainTransferredOut] != 1 || len(counts) != 2 {
			t.Errorf("counted %v, %v", groups, err)
		}
	})
}

func TestHeldIDs_OnlyOwnCurrentDomains(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		service, anna, bert := newPortfolioService(t, db), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		addHeldDomain(t, db, anna, "laden.de", registrar.DomainActive)
		addHeldDomain(t, db, anna, "weg.de", registrar.DomainTransferredOut)
		addHeldDomain(t, db, bert, "bertladen.de", registrar.DomainActive)
		actor := registrar.Actor{Kind: registrar.ActorPerson, Customer: anna}
		held, err := service.HeldIDs(t.Context(), actor, []string{"laden.de", "weg.de", "bertladen.de", "frei.de"})
		if err != nil || len(held) != 1 || held["laden.de"] == "" {
			t.Errorf("got %v, %v", held, err)
		}
	})
}

func TestFindDomains_BySearchAndTermWithTotal(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service, anna, bert := t.Context(), newPortfolioService(t, db), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		for i, one := range []portfolio.AddParams{
			{Status: registrar.DomainActive, PaidUntil: testTime.AddDate(0, 1, 0)},
			{Status: registrar.DomainActive, PaidUntil: testTime.AddDate(0, 2, 0)},
			{Status: registrar.DomainPending},
			{Status: registrar.DomainTransferredOut, PaidUntil: testTime.AddDate(0, 1, 0)},
			{Status: registrar.DomainExpired, PaidUntil: testTime.AddDate(0, -1, 0)},
		} {
			one.Customer, one.Name = anna, registrar.NewName([]string{"laden", "mein-laden", "xn--mller-kva", "weg", "alt"}[i], ".de")
			if _, err := service.Add(ctx, operatorActor(), one); err != nil {
				t.Fatal(err)
			}
		}
		addHeldDomain(t, db, bert, "bertladen.de", registrar.DomainActive)
		for _, test := range []struct {
			filter        portfolio.Filter
			limit, offset int
			want          []string
			total         int
		}{
			{portfolio.Filter{}, 10, 0, []string{"alt.de", "laden.de", "mein-laden.de", "weg.de", "xn--mller-kva.de"}, 5},
			{portfolio.Filter{}, 2, 1, []string{"laden.de", "mein-laden.de"}, 5},
			{portfolio.Filter{}, 2, 9, nil, 5},
			{portfolio.Filter{Part: " LADEN "}, 10, 0, []string{"laden.de", "mein-laden.de"}, 2},
			{portfolio.Filter{Part: "müller"}, 10, 0, []string{"xn--mller-kva.de"}, 1},
			{portfolio.Filter{Part: "MÜLL"}, 10, 0, []string{"xn--mller-kva.de"}, 1},
			{portfolio.Filter{Part: "mu\u0308ller"}, 10, 0, []string{"xn--mller-kva.de"}, 1},
			{portfolio.Filter{Part: "müller.de"}, 10, 0, []string{"xn--mller-kva.de"}, 1},
			{portfolio.Filter{Part: "ül"}, 1, 1, nil, 1},
			{portfolio.Filter{Part: "möller"}, 10, 0, nil, 0},
			{portfolio.Filter{Part: "%"}, 10, 0, nil, 0},
			{portfolio.Filter{PaidBefore: testTime.AddDate(0, 2, 0)}, 10, 0, []string{"alt.de", "laden.de"}, 2},
			{portfolio.Filter{PaidBefore: testTime.AddDate(0, 2, 1), Part: "laden"}, 10, 1, []string{"mein-laden.de"}, 2},
		} {
			domains, total, err := service.Find(ctx, personActor(anna), test.filter, test.limit, test.offset)
			var got []string
			for _, domain := range domains {
				got = append(got, domain.Name)
			}
			if err != nil || total != test.total || !slices.Equal(got, test.want) {
				t.Errorf("%+v %d+%d: got %q of %d, %v", test.filter, test.offset, test.limit, got, total, err)
			}
		}
		if _, _, err := service.Find(ctx, registrar.Actor{}, portfolio.Filter{}, 10, 0); registrar.KindOf(err) != registrar.KindUnauthenticated {
			t.Errorf("without a customer: %v", err)
		}
	})
}

func TestListDomains_FiltersOrdersAndLabels(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service, anna, bert := t.Context(), newPortfolioService(t, db), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		actor := registrar.Actor{Kind: registrar.ActorPerson, Customer: anna, Through: "ses_1"}
		ids := map[string]string{}
		for i, name := range []string{"c", "a", "b"} {
			added, err := service.Add(ctx, operatorActor(), portfolio.AddParams{
				Customer: anna, Name: registrar.NewName(name, []string{".de", ".org"}[i%2]), Status: registrar.DomainActive, PaidUntil: testTime.AddDate(0, 0, 10*(3-i)),
			})
			if err != nil {
				t.Fatal(err)
			}
			ids[name] = added.ID
		}
		addHeldDomain(t, db, bert, "fremd.org", registrar.DomainActive)
		if err := service.SetLabels(ctx, actor, ids["a"], " Kunden ", "erste\r\nzweite"); err != nil {
			t.Fatal(err)
		}
		if err := service.SetFolder(ctx, actor, ids["a"], "Archiv"); err != nil {
			t.Fatal(err)
		}
		if a, err := service.Get(ctx, actor, ids["a"]); err != nil || a.Folder != "Archiv" || a.Note != "erste\nzweite" {
			t.Errorf("%+v, %v", a, err)
		}
		foreign := registrar.Actor{Kind: registrar.ActorPerson, Customer: bert, Through: "ses_2"}
		if err := service.SetFolder(ctx, foreign, ids["a"], "meiner"); registrar.KindOf(err) != registrar.KindNotFound {
			t.Errorf("another customer got %v", err)
		}
		for name, test := range map[string]struct {
			filter portfolio.Filter
			want   []string
		}{
			"by name":     {portfolio.Filter{}, []string{"a.org", "b.de", "c.de"}},
			"by term":     {portfolio.Filter{Sort: portfolio.SortTerm}, []string{"b.de", "a.org", "c.de"}},
			"newest":      {portfolio.Filter{Sort: portfolio.SortAdded, Part: "b"}, []string{"b.de"}}, // all were added at the same time
			"extension":   {portfolio.Filter{TLD: ".de"}, []string{"b.de", "c.de"}},
			"folder":      {portfolio.Filter{Folder: "Archiv"}, []string{"a.org"}},
			"urgent":      {portfolio.Filter{UrgentBefore: testTime.AddDate(0, 0, 25)}, []string{"a.org", "b.de"}},
			"renewing":    {portfolio.Filter{AutoRenew: portfolio.AutoRenewOn}, nil},
			"not renewed": {portfolio.Filter{AutoRenew: portfolio.AutoRenewOff, TLD: ".org"}, []string{"a.org"}},
		} {
			page, err := service.Page(ctx, actor, test.filter, 10, nil)
			var names []string
			for _, d := range page.Domains {
				names = append(names, d.Name)
			}
			if err != nil || !slices.Equal(names, test.want) {
				t.Errorf("%s: got %v, %v", name, names, err)
			}
		}
	})
}

func TestPage_RestrictedDomainsHaveTheirOwnState(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		service, actor := newPortfolioService(t, db), registrar.Actor{Kind: registrar.ActorPerson, Customer: anna, Through: "ses_1"}
		addHeldDomain(t, db, anna, "a.org", registrar.DomainActive)
		for name, held := range map[string]string{"b.org": "", "c.org": "chk_1", "d.org": "chk_1"} {
			id := addHeldDomain(t, db, anna, name, registrar.DomainActive)
			execStatement(t, db, `UPDATE domains SET registry_status = 'clientHold ok', contact_hold = $1 WHERE id = $2`, held, id)
			if name == "d.org" { // the registry has not confirmed the hold
				execStatement(t, db, `UPDATE domains SET registry_status = 'ok' WHERE id = $1`, id)
			}
		}
		addPaidDomain(t, db, anna, "e.org", "pay_1")
		addDispute(t, db, "du_1", "pi_pay_1", dispute.NeedsResponse)
		addHeldDomain(t, db, anna, "f.org", registrar.DomainActive)
		storeMessage(t, db, "one", 1, transferMessage("1", "f.org", "pending", testTime))
		unconfirmed := addHeldDomain(t, db, anna, "g.org", registrar.DomainActive)
		execStatement(t, db, `UPDATE domains SET contact_check = 'chk_2' WHERE id = $1`, unconfirmed)
		for name, test := range map[string]struct {
			filter portfolio.Filter
			want   []string
		}{
			"active":    {portfolio.Filter{State: portfolio.State(registrar.DomainActive)}, []string{"a.org active", "d.org active", "g.org active"}},
			"suspended": {portfolio.Filter{State: portfolio.Suspended}, []string{"c.org suspended"}},
			"held":      {portfolio.Filter{State: portfolio.Held}, []string{"b.org held"}},
			"disputed":  {portfolio.Filter{State: portfolio.Disputed}, []string{"e.org disputed"}},
			"leaving":   {portfolio.Filter{State: portfolio.Leaving}, []string{"f.org leaving"}},
			"attention": {portfolio.Filter{UrgentBefore: testTime}, []string{"b.org held", "c.org suspended", "e.org disputed", "f.org leaving", "g.org active"}},
			"sorted":    {portfolio.Filter{Sort: portfolio.SortStatus}, []string{"f.org leaving", "c.org suspended", "b.org held", "e.org disputed", "a.org active", "d.org active", "g.org active"}},
		} {
			var names []string
			for { // one domain a page
				page, err := service.Page(ctx, actor, test.filter, 1, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range page.Domains {
					names = append(names, d.Name+" "+string(d.State()))
				}
				if !page.More {
					break
				}
				test.filter = test.filter.After(page.Domains[0])
			}
			if !slices.Equal(names, test.want) {
				t.Errorf("%s: got %v", name, names)
			}
		}
		page, err := service.Page(ctx, actor, portfolio.Filter{}, 10, nil)
		counts := make(map[portfolio.State]int)
		for _, group := range page.Groups {
			counts[group.State] += group.Domains
		}
		if err != nil || page.Total() != 7 || counts["active"] != 3 || counts[portfolio.Leaving] != 1 || counts[portfolio.Suspended] != 1 || counts[portfolio.Held] != 1 || counts[portfolio.Disputed] != 1 {
			t.Errorf("groups %+v, %v", page.Groups, err)
		}
		failing := addHeldDomain(t, db, anna, "h.org", registrar.DomainActive)
		execStatement(t, db, `INSERT INTO renewals (domain_id, term_end, customer_id, name, tld, state, years, gross, announced_at, charge_at, attempts, updated_at)
			SELECT id, paid_until, customer_id, name, tld, 'failed', 1, 100, 0, 0, 3, 0 FROM domains WHERE id = $1`, failing)
		soon := testTime.AddDate(0, 1, 0)
		filters, err := service.CountFilters(ctx, actor, soon, "Hold")
		if err != nil {
			t.Fatal(err)
		}
		var urgent, lacking int
		for _, filter := range filters {
			urgent, lacking = urgent+filter.Urgent, lacking+filter.Lacking
		}
		if page, err = service.Page(ctx, actor, portfolio.Filter{UrgentBefore: soon}, 10, nil); err != nil || urgent != len(page.Domains) || urgent != 6 || lacking != 1 {
			t.Errorf("counted %+v, listed %d urgent ones, %v", filters, len(page.Domains), err)
		}
		facts, err := db.OverviewFacts(ctx, anna, overview.Bounds{Limit: 10})
		if err != nil || len(facts.Restricted) != 4 {
			t.Errorf("overview: %+v, %v", facts.Restricted, err)
		}
	})
}

func TestSetLabels_ConcurrentNewFoldersStayWithinLimit(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		const maxFolders = 1
		anna := newCustomer(t, db, "anna")
		one, two := addHeldDomain(t, db, anna, "eins.org", registrar.DomainActive), addHeldDomain(t, db, anna, "zwei.org", registrar.DomainActive)
		set := func(domain, folder string) error {
			event := registrar.AuditEvent{Actor: operatorActor(), Action: portfolio.LabelsChanged, Customer: anna, At: testTime}
			return db.SetLabels(t.Context(), anna, domain, folder, nil, maxFolders, event)
		}
		done := make(chan error, 1)
		if err := db.write(t.Context(), func(q *query.Queries) error {
			if err := checkFolderLimit(t.Context(), q, anna, "Kunden", maxFolders); err != nil {
				return err
			}
			_, err := q.SetDomainFolder(t.Context(), query.SetDomainFolderParams{Folder: "Kunden", ID: one, CustomerID: anna})
			go func() { done <- set(two, "Archiv") }()
			time.Sleep(200 * time.Millisecond) // the other change is under way before this one is stored
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := <-done; registrar.CodeOf(err) != portfolio.TooManyFolders {
			t.Errorf("another new folder: %v", err)
		}
		if err := set(two, "Kunden"); err != nil { // at the limit, existing folders still take domains
			t.Error(err)
		}
		if err := set(two, "Archiv"); registrar.CodeOf(err) != portfolio.TooManyFolders {
			t.Errorf("a new folder at the limit: %v", err)
		}
	})
}

func TestBulkActions_OldestAreDeleted(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		var first, last bulk.Action
		for i := range 52 {
			last = bulk.Action{ID: fmt.Sprintf("blk_%02d", i), Customer: anna, Kind: bulk.Lock, At: testTime, Results: []bulk.Result{{Domain: "dom_1", Name: "a.de", Code: "x"}}}
			if err := db.AddBulkAction(t.Context(), last); err != nil {
				t.Fatal(err)
			}
			if i == 1 {
				first = last
			}
		}
		if _, found, err := db.GetBulkAction(t.Context(), anna, first.ID); err != nil || found {
			t.Errorf("%s is kept: %v", first.ID, err)
		}
		if got, found, err := db.GetBulkAction(t.Context(), anna, last.ID); err != nil || !found || !slices.Equal(got.Results, last.Results) {
			t.Errorf("%+v, %t, %v", got, found, err)
		}
	})
}
