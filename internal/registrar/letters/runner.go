package letters

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/duty"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// batch is how many letters are read at a time; claiming is one by one.
	batch = 16
	// atOnce bounds the connections to the mail server.
	atOnce = 4
	// poll is how often letters are looked for that other nodes stored or left.
	poll = 2 * time.Second

	defaultDeadline = 20 * time.Second
	// storing bounds what follows a sending, also while the service stops.
	storing = 5 * time.Second
	// grace is how long a letter under way may take when the service stops.
	grace = 5 * time.Second

	firstPause = 10 * time.Second
	longPause  = time.Hour
	giveUp     = 24 * time.Hour
)

// Config is what a Runner is made of.
type Config struct {
	Store  Store
	Sender Sender
	// BaseURL is where links lead to, without a trailing slash.
	BaseURL string
	// Deadline bounds one sending; 0 means 20 s.
	Deadline time.Duration
	// Now is the clock; nil means time.Now.
	Now    func() time.Time
	Logger *slog.Logger
	// Sent, Failed and GivenUp are told the kind of each letter; nil means that
	// nobody counts.
	Sent, Failed, GivenUp func(registrar.LetterKind)
	// SetBack is told which letter has to wait, and why; nil means that nobody asks.
	SetBack func(ctx context.Context, letter string, code registrar.Code)
}

// Runner sends what is due.
type Runner struct {
	cfg  Config
	loop *duty.Loop[Stored]
}

// New returns a Runner that does nothing until Run.
func New(cfg Config) (*Runner, error) {
	if cfg.Store == nil || cfg.Sender == nil {
		return nil, errors.New("letters: a store and a sender are needed")
	}
	if cfg.Deadline == 0 {
		cfg.Deadline = defaultDeadline
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	for _, hook := range []*func(registrar.LetterKind){&cfg.Sent, &cfg.Failed, &cfg.GivenUp} {
		if *hook == nil {
			*hook = func(registrar.LetterKind) {}
		}
	}
	if cfg.SetBack == nil {
		cfg.SetBack = func(context.Context, string, registrar.Code) {}
	}
	r := &Runner{cfg: cfg}
	r.loop = &duty.Loop[Stored]{
		Due: func(ctx context.Context, limit int) ([]Stored, error) {
			return r.cfg.Store.DueLetters(ctx, r.cfg.Now(), limit)
		},
		Key:    func(letter Stored) string { return letter.ID },
		Do:     r.deliver,
		Failed: duty.Report(cfg.Logger, "mail"),
		Every:  poll, Batch: batch, AtOnce: atOnce,
	}
	return r, nil
}

// Wake says that a letter was stored. It never waits.
func (r *Runner) Wake() { r.loop.Wake() }

// Run sends letters until ctx ends, and lets those under way finish.
func (r *Runner) Run(ctx context.Context) { r.loop.Run(ctx) }

// deliver claims one letter, sends it, and settles what becomes of it.
func (r *Runner) deliver(ctx context.Context, letter Stored) {
	// The lease outlives everything below, so that nobody else sends meanwhile.
	lease := r.cfg.Now().Add(r.cfg.Deadline + 2*storing + time.Minute).Truncate(time.Microsecond)
	mine, err := r.cfg.Store.ClaimLetter(ctx, letter.ID, letter.DueAt, lease)
	if err != nil || !mine {
		if err != nil && ctx.Err() == nil {
			r.cfg.Logger.ErrorContext(ctx, "a letter can't be claimed", "kind", string(letter.Kind), "error", err.Error())
		}
		return
	}
	letter.Attempts++
	sendErr := r.send(ctx, letter, lease)
	if errors.Is(sendErr, errWithdrawn) {
		return
	}
	settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), storing)
	defer cancel()
	if err := r.settle(settling, letter, lease, sendErr); err != nil {
		r.cfg.Logger.ErrorContext(settling, "what became of a letter can't be stored", "kind", string(letter.Kind), "error", err.Error())
	}
}

// errWithdrawn says that the letter is not to be sent any more.
var errWithdrawn = errors.New("the letter was withdrawn")

// send makes the link, stores its hash, and hands the letter over. When the
// service stops, it has a short time left: a letter that the mail server took
// and whose row stays would be sent again.
func (r *Runner) send(ctx context.Context, letter Stored, lease time.Time) error {
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.Deadline)
	defer cancel()
	stopping := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(grace):
			cancel()
		case <-sending.Done():
		}
	})
	defer stopping()

	message := Message{
		ID: fmt.Sprintf("%s.%d", letter.ID, letter.Attempts), Kind: letter.Kind, To: letter.To,
		Language: letter.Language, At: letter.CreatedAt, Facts: letter.Facts,
	}
	if link, has := links[letter.Kind]; has {
		secret, hash := registrar.NewSecret(registrar.LinkSecret)
		message.Link = Address(r.cfg.BaseURL, letter.Kind, secret)
		message.LinkExpiresAt = r.cfg.Now().Add(link.lives)
		stored, err := r.cfg.Store.StoreLink(sending, letter.ID, lease, Link{
			Hash: hash, Kind: letter.Kind, Customer: letter.Customer, Email: letter.To, ExpiresAt: message.LinkExpiresAt,
		})
		if err != nil {
			return &registrar.Error{Kind: registrar.KindInternal, Code: "link_not_stored", Err: err}
		}
		if !stored {
			return errWithdrawn
		}
	}
	return r.cfg.Sender.Send(sending, message)
}

func (r *Runner) settle(ctx context.Context, letter Stored, lease time.Time, sendErr error) error {
	if sendErr == nil {
		r.cfg.Sent(letter.Kind)
		return r.cfg.Store.RemoveLetter(ctx, letter.ID)
	}
	r.cfg.Failed(letter.Kind)
	log := r.cfg.Logger.With("kind", string(letter.Kind), "attempts", letter.Attempts,
		"reason", registrar.KindOf(sendErr).String(), "code", string(registrar.CodeOf(sendErr)), "cause", registrar.CauseOf(sendErr))
	now := r.cfg.Now()
	if registrar.CodeOf(sendErr) == Undeliverable || now.Sub(letter.CreatedAt) >= giveUp {
		r.cfg.GivenUp(letter.Kind)
		log.ErrorContext(ctx, "a letter was given up")
		return r.cfg.Store.RemoveLetter(ctx, letter.ID)
	}
	r.cfg.SetBack(ctx, letter.ID, registrar.CodeOf(sendErr))
	wait := duty.Pause(letter.Attempts, firstPause, longPause)
	log.WarnContext(ctx, "a letter was not sent", "again_in", wait.String())
	return r.cfg.Store.PostponeLetter(ctx, letter.ID, lease, now.Add(wait))
}
