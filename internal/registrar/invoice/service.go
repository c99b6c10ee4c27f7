package invoice

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

const (
	pollInterval = 15 * time.Second // how often pending documents of other nodes are looked for
	retryDelay   = 2 * time.Second  // the delay after a document could not be issued
	storeTimeout = 10 * time.Second // of one transaction, also during shutdown
	batch        = 100              // how many pending documents are read at a time
	maxListLimit = 200              // of a page of a list
)

// NoSuchDocument (KindNotFound): there is none, or it belongs to another customer.
const NoSuchDocument registrar.Code = "no_such_invoice"

// Pending is a document that is not issued yet.
type Pending struct {
	ID, Order string
	Refund    string // the one that a correction is for; empty means the invoice
	// Buyer is the customer at the time of payment; nil means the current data, for
	// payments from before invoices existed.
	Buyer *Buyer
	Sale  *order.Order // nil if the order does not exist
}

// Draft is a document without its number, and the id of the pending one that it is for.
type Draft struct {
	Pending string
	// Numbered returns the document with a number. It may be called more than once.
	Numbered func(count int64) Document
}

// Store persists documents.
type Store interface {
	// ListPendingDocuments returns pending documents ordered by id, after the given one.
	ListPendingDocuments(ctx context.Context, after string, limit int) ([]Pending, error)
	// GetCurrentBuyer returns a customer's current data.
	GetCurrentBuyer(ctx context.Context, customer string) (Buyer, error)
	// GetInvoice returns the invoice of an order; false if not issued yet.
	GetInvoice(ctx context.Context, order string) (Document, bool, error)
	// IssueDocuments takes the next numbers of the series and stores the numbered documents,
	// all or none. It skips documents that are no longer pending and returns how many it
	// stored.
	IssueDocuments(ctx context.Context, series string, drafts ...Draft) (int, error)

	// GetDocument returns false for another customer's document.
	GetDocument(ctx context.Context, customer, id string) (Document, bool, error)
	// ListDocuments returns a page of a customer's documents, the newest first, older than
	// the id before; empty starts at the top. ListOrderDocuments returns all of one order.
	ListDocuments(ctx context.Context, customer, before string, limit int) ([]Document, error)
	ListOrderDocuments(ctx context.Context, customer, order string) ([]Document, error)
}

// Config configures a Service. Store is required.
type Config struct {
	Store Store
	// Seller is the operator. Without a name nothing is issued and documents stay pending.
	Seller    Seller
	Numbering Numbering
	Now       func() time.Time // the business time; nil means time.Now
	Logger    *slog.Logger
	OnIssued  func(Kind) // called for each document; optional
}

// Service issues and lists documents. It is safe for concurrent use.
type Service struct {
	cfg    Config
	loop   *jobs.Loop[[]Pending]
	cursor string // the last document that the loop has read; only the loop accesses it
	// isolate is set while a batch is processed and cleared once it is stored. After a failed
	// transaction or a panic documents are processed one by one, so that a faulty one does
	// not block the others.
	isolate bool
}

// New returns a Service. Run issues pending documents.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil {
		return nil, errors.New("invoice: Config.Store is required")
	}
	if n := cfg.Numbering; n.Invoices == "" || n.Corrections == "" || n.Invoices == n.Corrections {
		return nil, errors.New("invoice: Config.Numbering needs two different prefixes")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.OnIssued == nil {
		cfg.OnIssued = func(Kind) {}
	}
	s := &Service{cfg: cfg}
	s.loop = &jobs.Loop[[]Pending]{
		Name: "invoices", ListDue: s.listBatches, Key: func(pending []Pending) string { return pending[0].ID }, Do: s.process, Interval: pollInterval, BatchSize: batch,
		// One at a time: they all need the same counter.
		Concurrency: 1,
		OnError:     jobs.ErrorLogger(cfg.Logger, "invoices"),
	}
	return s, nil
}

// Wake makes Run look for pending documents. It never blocks.
func (s *Service) Wake() { s.loop.Wake() }

// Run issues pending documents until ctx ends.
func (s *Service) Run(ctx context.Context) {
	if s.cfg.Seller.Name == "" {
		s.cfg.Logger.WarnContext(ctx, "invoices not issued: company.name is not set")
		return
	}
	s.loop.Run(ctx)
}

// listPending pages through all pending documents: those that can't be issued stay pending
// and must not block the ones behind them.
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

