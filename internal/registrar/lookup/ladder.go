package lookup

import (
	"context"
	"errors"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// verdict is what the ladder found about one name. It holds no price and no
// record of the registry.
type verdict struct {
	availability Availability
	source       Source
	reason       Reason
	premium      bool
	at           time.Time
}

// climb asks the sources in order until one decides or ctx ends.
func (e *Engine) climb(ctx context.Context, ext registrar.Extension, name registrar.Name) (verdict, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // whoever is still asking need not go on
	c := &climber{engine: e, ext: ext, name: name, ruling: judge(name)}

	if v, decided := c.epp(ctx); decided {
		return v, nil
	}
	c.startDNS(ctx)
	if v, decided := c.rdap(ctx); decided {
		return v, nil
	}
	if v, decided := c.whois(ctx); decided {
		return v, nil
	}
	if v, decided := c.dns(ctx); decided {
		return v, nil
	}
	if !c.answered {
		return verdict{}, c.failure()
	}
	return c.verdict(Unknown, "", ReasonUnknown), nil
}

// climber is the state of one climb.
type climber struct {
	engine *Engine
	ext    registrar.Extension
	name   registrar.Name
	ruling ruling

	answered bool
	faults   []error

	dnsAnswer chan dnsAnswer
	dnsKnown  *dnsAnswer

	// rdapHasNone says that RDAP answered and had no record.
	rdapHasNone bool
}

type dnsAnswer struct {
	delegated bool
	err       error
}

func (c *climber) verdict(a Availability, s Source, r Reason) verdict {
	return verdict{availability: a, source: s, reason: r, at: c.engine.now()}
}

func (c *climber) free(source Source, premium bool) verdict {
	v := c.verdict(Available, source, "")
	if premium {
		v.premium, v.reason = true, ReasonPremium
	}
	return v
}

// ask puts the question to one source and keeps book of answers and faults.
func (c *climber) ask(ctx context.Context, source Source, records Records) (Finding, bool) {
	if records == nil {
		return Finding{}, false
	}
	began := time.Now()
	finding, err := records.Find(ctx, c.ext, c.name)
	if errors.Is(err, ErrNoSource) {
		return Finding{}, false
	}
	c.engine.observe(source, err, time.Since(began))
	if err != nil {
		c.faults = append(c.faults, err)
		return Finding{}, false
	}
	c.answered = true
	return finding, true
}

// epp is rung 1. The registry's own word needs no second opinion.
func (c *climber) epp(ctx context.Context) (verdict, bool) {
	finding, ok := c.ask(ctx, SourceEPP, c.engine.epp)
	if !ok {
		return verdict{}, false
	}
	switch finding.State {
	case Registered:
		return c.verdict(Taken, SourceEPP, ReasonRegistered), true
	case Reserved:
		return c.verdict(Taken, SourceEPP, ReasonReserved), true
	case Free:
		return c.free(SourceEPP, finding.Premium), true
	default:
		return verdict{}, false
	}
}

// rdap is rung 2.
func (c *climber) rdap(ctx context.Context) (verdict, bool) {
	finding, ok := c.ask(ctx, SourceRDAP, c.engine.rdap)
	if !ok {
		return verdict{}, false
	}
	switch finding.State {
	case Registered:
		return c.verdict(Taken, SourceRDAP, ReasonRegistered), true
	case Reserved:
		return c.verdict(Taken, SourceRDAP, ReasonReserved), true
	case NotFound, Free:
		c.rdapHasNone = true
		if c.ruling == withheld {
			return c.verdict(Taken, SourceRDAP, ReasonReserved), true
		}
		dns := c.awaitDNS(ctx)
		if c.ruling == registrable && dns.err == nil && !dns.delegated {
			return c.free(SourceRDAP, finding.Premium), true
		}
	case Undecided:
	}
	return verdict{}, false
}

// whois is rung 3.
func (c *climber) whois(ctx context.Context) (verdict, bool) {
	finding, ok := c.ask(ctx, SourceWHOIS, c.engine.whois)
	if !ok {
		return verdict{}, false
	}
	switch finding.State {
	case Registered:
		if c.rdapHasNone {
			c.disagree(ctx, "RDAP has no record, WHOIS has one")
		}
		return c.verdict(Taken, SourceWHOIS, ReasonRegistered), true
	case Reserved:
		return c.verdict(Taken, SourceWHOIS, ReasonReserved), true
	case Free:
		if c.ruling == withheld {
			return c.verdict(Taken, SourceWHOIS, ReasonReserved), true
		}
		dns := c.awaitDNS(ctx)
		if dns.err == nil && dns.delegated {
			c.disagree(ctx, "WHOIS says free, the DNS has nameservers")
			return c.verdict(Unknown, "", ReasonUnknown), true
		}
		if c.ruling == registrable {
			return c.free(SourceWHOIS, finding.Premium), true
		}
	case NotFound, Undecided:
	}
	return verdict{}, false
}

// dns is rung 4. It can only say taken.
func (c *climber) dns(ctx context.Context) (verdict, bool) {
	if dns := c.awaitDNS(ctx); dns.err == nil && dns.delegated {
		if c.rdapHasNone {
			c.disagree(ctx, "RDAP has no record, the DNS has nameservers")
		}
		return c.verdict(Taken, SourceDNS, ReasonRegistered), true
	}
	return verdict{}, false
}

// startDNS asks in the background, so that rung 2 costs the longer of two
// answers and not their sum. The channel holds one answer, so the goroutine
// ends even if nobody reads it.
func (c *climber) startDNS(ctx context.Context) {
	c.dnsAnswer = make(chan dnsAnswer, 1)
	began := time.Now()
	go func() {
		defer func() {
			if problem := recover(); problem != nil {
				c.dnsAnswer <- dnsAnswer{err: c.engine.caught(ctx, problem)}
			}
		}()
		delegated, err := c.engine.dns.Delegated(ctx, c.name)
		if ctx.Err() == nil { // an answer that nobody waited for says nothing about the server
			c.engine.observe(SourceDNS, err, time.Since(began))
		}
		c.dnsAnswer <- dnsAnswer{delegated: delegated, err: err}
	}()
}

func (c *climber) awaitDNS(ctx context.Context) dnsAnswer {
	if c.dnsKnown != nil {
		return *c.dnsKnown
	}
	var got dnsAnswer
	select {
	case got = <-c.dnsAnswer:
	case <-ctx.Done():
		got.err = registrar.Fault(registrar.FaultTimeout, "dns", ctx.Err())
	}
	if got.err != nil {
		c.faults = append(c.faults, got.err)
	} else {
		c.answered = true
	}
	c.dnsKnown = &got
	return got
}

// disagree tells the operator that two sources can't both be right. The name is
// not told.
func (c *climber) disagree(ctx context.Context, what string) {
	c.engine.logger.WarnContext(ctx, "sources disagree", "what", what,
		"extension", c.ext.TLD, "rdap", c.ext.RDAP, "whois", c.ext.WHOIS)
	c.engine.disagreed(c.ext.TLD)
}

// failure is the error when every source failed: the first fault speaks for all,
// since it is the one of the best source.
func (c *climber) failure() error {
	if len(c.faults) == 0 {
		return registrar.Fault(registrar.FaultBroken, "no source was asked", nil)
	}
	var first *registrar.Error
	if errors.As(c.faults[0], &first) {
		return first
	}
	return registrar.Fault(registrar.FaultBroken, "source", c.faults[0])
}
