package mcp

import (
	"context"
	"errors"
	"math"
	"strings"
)

// The services behind these tools are missing if there are no customer accounts.
var errNotServed = errors.New("mcp: service not configured")

// Page sizes of signed-in lists. Domains are small; orders carry their items.
const (
	defaultDomains, maxDomains = 100, 500
	defaultOrders, maxOrders   = 20, 100
)

// paging parses limit and offset.
func paging(args arguments, fallback, most int) (limit, offset int, err error) {
	if limit, err = args.number("limit", fallback, 1, most); err != nil {
		return 0, 0, err
	}
	offset, err = args.number("offset", 0, 0, math.MaxInt32)
	return limit, offset, err
}

func (s *Server) listMyDomains(ctx context.Context, state *requestState, args arguments) (any, error) {
	var filter DomainFilter
	var err error
	if filter.Search, err = args.optionalText("search"); err != nil {
		return nil, err
	}
	if filter.ExpiresBefore, err = args.timestamp("expiresBefore"); err != nil {
		return nil, err
	}
	if filter.Limit, filter.Offset, err = paging(args, defaultDomains, maxDomains); err != nil {
		return nil, err
	}
	if s.cfg.Domains == nil {
		return nil, errNotServed
	}
	domains, total, err := s.cfg.Domains.List(ctx, *state.caller, filter)
	if err != nil {
		return nil, err
	}
	if domains == nil {
		domains = []Domain{}
	}
	return struct {
		Domains []Domain `json:"domains"`
		Total   int      `json:"total"`
		Limit   int      `json:"limit"`
		Offset  int      `json:"offset"`
	}{domains, total, filter.Limit, filter.Offset}, nil
}

// validID reports whether text can be an id. A database may reject other texts with an
// error that would look like our fault.
func validID(text string) bool {
	const longest = 64
	return len(text) <= longest && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}
