package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// MessageSettings configure a run of poll messages with kills.
type MessageSettings struct {
	Messages, Kills int
	Seed            uint64
	// Limit is how long the product may take for all messages, restarts included.
	Limit time.Duration
}

const (
	// messageDomains is the number of domains that the messages are about, of ours and of
	// others.
	messageDomains = 20
	// queueInterval is how often the registry's queue is read.
	queueInterval = 20 * time.Millisecond
	// killDelay bounds the random time between a message and a kill: a few messages later.
	killDelay = 30 * time.Millisecond
)

// messageKinds are the messages that the registry sends, and how they are stored according to
// the table of package inbox.
var messageKinds = []struct {
	sent, name string // the beginning of the domain's name
	stored     inbox.Kind
	unread     bool
}{
	{ledger.MessageTransfer, "ruhig", inbox.KindTransfer, false},
	{ledger.MessageTransfer, "fremd", inbox.KindTransfer, true},
	{ledger.MessagePerformed, "ruhig", inbox.KindPendingAction, false},
	{ledger.MessagePerformed, "fremd", inbox.KindPendingAction, true},
	{ledger.MessageRefused, "ruhig", inbox.KindPendingAction, true},
	{ledger.MessageRenewal, "ruhig", inbox.KindUpdate, false},
	{ledger.MessageRenewal, "fremd", inbox.KindUpdate, true},
	{ledger.MessageChange, "ruhig", inbox.KindChange, true},
	{ledger.MessageBalance, "", inbox.KindBalance, true},
	{ledger.MessageMaintenance, "", inbox.KindMaintenance, true},
	{ledger.MessageText, "", inbox.KindText, true},
	{ledger.MessageUnknown, "", inbox.KindUnparsed, true},
}

// storedMessage is what the product stores of a message.
type storedMessage struct {
	kind   inbox.Kind
	name   string
	unread bool
}

// messageRun is a run of RunMessages.
type messageRun struct {
	*Env
	settings MessageSettings
	want     map[string]storedMessage // by id
	unread   int

	supervisor *Supervisor
	// killAt is the length of the queue at which the product is killed; below 0 if it dies
	// at a failpoint or runs to the end.
	killAt atomic.Int64
}

// RunMessages kills the product at failpoints and at random moments while it polls messages.
// It returns an error if one is lost, acknowledged before it is stored, stored twice or not as
// the table of package inbox says, or if the limit is exceeded. Failpoints need the build tag
// failpoint.
func RunMessages(ctx context.Context, binary, folder string, settings MessageSettings, out io.Writer) error {
	fmt.Fprintf(out, "%d messages, %d kills, seed %d\n", settings.Messages, settings.Kills, settings.Seed)
	env, err := NewEnv(ctx, binary, folder)
	if err != nil {
		return err
	}
	r := &messageRun{Env: env, settings: settings, want: make(map[string]storedMessage, settings.Messages)}
	return errors.Join(r.run(ctx, out), env.Close())
}

func (r *messageRun) run(ctx context.Context, out io.Writer) error {
	if err := r.queueMessages(ctx); err != nil {
		return err
	}
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, r.settings.Limit)
	defer cancel()
	var lost error
	r.supervisor = r.Supervise(limited, func(life int) string { // called while the product is not running
		if life > 0 {
			if err := r.checkAcknowledged(limited); err != nil && limited.Err() == nil {
				lost = errors.Join(lost, fmt.Errorf("after kill %d: %w", life, err))
			}
		}
		return r.planEnd(limited, life)
	})
	err := r.waitEmpty(limited)
	took := time.Since(began)
	if err := errors.Join(err, r.supervisor.Stop(), lost); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d messages in %s with %d kills: %.0f per second, %d unread\n",
		r.settings.Messages, took.Round(time.Millisecond), r.supervisor.Kills(), float64(r.settings.Messages)/took.Seconds(), r.unread)
	return r.verify(ctx)
}

