package epp

import (
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// before is what happens instead of carrying a command out.
type before uint8

const (
	nothing before = iota
	hangs
	resets
	garbles
	refuses
)

// fate is how a command goes wrong. The zero value is a command that goes well.
type fate struct {
	before before
	code   ledger.Code // with refuses
	lost   bool        // carried out, and the answer never arrives
	late   time.Duration
}

// spell is a prefix of a label and what it calls up; slow is filled in.
type spell struct {
	prefix string
	fate   fate
}

// always work in every command that names the domain, changing in those that
// change it.
var (
	always = [...]spell{
		{"timeout-", fate{before: hangs}},
		{"refused-", fate{before: resets}},
		{"garbled-", fate{before: garbles}},
		{"throttled-", fate{before: refuses, code: ledger.LimitClosing}},
		{"unknown-", fate{before: refuses, code: ledger.PolicyForbids}},
	}
	changing = [...]spell{
		{"lostanswer-", fate{lost: true}},
		{"dropped-", fate{before: resets}},
		{"failing-", fate{before: refuses, code: ledger.Failed}},
		{"closing-", fate{before: refuses, code: ledger.LimitClosing}},
		{"slow-", fate{late: 1}},
	}
)

const oncePrefix = "once-"

// fate decides how a command goes wrong: by the name that it is about, else by
// chance.
func (s *session) fate(c *command) fate {
	if c.object != nil && c.object.space == domainSpace && s.account != "" {
		for _, kid := range c.object.kids {
			if kid.name != "name" || kid.space != domainSpace {
				continue
			}
			if f, found := s.spellOf(strings.ToLower(collapse(kid.text)), c); found {
				return f
			}
		}
	}
	switch mishap := s.opts.Mishap(); mishap.Fault {
	case Slow:
		return fate{late: mishap.Late}
	case Fails:
		return fate{before: refuses, code: ledger.Failed}
	case Closes:
		return fate{before: refuses, code: ledger.LimitClosing}
	case DropsBefore:
		return fate{before: resets}
	case DropsAfter:
		return fate{lost: true}
	default:
		return fate{}
	}
}

func (s *session) spellOf(name string, c *command) (fate, bool) {
	if strings.IndexByte(name, '-') < 0 {
		return fate{}, false
	}
	for _, spell := range always {
		if strings.HasPrefix(name, spell.prefix) {
			return spell.fate, true
		}
	}
	switch c.verb {
	case "create", "update", "renew", "delete":
	case "transfer":
		if c.op == "query" {
			return fate{}, false
		}
	default:
		return fate{}, false
	}
	rest, once := strings.CutPrefix(name, oncePrefix)
	for _, spell := range changing {
		if !strings.HasPrefix(rest, spell.prefix) {
			continue
		}
		if once && !s.firstTime(name) {
			return fate{}, true
		}
		f := spell.fate
		if f.late > 0 {
			f.late = s.opts.Pace.Slow
		}
		return f, true
	}
	return fate{}, false
}
