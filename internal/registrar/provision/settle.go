package provision

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/duty"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// settle decides what an error means: to wait and try again, or the end.
func (r *run) settle(ctx context.Context, err error) bool {
	if waits(err) {
		return r.wait(ctx, err)
	}
	// The text of the error names the rule or the result code, never the name.
	r.cfg.Logger.WarnContext(ctx, "a line was refused for good", "line", r.line.ID, "extension", r.line.TLD, "account", r.line.Account,
		"state", string(r.line.State), "detail", err.Error())
	line := r.line
	r.refuse(&line, registrar.CodeOf(err))
	if !r.advance(ctx, line, StateUndoing) {
		return false
	}
	boundary(atUndoing)
	return true
}

// waits says that the registry has decided nothing.
func waits(err error) bool {
	switch registrar.KindOf(err) {
	case registrar.KindUpstream, registrar.KindRateLimited, registrar.KindInternal:
		return true
	default:
		return false
	}
}

func (r *run) refuse(line *Line, code registrar.Code) {
	line.Failure, line.RefundDue = code, true
}

// wait leaves the line for later. An account without money, a fault of our own and
// a contact that can't be taken back need a person, and nobody else will notice.
func (r *run) wait(ctx context.Context, err error) bool {
	kind, code := registrar.KindOf(err), registrar.CodeOf(err)
	pause := duty.Pause(r.line.Attempts, firstPause, longPause)
	log := r.cfg.Logger.With("line", r.line.ID, "extension", r.line.TLD, "account", r.line.Account, "state", string(r.line.State),
		"reason", kind.String(), "code", string(code), "attempts", r.line.Attempts, "again_in", pause.String())
	r.cfg.Waiting(code)
	r.cfg.SetBack(ctx, r.line.ID, code)
	if code == Billing || kind == registrar.KindInternal || !waits(err) {
		log.ErrorContext(ctx, "a paid line waits, and somebody has to do something", "detail", err.Error())
	} else {
		log.WarnContext(ctx, "a paid line waits for the registry")
	}
	return r.postpone(ctx, pause)
}

// postpone gives the line back until later.
func (r *run) postpone(ctx context.Context, pause time.Duration) bool {
	line := r.line
	line.DueAt, line.Node = r.clock().Add(pause), ""
	_ = r.move(ctx, Move{Line: line}) // it is logged there, and the lease ends by itself
	return false
}

// leave gives the line back at once: the service stops.
func (r *run) leave(ctx context.Context) { r.postpone(ctx, 0) }

// undo takes back what a refused line has left at the registry.
func (r *run) undo(ctx, call context.Context) bool {
	if r.line.Handle != "" {
		err := r.account.DropContact(call, r.line.Handle, r.line.ID+"-x")
		if err != nil {
			// Whatever the reason, a contact that is left behind is never forgotten.
			return r.wait(ctx, err)
		}
	}
	boundary(atUndone)
	line := r.line
	line.State = StateFailed
	return r.end(ctx, Move{Line: line, Drop: line.Kind != Renew})
}
