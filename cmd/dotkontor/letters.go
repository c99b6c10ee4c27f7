package main

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/letters"
	"github.com/dotkontor/dotkontor/internal/upstream/mail"
)

// post is the way of letters out of the house.
type post struct {
	runner *letters.Runner // nil where no mail server is set
	// seen is how the mail server did lately.
	seen lastSeen
	// counted is told what became of each letter; nil means that nobody counts.
	counted func(kind registrar.LetterKind, outcome string)
	// setBack is told which letter has to wait, and why; nil means that nobody asks.
	setBack func(ctx context.Context, letter string, code registrar.Code)
}

// newPost builds what sends letters. Links in them count by the true time, as
// sign-ins do, whatever time a sandbox plays.
func newPost(cfg config.Config, stored letters.Store, logger *slog.Logger) (*post, error) {
	p := &post{}
	if cfg.Mail.Server == "" {
		return p, nil
	}
	sender, err := mail.New(mailOptions(cfg))
	if err != nil {
		return nil, err
	}
	count := func(outcome string) func(registrar.LetterKind) {
		return func(kind registrar.LetterKind) {
			if p.counted != nil {
				p.counted(kind, outcome)
			}
		}
	}
	p.runner, err = letters.New(letters.Config{
		Store: stored, Sender: sender, BaseURL: cfg.BaseURL, Logger: logger,
		SetBack: func(ctx context.Context, letter string, code registrar.Code) {
			if p.setBack != nil {
				p.setBack(ctx, letter, code)
			}
		},
		Sent: count("sent"), Failed: count("failed"), GivenUp: count("given_up"),
	})
	return p, err
}

// mailOptions says how the mail server of a configuration is reached.
func mailOptions(cfg config.Config) mail.Options {
	return mail.Options{
		Server: cfg.Mail.Server, TLS: cfg.Mail.TLS, User: cfg.Mail.User, Password: string(cfg.Mail.Password),
		From: cfg.Sender(), Portal: cfg.BaseURL + "/portal",
	}
}

// wake says that a letter was stored.
func (p *post) wake() {
	if p.runner != nil {
		p.runner.Wake()
	}
}

// run sends letters until ctx ends.
func (p *post) run(ctx context.Context) {
	if p.runner != nil {
		p.runner.Run(ctx)
	}
}

// count registers the figures. It is called before run.
func (p *post) count(metrics *prometheus.Registry) error {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_letters_total",
		Help: "Attempts to send a letter, by its kind and what became of it: sent, failed (and tried again, unless given up too), given_up.",
	}, []string{"kind", "outcome"})
	startAtZero(counter, values(mail.Kinds()...), []string{"sent", "failed", "given_up"})
	p.counted = func(kind registrar.LetterKind, outcome string) {
		p.seen.note(outcome == "sent", "")
		counter.WithLabelValues(string(kind), outcome).Inc()
	}
	return metrics.Register(counter)
}
