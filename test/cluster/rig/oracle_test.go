package main

import (
	"net/http"
	"testing"
	"time"
)

var begin = time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC)

// lookups returns requests of one client, a second apart, with this outcome.
func lookups(count int, start time.Duration, limited bool) (all []record) {
	status := http.StatusOK
	if limited {
		status = http.StatusTooManyRequests
	}
	for i := range count {
		sent := begin.Add(start + time.Duration(i)*time.Second)
		all = append(all, record{Kind: restCheck, Client: "a", Node: "node1", Sent: sent, Answered: sent.Add(time.Millisecond), Status: status, Limited: limited, Try: 1})
	}
	return all
}

func redisFault(start, end time.Duration) []fault {
	return []fault{{Name: "redis-stop", Redis: true, Start: begin.Add(start), End: begin.Add(end)}}
}

func TestLimits_OneMoreThanTheLimitFails(t *testing.T) {
	if v := (facts{records: lookups(30, 0, false)}).limits(); !v.Pass {
		t.Errorf("30 lookups: %+v", v)
	}
	if v := (facts{records: lookups(31, 0, false)}).limits(); v.Pass {
		t.Error("31 lookups pass")
	}
	if v := (facts{records: append(lookups(30, 0, false), lookups(30, time.Minute, false)...)}).limits(); !v.Pass {
		t.Errorf("30 lookups in each of two minutes: %+v", v)
	}
}

func TestLimits_ResponseOfTheBalancerIsNoAdmission(t *testing.T) {
	all := lookups(31, 0, false)
	all[30].Node, all[30].Status = "", http.StatusBadGateway
	if v := (facts{records: all}).limits(); !v.Pass {
		t.Errorf("30 lookups and a 502 of the load balancer: %+v", v)
	}
}

func TestLimits_AroundRedisOutageLessThanTwiceTheLimit(t *testing.T) {
	for count, pass := range map[int]bool{59: true, 60: false} {
		f := facts{records: lookups(count, 0, false), faults: redisFault(30*time.Second, 40*time.Second)}
		if v := f.limits(); v.Pass != pass {
			t.Errorf("%d lookups around an outage: %+v", count, v)
		}
	}
	f := facts{records: lookups(31, 10*time.Minute, false), faults: redisFault(30*time.Second, 40*time.Second)}
	if v := f.limits(); v.Pass {
		t.Error("an outage ten minutes before excuses a violation")
	}
}

func TestPremature_RejectionWithRoomIsCounted(t *testing.T) {
	full := facts{records: append(lookups(30, 0, false), lookups(1, 40*time.Second, true)...)}
	if rejected, shared, alone := full.premature(); rejected != 1 || shared != 0 || alone != 0 {
		t.Errorf("a full window: %d, %d, %d", rejected, shared, alone)
	}
	room := facts{records: append(lookups(29, 0, false), lookups(1, 40*time.Second, true)...)}
	if _, shared, _ := room.premature(); shared != 1 {
		t.Errorf("%d premature rejections, want 1", shared)
	}
	room.faults = redisFault(0, time.Second)
	if _, shared, alone := room.premature(); shared != 0 || alone != 1 {
		t.Errorf("%d and %d premature rejections, want one around the outage", shared, alone)
	}
}

func TestRecovery_OrdersMayFailWhileTheDatabaseIsDown(t *testing.T) {
	failing := func(what kind, at time.Duration) record {
		return record{Kind: what, Sent: begin.Add(at), Answered: begin.Add(at), Status: http.StatusServiceUnavailable, Try: 1}
	}
	down := []fault{{Name: "postgres-stop", Database: true, Orders: true, Start: begin, End: begin.Add(15 * time.Second)}}
	for _, test := range []struct {
		request record
		pass    bool
	}{
		{failing(complete, 14*time.Second), true},
		{failing(complete, 24*time.Second), true},
		{failing(complete, 26*time.Second), false},
		{failing(restCheck, 9*time.Second), true},
		{failing(restCheck, 11*time.Second), false},
	} {
		if v, _ := (facts{records: []record{test.request}, faults: down}).recovery(); v.Pass != test.pass {
			t.Errorf("%s after %s: %+v", test.request.Kind, test.request.Sent.Sub(begin), v)
		}
	}
}

func TestRetries_FailedRepetitionIsListed(t *testing.T) {
	failing := record{Kind: page, Sent: begin, Answered: begin, Status: http.StatusBadGateway, Try: 1}
	if v := (facts{records: []record{failing}}).retries(); !v.Pass {
		t.Errorf("a first failure: %+v", v)
	}
	failing.Try = 2
	if v := (facts{records: []record{failing}}).retries(); v.Pass {
		t.Error("a failed repetition passes")
	}
}

func TestResumption_KillWithoutOrdersProvesNothing(t *testing.T) {
	kill := fault{Name: "kill", Start: begin, End: begin.Add(time.Second), Resumed: time.Second}
	for interrupted, want := range map[int]string{0: "NONE", 3: "PASS"} {
		kill.Interrupted = interrupted
		if got := (facts{faults: []fault{kill}}).resumption().outcome(); got != want {
			t.Errorf("%d orders in progress: %s, want %s", interrupted, got, want)
		}
	}
	kill.Resumed = 2 * resumeWithin
	if got := (facts{faults: []fault{kill}}).resumption().outcome(); got != "FAIL" {
		t.Errorf("resumed after %s: %s", kill.Resumed, got)
	}
}
