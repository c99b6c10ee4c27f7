package cluster

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/test/testkit"
	"github.com/dotkontor/dotkontor/test/testkit/redistest"
)

// startSharing starts nodes that share a Redis server, with private ports for their metrics.
func startSharing(t *testing.T, redis *redistest.Server, count int) (nodes []*node, metrics []string) {
	t.Helper()
	db := newPostgres(t)
	for range count {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		private := listener.Addr().String()
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, db.startNode(t, "DOTKONTOR_DATA="+t.TempDir(), "DOTKONTOR_SHARED_URL="+redis.URL,
			"DOTKONTOR_SERVER_METRICS_LISTEN="+private, "DOTKONTOR_LIMITS_LOOKUP_PER_MINUTE=30", "DOTKONTOR_LIMITS_LOOKUP_PER_6_HOURS=300"))
		metrics = append(metrics, "http://"+private+"/metrics")
	}
	for i, n := range nodes {
		testkit.Eventually(t, "shared limits", func() bool {
			return n.readyz() == "ready\n" && metric(t, metrics[i], "dotkontor_shared_nodes") == float64(count)
		})
	}
	return nodes, metrics
}

func metric(t *testing.T, address, name string) float64 {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatal(err)
			}
			return number
		}
	}
	return 0
}

// check asks for a name and returns the status.
func (n *node) check(name string) int {
	n.t.Helper()
	answer, err := http.Post(n.base+"/api/domain/check", "application/json", strings.NewReader(`{"domain":"`+name+`"}`))
	if err != nil {
		n.t.Fatal(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

func TestSharedLimits_TwoNodesAdmitOneLimit(t *testing.T) {
	t.Parallel()
	nodes, _ := startSharing(t, redistest.Start(t), 2)
	admitted := 0
	for i := range 40 {
		if status := nodes[i%2].check("geteilt.de"); status == http.StatusOK {
			admitted++
		} else if status != http.StatusTooManyRequests {
			t.Fatalf("check %d: status %d", i, status)
		}
	}
	if admitted != 30 {
		t.Errorf("two nodes admitted %d of 40 checks, want 30", admitted)
	}
}

func TestSharedLimits_WithoutServerEachNodeHasItsShare(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	nodes, metrics := startSharing(t, redis, 2)
	redis.Kill()
	for i, n := range nodes {
		admitted := 0
		for range 20 {
			if status := n.check("allein.de"); status == http.StatusOK {
				admitted++
			}
		}
		if admitted != 15 {
			t.Errorf("node %d admitted %d of 20 checks, want 15", i, admitted)
		}
		if text := n.readyz(); !strings.HasPrefix(text, "ready\ndegraded shared unreachable since ") {
			t.Errorf("readyz says %q", text)
		}
		if premature := metric(t, metrics[i], "dotkontor_local_limits_premature_total"); premature != 5 {
			t.Errorf("%g premature refusals, want 5", premature)
		}
	}
	redis.Run()
	for i, n := range nodes {
		testkit.Eventually(t, "recovery", func() bool { return n.readyz() == "ready\n" })
		if status := n.check("allein.de"); status != http.StatusTooManyRequests {
			t.Errorf("node %d: status %d after 30 requests during the outage", i, status)
		}
	}
}

func TestSharedAnswers_OneNodeQueriesForAll(t *testing.T) {
	t.Parallel()
	nodes, metrics := startSharing(t, redistest.Start(t), 2)
	for _, n := range nodes {
		if status := n.check("einmal.de"); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
	}
	if misses, hits := metric(t, metrics[0], `dotkontor_lookup_shared_total{outcome="miss"}`), metric(t, metrics[1], `dotkontor_lookup_shared_total{outcome="hit"}`); misses != 1 || hits != 1 {
		t.Errorf("%g misses at the first node and %g hits at the second, want 1 and 1", misses, hits)
	}
}
