package epp

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
)

// termServer has one domain. Its commands are recorded; a delete makes it deleted.
func termServer(t *testing.T, info string, answer int) (*Provisioner, *[]string) {
	t.Helper()
	var sent []string
	f := &fakeServer{handle: func(r *Node) reply {
		switch verb := objectOf(r).Local; verb {
		case "info":
			if info == "" {
				return reply{xml: responseXML(CodeMissing, tridOf(r), "", "")}
			}
			return reply{xml: responseXML(1000, tridOf(r), `<d:infData xmlns:d="`+nsDomain+`"><d:name>alt.test</d:name><d:roid>X-1</d:roid>`+info+`</d:infData>`, "")}
		default:
			sent = append(sent, fmt.Sprintf("%s %s", verb, tridOf(r)))
			if verb == "delete" && answer < 2000 {
				info = `<d:status s="pendingDelete"/><d:clID>ClientX</d:clID>`
			}
			return reply{xml: responseXML(answer, tridOf(r), "", "")}
		}
	}}
	return NewProvisioner(f.client(t, nil), nil), &sent
}

func TestHoldAndDelete_QueryFirstAndSendOnce(t *testing.T) {
	t.Parallel()
	const (
		registered = `<d:status s="ok"/><d:clID>ClientX</d:clID>`
		held       = `<d:status s="clientHold"/><d:clID>ClientX</d:clID>`
		deleted    = `<d:status s="pendingDelete"/><d:clID>ClientX</d:clID>`
		elsewhere  = `<d:status s="ok"/><d:clID>ClientY</d:clID>`
	)
	for name, test := range map[string]struct {
		info   string
		del    bool
		answer int
		state  lifecycle.RegistryState
		sent   []string
		code   registrar.Code
	}{
		"hold":                       {info: registered, answer: 1000, state: lifecycle.Registered, sent: []string{"update dom_1-h"}},
		"hold of a held domain":      {info: held, state: lifecycle.Registered},
		"hold of a deleted domain":   {info: deleted, state: lifecycle.Deleted},
		"hold of nothing":            {state: lifecycle.Gone},
		"hold of a foreign domain":   {info: elsewhere, state: lifecycle.Elsewhere},
		"refused hold":               {info: registered, answer: 2304, state: lifecycle.Registered, sent: []string{"update dom_1-h"}, code: ResultStatusProhibits},
		"delete":                     {info: held, del: true, answer: 1001, state: lifecycle.Deleted, sent: []string{"delete dom_1-x"}},
		"delete of a deleted domain": {info: deleted, del: true, state: lifecycle.Deleted},
		"delete of nothing":          {del: true, state: lifecycle.Gone},
		"refused delete":             {info: held, del: true, answer: 2304, state: lifecycle.Registered, sent: []string{"delete dom_1-x"}, code: ResultStatusProhibits},
	} {
		p, sent := termServer(t, test.info, test.answer)
		var state lifecycle.RegistryState
		var err error
		if test.del {
			state, _, err = p.Delete(t.Context(), "alt.test", "dom_1-x")
		} else {
			state, err = p.Hold(t.Context(), "alt.test", "dom_1-h")
		}
		if state != test.state || registrar.CodeOf(err) != test.code || !slices.Equal(*sent, test.sent) {
			t.Errorf("%s: %q, %v after %q", name, state, err, *sent)
		}
		if err != nil && registrar.IsTransient(err) {
			t.Errorf("%s: a refusal is retried", name)
		}
	}
}
