package epp

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// Source answers availability from the registries at which we have an account:
// the first rung of the ladder. It never asks on behalf of an order.
type Source struct {
	clientOf func(tld string) (*Client, bool)
}

var _ lookup.RecordSource = (*Source)(nil)

// NewSource makes a Source over accounts. Two accounts for one extension are an
// error: an answer must come from the account that would provision.
func NewSource(clients ...*Client) (*Source, error) {
	byTLD := make(map[string]*Client)
	for _, client := range clients {
		for _, tld := range client.account.TLDs {
			if other := byTLD[tld]; other != nil && other != client {
				return nil, fmt.Errorf("EPP accounts at %s and %s both list %s; only one can provision it", other.Host(), client.Host(), tld)
			}
			byTLD[tld] = client
		}
	}
	return NewSourceFunc(func(tld string) (*Client, bool) {
		client, found := byTLD[tld]
		return client, found
	}), nil
}

// NewSourceFunc makes a Source of whatever knows which account serves an extension.
func NewSourceFunc(clientOf func(tld string) (*Client, bool)) *Source {
	return &Source{clientOf: clientOf}
}

// Client is the account for an extension.
func (s *Source) Client(tld string) (*Client, bool) {
	return s.clientOf(tld)
}

// Find asks the registry of ext whether name can be registered, and at a price of
// its own.
func (s *Source) Find(ctx context.Context, ext registrar.Extension, name registrar.Name) (lookup.Finding, error) {
	client, found := s.Client(ext.TLD)
	if !found {
		return lookup.Finding{}, lookup.ErrNoSource
	}
	// A registry that hangs must leave time for the other sources.
	ctx, cancel := context.WithTimeout(ctx, client.account.LookupTimeout)
	defer cancel()
	checked, err := check(ctx, client, FeeCommand{Name: "create", Years: max(1, ext.MinYears)}, name.ASCII(), PriorityLookup)
	if err != nil {
		return lookup.Finding{}, toLookupFault(client.Host(), err)
	}
	if !checked.Available {
		return lookup.Finding{State: unavailableState(checked.Reason)}, nil
	}
	return lookup.Finding{State: lookup.Free, Premium: checked.Fee.Premium()}, nil
}

// check asks with the fee of a command, where the server has fees.
func check(ctx context.Context, client *Client, command FeeCommand, name string, priority Priority) (CheckResult, error) {
	q := CheckDomains{
		Names: []string{name}, Priority: priority,
		Fee: &FeeQuery{Commands: []FeeCommand{command}},
	}
	answers, err := client.CheckDomains(ctx, q)
	if errors.Is(err, &registrar.Error{Kind: registrar.KindUnsupported}) {
		// A server that announced no fees was not even asked.
		q.Fee = nil
		answers, err = client.CheckDomains(ctx, q)
	}
	if err != nil {
		return CheckResult{}, err
	}
	if q.Fee != nil && answers[0].Fee == nil {
		// Who has fees must tell one for each name (RFC 8748, 5.1.1).
		answers[0].Fee = &Fee{Unknown: true}
	}
	return answers[0], nil
}

// lookupFaults are what the next source's callers know of a registry's own trouble.
var lookupFaults = map[registrar.Code]registrar.Code{
	registrar.FaultTimeout: registrar.FaultTimeout, registrar.FaultRefused: registrar.FaultRefused,
	registrar.FaultThrottled: registrar.FaultThrottled, registrar.FaultBusy: registrar.FaultBusy,
	ResultSessions: registrar.FaultThrottled, ResultLogin: registrar.FaultRefused,
}

// toLookupFault keeps the promise of lookup.Records: whatever went wrong, the source
// failed in one of the ways that every source has, and the next one is asked.
func toLookupFault(host string, err error) error {
	code, known := lookupFaults[registrar.CodeOf(err)]
	if !known {
		code = registrar.FaultBroken
	}
	return registrar.Fault(code, host, err)
}

// reservedPattern are found in the reasons for names that nobody holds and nobody
// may have. What does not match one is called registered, as nearly all are.
var reservedPattern = regexp.MustCompile(`\b(?:reserved?|reservation|block(?:ed)?|prohibit(?:ed|ion)|restrict(?:ed|ion)|forbidden|banned|withheld|not allowed|disallowed|` +
	`not permitted|invalid|polic(?:y|ies)|collision|geo(?:graphic)?|trademark|dpml|unregistrable|excluded)\b`)

func unavailableState(reason string) lookup.State {
	if reservedPattern.MatchString(strings.ToLower(reason)) {
		return lookup.Reserved
	}
	return lookup.Registered
}
