package mcp

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// Page sizes of signed-in lists. Domains are small; orders carry their items.
const (
	defaultDomains, maxDomains = 100, 500
	defaultOrders, maxOrders   = 20, 100
)

// page is the position of a list.
type page struct {
	Total  int `json:"total"`
	Limit  int `json:"limit"`
	Offset int `json:"offset"`
}

// paging parses limit and offset.
func paging(args arguments, fallback, most int) (limit, offset int, err error) {
	if limit, err = args.number("limit", fallback, 1, most); err != nil {
		return 0, 0, err
	}
	offset, err = args.number("offset", 0, 0, math.MaxInt32)
	return limit, offset, err
}

// domainResult is one entry of a customer's list. Its status is active, pending, expired,
// redemption, transit or transferred_out; ExpiresAt is the end of the paid term in RFC
// 3339. AutoRenew is true only if the domain will be renewed; RenewEUR is nil if it is premium, or its
// extension is not sold.
type domainResult struct {
	Domain    string  `json:"domain"`
	TLD       string  `json:"tld"`
	Status    string  `json:"status"`
	ExpiresAt *string `json:"expiresAt"`
	AutoRenew bool    `json:"autoRenew"`

	RenewEUR  *registrar.Cents `json:"renewEur"`
	ManageURL string           `json:"manageUrl"`
}

func (s *Server) newDomainResult(domain portfolio.Domain) domainResult {
	result := domainResult{
		Domain: domain.Name, TLD: domain.TLD, Status: string(domain.Status), AutoRenew: domain.Renews(),
		ManageURL: s.cfg.BaseURL + ui.DomainsPath + "/" + domain.ID,
	}
	if !domain.PaidUntil.IsZero() {
		result.ExpiresAt = new(domain.PaidUntil.UTC().Format(time.RFC3339))
	}
	if extension, listed := s.cfg.Catalog.Extension(domain.TLD); listed && extension.Renew > 0 && !domain.Premium {
		result.RenewEUR = &extension.Renew
	}
	return result
}

func (s *Server) listMyDomains(ctx context.Context, state *requestState, args arguments) (any, error) {
	var filter portfolio.Filter
	var err error
	if filter.Part, err = args.optionalText("search"); err != nil {
		return nil, err
	}
	if filter.PaidBefore, err = args.timestamp("expiresBefore"); err != nil {
		return nil, err
	}
	limit, offset, err := paging(args, defaultDomains, maxDomains)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	held, total, err := s.cfg.Domains.Find(ctx, *state.caller, filter, limit, offset)
	if err != nil {
		return nil, registrar.DatabaseError(err)
	}
	domains := make([]domainResult, len(held))
	for i, domain := range held {
		domains[i] = s.newDomainResult(domain)
	}
	return struct {
		Domains []domainResult `json:"domains"`
		page
	}{domains, page{total, limit, offset}}, nil
}

// validID reports whether text can be an id. A database may reject other texts with an
// error that would look like our fault.
func validID(text string) bool {
	const longest = 64
	return len(text) <= longest && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}
