package epp

import (
	"context"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// batches gathers questions about names into checks.
type batches struct {
	client *Client

	mu sync.Mutex
	// open are the batches that take more names, by what is asked about them.
	open map[question]*batch
}

// question is what the names of one batch have in common.
type question struct {
	class Class
	fee   string
}

// batch is one check in the making. The lock of batches guards it until a
// connection takes it; afterwards nobody changes it.
type batch struct {
	key   question
	fee   *FeeQuestion
	names []string
	known map[string]bool
	trid  string
	// askers counts those who wait for it.
	askers int
	sent   bool // handed to the pool

	job   *job
	done  chan struct{}
	found map[string]Checked
	// refused are names that the registry did not want to be asked about.
	refused map[string]error
	err     error
}

func newBatches(c *Client) *batches { return &batches{client: c, open: make(map[question]*batch)} }

// ask lets the names travel with others' and picks their answers.
func (b *batches) ask(ctx context.Context, q CheckDomains) ([]Checked, error) {
	joined := b.join(q) //nolint:contextcheck // a batch belongs to many callers and outlives each of them
	defer b.leave(joined)
	answers := make([]Checked, len(q.Names))
	for _, one := range joined {
		select {
		case <-one.done:
			if one.err != nil {
				return nil, one.err
			}
		case <-ctx.Done():
			return nil, registrar.Fault(registrar.FaultTimeout, b.client.Host(), ctx.Err())
		}
	}
	for i, name := range q.Names {
		key, ok := strings.ToLower(name), false
		for _, one := range joined {
			if err := one.refused[key]; err != nil {
				return nil, err
			}
			if answers[i], ok = one.found[key]; ok {
				break
			}
		}
		if !ok {
			return nil, registrar.Fault(registrar.FaultBroken, b.client.Host(), errNoData)
		}
	}
	return answers, nil
}

// join puts names into the open batch and, when it is full, into the next.
func (b *batches) join(q CheckDomains) []*batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	var joined []*batch
	key := question{q.Class, q.Fee.key()}
	for _, name := range q.Names {
		one := b.room(key, q.Fee)
		if len(joined) == 0 || joined[len(joined)-1] != one {
			one.askers++
			joined = append(joined, one)
		}
		if name = strings.ToLower(name); !one.known[name] {
			one.known[name] = true
			one.names = append(one.names, name)
		}
		if len(one.names) >= b.client.account.BatchNames {
			b.detach(one)
			b.submit(one)
		}
	}
	return joined
}

// room is a batch that takes one more name. The caller holds the lock.
func (b *batches) room(key question, fee *FeeQuestion) *batch {
	if one := b.open[key]; one != nil {
		return one
	}
	one := &batch{key: key, fee: fee, known: make(map[string]bool, 8), done: make(chan struct{})}
	b.open[key] = one
	wait := b.client.account.BatchWait
	time.AfterFunc(max(0, wait), func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.submit(one)
	})
	return one
}

func (b *batches) leave(joined []*batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range joined {
		one.askers--
	}
}

// submit hands a batch to the pool. It stays open until a connection takes it:
// while all are busy it goes on collecting. The caller holds the lock.
func (b *batches) submit(one *batch) {
	if one.sent {
		return
	}
	one.sent = true
	one.job = &job{class: one.key.class, done: make(chan struct{}), prepare: func() (*call, bool) { return b.seal(one) }}
	if err := b.client.pool.submit(one.job); err != nil {
		b.detach(one)
		one.err = err
		close(one.done)
		return
	}
	go b.await(one)
}

// seal closes a batch and makes its command. A batch that nobody waits for is not
// sent.
func (b *batches) seal(one *batch) (*call, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.detach(one)
	if one.trid == "" {
		one.trid = newTRID(b.client.account.Now())
	}
	return checkCall(one.names, one.fee, one.key.class, one.trid), one.askers > 0
}

// detach sees to it that no more names join. The caller holds the lock.
func (b *batches) detach(one *batch) {
	if b.open[one.key] == one {
		delete(b.open, one.key)
	}
}

// await ends with the job, which the pool and its time-outs bound, or with the
// longest time that a job may wait.
func (b *batches) await(one *batch) {
	err := b.client.wait(context.Background(), one.job, true)
	if err == nil {
		var a *answer
		if a, err = b.client.read(checkCall(nil, one.fee, one.key.class, one.trid), one.job.answer); err == nil {
			one.found = readChecked(a)
		}
	}
	if len(one.names) > 1 && spoiltByOne(err) {
		one.found, one.refused = make(map[string]Checked), make(map[string]error)
		b.apart(one, one.names)
		err = nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.detach(one)
	one.err = err
	close(one.done)
}

// spoiltByOne says that a registry refused a whole check because it does not like
// one of its names.
func spoiltByOne(err error) bool {
	return ResultCode(err) != 0 && registrar.KindOf(err) == registrar.KindInvalid
}

// apart asks again in halves, so that a name that the registry does not like takes
// no other one along.
func (b *batches) apart(one *batch, names []string) {
	ctx, cancel := context.WithTimeout(context.Background(), b.client.account.MaxQueueTime)
	defer cancel()
	for _, half := range [][]string{names[:len(names)/2], names[len(names)/2:]} {
		a, err := b.client.send(ctx, checkCall(half, one.fee, one.key.class, newTRID(b.client.account.Now())))
		switch {
		case err == nil:
			maps.Copy(one.found, readChecked(a))
		case len(half) > 1 && spoiltByOne(err):
			b.apart(one, half)
		default:
			for _, name := range half {
				one.refused[name] = err
			}
		}
	}
}
