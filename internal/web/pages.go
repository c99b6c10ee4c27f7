package web

import (
	"errors"
	"net/http"
	"net/netip"

	"github.com/dotkontor/dotkontor/internal/web/checkout"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/legal"
	"github.com/dotkontor/dotkontor/internal/web/operator"
	"github.com/dotkontor/dotkontor/internal/web/portal"
	"github.com/dotkontor/dotkontor/internal/web/site"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// newPages returns the routes of all pages and their shared frame. Both are nil if there
// are no customer accounts.
func newPages(cfg Config, address func(*http.Request) netip.Addr, country func(*http.Request) string) (frame *ui.Frame, pages []httpjson.Route, err error) {
	if cfg.Portal.Accounts == nil {
		return nil, nil, nil
	}
	var till *checkout.Handler
	var countBasket func(*ui.Request) int
	if cfg.Checkout.Orders != nil {
		countBasket = func(req *ui.Request) int { return till.CountBasket(req) }
	}
	frame, err = ui.New(ui.Config{
		BaseURL: cfg.Facts.BaseURL, Sessions: cfg.Portal.Accounts, Baskets: cfg.Portal.Accounts, Address: address, Country: country, Now: cfg.Now,
		Orders: cfg.Checkout.Orders != nil, CountBasket: countBasket, PublicLinks: cfg.Site.Catalog != nil, Operators: cfg.Operator.Admin != nil,
		Legal: cfg.Legal.Notices != nil, MaxStreams: cfg.MaxStreams, Closing: cfg.Closing,
	})
	if err != nil {
		return nil, nil, err
	}
	add := func(part interface{ Routes() []httpjson.Route }, failed error) {
		if err = errors.Join(err, failed); err == nil {
			pages = append(pages, part.Routes()...)
		}
	}
	add(frame, nil)
	if cfg.Checkout.Orders != nil {
		cfg.Portal.OrderBasket = func(req *ui.Request) string { return till.OrderBasket(req) }
		cfg.Portal.ApplyTerms = func(req *ui.Request) error { return till.ApplyTerms(req) }
		cfg.Portal.ShowBasketEmail = func(req *ui.Request, email string, wrong error) error { return till.ShowBasketEmail(req, email, wrong) }
	}
	cfg.Portal.Frame = frame
	add(portal.New(cfg.Portal))
	if cfg.Site.Catalog != nil {
		// The public pages share their budget with the REST endpoints.
		cfg.Site.Frame, cfg.Site.Address, cfg.Site.Budget, cfg.Site.Basket = frame, address, cfg.Budget, cfg.Checkout.Orders != nil
		add(site.New(cfg.Site))
	}
	if cfg.Legal.Notices != nil {
		cfg.Legal.Frame = frame
		if cfg.Portal.Accounts != nil {
			cfg.Legal.Registrant = cfg.Portal.Accounts.Registrant
		}
		add(legal.New(cfg.Legal))
	}
	if cfg.Operator.Admin != nil {
		cfg.Operator.Frame, cfg.Operator.ActionTexts = frame, portal.ActionTexts()
		add(operator.New(cfg.Operator))
	}
	if cfg.Checkout.Orders != nil {
		cfg.Checkout.Frame, cfg.Checkout.Registrants = frame, cfg.Portal.Accounts
		var failed error
		till, failed = checkout.New(cfg.Checkout)
		add(till, failed)
	}
	return frame, pages, err
}
