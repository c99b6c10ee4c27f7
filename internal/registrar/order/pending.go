package order

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/duty"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

var errComing = fail(registrar.KindInternal, "coming")

// Start prepares an order and charges nothing.
func (s *Service) Start(ctx context.Context, actor registrar.Actor, req Request) (Order, error) {
	return Order{}, errComing
}

// Get is an order of the actor's account.
func (s *Service) Get(ctx context.Context, actor registrar.Actor, id string) (Order, error) {
	return Order{}, errComing
}

// List is a page of the account's orders, the newest first.
func (s *Service) List(ctx context.Context, actor registrar.Actor, before string, limit int) ([]Order, error) {
	return nil, errComing
}

// PayURL is where the order is paid.
func (s *Service) PayURL(o Order) (string, error) { return "", errComing }

// VerifyURL is where the holder shows who they are; empty where nobody has to.
func (s *Service) VerifyURL(o Order) (string, error) { return "", errComing }

// Visit is what the page at payment_url shows.
func (s *Service) Visit(ctx context.Context, actor registrar.Actor, paySecret string) (View, error) {
	return View{}, errComing
}

// SetCode tells the auth code of a transfer.
func (s *Service) SetCode(ctx context.Context, actor registrar.Actor, paySecret, item, code string) error {
	return errComing
}

// Pay begins a payment and returns the provider's page.
func (s *Service) Pay(ctx context.Context, actor registrar.Actor, paySecret string, shown registrar.Cents, autoRenew bool) (redirect string, err error) {
	return "", errComing
}

// Returned is called when the human comes back from having paid.
func (s *Service) Returned(ctx context.Context, actor registrar.Actor, paySecret string) error {
	return errComing
}

// Back is called when the human comes back without having paid.
func (s *Service) Back(ctx context.Context, actor registrar.Actor, paySecret string) error {
	return errComing
}

// Decline ends an order that nobody has paid.
func (s *Service) Decline(ctx context.Context, actor registrar.Actor, paySecret string) error {
	return errComing
}

// Verify begins a verification and returns the provider's page.
func (s *Service) Verify(ctx context.Context, actor registrar.Actor, verifySecret string) (redirect string, err error) {
	return "", errComing
}

// VerifyVisit is what the page at verification_url shows.
func (s *Service) VerifyVisit(ctx context.Context, actor registrar.Actor, verifySecret string) (VerifyView, error) {
	return VerifyView{}, errComing
}

// Heard looks at what a message of the provider is about.
func (s *Service) Heard(ctx context.Context, event Event) error { return errComing }

// Run does what is due until ctx ends.
func (s *Service) Run(ctx context.Context) { s.loop.Run(ctx) }

// Wake says that an order has become due.
func (s *Service) Wake() { s.loop.Wake() }

func (s *Service) newLoop() *duty.Loop[Order] { return &duty.Loop[Order]{} }
