package epp

import (
	"context"
	"errors"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// Source answers availability queries from the registries at which we have an
// account. Lookups try it first. It never queries on behalf of an order.
type Source struct {
	clientOf func(tld string) (*Client, bool)
}

var _ lookup.RecordSource = (*Source)(nil)

// NewSource returns a Source that finds the account of a TLD with clientOf.
func NewSource(clientOf func(tld string) (*Client, bool)) *Source { return &Source{clientOf: clientOf} }

// Client returns the account of a TLD.
func (s *Source) Client(tld string) (*Client, bool) { return s.clientOf(tld) }

// Find asks the registry of ext whether name can be registered, whether it is premium, and
// what the registry charges then.
func (s *Source) Find(ctx context.Context, ext registrar.Extension, name registrar.Name) (lookup.Finding, error) {
	client, found := s.Client(ext.TLD)
	if !found {
		return lookup.Finding{}, lookup.ErrNoSource
	}
	// A hanging registry must leave time for the other sources.
	ctx, cancel := context.WithTimeout(ctx, client.account.LookupTimeout)
	defer cancel()
	create := FeeCommand{Name: "create", Years: max(1, ext.MinYears)}
	checked, err := check(ctx, client, create, name.ASCII(), ext.TLD, PriorityLookup)
	if err != nil {
		return lookup.Finding{}, toLookupFault(client.Host(), err)
	}
	if !checked.Available {
		return lookup.Finding{State: unavailableState(checked.Reason)}, nil
	}
	finding := lookup.Finding{State: lookup.Free, Premium: checked.Fee.Premium("create")}
	if _, known := checked.Fee.money(create); finding.Premium && known {
		// Few names are premium, so only they cost a second query for what they cost later. Without
		// its answer the name is still available, and its price unknown.
		create.Further = true
		if checked, err = check(ctx, client, create, name.ASCII(), ext.TLD, PriorityLookup); err == nil {
			finding.Fees = checked.Fee.all(create)
		}
	}
	return finding, nil
}

// all returns all fees of a name, with that of its registration; nil if one is unknown.
func (f *Fee) all(create FeeCommand) *lookup.Fees {
	register, known := f.money(create)
	renew, renewKnown := f.money(FeeCommand{Name: "renew", Years: 1})
	transfer, transferKnown := f.money(FeeCommand{Name: "transfer"})
	restore, restoreKnown := f.money(FeeCommand{Name: "restore"})
	if !known || !renewKnown || !transferKnown || !restoreKnown {
		return nil
	}
	return &lookup.Fees{Years: create.Years, Register: register, Renew: renew, Transfer: transfer, Restore: restore}
}

// check requests the fee of a command, if the server supports fees. Without them the fee is
// unknown, unless all names of the TLD have the same price.
func check(ctx context.Context, client *Client, command FeeCommand, name, tld string, priority Priority) (CheckResult, error) {
	q := CheckDomains{Names: []string{name}, Priority: priority, Fee: command}
	answers, err := client.CheckDomains(ctx, q)
	if errors.Is(err, &registrar.Error{Kind: registrar.KindUnsupported}) {
		// A server that announces no fees gets a plain check.
		q.Fee = FeeCommand{}
		answers, err = client.CheckDomains(ctx, q)
	}
	if err != nil {
		return CheckResult{}, err
	}
	if answers[0].Fee == nil && (q.Fee.Name != "" || !uniformlyPriced[tld]) {
		// A server with fees must report one for each name (RFC 8748, 5.1.1).
		answers[0].Fee = &Fee{Unknown: true}
	}
	return answers[0], nil
}

// toLookupFault fulfils the contract of lookup.RecordSource: every failure is one of the
// common source faults, so the next source is tried.
func toLookupFault(host string, err error) error {
	code := registrar.CodeOf(err)
	switch code {
	case registrar.FaultTimeout, registrar.FaultRefused, registrar.FaultThrottled, registrar.FaultBusy:
	case ResultSessions:
		code = registrar.FaultThrottled
	case ResultLogin:
		code = registrar.FaultRefused
	default:
		code = registrar.FaultBroken
	}
	return registrar.Fault(code, host, err)
}

// reservedPattern matches reasons for names that can't be registered by anyone.
// Other reasons mean registered, as nearly all are.
var reservedPattern = lookup.LazyPattern(`\b(?:reserved?|reservation|block(?:ed)?|prohibit(?:ed|ion)|restrict(?:ed|ion)|forbidden|banned|withheld|not allowed|disallowed|` +
	`not permitted|invalid|polic(?:y|ies)|collision|geo(?:graphic)?|trademark|dpml|unregistrable|excluded)\b`)

func unavailableState(reason string) lookup.State {
	if reservedPattern().MatchString(strings.ToLower(reason)) {
		return lookup.Reserved
	}
	return lookup.Registered
}
