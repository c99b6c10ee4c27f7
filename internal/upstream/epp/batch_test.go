package epp

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestBatch_MergesNamesAndSplitsResults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{handle: respondCheck}
		c := f.client(t, nil)
		var wait sync.WaitGroup
		began := time.Now()
		for i := range 120 {
			name, fee := fmt.Sprintf("free%d.test", i), FeeCommand{}
			if i%2 == 0 {
				name = fmt.Sprintf("Taken%d.test", i)
			}
			if i >= 110 {
				fee = FeeCommand{Name: "create", Years: 1}
			}
			wait.Go(func() {
				got, err := c.CheckDomains(t.Context(), CheckDomains{Names: []string{name}, Priority: PriorityLookup, Fee: fee})
				if err != nil || len(got) != 1 || got[0].Name != strings.ToLower(name) || got[0].Available != strings.HasPrefix(name, "free") {
					t.Errorf("%s: %+v, %v", name, got, err)
				}
			})
		}
		wait.Wait()
		if took := time.Since(began); took != 2*time.Millisecond {
			t.Errorf("took %s", took)
		}
		sizes := map[int]int{}
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, frame := range f.frames {
			if n := strings.Count(frame, "<domain:name>"); n > 0 {
				sizes[n]++
				if strings.Contains(frame, "fee:check") != strings.Contains(frame, "free111.test") {
					t.Errorf("names with and without fees share a check")
				}
			}
		}
		if sizes[50] != 2 || sizes[10] != 2 {
			t.Errorf("sizes of the checks: %v", sizes)
		}
	})
}

func TestBatch_CollectsWhileWaitingForConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newSlowServer(time.Second, respondCheck)
		c := f.client(t, func(a *Account) { a.MaxConnections = 1 })
		var wait sync.WaitGroup
		for i := range 20 {
			wait.Go(func() {
				if _, err := c.CheckDomains(t.Context(), CheckDomains{Names: []string{fmt.Sprintf("n%d.test", i)}, Priority: PriorityLookup}); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(10 * time.Millisecond)
		}
		wait.Wait()
		if got := len(f.verbs()); got != 2 {
			t.Errorf("%d checks, want the first and one for all names queued while it ran", got)
		}
	})
}

func TestBatch_CancelledCallerKeepsOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newSlowServer(2*time.Second, respondCheck)
		c := f.client(t, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		left := make(chan error, 1)
		go func() {
			_, err := c.CheckDomains(ctx, CheckDomains{Names: []string{"impatient.test"}, Priority: PriorityLookup})
			left <- err
		}()
		got, err := c.CheckDomains(t.Context(), CheckDomains{Names: []string{"patient.test", "taken.test", "patient.test"}, Priority: PriorityLookup})
		if err != nil || len(got) != 3 || !got[0].Available || got[1].Available || !got[2].Available {
			t.Errorf("%+v, %v", got, err)
		}
		if err := <-left; registrar.CodeOf(err) != registrar.FaultTimeout {
			t.Errorf("cancelled caller: %v", err)
		}
		if len(f.verbs()) != 1 {
			t.Errorf("sent %v", f.verbs())
		}
	})
}

func TestBatch_FailureReachesEveryCaller(t *testing.T) {
	t.Parallel()
	f := &fakeServer{handle: func(r *Node) reply { return reply{xml: responseXML(2400, tridOf(r), "", "")} }}
	c := f.client(t, nil)
	var wait sync.WaitGroup
	for i := range 10 {
		wait.Go(func() {
			if _, err := c.CheckDomains(t.Context(), CheckDomains{Names: []string{fmt.Sprintf("n%d.test", i)}, Priority: PriorityLookup}); ResultCode(err) != 2400 {
				t.Errorf("got %v", err)
			}
		})
	}
	wait.Wait()
}

func TestCheckDomains_MissingNameIsBroken(t *testing.T) {
	t.Parallel()
	f := &fakeServer{handle: func(r *Node) reply {
		return reply{xml: responseXML(1000, tridOf(r), `<d:chkData xmlns:d="`+nsDomain+`"><d:cd><d:name avail="1">other.test</d:name></d:cd><d:cd><d:name>mine.test</d:name></d:cd></d:chkData>`, "")}
	}}
	c := f.client(t, nil)
	for _, class := range []Priority{PriorityOrder, PriorityLookup} {
		_, err := c.CheckDomains(t.Context(), CheckDomains{Names: []string{"mine.test"}, Priority: class})
		if registrar.CodeOf(err) != registrar.FaultBroken {
			t.Errorf("got %v", err)
		}
	}
}

func TestBatch_RejectedNameFailsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{handle: func(request *Node) reply {
			if verbOf(request) == "check" && strings.Contains(allText(request), "bad") {
				return reply{xml: responseXML(2306, tridOf(request), "", "")}
			}
			return respondCheck(request)
		}}
		c := f.client(t, nil)
		var wait sync.WaitGroup
		for i := range 50 {
			name := fmt.Sprintf("free%d.test", i)
			if i == 17 || i == 18 {
				name = fmt.Sprintf("bad%d.test", i)
			}
			wait.Go(func() {
				got, err := c.CheckDomains(t.Context(), CheckDomains{Names: []string{name}, Priority: PriorityLookup})
				if strings.HasPrefix(name, "bad") {
					if ResultCode(err) != 2306 {
						t.Errorf("%s: %+v, %v", name, got, err)
					}
					return
				}
				if err != nil || len(got) != 1 || got[0].Name != name || !got[0].Available {
					t.Errorf("%s: %+v, %v", name, got, err)
				}
			})
		}
		wait.Wait()
		if asked := len(f.verbs()); asked > 20 {
			t.Errorf("%d checks for two bad names among fifty", asked)
		}
	})
}
