package app

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
)

// wakeJobs makes every job look for due rows now.
func (p *App) wakeJobs() {
	p.services.mail.Wake()
	p.provisioning.Wake()
	p.changes.Wake()
	p.terms.Wake()
	p.contacts.Wake()
	if p.orders != nil {
		p.orders.Wake()
		p.invoices.Wake()
		p.renewals.Wake()
	}
}

// followClock wakes the jobs whenever the business time has jumped: they wait for ticks of
// the real time.
func (p *App) followClock(moved <-chan struct{}) {
	if moved == nil {
		return
	}
	p.inBackground(func(ctx context.Context) {
		for {
			select {
			case <-ctx.Done():
				return
			case <-moved:
				p.wakeJobs()
			}
		}
	})
}

const (
	settleTimeout = 20 * time.Second
	minSettlePoll = 2 * time.Millisecond
	maxSettlePoll = 50 * time.Millisecond
)

// Settle wakes the jobs and waits until they have done what is due at the present business
// time. It gives up after a while: a job may wait for an operator or for an upstream.
func (p *App) Settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	if err := p.services.DB.MakeOverdueOrdersDue(ctx, p.now(), time.Now()); err != nil {
		p.logger.WarnContext(ctx, "overdue orders not made due", "error", err.Error())
	}
	p.wakeJobs()
	// Without a run at each step the safety brake would take the next one for a jump.
	if _, err := p.brake.StoppedByClock(ctx, p.now()); err != nil {
		p.logger.WarnContext(ctx, "run of the jobs not stored", "error", err.Error())
	}
	settled, err := jobs.Poll(ctx, nil, p.server.closing, minSettlePoll, maxSettlePoll, func() (bool, error) {
		due, err := p.services.DB.CountDueWork(ctx, p.now(), time.Now())
		return due == 0, err
	})
	if err != nil {
		p.logger.WarnContext(ctx, "due jobs not counted", "error", err.Error())
	} else if !settled {
		p.logger.WarnContext(ctx, "jobs are still due after the clock was moved")
	}
}
