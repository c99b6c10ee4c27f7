package mcp

import (
	"context"
	"errors"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// Renewals turns automatic renewal off. Turning it on leads to charges, so it takes a
// person in a browser.
type Renewals interface {
	TurnOff(ctx context.Context, actor registrar.Actor, domain string) error
	AgreeURL(ctx context.Context, actor registrar.Actor, domain string) (string, error)
}

// autoRenewResult is the state after the call. ConsentURL is where the customer turns it
// on; it is empty if nothing is left to do.
type autoRenewResult struct {
	Domain     string  `json:"domain"`
	AutoRenew  bool    `json:"autoRenew"`
	ExpiresAt  *string `json:"expiresAt"`
	ConsentURL string  `json:"consent_url,omitempty"`
	ManageURL  string  `json:"manageUrl"`
}

// errNoDomain means that the caller holds no such domain.
var errNoDomain = registrar.NotFound(registrar.NoSuchDomain)

// notChangeable is the failure of a domain whose automatic renewal can't be changed now.
type notChangeable struct {
	reason registrar.Code
	url    string
}

func (*notChangeable) Error() string { return "mcp: set auto renew: not possible" }

// Unwrap makes it a registrar.Error for the log.
func (n *notChangeable) Unwrap() error { return registrar.Conflict(n.reason) }

// setAutoRenew turns automatic renewal off at once, or returns the link where the customer
// turns it on.
func (s *Server) setAutoRenew(ctx context.Context, state *requestState, args arguments) (any, error) {
	text, err := args.text("domain")
	if err != nil {
		return nil, err
	}
	if !args.has("enabled") {
		return nil, newArgumentError("The argument enabled is missing: true or false.")
	}
	enabled, err := args.flag("enabled")
	if err != nil {
		return nil, err
	}
	name, err := registrar.ParseHost(text)
	if err != nil {
		return nil, err
	}
	if s.cfg.Renewals == nil || s.cfg.Domains == nil {
		return nil, errNoOrders
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	domain, held, err := s.cfg.Domains.FindByName(ctx, *state.caller, name)
	switch {
	case err != nil:
		return nil, registrar.DatabaseError(err)
	case !held:
		return nil, errNoDomain
	}
	page := s.cfg.BaseURL + ui.DomainsPath + "/" + domain.ID
	result := autoRenewResult{Domain: domain.Name, AutoRenew: domain.Renews(), ManageURL: page}
	if !domain.PaidUntil.IsZero() {
		result.ExpiresAt = new(domain.PaidUntil.UTC().Format(time.RFC3339))
	}
	extension, listed := s.cfg.Catalog.Extension(domain.TLD)
	switch {
	case enabled && !result.AutoRenew && (domain.Status != registrar.DomainActive || !listed || extension.Renew <= 0):
		return nil, &notChangeable{renewal.NotRenewable, page}
	case enabled && !result.AutoRenew:
		result.ConsentURL, err = s.cfg.Renewals.AgreeURL(ctx, *state.caller, domain.ID)
		switch {
		case registrar.CodeOf(err) == withdrawal.NoticeOpen:
			return nil, &notChangeable{withdrawal.NoticeOpen, page}
		case err != nil:
			return nil, err
		}
	case !enabled && result.AutoRenew:
		err := s.cfg.Renewals.TurnOff(ctx, *state.caller, domain.ID)
		switch {
		case registrar.CodeOf(err) == renewal.InProgress:
			return nil, &notChangeable{renewal.InProgress, page}
		case errors.Is(err, errNoDomain):
			return nil, errNoDomain
		case err != nil:
			return nil, err
		}
		result.AutoRenew = false
	}
	return result, nil
}

// autoRenewRefused is the failure for the model.
func (s *Server) autoRenewRefused(problem *notChangeable) failure {
	f := failure{Code: notChangeableCode, Reason: string(problem.reason), URL: problem.url, Message: messageNotRenewable}
	switch problem.reason {
	case renewal.InProgress:
		f.Message, f.Retryable, f.RetryAfter = messageRenewing, true, renewalRetry
	case withdrawal.NoticeOpen:
		f.Message = messageNoticeOpen
	}
	return f
}

const (
	notChangeableCode   = "not_changeable"
	renewalRetry        = 60 // seconds
	messageNotRenewable = "This domain can't renew automatically: it is not active, or its extension is no longer sold. Nothing was changed. Its page is at url."
	messageNoticeOpen   = "The customer has withdrawn from the contract for this domain or cancelled it. While that is being handled, automatic renewal can't be turned on. Nothing was changed. Its page is at url."
	messageRenewing     = "The domain is being charged and renewed right now, so nothing was changed. Call list_my_domains in a minute to see its new term, then call again to turn automatic renewal off for the next one."
	messageNoDomain     = "This customer holds no such domain. list_my_domains shows those that they hold."
)
