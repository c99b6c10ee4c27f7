package epp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// fakeRegistry holds one domain, enough for tests of lost responses.
type fakeRegistry struct {
	fakeServer
	domain                            string
	sponsor, auth, registrant, status string
	created, expires                  time.Time
	transfer                          string // state of a transfer by ClientX
	creates, renews, transfers        int
	// loseAnswer loses the response of the nth change after executing it;
	// dropCommand drops the command before.
	loseAnswer, dropCommand map[int]bool
	changes                 int
}

func (g *fakeRegistry) change(r *Node, carryOut func() string) reply {
	g.changes++
	if g.dropCommand[g.changes] {
		return reply{drop: true}
	}
	text := carryOut()
	if g.loseAnswer[g.changes] {
		return reply{drop: true}
	}
	return reply{xml: text}
}

func (g *fakeRegistry) answer(r *Node) reply {
	trid := tridOf(r)
	switch verbOf(r) {
	case "create":
		return g.change(r, func() string {
			if g.domain != "" {
				return responseXML(2302, trid, "", "")
			}
			g.creates++
			object := objectOf(r)
			g.domain, g.sponsor = object.value(nsDomain, "name"), "ClientX"
			g.auth, g.registrant = object.Child(nsDomain, "authInfo").value(nsDomain, "pw"), object.value(nsDomain, "registrant")
			g.created = time.Now()
			g.expires = g.created.AddDate(1, 0, 0)
			return responseXML(1000, trid, `<d:creData xmlns:d="`+nsDomain+`"><d:name>`+g.domain+`</d:name><d:crDate>`+g.created.Format(time.RFC3339)+`</d:crDate></d:creData>`, "")
		})
	case "renew":
		return g.change(r, func() string {
			if objectOf(r).value(nsDomain, "curExpDate") != g.expires.UTC().Format(time.DateOnly) {
				return responseXML(2306, trid, "", "")
			}
			g.renews++
			g.expires = g.expires.AddDate(1, 0, 0)
			return responseXML(1000, trid, `<d:renData xmlns:d="`+nsDomain+`"><d:exDate>`+g.expires.Format(time.RFC3339)+`</d:exDate></d:renData>`, "")
		})
	case "transfer":
		if r.Child("", "command").Children[0].Attr("op") == "query" {
			if g.transfer == "" {
				return reply{xml: responseXML(2301, trid, "", "")}
			}
			return reply{xml: responseXML(1000, trid, `<d:trnData xmlns:d="`+nsDomain+`"><d:name>a.test</d:name><d:trStatus>`+g.transfer+`</d:trStatus><d:reID>ClientX</d:reID></d:trnData>`, "")}
		}
		return g.change(r, func() string {
			if g.transfer == "pending" {
				return responseXML(2300, trid, "", "")
			}
			g.transfers++
			if g.status == "at once" {
				g.sponsor = "ClientX"
				return responseXML(1000, trid, "", "")
			}
			g.transfer = "pending"
			return responseXML(1001, trid, "", "")
		})
	default: // info
		if g.domain == "" {
			return reply{xml: responseXML(2303, trid, "", "")}
		}
		return reply{xml: responseXML(1000, trid, fmt.Sprintf(`<d:infData xmlns:d=%q><d:name>%s</d:name><d:roid>A-1</d:roid><d:status s="ok"/><d:registrant>%s</d:registrant><d:clID>%s</d:clID><d:crID>%s</d:crID><d:crDate>%s</d:crDate><d:exDate>%s</d:exDate><d:authInfo><d:pw>%s</d:pw></d:authInfo></d:infData>`,
			nsDomain, g.domain, g.registrant, g.sponsor, g.sponsor, g.created.UTC().Format(time.RFC3339), g.expires.UTC().Format(time.RFC3339), g.auth), "")}
	}
}

func newFakeRegistry() *fakeRegistry {
	g := &fakeRegistry{loseAnswer: map[int]bool{}, dropCommand: map[int]bool{}}
	g.handle = g.answer
	return g
}

