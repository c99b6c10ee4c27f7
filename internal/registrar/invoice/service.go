package invoice

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/duty"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// lookEvery is how often documents are looked for that another node owes.
	lookEvery = 15 * time.Second
	// pause is how long a document waits that could not be issued.
	pause = 2 * time.Second
	// storing bounds one transaction, also while the service stops.
	storing = 10 * time.Second
	// batch is how many owed documents are read at a time.
	batch = 100
	// longestList bounds a page of a list.
	longestList = 200
)

// NoSuchDocument goes with KindNotFound: there is none, or it is somebody else's.
const NoSuchDocument registrar.Code = "no_such_invoice"

// Due is a document that is owed.
type Due struct {
	ID, Order string
	// Refund is the one that a correction is for; empty means the invoice.
	Refund string
	// Buyer is the customer when the money came; nil means as they are now, for what
	// was paid before there were invoices.
	Buyer *Buyer
	Since time.Time
}

// Store keeps documents.
type Store interface {
	// DueDocuments are those that are owed by their ids, from the one after the id on;
	// empty begins with the first.
	DueDocuments(ctx context.Context, after string, limit int) ([]Due, error)
	// SaleOf is an order, BuyerNow a customer as they are now.
	SaleOf(ctx context.Context, order string) (Sale, error)
	BuyerNow(ctx context.Context, customer string) (Buyer, error)
	// InvoiceOf is the invoice of an order, false while there is none.
	InvoiceOf(ctx context.Context, order string) (Document, bool, error)
	// Issue takes the next number of the series and stores the document that has it.
	// It is false, and nothing changes, if the document is not owed any more.
	Issue(ctx context.Context, due Due, series string, numbered func(count int64) Document) (bool, error)

	// DocumentOf is false for another customer's.
	DocumentOf(ctx context.Context, customer, id string) (Document, bool, error)
	// DocumentsOf is a page of a customer's documents, the newest first, older than
	// the id before; empty begins at the top. DocumentsOfOrder are all of one order.
	DocumentsOf(ctx context.Context, customer, before string, limit int) ([]Document, error)
	DocumentsOfOrder(ctx context.Context, customer, order string) ([]Document, error)
}

// Config is what a Service is made of. Store is required.
type Config struct {
	Store Store
	// Seller is who sells. Without a name nothing is issued: documents wait.
	Seller    Seller
	Numbering Numbering
	// Now is the time of the business; nil means time.Now.
	Now    func() time.Time
	Logger *slog.Logger
	// Issued is told of each document; nil means that nobody counts.
	Issued func(Kind)
}

// Service issues documents and shows them. It is safe for concurrent use.
type Service struct {
	cfg     Config
	germany *time.Location
	loop    *duty.Loop[Due]
	// reached is the last document that the loop has read; only the loop uses it.
	reached string
}

// New returns a Service. What is owed is issued by Run.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil {
		return nil, errors.New("invoice: a store is needed")
	}
	if cfg.Numbering.Invoices == "" || cfg.Numbering.Invoices == cfg.Numbering.Corrections || cfg.Numbering.Corrections == "" {
		return nil, errors.New("invoice: two prefixes of numbers are needed")
	}
	germany, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		return nil, err
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Issued == nil {
		cfg.Issued = func(Kind) {}
	}
	s := &Service{cfg: cfg, germany: germany}
	s.loop = &duty.Loop[Due]{
		Due: s.nextDue, Key: func(due Due) string { return due.ID }, Do: s.do, Every: lookEvery, Batch: batch,
		// One after the other: they all want the same counter.
		AtOnce: 1,
		Failed: duty.Report(cfg.Logger, "invoices"),
	}
	return s, nil
}

// Wake says that a document is owed. It never waits.
func (s *Service) Wake() { s.loop.Wake() }

// Run issues what is owed until ctx ends.
func (s *Service) Run(ctx context.Context) {
	if s.cfg.Seller.Name == "" {
		s.cfg.Logger.WarnContext(ctx, "no invoices are issued, because nobody has told who sells (company.name); they wait until somebody does")
		return
	}
	s.loop.Run(ctx)
}

