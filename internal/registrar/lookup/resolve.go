package lookup

import (
	"context"
	"errors"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/tracing"
)

// verdict is the result for one name, without price and registry record.
type verdict struct {
	availability Availability
	source       Source
	reason       Reason
	premium      bool
	fees         *Fees // of a premium name; nil if unknown
	at           time.Time
	// name is what ParseName makes of the key; zero if it rejects the key, which a
	// search may have combined from a label and an extension.
	name registrar.Name
}

func (e *Engine) newResolution(ext registrar.Extension, name registrar.Name) *resolution {
	return &resolution{engine: e, ext: ext, name: name, labelClass: classifyLabel(name)}
}

// resolve queries the sources in order until one decides or ctx ends.
func (c *resolution) resolve(ctx context.Context) (verdict, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends queries still in flight
	if v, decided := c.epp(ctx); decided {
		return v, nil
	}
	c.startDNS(ctx)
	for _, step := range [...]func(context.Context) (verdict, bool){c.rdap, c.whois, c.dns} {
		if v, decided := step(ctx); decided {
			return v, nil
		}
	}
	if !c.answered {
		return verdict{}, c.upstreamError()
	}
	return c.newVerdict(Unknown, "", ReasonUnknown), nil
}

// resolution is the state of resolving one name.
type resolution struct {
	engine     *Engine
	ext        registrar.Extension
	name       registrar.Name
	labelClass labelClass

	answered bool
	errs     []error

	dnsAnswer chan dnsAnswer
	dnsResult *dnsAnswer

	rdapNotFound bool               // RDAP responded without a record
	records      map[Source]*Record // the record, or nil, of each queried source; nil if not needed
}

type dnsAnswer struct {
	delegated bool
	err       error
}

func (c *resolution) newVerdict(a Availability, s Source, r Reason) verdict {
	return verdict{availability: a, source: s, reason: r, at: c.engine.cfg.Now()}
}

func (c *resolution) available(source Source, premium bool) verdict {
	v := c.newVerdict(Available, source, "")
	if premium {
		v.premium, v.reason = true, ReasonPremium
	}
	return v
}

// query queries one source and records the response or error. It decides what needs no
// confirmation; otherwise the finding is Undecided, NotFound or Free.
func (c *resolution) query(ctx context.Context, source Source, records RecordSource) (Finding, verdict, bool) {
	if records == nil {
		return Finding{}, verdict{}, false
	}
	began := time.Now()
	finding, err := c.find(ctx, source, records)
	if c.records != nil {
		c.records[source] = finding.Record
	}
	if errors.Is(err, ErrNoSource) {
		return Finding{}, verdict{}, false
	}
	c.engine.observe(source, err, time.Since(began))
	if err != nil {
		c.errs = append(c.errs, err)
		return Finding{}, verdict{}, false
	}
	c.answered = true
	switch finding.State {
	case Registered:
		return finding, c.newVerdict(Taken, source, ReasonRegistered), true
	case Reserved:
		return finding, c.newVerdict(Taken, source, ReasonReserved), true
	default:
		return finding, verdict{}, false
	}
}

// startSpan starts the span of a query to one source.
func (c *resolution) startSpan(ctx context.Context, source Source) (context.Context, tracing.Span) {
	ctx, span := tracing.Start(ctx, "source", string(source))
	span.SetString(tracing.Source, string(source))
	span.SetString(tracing.Extension, c.ext.TLD)
	return ctx, span
}

// find queries one source.
func (c *resolution) find(ctx context.Context, source Source, records RecordSource) (Finding, error) {
	ctx, span := c.startSpan(ctx, source)
	finding, err := records.Find(ctx, c.ext, c.name)
	if errors.Is(err, ErrNoSource) {
		span.EndAs("no_source", false)
	} else {
		span.End(err)
	}
	return finding, err
}

// epp is step 1. The registry's own answer needs no confirmation.
func (c *resolution) epp(ctx context.Context) (verdict, bool) {
	finding, v, decided := c.query(ctx, SourceEPP, c.engine.cfg.EPP)
	if finding.State == Free {
		v = c.available(SourceEPP, finding.Premium)
		v.fees = finding.Fees
		return v, true
	}
	return v, decided
}

