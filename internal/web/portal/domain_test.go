package portal

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func TestDomain_TransferredKeepsHolderUntilItIsChanged(t *testing.T) {
	t.Parallel()
	received := []registrar.AuditEvent{{Action: provision.ActionReceived}}
	change := func(state domainchange.ChangeStatus) []domainchange.Change {
		return []domainchange.Change{{Kind: domainchange.UpdateRegistrant, State: state}}
	}
	stored := domainchange.Capabilities{Contacts: true}
	for name, test := range map[string]struct {
		view domainchange.View
		want bool
	}{
		"registered here":         {domainchange.View{Capabilities: stored}, false},
		"transferred":             {domainchange.View{Capabilities: stored, AuditEvents: received}, true},
		"refused by the registry": {domainchange.View{Capabilities: stored, AuditEvents: received, Changes: change(domainchange.StatusRefused)}, true},
		"changed since":           {domainchange.View{Capabilities: stored, AuditEvents: received, Changes: change(domainchange.StatusDone)}, false},
		"no contact in record":    {domainchange.View{Capabilities: stored, AuditEvents: received, HasRecord: true}, true},
		"no contacts at registry": {domainchange.View{AuditEvents: received, HasRecord: true}, false},
	} {
		if got := holderKept(test.view); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestHistory_EachStepOfANameserverChangeHasItsOwnDate(t *testing.T) {
	t.Parallel()
	requested := time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)
	unsigned, ended := requested.Add(time.Minute), requested.AddDate(0, 0, 1)
	change := domainchange.Change{Kind: domainchange.Nameservers, Actor: registrar.Actor{Kind: registrar.ActorPerson}, CreatedAt: requested, UpdatedAt: ended, Desired: domainchange.DesiredState{
		Nameservers: []domainchange.Nameserver{{Name: "ns1.neu.example"}}, RemovedDS: []domainchange.DS{{KeyTag: 1}},
	}}
	for name, test := range map[string]struct {
		state    domainchange.ChangeStatus
		unsigned time.Time
		at       time.Time
		entries  int
	}{
		"done":                {domainchange.StatusDone, unsigned, ended, 3},
		"canceled":            {domainchange.StatusCanceled, unsigned, ended, 3},
		"waiting":             {domainchange.StatusWaiting, unsigned, requested, 2},
		"removing DS records": {domainchange.StatusRemovingDS, time.Time{}, requested, 1},
		"done, without time":  {domainchange.StatusDone, time.Time{}, ended, 3},
	} {
		change.State, change.Desired.RemovedDSAt = test.state, test.unsigned
		entries := changeEntries(change)
		what := "change.nameservers"
		if test.state != domainchange.StatusDone {
			what = "change.of.nameservers"
		}
		if len(entries) != test.entries || entries[0].What != what || !entries[0].At.Equal(test.at) || entries[0].RemovedDS != nil {
			t.Fatalf("%s: %+v", name, entries)
		}
		if test.entries > 1 && (entries[1].What != "change.ds_remove" || entries[1].At.Sub(requested) > time.Minute || len(entries[1].RemovedDS) != 1 || entries[1].State != "") {
			t.Errorf("%s: %+v", name, entries[1])
		}
		who := "who.person"
		if test.state == domainchange.StatusDone && test.entries > 1 { // the second step happens without the customer
			who = "who.system"
		}
		if entries[0].Who != who || test.entries > 1 && entries[1].Who != "who.person" {
			t.Errorf("%s: by %s", name, entries[0].Who)
		}
		if test.entries > 2 && (entries[2].What != "change.planned" || !entries[2].At.Equal(requested) || entries[2].Who != "who.person" || entries[2].State != "") {
			t.Errorf("%s: %+v", name, entries[2])
		}
	}
	change.State, change.Desired.RemovedDS, change.Desired.RemovedDSAt = domainchange.StatusDone, nil, time.Time{}
	if entries := changeEntries(change); len(entries) != 1 || !entries[0].At.Equal(requested) {
		t.Errorf("unsigned: %+v", entries)
	}
}

func TestRefusedPlan_ShownWhileDomainMayLackDNSSEC(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)
	refused := domainchange.Change{Kind: domainchange.Nameservers, State: domainchange.StatusRefused, UpdatedAt: now.AddDate(0, 0, -1)}
	refused.Desired.RemovedDSAt = now.AddDate(0, 0, -2)
	unremoved, old, removing := refused, refused, refused
	unremoved.Desired.RemovedDSAt, old.UpdatedAt = time.Time{}, now.AddDate(0, 0, -31)
	removing.Desired = domainchange.DesiredState{RemovedDS: []domainchange.DS{{KeyTag: 1}}}
	lock := domainchange.Change{Kind: domainchange.Lock, State: domainchange.StatusDone}
	signed := domainchange.Change{Kind: domainchange.AddDS, State: domainchange.StatusDone}
	done := domainchange.Change{Kind: domainchange.Nameservers, State: domainchange.StatusDone}
	for name, test := range map[string]struct {
		changes []domainchange.Change
		ds      []domainchange.DS
		want    bool
	}{
		"refused":                    {[]domainchange.Change{lock, refused}, nil, true},
		"refused during the removal": {[]domainchange.Change{removing}, nil, true},
		"without DS records":         {[]domainchange.Change{unremoved}, nil, false},
		"a month ago":                {[]domainchange.Change{old}, nil, false},
		"changed since":              {[]domainchange.Change{done, refused}, nil, false},
		"DS added since":             {[]domainchange.Change{signed, refused}, nil, false},
		"DS added before":            {[]domainchange.Change{refused, signed}, nil, true},
		"DS at the registry":         {[]domainchange.Change{refused}, []domainchange.DS{{KeyTag: 2}}, false},
		"no change":                  {nil, nil, false},
	} {
		if _, got := refusedAfterUnsigning(domainchange.View{Changes: test.changes, Record: domainchange.Record{DS: test.ds}}, now); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestRemovedDS_OfferedUntilTheCustomerHasDecided(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 19, 10, 0, 0, 0, time.UTC)
	one, two, other := domainchange.DS{KeyTag: 1}, domainchange.DS{KeyTag: 2}, domainchange.DS{KeyTag: 3}
	ended := domainchange.Change{Kind: domainchange.Nameservers, State: domainchange.StatusCanceled, UpdatedAt: now.AddDate(0, 0, -1), Desired: domainchange.DesiredState{RemovedDS: []domainchange.DS{one, two}}}
	refused, waiting, old := ended, ended, ended
	refused.State, waiting.State, old.UpdatedAt = domainchange.StatusRefused, domainchange.StatusWaiting, now.AddDate(0, 0, -31)
	about := func(kind domainchange.ChangeKind, ds domainchange.DS, state domainchange.ChangeStatus) domainchange.Change {
		return domainchange.Change{Kind: kind, State: state, Desired: domainchange.DesiredState{DS: &ds}}
	}
	for name, test := range map[string]struct {
		changes []domainchange.Change
		record  []domainchange.DS
		want    int
	}{
		"canceled":           {[]domainchange.Change{ended}, nil, 2},
		"refused":            {[]domainchange.Change{refused}, nil, 2},
		"not removed":        {[]domainchange.Change{ended}, []domainchange.DS{one, two}, 0},
		"still waiting":      {[]domainchange.Change{waiting}, nil, 0},
		"a month ago":        {[]domainchange.Change{old}, nil, 0},
		"one is back":        {[]domainchange.Change{about(domainchange.AddDS, one, domainchange.StatusDone), ended}, []domainchange.DS{one}, 1},
		"another was added":  {[]domainchange.Change{about(domainchange.AddDS, other, domainchange.StatusDone), ended}, []domainchange.DS{other}, 0},
		"another refused":    {[]domainchange.Change{about(domainchange.AddDS, other, domainchange.StatusRefused), ended}, nil, 2},
		"added and removed":  {[]domainchange.Change{about(domainchange.RemoveDS, one, domainchange.StatusDone), about(domainchange.AddDS, one, domainchange.StatusDone), ended}, nil, 0},
		"no change of these": {[]domainchange.Change{about(domainchange.RemoveDS, one, domainchange.StatusDone)}, nil, 0},
	} {
		view := domainchange.View{Changes: test.changes, HasRecord: true, Record: domainchange.Record{DS: test.record}}
		if got := removedDS(view, now); len(got) != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestHistory_ChangeRefusedByDisputeSaysSo(t *testing.T) {
	t.Parallel()
	change := domainchange.Change{Kind: domainchange.UpdateRegistrant, State: domainchange.StatusRefused, Failure: domainchange.DomainDisputed}
	if entries := changeEntries(change); len(entries) != 1 || entries[0].What != "change.of.holder" || entries[0].State != "change_state.disputed" {
		t.Errorf("%+v", entries)
	}
	if view := (domainView{View: domainchange.View{Changes: []domainchange.Change{change}}}); !view.HolderDisputed() {
		t.Error("the page blames the registry")
	}
	change.Failure = registrar.RegistryDenied
	if entries := changeEntries(change); entries[0].State != "change_state.refused" {
		t.Errorf("%+v", entries)
	}
}

// The line about the address names the domain already.
func TestOverview_SuspendedDomainIsListedOnce(t *testing.T) {
	t.Parallel()
	line := func(name string, restriction portfolio.State) overviewLine {
		return overviewLine{Name: name, Held: &portfolio.Domain{Name: name, Restriction: restriction}}
	}
	view := overviewView{Parts: []overviewPart{
		{ID: "decide", Lines: []overviewLine{line("a.org", portfolio.Suspended), line("a.org", portfolio.Held), line("b.org", portfolio.Suspended)}},
		{ID: "newest", Lines: []overviewLine{line("a.org", portfolio.Suspended)}},
	}}
	view.dropSuspended([]string{"a.org"})
	if decide := view.Parts[0].Lines; len(decide) != 2 || decide[0].Held.Restriction != portfolio.Held || decide[1].Name != "b.org" || len(view.Parts[1].Lines) != 1 {
		t.Errorf("%+v", view.Parts)
	}
}
