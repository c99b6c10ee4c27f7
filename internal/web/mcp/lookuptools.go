package mcp

import (
	"context"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

func (s *Server) domainCheck(ctx context.Context, _ *requestState, args arguments) (any, error) {
	domain, err := args.text("domain")
	if err != nil {
		return nil, err
	}
	answer, err := s.cfg.Lookups.Check(ctx, domain)
	switch {
	case err == nil:
		return httpjson.NewCheckResult(answer), nil
	case registrar.KindOf(err) == registrar.KindUnsupported:
		return httpjson.UnsupportedResult{Domain: domain, TLD: answer.TLD}, nil
	default:
		return nil, err
	}
}

func (s *Server) domainSearch(ctx context.Context, state *requestState, args arguments) (any, error) {
	query, err := args.text("query")
	if err != nil {
		return nil, err
	}
	var found func(entry lookup.Entry, done, total int)
	if state.report != nil {
		found = func(entry lookup.Entry, done, total int) { state.report(done, total, describeEntry(entry)) }
	}
	result, err := s.cfg.Lookups.SearchEach(ctx, query, found)
	if err != nil {
		return nil, err
	}
	return httpjson.NewSearchResult(result, state.recordError), nil
}

// describeEntry is the text of a progress notification.
func describeEntry(entry lookup.Entry) string {
	switch {
	case entry.Err != nil || entry.Availability == lookup.Unknown:
		return entry.Domain + ": unknown"
	case entry.Availability == lookup.Available:
		return entry.Domain + ": available"
	default:
		return entry.Domain + ": not available"
	}
}

func (s *Server) whoisLookup(ctx context.Context, _ *requestState, args arguments) (any, error) {
	domain, err := args.text("domain")
	if err != nil {
		return nil, err
	}
	answer, err := s.cfg.Lookups.Whois(ctx, domain)
	if err != nil {
		return nil, err
	}
	return httpjson.NewWhoisResult(answer), nil
}

const (
	categoryPopular = string(catalog.CategoryPopular)
	defaultLimit    = 50
	maxLimit        = 500
)

func (s *Server) listTLDs(_ context.Context, _ *requestState, args arguments) (any, error) {
	category, err := args.optionalText("category")
	if err != nil {
		return nil, err
	}
	if category != "" && category != categoryPopular {
		return nil, newArgumentError("The argument category can only be popular; leave it out for all extensions.")
	}
	search, err := args.optionalText("search")
	if err != nil {
		return nil, err
	}
	limit, offset, err := paging(args, defaultLimit, maxLimit)
	if err != nil {
		return nil, err
	}
	wanted := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(search)), ".")
	body := struct {
		TLDs []httpjson.PriceResult `json:"tlds"`
		page
	}{[]httpjson.PriceResult{}, page{0, limit, offset}}
	for _, ext := range s.cfg.Catalog.All() {
		if category == categoryPopular && !ext.Popular || !strings.Contains(ext.TLD[1:], wanted) {
			continue
		}
		if body.Total >= offset && len(body.TLDs) < limit {
			body.TLDs = append(body.TLDs, httpjson.NewPriceResult(ext))
		}
		body.Total++
	}
	return body, nil
}

func (s *Server) tldPrice(_ context.Context, _ *requestState, args arguments) (any, error) {
	text, err := args.text("tld")
	if err != nil {
		return nil, err
	}
	if text = strings.TrimSpace(text); text == "" {
		return nil, newArgumentError("The argument tld is empty. Give an extension with its dot, for example .de.")
	}
	tld, err := registrar.ParseExtension("." + strings.TrimPrefix(text, "."))
	if err != nil {
		return nil, newArgumentError("The argument tld is not an extension. Give it with its dot, for example .de.")
	}
	ext, ok := s.cfg.Catalog.Extension(tld)
	if !ok {
		return nil, registrar.Unsupported(registrar.ExtensionNotCarried)
	}
	return httpjson.NewPriceResult(ext), nil
}
