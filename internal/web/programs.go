package web

import (
	"github.com/dotkontor/dotkontor/internal/web/acp"
	"github.com/dotkontor/dotkontor/internal/web/hooks"
	"github.com/dotkontor/dotkontor/internal/web/later"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
	"github.com/dotkontor/dotkontor/internal/web/oauth"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

// agents is the endpoint's configuration with what it shares with the rest.
func (cfg Config) agents(addresses addressFinder) mcp.Config {
	shared := cfg.Agents
	shared.BaseURL, shared.Budget = cfg.Facts.BaseURL, cfg.Budget
	shared.Address, shared.Logger = addresses.find, cfg.Logger
	shared.Portal = cfg.Portal.Customers != nil
	return shared
}

// newOAuth are the endpoints of OAuth, in service or not.
func newOAuth(cfg Config, addresses addressFinder, frame *page.Frame, pending *later.Handler) ([]route, error) {
	if frame == nil || cfg.OAuth.Applications == nil {
		return []route{
			{"POST", "/oauth/register/{$}", pending.OAuth, true},
			{"POST", "/oauth/register", pending.OAuth, true},
			{"GET", "/oauth/authorize/{$}", pending.OAuth, false},
			{"GET", "/oauth/authorize", pending.OAuth, false},
			{"POST", "/oauth/token/{$}", pending.OAuth, true},
			{"POST", "/oauth/token", pending.OAuth, true},
			{"POST", "/oauth/revoke/{$}", pending.OAuth, true},
			{"POST", "/oauth/revoke", pending.OAuth, true},
		}, nil
	}
	shared := cfg.OAuth
	shared.BaseURL, shared.Frame, shared.Address = cfg.Facts.BaseURL, frame, addresses.find
	handler, err := oauth.New(shared)
	if err != nil {
		return nil, err
	}
	var list []route
	for _, r := range handler.Routes() {
		list = append(list, route{r.Method, r.Path, r.Handler, r.AnyOrigin})
	}
	return list, nil
}

// newSessions are the operations of agentic checkout, in service or not.
func newSessions(cfg Config, addresses addressFinder) ([]route, error) {
	shared := cfg.Sessions
	shared.BaseURL, shared.Permalinks, shared.Address = cfg.Facts.BaseURL, page.OrdersPath+"/", addresses.find
	shared.Terms, shared.Privacy, shared.Returns = cfg.Facts.Terms, cfg.Facts.Privacy, cfg.Facts.Returns
	shared.Closing = cfg.Closing
	handler, err := acp.New(shared)
	if err != nil {
		return nil, err
	}
	var list []route
	for _, r := range handler.Routes() {
		list = append(list, route{r.Method, r.Path, r.Handler, false})
	}
	return list, nil
}

// newHooks is where the payment provider calls, if there is one.
func newHooks(messages hooks.Messages) []route {
	if messages == nil {
		return nil
	}
	return []route{{"POST", hooks.Path, hooks.New(messages).Serve, false}}
}
