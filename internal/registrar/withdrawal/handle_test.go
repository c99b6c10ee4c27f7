package withdrawal

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestNotice_DeadlineByLaw(t *testing.T) {
	t.Parallel()
	arrived := time.Date(2026, 11, 15, 23, 30, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		notice Notice
		day    string
		atOnce bool
	}{
		"withdrawal":        {Notice{Kind: Withdrawal}, "2026-11-29", false},
		"stated day":        {Notice{Kind: Termination, Ground: Ordinary, End: "2026-12-31"}, "2026-11-15", true},
		"no day":            {Notice{Kind: Termination, Ground: Ordinary}, "2026-11-15", true},
		"for cause":         {Notice{Kind: Termination, Ground: Extraordinary}, "2026-11-15", true},
		"for cause, stated": {Notice{Kind: Termination, Ground: Extraordinary, End: "2026-11-20"}, "2026-11-15", true},
	} {
		test.notice.At = arrived
		if got := test.notice.Deadline().Format(time.DateOnly); got != test.day || test.notice.AtOnce() != test.atOnce {
			t.Errorf("%s: %s, at once %t", name, got, test.notice.AtOnce())
		}
		last := test.notice.Deadline().Add(24*time.Hour - time.Second)
		if test.notice.Overdue(last) || !test.notice.Overdue(last.Add(time.Second)) {
			t.Errorf("%s is overdue at the wrong time", name)
		}
		test.notice.DoneAt = last
		if test.notice.Overdue(last.Add(time.Hour)) {
			t.Errorf("%s is overdue although it was handled", name)
		}
	}
}

// oneNotice has one open notice and fails if it is changed.
type oneNotice struct{ Store }

func (oneNotice) GetWithdrawalNotice(context.Context, string) (Notice, bool, error) {
	return Notice{ID: "dcl_1", Kind: Withdrawal}, true, nil
}

func (oneNotice) ListOpenWithdrawalNotices(context.Context, int) ([]Notice, error) {
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	return []Notice{
		{ID: "late", Kind: Withdrawal, At: at}, {ID: "soon", Kind: Withdrawal, At: at.AddDate(0, 0, -3)}, {ID: "now", Kind: Termination, End: "2026-12-31", At: at},
	}, nil
}

func TestListOpen_EarliestDeadlineFirst(t *testing.T) {
	t.Parallel()
	service, err := New(Config{Store: oneNotice{}})
	if err != nil {
		t.Fatal(err)
	}
	open, err := service.ListOpen(t.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "root"})
	if err != nil || len(open) != 3 || open[0].ID != "now" || open[1].ID != "soon" || open[2].ID != "late" {
		t.Errorf("%+v, %v", open, err)
	}
}

func TestClose_RefusesBadNoteAndNonOperators(t *testing.T) {
	t.Parallel()
	service, err := New(Config{Store: oneNotice{}})
	if err != nil {
		t.Fatal(err)
	}
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}
	for _, note := range []string{"", " \n ", strings.Repeat("ä", MaxNote+1), "a\x00b", "a\u202eb", "\xff"} {
		if err := service.Close(t.Context(), operator, "dcl_1", Closing{Note: note}); registrar.CodeOf(err) != BadNote {
			t.Errorf("%q: %v", note, err)
		}
	}
	customer := registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_1", Through: "ses_1"}
	_, listErr := service.ListOpen(t.Context(), customer)
	_, countErr := service.CountOpen(t.Context(), customer)
	_, _, handledErr := service.ListHandled(t.Context(), customer, "")
	_, getErr := service.Get(t.Context(), customer, "dcl_1")
	for _, err := range []error{listErr, countErr, handledErr, getErr, service.Close(t.Context(), customer, "dcl_1", Closing{Note: "x"})} {
		if registrar.CodeOf(err) != registrar.OperatorsOnly {
			t.Errorf("a customer got %v", err)
		}
	}
}

// closedNotice has a termination about an order and one of its domains, and keeps its outcome.
type closedNotice struct {
	Store
	notice  Notice
	domains []NamedDomain
	refunds []string // names of domains of which something was refunded for the notice
	outcome Outcome
}

func (s *closedNotice) ListRefundedDomains(_ context.Context, _ string, domains []NamedDomain) ([]NamedDomain, error) {
	return slices.DeleteFunc(slices.Clone(domains), func(d NamedDomain) bool { return !slices.Contains(s.refunds, d.Name) }), nil
}

func (s *closedNotice) GetWithdrawalNotice(context.Context, string) (Notice, bool, error) {
	return s.notice, true, nil
}

func (s *closedNotice) ListNamedDomains(_ context.Context, mentions []string, _ int) (map[string][]NamedDomain, error) {
	return map[string][]NamedDomain{mentions[0]: s.domains}, nil
}