func TestCreateOrFind_QueriesBeforeResending(t *testing.T) {
	t.Parallel()
	order := CreateDomain{Name: "a.test", Years: 1, AuthInfo: "order-1-secret", ClTRID: "order-1"}
	for name, test := range map[string]struct {
		prepare func(g *fakeRegistry)
		sent    bool
		err     error // nil: the domain is ours in the end
		creates int
	}{
		"nothing is lost":                           {func(*fakeRegistry) {}, false, nil, 1},
		"lost after it was done":                    {func(g *fakeRegistry) { g.loseAnswer[1] = true }, false, nil, 1},
		"lost before it was done":                   {func(g *fakeRegistry) { g.dropCommand[1] = true }, false, nil, 1},
		"lost before, then after":                   {func(g *fakeRegistry) { g.dropCommand[1], g.loseAnswer[2] = true, true }, false, nil, 1},
		"lost three times":                          {func(g *fakeRegistry) { g.dropCommand[1], g.dropCommand[2], g.dropCommand[3] = true, true, true }, false, ErrOutcomeUnknown, 0},
		"sent before a restart":                     {func(g *fakeRegistry) { g.setDomain("ClientX", "order-1-secret", time.Now()) }, true, nil, 0},
		"not sent after all":                        {func(*fakeRegistry) {}, true, nil, 1},
		"another registrar has it":                  {func(g *fakeRegistry) { g.setDomain("ClientY", "", time.Now()) }, false, &registrar.Error{Code: registrar.EPPExists}, 0},
		"another registrar registered it meanwhile": {func(g *fakeRegistry) { g.dropCommand[1] = true; g.setDomain("ClientY", "", time.Now()) }, false, &registrar.Error{Code: registrar.EPPExists}, 0},
		"another order of ours has it": {
			func(g *fakeRegistry) { g.setDomain("ClientX", "order-2-secret", time.Now()); g.dropCommand[1] = true },
			false, &registrar.Error{Code: registrar.EPPExists}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newFakeRegistry()
				test.prepare(g)
				_, err := g.client(t, nil).CreateOrFind(t.Context(), order, test.sent, time.Now())
				if test.err == nil && err != nil || test.err != nil && !errors.Is(err, test.err) {
					t.Fatal(err)
				}
				if test.err != nil && !errors.Is(test.err, ErrOutcomeUnknown) && errors.Is(err, ErrOutcomeUnknown) {
					t.Error("a definite result is reported as unknown")
				}
				if g.creates != test.creates {
					t.Errorf("%d domains were created, want %d", g.creates, test.creates)
				}
			})
		})
	}
}

func (g *fakeRegistry) setDomain(sponsor, auth string, created time.Time) {
	g.domain, g.sponsor, g.auth, g.created, g.expires = "a.test", sponsor, auth, created, created.AddDate(1, 0, 0)
}

func TestWasCreatedBy_ComparesAuthInfoRegistrantOrTime(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	ours := DomainInfo{Sponsor: "ClientX", Creator: "CLIENTX", Created: since.Add(time.Second)}
	for name, test := range map[string]struct {
		info func(d *DomainInfo)
		ask  CreateDomain
		want bool
	}{
		"in time":            {func(*DomainInfo) {}, CreateDomain{}, true},
		"clocks differ":      {func(d *DomainInfo) { d.Created = since.Add(-4 * time.Minute) }, CreateDomain{}, true},
		"too early":          {func(d *DomainInfo) { d.Created = since.Add(-time.Hour) }, CreateDomain{}, false},
		"no time":            {func(d *DomainInfo) { d.Created = time.Time{} }, CreateDomain{}, false},
		"another sponsor":    {func(d *DomainInfo) { d.Sponsor = "ClientY" }, CreateDomain{}, false},
		"transferred to us":  {func(d *DomainInfo) { d.Creator = "ClientY" }, CreateDomain{}, false},
		"our auth code":      {func(d *DomainInfo) { d.AuthInfo, d.Created = "s3cret", time.Time{} }, CreateDomain{AuthInfo: "s3cret"}, true},
		"another auth code":  {func(d *DomainInfo) { d.AuthInfo = "other" }, CreateDomain{AuthInfo: "s3cret"}, false},
		"a masked auth code": {func(d *DomainInfo) { d.AuthInfo = "******" }, CreateDomain{AuthInfo: "s3cret"}, true},
		"our registrant":     {func(d *DomainInfo) { d.Registrant = "reg-1" }, CreateDomain{Registrant: "REG-1"}, true},
		"another registrant": {func(d *DomainInfo) { d.Registrant = "REG-2" }, CreateDomain{Registrant: "REG-1"}, false},
		// Some registries report only the date, which begins before the command.
		"our registrant, by day": {func(d *DomainInfo) { d.Registrant, d.Created = "REG-1", since.Add(-12*time.Hour) }, CreateDomain{Registrant: "REG-1"}, true},
	} {
		info := ours
		test.info(&info)
		if got := wasCreatedBy(&info, &test.ask, "ClientX", since); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestRenewOrFind_LostResponseRenewsOnce(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(g *fakeRegistry){
		"after":             func(g *fakeRegistry) { g.loseAnswer[1] = true },
		"before":            func(g *fakeRegistry) { g.dropCommand[1] = true },
		"before, and after": func(g *fakeRegistry) { g.dropCommand[1], g.loseAnswer[2] = true, true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newFakeRegistry()
				g.setDomain("ClientX", "", time.Now())
				prepare(g)
				expires := g.expires
				c := g.client(t, nil)
				renewed, err := c.RenewOrFind(t.Context(), RenewDomain{Name: "a.test", Expires: expires, Years: 1}, false)
				if err != nil || g.renews != 1 || !renewed.Expires.Equal(expires.AddDate(1, 0, 0).Truncate(time.Second)) {
					t.Fatalf("%v, renewed %d times until %s", err, g.renews, renewed.Expires)
				}
				changes := g.changes
				_, err = c.RenewOrFind(t.Context(), RenewDomain{Name: "a.test", Expires: expires, Years: 1}, true)
				if err != nil || g.changes != changes || g.renews != 1 {
					t.Errorf("a restart: %v, renewed %d times", err, g.renews)
				}
			})
		})
	}
}

