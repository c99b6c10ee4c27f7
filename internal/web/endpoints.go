package web

import (
	"github.com/dotkontor/dotkontor/internal/web/acp"
	"github.com/dotkontor/dotkontor/internal/web/later"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
	"github.com/dotkontor/dotkontor/internal/web/oauth"
	"github.com/dotkontor/dotkontor/internal/web/stripehook"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// mcpConfig is the endpoint's configuration with what it shares with the rest.
func (cfg Config) mcpConfig(addresses addrResolver) mcp.Config {
	mcpCfg := cfg.MCP
	mcpCfg.BaseURL, mcpCfg.Budget = cfg.Facts.BaseURL, cfg.Budget
	mcpCfg.Address, mcpCfg.Logger = addresses.clientAddr, cfg.Logger
	mcpCfg.Portal = cfg.Portal.Accounts != nil
	return mcpCfg
}

// newOAuth are the endpoints of OAuth, in service or not.
func newOAuth(cfg Config, addresses addrResolver, frame *ui.Frame, unavailable *later.UnavailableHandler) ([]route, error) {
	if frame == nil || cfg.OAuth.Applications == nil {
		return []route{
			{"POST", "/oauth/register/{$}", unavailable.Serve, true},
			{"POST", "/oauth/register", unavailable.Serve, true},
			{"GET", "/oauth/authorize/{$}", unavailable.Serve, false},
			{"GET", "/oauth/authorize", unavailable.Serve, false},
			{"POST", "/oauth/token/{$}", unavailable.Serve, true},
			{"POST", "/oauth/token", unavailable.Serve, true},
			{"POST", "/oauth/revoke/{$}", unavailable.Serve, true},
			{"POST", "/oauth/revoke", unavailable.Serve, true},
		}, nil
	}
	oauthCfg := cfg.OAuth
	oauthCfg.BaseURL, oauthCfg.Frame, oauthCfg.Address = cfg.Facts.BaseURL, frame, addresses.clientAddr
	handler, err := oauth.New(oauthCfg)
	if err != nil {
		return nil, err
	}
	var list []route
	for _, r := range handler.Routes() {
		list = append(list, route{r.Method, r.Path, r.Handler, r.AnyOrigin})
	}
	return list, nil
}

// newACP are the operations of agentic checkout, in service or not.
func newACP(cfg Config, addresses addrResolver) ([]route, error) {
	acpCfg := cfg.ACP
	acpCfg.BaseURL, acpCfg.OrdersPath, acpCfg.Address = cfg.Facts.BaseURL, ui.OrdersPath+"/", addresses.clientAddr
	acpCfg.Terms, acpCfg.Privacy, acpCfg.Returns = cfg.Facts.Terms, cfg.Facts.Privacy, cfg.Facts.Returns
	acpCfg.Closing = cfg.Closing
	handler, err := acp.New(acpCfg)
	if err != nil {
		return nil, err
	}
	var list []route
	for _, r := range handler.Routes() {
		list = append(list, route{r.Method, r.Path, r.Handler, false})
	}
	return list, nil
}

// newStripeHook is where the payment provider calls, if there is one.
func newStripeHook(messages stripehook.Events) []route {
	if messages == nil {
		return nil
	}
	return []route{{"POST", stripehook.Path, stripehook.New(messages).Serve, false}}
}