func (s *closedNotice) StoreOutcome(_ context.Context, done Outcome) error {
	s.outcome = done
	return nil
}

// A reply alone may be a refusal: a withdrawal that came too late, or no good cause.
func TestClose_ReplyAloneEndsNoRenewal(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 15, 9, 5, 0, 0, time.UTC)
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}
	for name, test := range map[string]struct {
		notice  Notice
		closing Closing
		refunds []string
		action  registrar.Action // empty: nothing ends
		mails   string
	}{
		"late withdrawal":          {Notice{Kind: Withdrawal}, Closing{Reply: "Zu spät."}, nil, "", "notice_handled"},
		"withdrawal, note only":    {Notice{Kind: Withdrawal}, Closing{}, nil, "", ""},
		"another domain refunded":  {Notice{Kind: Withdrawal}, Closing{Reply: "Nein."}, []string{"dienstag.net"}, "", "notice_handled"},
		"withdrawal with a refund": {Notice{Kind: Withdrawal}, Closing{Reply: "Erstattet."}, []string{"montag.net"}, ContractWithdrawn, "notice_handled:montag.net"},
		"refund without a reply":   {Notice{Kind: Withdrawal}, Closing{}, []string{"montag.net"}, ContractWithdrawn, "renewal_off:withdrawn"},
		"no good cause":            {Notice{Kind: Termination, Ground: Extraordinary}, Closing{Reply: "Kein Grund."}, nil, "", "notice_handled"},
		"good cause":               {Notice{Kind: Termination, Ground: Extraordinary}, Closing{Reply: "Ja.", End: "2026-11-15"}, nil, ContractTerminated, "notice_handled:montag.net"},
	} {
		test.notice.ID, test.notice.Email, test.notice.Contract, test.notice.Language, test.notice.At = "dcl_1", "petra@example.org", "montag.net", "de", at
		store := &closedNotice{notice: test.notice, refunds: test.refunds, domains: []NamedDomain{{
			ID: "dom_1", Customer: "cus_1", Name: "montag.net", TLD: ".net", Email: "petra@example.org", Status: registrar.DomainActive,
			PaidUntil: at.AddDate(1, 0, 0), Choice: registrar.TermEndRenew,
		}}}
		service, err := New(Config{Store: store, Now: func() time.Time { return at }})
		if err != nil {
			t.Fatal(err)
		}
		test.closing.Note = "Geprüft."
		if err := service.Close(t.Context(), operator, "dcl_1", test.closing); err != nil {
			t.Fatal(err)
		}
		var action registrar.Action
		for _, contract := range store.outcome.Contracts {
			action = contract.AuditEvent.Action
		}
		var mails []string
		for _, mail := range store.outcome.Mails {
			mails = append(mails, strings.TrimSuffix(string(mail.Kind)+":"+mail.Data["change"]+mail.Data["item1_name"], ":"))
		}
		if got := strings.Join(mails, " "); action != test.action || got != test.mails {
			t.Errorf("%s: %q with mails %q, want %q and %q", name, action, got, test.action, test.mails)
		}
	}
}

