package web

import (
	"github.com/dotkontor/dotkontor/internal/web/acp"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
	"github.com/dotkontor/dotkontor/internal/web/oauth"
	"github.com/dotkontor/dotkontor/internal/web/stripehook"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// mcpConfig is the endpoint's configuration with the values shared by all transports.
func (cfg Config) mcpConfig(addresses addrResolver) mcp.Config {
	mcpCfg := cfg.MCP
	mcpCfg.BaseURL, mcpCfg.Budget = cfg.Facts.BaseURL, cfg.Budget
	mcpCfg.Address, mcpCfg.Logger = addresses.clientAddr, cfg.Logger
	mcpCfg.Portal = cfg.Portal.Accounts != nil
	return mcpCfg
}

// newOAuth lists the OAuth endpoints, which answer 503 without sign-in.
func newOAuth(cfg Config, addresses addrResolver, frame *ui.Frame) ([]httpjson.Route, error) {
	if frame == nil || cfg.OAuth.Applications == nil {
		return oauth.UnavailableRoutes(), nil
	}
	oauthCfg := cfg.OAuth
	oauthCfg.BaseURL, oauthCfg.Frame, oauthCfg.Address = cfg.Facts.BaseURL, frame, addresses.clientAddr
	handler, err := oauth.New(oauthCfg)
	if err != nil {
		return nil, err
	}
	return handler.Routes(), nil
}

// newACP lists the operations of agentic checkout, in service or not.
func newACP(cfg Config, addresses addrResolver) ([]httpjson.Route, error) {
	acpCfg := cfg.ACP
	acpCfg.BaseURL, acpCfg.OrdersPath, acpCfg.Address = cfg.Facts.BaseURL, ui.OrdersPath+"/", addresses.clientAddr
	acpCfg.Terms, acpCfg.Privacy, acpCfg.Returns = cfg.Facts.Terms, cfg.Facts.Privacy, cfg.Facts.Returns
	acpCfg.Closing = cfg.Closing
	handler, err := acp.New(acpCfg)
	if err != nil {
		return nil, err
	}
	return handler.Routes(), nil
}

// newStripeHook lists the webhook of the payment provider, if there is one.
func newStripeHook(events stripehook.Events) []httpjson.Route {
	if events == nil {
		return nil
	}
	return []httpjson.Route{{Method: "POST", Path: stripehook.Path, Handler: stripehook.New(events).Serve}}
}