// rdap is step 2.
func (c *resolution) rdap(ctx context.Context) (verdict, bool) {
	finding, v, decided := c.query(ctx, SourceRDAP, c.engine.cfg.RDAP)
	if finding.State != NotFound && finding.State != Free {
		return v, decided
	}
	c.rdapNotFound = true
	if c.labelClass == withheld {
		return c.newVerdict(Taken, SourceRDAP, ReasonReserved), true
	}
	dns := c.awaitDNS(ctx)
	if c.labelClass == registrable && dns.err == nil && !dns.delegated {
		return c.available(SourceRDAP, finding.Premium), true
	}
	return verdict{}, false
}

// whois is step 3.
func (c *resolution) whois(ctx context.Context) (verdict, bool) {
	finding, v, decided := c.query(ctx, SourceWHOIS, c.engine.cfg.WHOIS)
	if finding.State == Registered && c.rdapNotFound {
		c.reportDisagreement(ctx, "RDAP has no record, WHOIS has one")
	}
	if finding.State != Free {
		return v, decided
	}
	if c.labelClass == withheld {
		return c.newVerdict(Taken, SourceWHOIS, ReasonReserved), true
	}
	dns := c.awaitDNS(ctx)
	if dns.err == nil && dns.delegated {
		c.reportDisagreement(ctx, "WHOIS says free, the DNS has nameservers")
		return c.newVerdict(Unknown, "", ReasonUnknown), true
	}
	if c.labelClass == registrable {
		return c.available(SourceWHOIS, finding.Premium), true
	}
	return verdict{}, false
}

// dns is step 4. It can only decide taken.
func (c *resolution) dns(ctx context.Context) (verdict, bool) {
	if dns := c.awaitDNS(ctx); dns.err == nil && dns.delegated {
		if c.rdapNotFound {
			c.reportDisagreement(ctx, "RDAP has no record, the DNS has nameservers")
		}
		return c.newVerdict(Taken, SourceDNS, ReasonRegistered), true
	}
	return verdict{}, false
}

// startDNS queries the DNS in the background, so that step 2 takes the longer of two
// responses and not their sum. The channel is buffered, so the goroutine always ends.
func (c *resolution) startDNS(ctx context.Context) {
	c.dnsAnswer = make(chan dnsAnswer, 1)
	began := time.Now()
	go func() {
		defer func() {
			if panicked := recover(); panicked != nil {
				c.dnsAnswer <- dnsAnswer{err: c.engine.panicError(ctx, panicked)}
			}
		}()
		queryCtx, span := c.startSpan(ctx, SourceDNS)
		delegated, err := c.engine.cfg.DNS.IsDelegated(queryCtx, c.name)
		if ctx.Err() == nil { // a cancelled query says nothing about the server
			c.engine.observe(SourceDNS, err, time.Since(began))
			span.End(err)
		} else {
			span.EndAs("canceled", false)
		}
		c.dnsAnswer <- dnsAnswer{delegated: delegated, err: err}
	}()
}

func (c *resolution) awaitDNS(ctx context.Context) dnsAnswer {
	if c.dnsResult != nil {
		return *c.dnsResult
	}
	var got dnsAnswer
	select {
	case got = <-c.dnsAnswer:
	case <-ctx.Done():
		got.err = registrar.Fault(registrar.FaultTimeout, "dns", ctx.Err())
	}
	if got.err != nil {
		c.errs = append(c.errs, got.err)
	} else {
		c.answered = true
	}
	c.dnsResult = &got
	return got
}

// reportDisagreement logs, without the name, and counts contradicting sources.
func (c *resolution) reportDisagreement(ctx context.Context, what string) {
	c.engine.cfg.Logger.WarnContext(ctx, "sources disagree", "what", what,
		"extension", c.ext.TLD, "rdap", c.ext.RDAP, "whois", c.ext.WHOIS)
	c.engine.cfg.OnDisagreement(c.ext.TLD)
}

// upstreamError is returned if every source failed: the error of the best one.
func (c *resolution) upstreamError() error {
	if len(c.errs) == 0 {
		return registrar.Fault(registrar.FaultBroken, "no source was queried", nil)
	}
	var first *registrar.Error
	if errors.As(c.errs[0], &first) {
		return first
	}
	return registrar.Fault(registrar.FaultBroken, "source", c.errs[0])
}