func TestClose_EndOfContractEndsLaterRenewals(t *testing.T) {
	t.Parallel()
	domain := func(name, email string, status registrar.DomainStatus, until string) NamedDomain {
		paid, err := time.Parse(time.DateOnly, until)
		if err != nil {
			t.Fatal(err)
		}
		return NamedDomain{ID: "dom_" + name, Customer: "cus_" + email, Name: name, TLD: ".net", Email: email, Status: status, PaidUntil: paid}
	}
	store := &closedNotice{
		notice: Notice{ID: "dcl_1", Kind: Termination, Email: "Petra@example.org", Contract: "montag.net", Language: "de"},
		domains: []NamedDomain{
			domain("montag.net", "petra@example.org", registrar.DomainActive, "2027-11-19"),
			domain("dienstag.net", "petra@example.org", registrar.DomainActive, "2027-11-19"),
		},
	}
	service, err := New(Config{Store: store, MailQueued: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}
	for _, test := range []struct {
		contract, end string
		domain        NamedDomain
		want          string
	}{
		{"montag.net", "2026-11-19", store.domains[0], "montag.net"},
		{"montag.net", "", store.domains[0], ""},
		{"montag.net", "2026-11-19", domain("montag.net", "other@example.org", registrar.DomainActive, "2027-11-19"), ""},
		{"montag.net", "2026-11-19", domain("montag.net", "petra@example.org", registrar.DomainRedemption, "2027-11-19"), ""},
		{"ord_1", "2026-11-19", store.domains[0], "montag.net dienstag.net"},
	} {
		store.notice.Contract, store.domains[0] = test.contract, test.domain
		if err := service.Close(t.Context(), operator, "dcl_1", Closing{Note: "Geprüft.", End: test.end}); err != nil {
			t.Fatal(err)
		}
		var ended []string
		for _, contract := range store.outcome.Contracts {
			ended = append(ended, contract.Domain.Name)
		}
		if got := strings.Join(ended, " "); got != test.want {
			t.Errorf("a contract about %s that ends on %q: %q expire, want %q", test.contract, test.end, got, test.want)
		}
	}
}

// The mail confirms the day to the sender at once.
func TestClose_RefusesEndBeforeArrivalOrAfterPaidTerm(t *testing.T) {
	t.Parallel()
	arrived := time.Date(2026, 11, 15, 9, 5, 0, 0, time.UTC)
	domain := func(name, email string, until time.Time) NamedDomain {
		return NamedDomain{ID: "dom_" + name, Customer: "cus_" + email, Name: name, TLD: ".net", Email: email, Status: registrar.DomainActive, PaidUntil: until}
	}
	monday := domain("montag.net", "petra@example.org", arrived.AddDate(1, 0, 0))
	tuesday := domain("dienstag.net", "petra@example.org", arrived.AddDate(2, 0, 0))
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}
	for name, test := range map[string]struct {
		contract  string
		domains   []NamedDomain
		possible  []string
		forbidden []string
		days      string
	}{
		"one domain":    {"montag.net", []NamedDomain{monday, tuesday}, []string{"2026-11-15", "2027-11-15"}, []string{"2020-01-01", "2026-11-14", "2027-11-16", "2035-01-01"}, "2026-11-15 to 2027-11-15"},
		"an order":      {"ord_1", []NamedDomain{monday, tuesday}, []string{"2028-11-15"}, []string{"2028-11-16"}, "2026-11-15 to 2028-11-15"},
		"unknown":       {"der Vertrag", nil, []string{"2026-11-15", "2035-01-01"}, []string{"2026-11-14"}, "from 2026-11-15"},
		"a stranger":    {"montag.net", []NamedDomain{domain("montag.net", "other@example.org", monday.PaidUntil)}, []string{"2027-11-15"}, []string{"2027-11-16"}, "2026-11-15 to 2027-11-15"},
		"an ended term": {"montag.net", []NamedDomain{domain("montag.net", "petra@example.org", arrived.AddDate(0, 0, -5))}, []string{"2026-11-10", "2026-11-15"}, []string{"2026-11-09", "2026-11-16"}, "2026-11-10 to 2026-11-15"},
	} {
		store := &closedNotice{
			notice:  Notice{ID: "dcl_1", Kind: Termination, Email: "petra@example.org", Contract: test.contract, Language: "de", At: arrived},
			domains: test.domains,
		}
		service, err := New(Config{Store: store, MailQueued: func() {}})
		if err != nil {
			t.Fatal(err)
		}
		for _, end := range test.possible {
			if err := service.Close(t.Context(), operator, "dcl_1", Closing{Note: "Geprüft.", End: end}); err != nil || store.outcome.Mails[0].Data["end"] != end {
				t.Errorf("%s, %s: %+v, %v", name, end, store.outcome.Mails, err)
			}
		}
		store.outcome = Outcome{}
		for _, end := range test.forbidden {
			err := service.Close(t.Context(), operator, "dcl_1", Closing{Note: "Geprüft.", End: end})
			if registrar.CodeOf(err) != EndOutOfRange || !strings.Contains(err.Error(), test.days) || store.outcome.Notice.ID != "" {
				t.Errorf("%s, %s: stored %+v, %v", name, end, store.outcome, err)
			}
		}
	}
}

func TestContractEndsMail_SaysHowItsDomainsEnd(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC)
	for want, tlds := range map[string][]string{"transit": {".de", ".de"}, "delete": {".io", ".com", ".fr"}, "mixed": {".io", ".de", ".com"}} {
		data := make(map[string]string)
		for _, tld := range tlds {
			addDomainData(data, NamedDomain{ID: "dom_1", Name: "tee" + tld, TLD: tld, PaidUntil: now.AddDate(0, 1, 0)}, now)
		}
		if data["unpaid"] != want || data["over"] != "" {
			t.Errorf("%q: %s, want %s", tlds, data["unpaid"], want)
		}
		if addDomainData(data, NamedDomain{ID: "dom_2", Name: "tee.eu", TLD: ".eu"}, now); data["over"] != "true" {
			t.Errorf("%q and .eu, which can be renewed only during its term: %v", tlds, data)
		}
	}
	for name, ends := range map[string]time.Time{"": now.AddDate(0, 0, -1), "true": now.AddDate(0, 0, 1)} {
		data := make(map[string]string)
		if addDomainData(data, NamedDomain{ID: "dom_1", Name: "tee.at", TLD: ".at", PaidUntil: ends}, now); data["over"] != name {
			t.Errorf(".at, whose term ends at %s: %v", ends, data)
		}
	}
}

