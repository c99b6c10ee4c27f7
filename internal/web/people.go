package web

import (
	"slices"

	"github.com/dotkontor/dotkontor/internal/web/checkout"
	"github.com/dotkontor/dotkontor/internal/web/law"
	"github.com/dotkontor/dotkontor/internal/web/operator"
	"github.com/dotkontor/dotkontor/internal/web/page"
	"github.com/dotkontor/dotkontor/internal/web/portal"
	"github.com/dotkontor/dotkontor/internal/web/start"
)

// people are the pages, with what they share.
type people struct {
	frame *page.Frame
	pages []page.Route
}

// newPeople is empty where there are no customers.
func newPeople(cfg Config, addresses addressFinder) (people, error) {
	if cfg.Portal.Customers == nil {
		return people{}, nil
	}
	frame, err := page.New(page.Config{
		BaseURL: cfg.Facts.BaseURL, Sessions: cfg.Portal.Customers, Address: addresses.find, Now: cfg.Now,
		Orders: cfg.Checkout.Orders != nil, Places: cfg.Start.Catalogue != nil, Operators: cfg.Operators.Office != nil,
		Basket: cfg.Checkout.Orders != nil && cfg.Checkout.Basket != nil, Law: cfg.Law.Declarations != nil,
		Streams: cfg.Streams, Closing: cfg.Closing,
	})
	if err != nil {
		return people{}, err
	}
	shared := cfg.Portal
	shared.Frame = frame
	pages, err := portal.New(shared)
	if err != nil {
		return people{}, err
	}
	forPeople := people{frame: frame, pages: pages.Routes()}
	if cfg.Start.Catalogue != nil {
		everybody, err := cfg.start(frame, addresses)
		if err != nil {
			return people{}, err
		}
		forPeople.pages = append(forPeople.pages, everybody.Routes()...)
	}
	if cfg.Law.Declarations != nil {
		shared := cfg.Law
		shared.Frame = frame
		legal, err := law.New(shared)
		if err != nil {
			return people{}, err
		}
		forPeople.pages = append(forPeople.pages, legal.Routes()...)
	}
	if cfg.Operators.Office != nil {
		behind := cfg.Operators
		behind.Frame = frame
		office, err := operator.New(behind)
		if err != nil {
			return people{}, err
		}
		forPeople.pages = append(forPeople.pages, office.Routes()...)
	}
	if cfg.Checkout.Orders == nil {
		return forPeople, nil
	}
	paying := cfg.Checkout
	paying.Frame = frame
	orders, err := checkout.New(paying)
	if err != nil {
		return people{}, err
	}
	forPeople.pages = append(forPeople.pages, orders.Routes()...)
	return forPeople, nil
}

// start are the pages for everybody, with what they share with the REST interface.
func (cfg Config) start(frame *page.Frame, addresses addressFinder) (*start.Handler, error) {
	shared := cfg.Start
	shared.Frame, shared.Address, shared.Budget = frame, addresses.find, cfg.Budget
	shared.Basket = cfg.Checkout.Orders != nil && cfg.Checkout.Basket != nil
	return start.New(shared)
}

// has says whether a path is a page's.
func (p people) has(path string) bool {
	return slices.ContainsFunc(p.pages, func(r page.Route) bool { return r.Path == path })
}