// listBatches returns what is listed as one batch, or each document as its own.
func (s *Service) listBatches(ctx context.Context, limit int) ([][]Pending, error) {
	pending, err := s.listPending(ctx, limit)
	if err != nil || len(pending) == 0 {
		return nil, err
	}
	if s.isolate {
		s.isolate = false
		return slices.Collect(slices.Chunk(pending, 1)), nil
	}
	if s.cursor != "" { // there may be more
		s.Wake()
	}
	return [][]Pending{pending}, nil
}

// process issues documents: invoices first, because corrections wait for them. Those that
// fail stay pending.
func (s *Service) process(ctx context.Context, pending []Pending) {
	s.isolate = true
	invoices, corrections := []Pending{}, []Pending{}
	for _, one := range pending {
		switch {
		case one.Sale == nil: // another node has issued it since it was listed
		case one.Refund == "":
			invoices = append(invoices, one)
		default:
			corrections = append(corrections, one)
		}
	}
	allIssued, err := s.issue(ctx, Invoice, invoices)
	if err == nil {
		var corrected bool
		corrected, err = s.issue(ctx, Correction, corrections)
		allIssued = allIssued && corrected
	}
	s.isolate = err != nil
	if allIssued && err == nil {
		return
	}
	// The delay keeps a permanent fault from spinning the loop.
	select {
	case <-ctx.Done():
	case <-time.After(retryDelay):
	}
}

// issue reports whether all these documents of one kind are issued afterwards, by this node
// or another. An error means that none could be stored.
func (s *Service) issue(ctx context.Context, kind Kind, pending []Pending) (all bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	at := s.cfg.Now().UTC().Truncate(time.Microsecond)
	series := s.cfg.Numbering.series(kind, at.In(registrar.Germany()))
	drafts := make([]Draft, 0, len(pending))
	for _, one := range pending {
		document, ready, err := s.draft(ctx, one, at)
		if err != nil {
			s.logFailure(ctx, one, err)
		}
		if ready {
			document.Series = series
			drafts = append(drafts, Draft{Pending: one.ID, Numbered: document.withNumber})
		}
	}
	if len(drafts) == 0 {
		return len(pending) == 0, nil
	}
	issued, err := s.cfg.Store.IssueDocuments(ctx, series, drafts...)
	if err != nil {
		s.logFailure(ctx, pending[0], err)
		return false, err
	}
	for range issued {
		s.cfg.OnIssued(kind)
	}
	return len(drafts) == len(pending), nil
}

func (s *Service) logFailure(ctx context.Context, pending Pending, err error) {
	s.cfg.Logger.ErrorContext(ctx, "invoice not issued, will retry", "order", pending.Order, "refund", pending.Refund,
		"code", string(registrar.CodeOf(err)), "cause", registrar.CauseOf(err))
}

// draft builds a document without its number. A correction waits for its invoice.
func (s *Service) draft(ctx context.Context, pending Pending, at time.Time) (document Document, ready bool, err error) {
	paid := *pending.Sale
	if pending.Refund != "" {
		of, found, err := s.cfg.Store.GetInvoice(ctx, pending.Order)
		if err != nil || !found {
			return Document{}, false, err
		}
		document, err = correction(paid, pending.Refund, of, at)
		return document, err == nil, err
	}
	buyer := pending.Buyer
	if buyer == nil {
		now, err := s.cfg.Store.GetCurrentBuyer(ctx, paid.Customer)
		if err != nil {
			return Document{}, false, err
		}
		buyer = &now
	}
	document, err = draft(paid, s.cfg.Seller, *buyer, at)
	return document, err == nil, err
}

// Get returns one of the actor's documents.
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

// List returns a page of the actor's documents, the newest first, older than the id
// before; empty starts at the top.
func (s *Service) List(ctx context.Context, actor registrar.Actor, before string, limit int) ([]Document, error) {
	if err := actor.RequireSignedIn(); err != nil {
		return nil, err
	}
	return s.cfg.Store.ListDocuments(ctx, actor.Customer, before, min(max(limit, 1), maxListLimit))
}

// ListByOrder returns the documents of one of the actor's orders, the oldest first.
func (s *Service) ListByOrder(ctx context.Context, actor registrar.Actor, order string) ([]Document, error) {
	if err := actor.RequireSignedIn(); err != nil {
		return nil, err
	}
	return s.cfg.Store.ListOrderDocuments(ctx, actor.Customer, order)
}
