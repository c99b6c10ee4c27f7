package portal

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
)

var operator = registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}

func (s *env) newAgent(name string) string {
	s.t.Helper()
	one, _, err := s.agents.Add(s.t.Context(), operator, agent.AddParams{Name: name})
	must(s.t, err)
	return one.ID
}

func (s *env) newRemovedAgent() string {
	s.t.Helper()
	id := s.newAgent("Gone")
	must(s.t, s.agents.Remove(s.t.Context(), operator, id))
	return id
}

// agentsPage is the page with a linked and a linkable agent.
func (s *env) agentsPage(b *browser) pageResponse {
	s.t.Helper()
	s.newAgent("<b>Another</b>")
	b.post("/portal/agents/"+s.newAgent("<b>Linked</b>")+"/link", nil)
	return b.get("/portal/agents")
}

func TestAgents_LinkAndUnlink(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	member := s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	if got := b.get("/portal/profile"); !strings.Contains(got.body, `href="/portal/agents"`) {
		t.Error("the profile does not lead to the agents")
	}
	if got := b.get("/portal/agents"); got.status != http.StatusOK || !strings.Contains(got.body, "keinen Agenten") {
		t.Errorf("an account without agents sees %d %s", got.status, got.body)
	}
	id := s.newAgent("<b>Einkauf</b>")
	linked := func() bool {
		t.Helper()
		yes, err := s.db.IsAgentLinked(t.Context(), member.ID, id)
		must(t, err)
		return yes
	}
	if got := b.get("/portal/agents"); !strings.Contains(got.body, "&lt;b&gt;Einkauf&lt;/b&gt;") || !strings.Contains(got.body, "/portal/agents/"+id+"/link") {
		t.Errorf("it is not offered: %s", got.body)
	}
	if got := b.post("/portal/agents/"+id+"/link", nil); got.location() != "/portal/agents" || !linked() {
		t.Errorf("linking: %d %s", got.status, got.location())
	}
	if got := b.get("/portal/agents"); !strings.Contains(got.body, "/portal/agents/"+id+"/unlink") || !strings.Contains(got.body, "ist verbunden") {
		t.Errorf("it is not shown: %s", got.body)
	}
	if got := b.get("/portal/activity"); !strings.Contains(got.body, "Checkout-Agent verbunden") || !strings.Contains(got.body, "Einkauf") {
		t.Errorf("audit log: %s", got.body)
	}
	if got := b.post("/portal/agents/"+id+"/unlink", nil); got.location() != "/portal/agents" || linked() {
		t.Errorf("ending: %d %s", got.status, got.location())
	}
}

func TestAgents_LinkNeedsRecentSignIn(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	member := s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	id := s.newAgent("Einkauf")
	s.clock.advance(11 * time.Minute)
	if got := b.get("/portal/agents"); strings.Contains(got.body, "/portal/agents/"+id+"/link") || !strings.Contains(got.body, "Einkauf") {
		t.Errorf("it can be linked with an old sign-in: %s", got.body)
	}
	if got := b.post("/portal/agents/"+id+"/link", nil); !strings.HasPrefix(got.location(), "/portal/sign-in-again") {
		t.Errorf("linking with an old sign-in: %d %s", got.status, got.location())
	}
	if yes, err := s.db.IsAgentLinked(t.Context(), member.ID, id); err != nil || yes {
		t.Errorf("it is linked: %v", err)
	}
}
