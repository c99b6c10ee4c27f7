package web

import (
	"slices"

	"github.com/dotkontor/dotkontor/internal/web/checkout"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/legal"
	"github.com/dotkontor/dotkontor/internal/web/operator"
	"github.com/dotkontor/dotkontor/internal/web/portal"
	"github.com/dotkontor/dotkontor/internal/web/site"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// browserPages holds the routes of all pages and their shared frame.
type browserPages struct {
	frame *ui.Frame
	pages []httpjson.Route
}

// newBrowserPages is empty if there are no customer accounts.
func newBrowserPages(cfg Config, addresses addrResolver) (browserPages, error) {
	if cfg.Portal.Accounts == nil {
		return browserPages{}, nil
	}
	frame, err := ui.New(ui.Config{
		BaseURL: cfg.Facts.BaseURL, Sessions: cfg.Portal.Accounts, Address: addresses.clientAddr, Now: cfg.Now,
		Orders: cfg.Checkout.Orders != nil, PublicLinks: cfg.Site.Catalog != nil, Operators: cfg.Operator.Admin != nil,
		Basket: cfg.Checkout.Orders != nil && cfg.Checkout.Basket != nil, Legal: cfg.Legal.Notices != nil,
		MaxStreams: cfg.MaxStreams, Closing: cfg.Closing,
	})
	if err != nil {
		return browserPages{}, err
	}
	pageCfg := cfg.Portal
	pageCfg.Frame = frame
	pages, err := portal.New(pageCfg)
	if err != nil {
		return browserPages{}, err
	}
	result := browserPages{frame: frame, pages: pages.Routes()}
	if cfg.Site.Catalog != nil {
		sitePages, err := cfg.newSite(frame, addresses)
		if err != nil {
			return browserPages{}, err
		}
		result.pages = append(result.pages, sitePages.Routes()...)
	}
	if cfg.Legal.Notices != nil {
		pageCfg := cfg.Legal
		pageCfg.Frame = frame
		legalPages, err := legal.New(pageCfg)
		if err != nil {
			return browserPages{}, err
		}
		result.pages = append(result.pages, legalPages.Routes()...)
	}
	if cfg.Operator.Admin != nil {
		operatorCfg := cfg.Operator
		operatorCfg.Frame = frame
		operatorPages, err := operator.New(operatorCfg)
		if err != nil {
			return browserPages{}, err
		}
		result.pages = append(result.pages, operatorPages.Routes()...)
	}
	if cfg.Checkout.Orders == nil {
		return result, nil
	}
	checkoutCfg := cfg.Checkout
	checkoutCfg.Frame = frame
	checkoutPages, err := checkout.New(checkoutCfg)
	if err != nil {
		return browserPages{}, err
	}
	result.pages = append(result.pages, checkoutPages.Routes()...)
	return result, nil
}

// newSite returns the public pages, which share their budget with the REST endpoints.
func (cfg Config) newSite(frame *ui.Frame, addresses addrResolver) (*site.Handler, error) {
	siteCfg := cfg.Site
	siteCfg.Frame, siteCfg.Address, siteCfg.Budget = frame, addresses.clientAddr, cfg.Budget
	siteCfg.Basket = cfg.Checkout.Orders != nil && cfg.Checkout.Basket != nil
	return site.New(siteCfg)
}

// has reports whether path is a page.
func (p browserPages) has(path string) bool {
	return slices.ContainsFunc(p.pages, func(r httpjson.Route) bool { return r.Path == path })
}
