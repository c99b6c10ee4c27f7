package epp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// checkTogether looks names up in one attempt with a deadline and returns those that failed.
func checkTogether(t *testing.T, c *Client, deadline time.Duration, names ...string) []string {
	t.Helper()
	return checkAt(t, c, PriorityLookup, deadline, names...)
}

func checkAt(t *testing.T, c *Client, priority Priority, deadline time.Duration, names ...string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	var mu sync.Mutex
	var failed []string
	var wait sync.WaitGroup
	for _, name := range names {
		wait.Go(func() {
			if _, err := c.CheckDomains(ctx, CheckDomains{Names: []string{name}, Priority: priority}); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, name)
			}
		})
	}
	wait.Wait()
	slices.Sort(failed)
	return failed
}

func TestBatch_FailingNameFailsAloneNextTime(t *testing.T) {
	t.Parallel()
	for what, bad := range map[string]reply{
		"hangs":     {},
		"throttles": {xml: responseXML(2502, "ABC-12345", "", ""), drop: true},
		"garbles":   {raw: []byte("no frame"), drop: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &fakeServer{parallel: true, handle: func(request *Node) reply {
				if strings.Contains(allText(request), "bad") {
					return bad
				}
				return respondCheck(request)
			}}
			c := f.client(t, nil)
			names := []string{"a.test", "b.test", "bad.test", "c.test"}
			// The caller's deadline may end before the command's.
			if failed := checkTogether(t, c, 2*time.Second, names...); !slices.Equal(failed, names) {
				t.Fatalf("%s: the shared check fails for %v", what, failed)
			}
			if failed := checkTogether(t, c, 2*time.Second, names...); !slices.Equal(failed, []string{"bad.test"}) {
				t.Errorf("%s: the next check fails for %v", what, failed)
			}
			before := len(f.verbs())
			if failed := checkTogether(t, c, 2*time.Second, "a.test", "b.test", "c.test"); failed != nil || len(f.verbs()) != before+1 {
				t.Errorf("%s: names that were answered alone fail (%v) or take %d commands", what, failed, len(f.verbs())-before)
			}
		})
	}
}

func TestBatch_QuotesAreRepeatedAloneAtOnce(t *testing.T) {
	t.Parallel()
	for what, bad := range map[string]reply{
		"hangs":     {},
		"throttles": {xml: responseXML(2502, "ABC-12345", "", ""), drop: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &fakeServer{parallel: true, handle: func(request *Node) reply {
				if strings.Contains(allText(request), "bad") {
					return bad
				}
				return respondCheck(request)
			}}
			c := f.client(t, nil)
			if failed := checkAt(t, c, PriorityQuote, 18*time.Second, "a.test", "b.test", "bad.test", "c.test"); !slices.Equal(failed, []string{"bad.test"}) {
				t.Errorf("%s: the check fails for %v", what, failed)
			}
		})
	}
}

func TestBatch_OutageSharesCommandsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{parallel: true, handle: func(r *Node) reply { return reply{xml: responseXML(2400, tridOf(r), "", "")} }}
		c := f.client(t, nil)
		var names []string
		for i := range 20 {
			names = append(names, fmt.Sprintf("n%d.test", i))
		}
		for range 10 {
			checkAt(t, c, PriorityQuote, 2*time.Second, names...)
		}
		if sent := len(f.verbs()); sent > 30 {
			t.Errorf("%d commands for ten checks during an outage", sent)
		}
	})
}

func TestIsolation_IsBoundedInNumberAndTime(t *testing.T) {
	t.Parallel()
	var s isolation
	now := time.Now()
	for i := range 3 {
		one := &batch{trid: "dk-1"}
		for j := range 600 {
			one.names = append(one.names, fmt.Sprintf("n%d-%d.test", i, j))
		}
		s.failed(one, now)
	}
	if len(s.until) != maxIsolated || !s.has("n0-0.test", now) || s.has("n0-0.test", now.Add(isolationTTL)) {
		t.Errorf("%d names", len(s.until))
	}
}
