package epp

import (
	"context"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// CheckDomains asks whether names can be registered.
type CheckDomains struct {
	// Names are in A-label form.
	Names []string
	// Fee also requests the fee of a command unless it is zero. A server without
	// fees rejects it.
	Fee FeeCommand
	// Priority defaults to PriorityOrder. Order checks are never batched.
	Priority Priority
}

// CheckResult is the result for one name.
type CheckResult struct {
	Name      string
	Available bool
	// Reason is the registry's reason for "not available", often "In use".
	Reason string
	// Fee is nil where none was requested or reported.
	Fee *Fee
}

// CheckDomains returns one result per name, in the same order. Names beyond the
// batch size are sent in further commands.
func (c *Client) CheckDomains(ctx context.Context, q CheckDomains) ([]CheckResult, error) {
	if len(q.Names) == 0 {
		return nil, nil
	}
	if q.Priority != PriorityOrder && len(q.Names) < c.account.BatchNames {
		return c.batches.check(ctx, q)
	}
	answers := make([]CheckResult, 0, len(q.Names))
	for names := range slices.Chunk(q.Names, c.account.BatchNames) {
		a, err := c.send(ctx, checkCall(names, q.Fee, q.Priority, ""))
		if err != nil {
			return nil, err
		}
		found := readCheckResults(a)
		for _, name := range names {
			checked, ok := found[strings.ToLower(name)]
			if !ok {
				return nil, registrar.Fault(registrar.FaultBroken, c.Host(), errMissingData)
			}
			answers = append(answers, checked)
		}
	}
	return answers, nil
}

func checkCall(names []string, fee FeeCommand, priority Priority, trid string) *call {
	cmd := &call{
		Command: Command{Verb: "check", Object: "domain"}, safe: true, priority: priority, trid: trid,
		body: func(w *Writer) {
			for _, name := range names {
				w.label("domain:name", name)
			}
		},
	}
	if fee.Name != "" {
		cmd.requiredExtension = nsFee
		cmd.writeExtension = func(w *Writer, _ services) { fee.write(w) }
	}
	return cmd
}

// readCheckResults reads a check response, keyed by name in lower case.
func readCheckResults(a *response) map[string]CheckResult {
	data := a.data.Child(nsDomain, "chkData")
	fees := readFees(a.extension)
	found := make(map[string]CheckResult, 8)
	if data == nil {
		return found
	}
	for _, cd := range data.Children {
		name := cd.Child(nsDomain, "name")
		if name == nil || name.Attr("avail") == "" {
			continue // skip results without an avail attribute
		}
		key := strings.ToLower(name.Text)
		found[key] = CheckResult{
			Name:      key,
			Available: parseBool(name.Attr("avail"), false),
			Reason:    cd.value(nsDomain, "reason"),
			Fee:       fees[key],
		}
	}
	return found
}
