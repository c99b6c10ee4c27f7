package invoice

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// pollInterval is how often documents are looked for that another node owes.
	pollInterval = 15 * time.Second
	// retryDelay is how long a document waits that could not be issued.
	retryDelay = 2 * time.Second
	// storeTimeout bounds one transaction, also while the service stops.
	storeTimeout = 10 * time.Second
	// batch is how many owed documents are read at a time.
	batch = 100
	// maxListLimit bounds a page of a list.
	maxListLimit = 200
)

// NoSuchDocument goes with KindNotFound: there is none, or it is somebody else's.
const NoSuchDocument registrar.Code = "no_such_invoice"

// Pending is a document that is owed.
type Pending struct {
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
	// ListPendingDocuments are those that are owed by their ids, from the one after the id on;
	// empty begins with the first.
	ListPendingDocuments(ctx context.Context, after string, limit int) ([]Pending, error)
	// GetSale is an order, BuyerNow a customer as they are now.
	GetSale(ctx context.Context, order string) (Sale, error)
	GetCurrentBuyer(ctx context.Context, customer string) (Buyer, error)
	// GetInvoice is the invoice of an order, false while there is none.
	GetInvoice(ctx context.Context, order string) (Document, bool, error)
	// IssueDocument takes the next number of the series and stores the document that has it.
	// It is false, and nothing changes, if the document is not owed any more.
	IssueDocument(ctx context.Context, pending Pending, series string, numbered func(count int64) Document) (bool, error)

	// GetDocument is false for another customer's.
	GetDocument(ctx context.Context, customer, id string) (Document, bool, error)
	// ListDocuments is a page of a customer's documents, the newest first, older than
	// the id before; empty begins at the top. DocumentsOfOrder are all of one order.
	ListDocuments(ctx context.Context, customer, before string, limit int) ([]Document, error)
	ListOrderDocuments(ctx context.Context, customer, order string) ([]Document, error)
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
	// OnIssued is told of each document; nil means that nobody counts.
	OnIssued func(Kind)
}

// Service issues documents and shows them. It is safe for concurrent use.
type Service struct {
	cfg     Config
	germany *time.Location
	loop    *jobs.Loop[Pending]
	// cursor is the last document that the loop has read; only the loop uses it.
	cursor string
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
	if cfg.OnIssued == nil {
		cfg.OnIssued = func(Kind) {}
	}
	s := &Service{cfg: cfg, germany: germany}
	s.loop = &jobs.Loop[Pending]{
		ListDue: s.listPending, Key: func(pending Pending) string { return pending.ID }, Do: s.process, Interval: pollInterval, BatchSize: batch,
		// One after the other: they all want the same counter.
		Concurrency: 1,
		OnError:     jobs.ErrorLogger(cfg.Logger, "invoices"),
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

// listPending goes through all that is owed, batch by batch: documents that can't be issued
// stay owed, and must not stand in the way of those behind them.
func (s *Service) listPending(ctx context.Context, limit int) ([]Pending, error) {
	pending, err := s.cfg.Store.ListPendingDocuments(ctx, s.cursor, limit)
	if err == nil && len(pending) == 0 && s.cursor != "" {
		pending, err = s.cfg.Store.ListPendingDocuments(ctx, "", limit)
	}
	if err != nil {
		return nil, err
	}
	s.cursor = ""
	if len(pending) == limit {
		s.cursor = pending[limit-1].ID
	}
	return pending, nil
}

// process issues one document. What can't be issued stays owed.
func (s *Service) process(ctx context.Context, pending Pending) {
	issued, err := s.issue(ctx, pending)
	if err != nil {
		s.cfg.Logger.ErrorContext(ctx, "an invoice can't be issued; it is tried again", "order", pending.Order, "refund", pending.Refund,
			"code", string(registrar.CodeOf(err)), "cause", registrar.CauseOf(err))
	}
	if issued {
		return
	}
	// Nobody is kept waiting by this, and a fault must not make the loop spin.
	select {
	case <-ctx.Done():
	case <-time.After(retryDelay):
	}
}

// issue is true if the document exists afterwards, by us or by somebody else.
func (s *Service) issue(ctx context.Context, pending Pending) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	sale, err := s.cfg.Store.GetSale(ctx, pending.Order)
	if err != nil {
		return false, err
	}
	at := s.cfg.Now().UTC().Truncate(time.Microsecond)
	document, ready, err := s.draft(ctx, pending, sale, at)
	if err != nil || !ready {
		return false, err
	}
	document.Series = s.cfg.Numbering.series(document.Kind, at.In(s.germany))
	mine, err := s.cfg.Store.IssueDocument(ctx, pending, document.Series, document.withNumber)
	if err != nil {
		return false, err
	}
	if mine {
		s.cfg.OnIssued(document.Kind)
	}
	return true, nil
}

// draft is a document without its number. It is not ready while the invoice that it
// corrects is owed, too.
func (s *Service) draft(ctx context.Context, pending Pending, sale Sale, at time.Time) (document Document, ready bool, err error) {
	if pending.Refund != "" {
		of, found, err := s.cfg.Store.GetInvoice(ctx, pending.Order)
		if err != nil || !found {
			return Document{}, false, err
		}
		document, err = correction(sale, pending.Refund, of, at, s.germany)
		return document, err == nil, err
	}
	buyer := pending.Buyer
	if buyer == nil {
		now, err := s.cfg.Store.GetCurrentBuyer(ctx, sale.Customer)
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
	if err := actor.RequireSignedIn(); err != nil {
		return Document{}, err
	}
	document, found, err := s.cfg.Store.GetDocument(ctx, actor.Customer, id)
	if err == nil && !found {
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: NoSuchDocument}
	}
	return document, err
}

// List is a page of the actor's documents, the newest first, older than the id
// before; empty begins at the top.
func (s *Service) List(ctx context.Context, actor registrar.Actor, before string, limit int) ([]Document, error) {
	if err := actor.RequireSignedIn(); err != nil {
		return nil, err
	}
	return s.cfg.Store.ListDocuments(ctx, actor.Customer, before, min(max(limit, 1), maxListLimit))
}

// ListByOrder are the documents of one of the actor's orders, the oldest first.
func (s *Service) ListByOrder(ctx context.Context, actor registrar.Actor, order string) ([]Document, error) {
	if err := actor.RequireSignedIn(); err != nil {
		return nil, err
	}
	return s.cfg.Store.ListOrderDocuments(ctx, actor.Customer, order)
}