// queueMessages registers domains and queues messages about them and about others.
func (r *messageRun) queueMessages(ctx context.Context) error {
	for n := range messageDomains {
		if _, err := r.AddPaidItem(ctx, "ruhig-"+strconv.Itoa(n), ".org"); err != nil {
			return err
		}
	}
	server, err := r.Serve(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(r.WaitProvisioned(ctx, time.Minute), server.Stop()); err != nil {
		return err
	}
	if err := r.Control.SetFunds(ctx, "1000.00", "0.00"); err != nil {
		return err
	}
	dice := rand.New(rand.NewPCG(r.settings.Seed, r.settings.Seed))
	requests, want := make([]registry.MessageRequest, r.settings.Messages), make([]storedMessage, r.settings.Messages)
	for i := range requests {
		kind := messageKinds[i%len(messageKinds)]
		requests[i].Kind = kind.sent
		if kind.name != "" {
			requests[i].Name = kind.name + "-" + strconv.Itoa(dice.IntN(messageDomains)) + ".org"
		}
		want[i] = storedMessage{kind.stored, requests[i].Name, kind.unread}
		if kind.unread {
			r.unread++
		}
	}
	dice.Shuffle(len(requests), func(i, j int) {
		requests[i], requests[j] = requests[j], requests[i]
		want[i], want[j] = want[j], want[i]
	})
	ids, err := r.Control.SendMessages(ctx, requests)
	for i, id := range ids {
		r.want[strconv.FormatUint(id, 10)] = want[i]
	}
	if err == nil && len(r.want) != len(requests) {
		err = fmt.Errorf("%d messages have %d ids", len(requests), len(r.want))
	}
	return err
}

// planEnd chooses where a run of the product ends: every second one at a failpoint, the others
// at a random moment after some messages, the last one when the queue is empty.
func (r *messageRun) planEnd(ctx context.Context, life int) (failpoint string) {
	r.killAt.Store(-1)
	waiting, err := r.waiting(ctx)
	if life >= r.settings.Kills || err != nil {
		return ""
	}
	dice := rand.New(rand.NewPCG(r.settings.Seed, ^uint64(life)))
	after := dice.IntN(max(1, r.settings.Messages/(r.settings.Kills+1)))
	switch life % 4 {
	case 1:
		return "message_stored:" + strconv.Itoa(after)
	case 3:
		return "message_gone:" + strconv.Itoa(after)
	default:
		r.killAt.Store(int64(waiting - after))
		return ""
	}
}

// waiting returns the length of the registry's queue.
func (r *messageRun) waiting(ctx context.Context) (int, error) {
	held, err := r.Control.Holdings(ctx)
	return held.Messages, err
}

// waitEmpty waits until the queue is empty, and kills the product where it is planned.
func (r *messageRun) waitEmpty(ctx context.Context) error {
	dice := rand.New(rand.NewPCG(r.settings.Seed, r.settings.Seed+1))
	for {
		waiting, err := r.waiting(ctx)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("%d messages are left after %s", waiting, r.settings.Limit)
		case err != nil:
			return err
		case waiting == 0 && r.supervisor.Kills() >= r.settings.Kills:
			return nil
		}
		pause := queueInterval
		killAt := r.killAt.Load()
		kills := int64(waiting) <= killAt
		if kills {
			pause = time.Duration(dice.Int64N(int64(killDelay)))
		}
		select {
		case <-ctx.Done():
		case <-r.supervisor.failed.Done():
			return context.Cause(r.supervisor.failed) //nolint:contextcheck // why the supervisor ended
		case <-time.After(pause):
		}
		if kills && r.killAt.Load() == killAt { // repeated until it was running
			r.supervisor.Kill()
		}
	}
}

// checkAcknowledged compares the database with the registry's queue while the product is not
// running. The queue is in order and one message is in progress at a time, so the database has
// all acknowledged messages and at most the next one.
func (r *messageRun) checkAcknowledged(ctx context.Context) error {
	waiting, err := r.waiting(ctx)
	if err != nil {
		return err
	}
	stored, acknowledged := 0, r.settings.Messages-waiting
	err = r.DB.SQL().Reader().QueryRowContext(ctx, "SELECT count(*) FROM registry_messages").Scan(&stored)
	if err == nil && stored != acknowledged && stored != acknowledged+1 {
		err = fmt.Errorf("%d messages are acknowledged and %d stored", acknowledged, stored)
	}
	return err
}

// verify compares all stored messages with those that were queued.
func (r *messageRun) verify(ctx context.Context) error {
	rows, err := r.DB.SQL().Reader().QueryContext(ctx, "SELECT id, kind, name, unread FROM registry_messages")
	if err != nil {
		return err
	}
	defer rows.Close()
	var problems []string
	wrong := func(format string, args ...any) {
		if len(problems) < 20 {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	for rows.Next() {
		var (
			id  string
			got storedMessage
		)
		if err := rows.Scan(&id, &got.kind, &got.name, &got.unread); err != nil {
			return err
		}
		switch want, queued := r.want[id]; {
		case !queued:
			wrong("message %s is stored twice or was never queued", id)
		case got != want:
			wrong("message %s is stored as %+v, want %+v", id, got, want)
		}
		delete(r.want, id)
	}
	for id, want := range r.want {
		wrong("message %s was never stored: %+v", id, want)
	}
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	return rows.Err()
}