// nextDue goes through all that is owed, batch by batch: documents that can't be issued
// stay owed, and must not stand in the way of those behind them.
func (s *Service) nextDue(ctx context.Context, limit int) ([]Due, error) {
	due, err := s.cfg.Store.DueDocuments(ctx, s.reached, limit)
	if err == nil && len(due) == 0 && s.reached != "" {
		due, err = s.cfg.Store.DueDocuments(ctx, "", limit)
	}
	if err != nil {
		return nil, err
	}
	s.reached = ""
	if len(due) == limit {
		s.reached = due[limit-1].ID
	}
	return due, nil
}

// do issues one document. What can't be issued stays owed.
func (s *Service) do(ctx context.Context, due Due) {
	issued, err := s.issue(ctx, due)
	if err != nil {
		s.cfg.Logger.ErrorContext(ctx, "an invoice can't be issued; it is tried again", "order", due.Order, "refund", due.Refund,
			"code", string(registrar.CodeOf(err)), "cause", registrar.CauseOf(err))
	}
	if issued {
		return
	}
	// Nobody is kept waiting by this, and a fault must not make the loop spin.
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}

// issue is true if the document exists afterwards, by us or by somebody else.
func (s *Service) issue(ctx context.Context, due Due) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storing)
	defer cancel()
	sale, err := s.cfg.Store.SaleOf(ctx, due.Order)
	if err != nil {
		return false, err
	}
	at := s.cfg.Now().UTC().Truncate(time.Microsecond)
	document, ready, err := s.draft(ctx, due, sale, at)
	if err != nil || !ready {
		return false, err
	}
	document.Series = s.cfg.Numbering.series(document.Kind, at.In(s.germany))
	mine, err := s.cfg.Store.Issue(ctx, due, document.Series, document.numbered)
	if err != nil {
		return false, err
	}
	if mine {
		s.cfg.Issued(document.Kind)
	}
	return true, nil
}

// draft is a document without its number. It is not ready while the invoice that it
// corrects is owed, too.
func (s *Service) draft(ctx context.Context, due Due, sale Sale, at time.Time) (document Document, ready bool, err error) {
	if due.Refund != "" {
		of, found, err := s.cfg.Store.InvoiceOf(ctx, due.Order)
		if err != nil || !found {
			return Document{}, false, err
		}
		document, err = correction(sale, due.Refund, of, at, s.germany)
		return document, err == nil, err
	}
	buyer := due.Buyer
	if buyer == nil {
		now, err := s.cfg.Store.BuyerNow(ctx, sale.Customer)
		if err != nil {
			return Document{}, false, err
		}
		buyer = &now
	}
	document, err = draft(sale, s.cfg.Seller, *buyer, at, s.germany)
	return document, err == nil, err
}

// Get is one of the actor's documents.
func (s *Service) Get(ctx context.Context, actor registrar.Actor, id string) (Document, error) {
	if err := signedIn(actor); err != nil {
		return Document{}, err
	}
	document, found, err := s.cfg.Store.DocumentOf(ctx, actor.Customer, id)
	if err == nil && !found {
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: NoSuchDocument}
	}
	return document, err
}

// List is a page of the actor's documents, the newest first, older than the id
// before; empty begins at the top.
func (s *Service) List(ctx context.Context, actor registrar.Actor, before string, limit int) ([]Document, error) {
	if err := signedIn(actor); err != nil {
		return nil, err
	}
	return s.cfg.Store.DocumentsOf(ctx, actor.Customer, before, min(max(limit, 1), longestList))
}

// OfOrder are the documents of one of the actor's orders, the oldest first.
func (s *Service) OfOrder(ctx context.Context, actor registrar.Actor, order string) ([]Document, error) {
	if err := signedIn(actor); err != nil {
		return nil, err
	}
	return s.cfg.Store.DocumentsOfOrder(ctx, actor.Customer, order)
}

// signedIn lets only a person with an account look at papers: agents have no use for
// an address and a tax number.
func signedIn(actor registrar.Actor) error {
	if actor.Kind != registrar.ActorPerson || actor.Customer == "" {
		return &registrar.Error{Kind: registrar.KindUnauthenticated, Code: "sign_in_first"}
	}
	return nil
}