func TestTransferOrFind_FindsLostRequest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare func(g *fakeRegistry)
		pending bool
	}{
		"pending, lost after":  {func(g *fakeRegistry) { g.loseAnswer[1] = true }, true},
		"pending, lost before": {func(g *fakeRegistry) { g.dropCommand[1] = true }, true},
		"at once, lost after":  {func(g *fakeRegistry) { g.loseAnswer[1], g.status = true, "at once" }, false},
		"at once, lost before": {func(g *fakeRegistry) { g.dropCommand[1], g.status = true, "at once" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newFakeRegistry()
				g.setDomain("ClientY", "", time.Now())
				test.prepare(g)
				transfer, err := g.client(t, nil).TransferOrFind(t.Context(), TransferDomain{Name: "a.test", AuthInfo: "code-123"}, false)
				if err != nil || (transfer.Status == TransferPending) != test.pending || g.transfers != 1 {
					t.Errorf("%+v, %v, %d transfers", transfer, err, g.transfers)
				}
			})
		})
	}
}

func TestCreateContactOrFind_ExistingContactOrHostIsFound(t *testing.T) {
	t.Parallel()
	sponsor := "ClientX"
	exists := func(r *Node) reply {
		if verbOf(r) == "create" {
			return reply{xml: responseXML(2302, tridOf(r), "", "")}
		}
		return reply{xml: responseXML(1000, tridOf(r), `<c:infData xmlns:c="`+nsContact+`"><c:id>CON-1</c:id><c:clID>`+sponsor+`</c:clID></c:infData>`, "")}
	}
	f := &fakeServer{handle: exists}
	c := f.client(t, nil)
	ask := CreateContact{ID: "CON-1", Registrant: sampleRegistrant}
	if id, err := c.CreateContactOrFind(t.Context(), ask, true); err != nil || id != "CON-1" || slices.Contains(f.verbs(), "create") {
		t.Errorf("ours: %s, %v", id, err)
	}
	if _, err := c.CreateContactOrFind(t.Context(), ask, false); ResultCode(err) != CodeExists {
		t.Errorf("an id that was never sent: %v", err)
	}
	if err := c.EnsureHost(t.Context(), CreateHost{Name: "ns1.test"}); err != nil {
		t.Errorf("host: %v", err)
	}
	sponsor = "ClientY"
	if _, err := c.CreateContactOrFind(t.Context(), ask, true); !errors.Is(err, &registrar.Error{Kind: registrar.KindConflict}) {
		t.Errorf("another's: %v", err)
	}
}

func TestCreateOrFind_FailedQueryLeavesOutcomeUnknown(t *testing.T) {
	t.Parallel()
	f := &fakeServer{handle: func(r *Node) reply {
		if verbOf(r) == "create" {
			return reply{drop: true}
		}
		return reply{xml: responseXML(2400, tridOf(r), "", "")}
	}}
	_, err := f.client(t, nil).CreateOrFind(t.Context(), CreateDomain{Name: "a.test"}, false, time.Now())
	if !errors.Is(err, ErrOutcomeUnknown) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.client(t, nil).CreateOrFind(ctx, CreateDomain{Name: "a.test"}, false, time.Now()); errors.Is(err, ErrOutcomeUnknown) {
		t.Errorf("nothing was sent: %v", err)
	}
}

func TestOutcome_RegistryFailureDoesNotDenyTransfer(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]registrar.Kind{
		CodeFailed:           registrar.KindUpstream, // nothing is decided, so the item waits
		CodeSessionsExceeded: registrar.KindUpstream,
		CodeMissing:          registrar.KindConflict,
		CodeAuthorization:    registrar.KindConflict,
		CodeAuthInfo:         registrar.KindConflict,
	} {
		f := &fakeServer{handle: func(r *Node) reply {
			if verbOf(r) == "transfer" {
				return reply{xml: responseXML(2301, tridOf(r), "", "")} // the transfer has ended
			}
			return reply{xml: responseXML(code, tridOf(r), "", "")}
		}}
		_, err := NewProvisioner(f.client(t, nil), nil).Outcome(t.Context(), provision.Request{
			Kind: provision.Transfer, Name: "a.com", TLD: ".com", Code: "s3cret-of-the-holder",
		})
		if registrar.KindOf(err) != want {
			t.Errorf("%d became %v", code, err)
		}
	}
}
