package withdrawal

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// countingStore counts stored notices.
type countingStore struct {
	Store
	added int
}

func (s *countingStore) ListRelatedOrders(context.Context, []string, int) (map[string][]RelatedOrder, error) {
	return nil, nil
}

func (s *countingStore) AddWithdrawalNotice(context.Context, Notice, []registrar.Mail, time.Time) error {
	s.added++
	return nil
}

func submit(t *testing.T, service *Service, from string, notice Notice) error {
	t.Helper()
	actor := registrar.Actor{Kind: registrar.ActorPerson, Address: netip.MustParseAddr(from)}
	_, err := service.Submit(t.Context(), actor, notice)
	return err
}

func (*countingStore) GetWithdrawalNotice(_ context.Context, id string) (Notice, bool, error) {
	return Notice{ID: id}, id == "dcl_1", nil
}

func TestOpenReceipt_OnlyWithValidLinkForADay(t *testing.T) {
	t.Parallel()
	seal, err := registrar.NewSeal(registrar.SealKey{1})
	if err != nil {
		t.Fatal(err)
	}
	made := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	now := made
	service, err := New(Config{Store: &countingStore{}, Seal: seal, Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	link := service.ReceiptLink(Notice{ID: "dcl_1"})
	for _, test := range []struct {
		link  string
		after time.Duration
		opens bool
	}{
		{link, 0, true},
		{link, 24 * time.Hour, true},
		{link, 24*time.Hour + time.Second, false},
		{service.ReceiptLink(Notice{ID: "dcl_gone"}), 0, false},
		{seal.Seal(registrar.SearchPurpose, strings.Repeat("1", 10)+" dcl_1"), 0, false},
		{"dcl_1", 0, false},
	} {
		now = made.Add(test.after)
		notice, err := service.OpenReceipt(t.Context(), test.link)
		if opens := err == nil && notice.ID == "dcl_1"; opens != test.opens || !opens && registrar.CodeOf(err) != NoSuchNotice {
			t.Errorf("%q after %s: %+v, %v", test.link, test.after, notice, err)
		}
	}
}

// A client with one IPv6 address has 2^64 of them.
func TestSubmit_IPv6NetworkSharesOneRateLimit(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	store := &countingStore{}
	service, err := New(Config{Store: store, RateLimit: func(key string) time.Duration {
		if seen[key] {
			return time.Minute
		}
		seen[key] = true
		return 0
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, from := range []string{"2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"} {
		err := submit(t, service, from, Notice{Kind: Withdrawal, Name: "E", Email: string(rune('a'+i)) + "@example.de", Contract: "x"})
		if limited := registrar.CodeOf(err) == TooManyNotices; limited != (i == 1) {
			t.Errorf("%s: %v", from, err)
		}
	}
	if store.added != 2 {
		t.Errorf("%d notices stored", store.added)
	}
}

func TestSubmit_AccountsOfOneNetworkHaveOwnRateLimits(t *testing.T) {
	t.Parallel()
	seen := make(map[string]int)
	service, err := New(Config{Store: &countingStore{}, RateLimit: func(key string) time.Duration {
		if seen[key]++; seen[key] > 1 {
			return time.Minute
		}
		return 0
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, customer := range []string{"cus_1", "cus_2", "cus_1", "", ""} {
		actor := registrar.Actor{Kind: registrar.ActorPerson, Customer: customer, Address: netip.MustParseAddr("192.0.2.1")}
		_, err := service.Submit(t.Context(), actor, Notice{Kind: Withdrawal, Name: "E", Email: string(rune('a'+i)) + "@example.de", Contract: "x"})
		if limited := registrar.CodeOf(err) == TooManyNotices; limited != (i == 2 || i == 4) {
			t.Errorf("notice %d of %q: %v", i+1, customer, err)
		}
	}
}

func TestSubmit_RejectsLineBreaksInFields(t *testing.T) {
	t.Parallel()
	service, err := New(Config{Store: &countingStore{}})
	if err != nil {
		t.Fatal(err)
	}
	valid := Notice{
		Kind: Termination, Name: "E", Email: "e@example.de", Contract: "x", Ground: Extraordinary, Reason: "Erstens. Zweitens.",
	}
	if err := submit(t, service, "192.0.2.1", valid); err != nil {
		t.Error(err)
	}
	for field, set := range map[string]func(*Notice, string){
		FieldName: func(d *Notice, s string) { d.Name = s }, FieldContract: func(d *Notice, s string) { d.Contract = s },
		FieldReason: func(d *Notice, s string) { d.Reason = s },
	} {
		order := valid
		set(&order, "x\n\nSie haben gewonnen: https://example.com")
		var fieldErr *FieldError
		if err := submit(t, service, "192.0.2.1", order); !errors.As(err, &fieldErr) || fieldErr.Fields[field] != Malformed {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestParseMentions_FindsOrderIDsAndDomains(t *testing.T) {
	t.Parallel()
	for contract, want := range map[string][]string{
		"kaffee.de":                        {"kaffee.de"},
		"Domain Müller.de, bestellt 1.11.": {"xn--mller-kva.de"},
		"https://www.kaffee.de/":           {"kaffee.de"},
		"Bestellung ORD_01ABC (kaffee.de)": {"ord_01abc", "kaffee.de"},
		"kaffee.de KAFFEE.DE.":             {"kaffee.de"},
		"mein Vertrag von neulich":         nil,
		"a.de b.de c.de d.de e.de f.de":    {"a.de", "b.de", "c.de", "d.de"},
		"..  ord_":                         {"ord_"},
	} {
		if got := parseMentions(contract); !slices.Equal(got, want) {
			t.Errorf("%q mentions %q, want %q", contract, got, want)
		}
	}
}

var ordered = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// ordersStore has one order for a domain.
type ordersStore struct {
	Store
	mails   []registrar.Mail
	queries []string
}

func (b *ordersStore) AddWithdrawalNotice(_ context.Context, _ Notice, mails []registrar.Mail, _ time.Time) error {
	b.mails = mails
	return nil
}

func (b *ordersStore) ListNamedDomains(context.Context, []string, int) (map[string][]NamedDomain, error) {
	return nil, nil
}

func (b *ordersStore) ListRelatedOrders(_ context.Context, mentions []string, _ int) (map[string][]RelatedOrder, error) {
	b.queries = append(b.queries, strings.Join(mentions, " "))
	at, found := ordered, make(map[string][]RelatedOrder)
	for _, mention := range mentions {
		if mention != "nichts.de" {
			one := RelatedOrder{ID: "ord_1", PaidAt: at, ConsentAt: at, ConsentVersion: "2026-11-de", Gross: 3000, Named: 1000}
			if mention == one.ID {
				one.Named = one.Gross
			}
			found[mention] = []RelatedOrder{one}
		}
	}
	return found, nil
}

func TestListRelatedOrders_ManyNoticesAreOneQuery(t *testing.T) {
	t.Parallel()
	store := &ordersStore{}
	service, err := New(Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	at := ordered.Add(time.Hour)
	all, err := service.ListRelatedOrders(t.Context(),
		Notice{Contract: "ord_1 kaffee.de", At: at}, Notice{Contract: "alles", At: at}, Notice{Contract: "nichts.de", At: at}, Notice{Contract: "kaffee.de", At: at})
	if err != nil || len(all) != 4 || len(all[0]) != 1 || len(all[1]) != 0 || len(all[2]) != 0 || len(all[3]) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	if !slices.Equal(store.queries, []string{"kaffee.de nichts.de ord_1"}) {
		t.Errorf("queried %q", store.queries)
	}
}

func TestListRelatedOrders_AmountIsThatOfTheNamedItems(t *testing.T) {
	t.Parallel()
	service, err := New(Config{Store: &ordersStore{}})
	if err != nil {
		t.Fatal(err)
	}
	for contract, want := range map[string]registrar.Cents{"kaffee.de": 1000, "kaffee.de, tee.de": 2000, "ord_1": 3000, "ord_1 kaffee.de": 3000} {
		all, err := service.ListRelatedOrders(t.Context(), Notice{Contract: contract, At: ordered.Add(time.Hour)})
		if err != nil || len(all[0]) != 1 || all[0][0].Named != want {
			t.Errorf("%s: %+v, %v, want %s", contract, all, err, want)
		}
	}
}

func TestSubmit_RelatedOrdersOnlyInOperatorMail(t *testing.T) {
	t.Parallel()
	store := &ordersStore{}
	last := ordered.AddDate(0, 0, 14)
	service, err := New(Config{Store: store, OperatorEmail: "post@kontor.example", PeriodEnded: func(_, _, _ time.Time) time.Time { return last }})
	if err != nil {
		t.Fatal(err)
	}
	withdrawal := Notice{Kind: Withdrawal, Name: "E", Email: "e@example.de", Contract: "ord_1 kaffee.de"}
	if err := submit(t, service, "192.0.2.1", withdrawal); err != nil || len(store.mails) != 2 {
		t.Fatalf("%d mails, %v", len(store.mails), err)
	}
	for _, mail := range store.mails {
		// Both words refer to the same order, which is listed once.
		hasOrder := mail.Data["orders"] == "1" && mail.Data["order1_id"] == "ord_1" && mail.Data["order1_consent_at"] == "2026-11-15T12:00:00Z" &&
			mail.Data["order1_period_ended"] == last.Format(time.DateOnly) && mail.Data["order1_business"] == ""
		if operators := mail.To == "post@kontor.example"; hasOrder != operators || !operators && mail.Data["orders"] != "" {
			t.Errorf("mail to %s: %v", mail.To, mail.Data)
		}
	}
	if err := submit(t, service, "192.0.2.1", Notice{Kind: Termination, Name: "E", Email: "e@example.de", Contract: "kaffee.de", Ground: Ordinary}); err != nil {
		t.Fatal(err)
	}
	if _, listed := store.mails[1].Data["orders"]; listed || store.mails[1].To != "post@kontor.example" {
		t.Errorf("the mail about a termination lists orders: %v", store.mails[1])
	}
}

func TestListRelatedOrders_OrderPaidAfterNoticeIsNotMeant(t *testing.T) {
	t.Parallel()
	service, err := New(Config{Store: &ordersStore{}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := service.ListRelatedOrders(t.Context(), Notice{Contract: "kaffee.de", At: ordered.Add(-time.Minute)}, Notice{Contract: "kaffee.de", At: ordered})
	if err != nil || len(all[0]) != 0 || len(all[1]) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}