// The address of a notice is not verified.
func TestHandledMail_NamesDomainsOfItsOwnAccountOnly(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 15, 9, 5, 0, 0, time.UTC)
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}
	domain := func(name string) NamedDomain {
		return NamedDomain{ID: "dom_" + name, Customer: "cus_1", Name: name, TLD: ".net", Email: "petra@example.org", Status: registrar.DomainActive, PaidUntil: at.AddDate(1, 0, 0)}
	}
	for email, want := range map[string]string{"petra@example.org": "montag.net 2", "fremd@example.org": " "} {
		store := &closedNotice{
			notice:  Notice{ID: "dcl_1", Kind: Termination, Email: email, Contract: "montag.net, dienstag.net", Language: "de", At: at},
			domains: []NamedDomain{domain("montag.net"), domain("dienstag.net")},
		}
		service, err := New(Config{Store: store, MailQueued: func() {}, Now: func() time.Time { return at }})
		if err != nil {
			t.Fatal(err)
		}
		if err := service.Close(t.Context(), operator, "dcl_1", Closing{Note: "Geprüft.", Reply: "Erledigt."}); err != nil {
			t.Fatal(err)
		}
		if data := store.outcome.Mails[0].Data; data["domain"]+" "+data["items"] != want {
			t.Errorf("%s: %v", email, data)
		}
		store.domains[1].Choice = registrar.TermEndRenew
		if err := service.Close(t.Context(), operator, "dcl_1", Closing{Note: "Geprüft.", End: "2026-11-20"}); err != nil {
			t.Fatal(err)
		}
		renewed := map[bool]string{true: "dienstag.net"}[strings.HasPrefix(email, "petra")]
		if data := store.outcome.Mails[0].Data; data["item1_name"] != renewed || data["item2_name"] != "" || len(store.outcome.Mails) != 1 {
			t.Errorf("%s, whose domain renewed: %v", email, data)
		}
		store.notice.Customer = "cus_1" // sent signed in
		if err := service.Close(t.Context(), operator, "dcl_1", Closing{Note: "Geprüft.", End: "2026-11-20"}); err != nil {
			t.Fatal(err)
		}
		mails := store.outcome.Mails[1:]
		if renewed == "" && (len(mails) != 1 || mails[0].Kind != registrar.MailRenewalOff || mails[0].Customer != "cus_1" || mails[0].Data["domain"] != "dienstag.net") || renewed != "" && len(mails) > 0 {
			t.Errorf("%s: to the account %+v", email, mails)
		}
	}
}

func TestOutcomeMails_ApologiseIfTheDeadlineHasPassed(t *testing.T) {
	t.Parallel()
	arrived := time.Date(2026, 11, 15, 9, 5, 0, 0, time.UTC)
	now := arrived
	domain := NamedDomain{ID: "dom_1", Customer: "cus_1", Name: "montag.net", TLD: ".net", Email: "petra@example.org", Status: registrar.DomainActive, PaidUntil: arrived.AddDate(1, 0, 0)}
	store := &closedNotice{notice: Notice{ID: "dcl_1", Kind: Termination, Email: "petra@example.org", Contract: "montag.net", Language: "de", At: arrived}, domains: []NamedDomain{domain}}
	service, err := New(Config{Store: store, MailQueued: func() {}, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}
	for days, want := range map[int]string{0: "", 2: "true"} {
		now = arrived.AddDate(0, 0, days)
		if err := service.Close(t.Context(), operator, "dcl_1", Closing{Note: "Geprüft.", Reply: "Erledigt."}); err != nil || store.outcome.Mails[0].Data["late"] != want {
			t.Errorf("closed after %d days: %+v, %v", days, store.outcome.Mails, err)
		}
		request := TerminationRequested{Notice: "dcl_1", Domains: []string{domain.ID}, Note: "Geprüft."}
		preview, err := service.PreviewTermination(t.Context(), operator, request)
		if err != nil {
			t.Fatal(err)
		}
		request.Seen = preview.Seen
		if err := service.Terminate(t.Context(), operator, request); err != nil || store.outcome.Mails[0].Data["late"] != want || store.outcome.Notice.DoneEnds != "2027-11-15" {
			t.Errorf("ended after %d days: %+v, %v", days, store.outcome, err)
		}
	}
}
