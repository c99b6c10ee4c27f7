package epp

import (
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// faultAction replaces the execution of a command.
type faultAction uint8

const (
	actionNone faultAction = iota
	actionHang
	actionReset
	actionGarble
	actionRefuse
)

// commandFault is how a command fails. The zero value is no fault.
type commandFault struct {
	action       faultAction
	code         ledger.Code // for refuses
	loseResponse bool        // executed, but the response is lost
	delay        time.Duration
}

// magicPrefix maps a label prefix to its fault; slow is filled in.
type magicPrefix struct {
	prefix string
	fault  commandFault
}

// always applies to every command that names the domain, changing to transform
// commands.
var (
	alwaysMagic = [...]magicPrefix{
		{"timeout-", commandFault{action: actionHang}},
		{"refused-", commandFault{action: actionReset}},
		{"garbled-", commandFault{action: actionGarble}},
		{"throttled-", commandFault{action: actionRefuse, code: ledger.LimitClosing}},
		{"unknown-", commandFault{action: actionRefuse, code: ledger.PolicyForbids}},
	}
	transformMagic = [...]magicPrefix{
		{"lostanswer-", commandFault{loseResponse: true}},
		{"dropped-", commandFault{action: actionReset}},
		{"failing-", commandFault{action: actionRefuse, code: ledger.Failed}},
		{"closing-", commandFault{action: actionRefuse, code: ledger.LimitClosing}},
		{"slow-", commandFault{delay: 1}},
	}
)

const oncePrefix = "once-"

// faultFor decides how a command fails: by its name, else by chaos.
func (s *session) faultFor(c *command) commandFault {
	if c.object != nil && c.object.space == domainSpace && s.account != "" {
		for _, kid := range c.object.children {
			if kid.name != "name" || kid.space != domainSpace {
				continue
			}
			if f, found := s.magicFault(strings.ToLower(collapse(kid.text)), c); found {
				return f
			}
		}
	}
	switch fault := s.opts.NextFault(); fault.Kind {
	case Slow:
		return commandFault{delay: fault.Delay}
	case Fails:
		return commandFault{action: actionRefuse, code: ledger.Failed}
	case Closes:
		return commandFault{action: actionRefuse, code: ledger.LimitClosing}
	case DropsBefore:
		return commandFault{action: actionReset}
	case DropsAfter:
		return commandFault{loseResponse: true}
	default:
		return commandFault{}
	}
}

func (s *session) magicFault(name string, c *command) (commandFault, bool) {
	if strings.IndexByte(name, '-') < 0 {
		return commandFault{}, false
	}
	for _, magic := range alwaysMagic {
		if strings.HasPrefix(name, magic.prefix) {
			return magic.fault, true
		}
	}
	switch c.verb {
	case "create", "update", "renew", "delete":
	case "transfer":
		if c.op == "query" {
			return commandFault{}, false
		}
	default:
		return commandFault{}, false
	}
	rest, once := strings.CutPrefix(name, oncePrefix)
	for _, magic := range transformMagic {
		if !strings.HasPrefix(rest, magic.prefix) {
			continue
		}
		if once && !s.firstTime(name) {
			return commandFault{}, true
		}
		f := magic.fault
		if f.delay > 0 {
			f.delay = s.opts.Timeouts.Slow
		}
		return f, true
	}
	return commandFault{}, false
}
