package keyring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Rotation replaces the key that a database is sealed with, while nodes are running.
type Rotation struct {
	keyring *Keyring
	// Progress receives one line per step; it may be nil.
	Progress func(line string)
	// Wait is how long to wait for nodes. Default: 3 minutes; a killed one is detected sooner.
	Wait time.Duration

	// watched are the reports of nodes by name; lastRead is when they were read.
	watched  map[string]watchedReport
	lastRead time.Time
}

// watchedReport is the report of a node, and how long it has been unchanged.
type watchedReport struct {
	seenAt    time.Time
	unchanged time.Duration
}

const (
	// pollInterval is how often a rotation reads the reports of nodes.
	pollInterval = time.Second
	readTimeout  = 10 * time.Second
)

// NewRotation reads the configured keys. Unlike Open it works on a database whose keys
// are missing, because it is also used to abandon a lost key.
func NewRotation(cfg Config) (*Rotation, error) {
	k, err := openUnchecked(cfg)
	return &Rotation{keyring: k, Progress: func(string) {}, Wait: 3 * time.Minute}, err
}

func (r *Rotation) progressf(format string, values ...any) {
	r.Progress(fmt.Sprintf(format, values...))
}

// Count is the number of values of a column sealed with a key. Key is empty for values
// from before key ids that no configured key opens.
type Count struct {
	Column, KeyID string
	Values        int
}

// Status describes the keys of a database.
type Status struct {
	Keys   []Key
	Nodes  []Node // their last reports; killed nodes may be among them
	Counts []Count
}

// Status reads all sealed values.
func (r *Rotation) Status(ctx context.Context) (Status, error) {
	rows, err := r.keyring.cfg.Store.SealKeys(ctx)
	if err != nil {
		return Status{}, err
	}
	nodes, err := r.keyring.cfg.Store.SealNodes(ctx)
	if err != nil {
		return Status{}, err
	}
	counts, err := r.countValues(ctx)
	return Status{Keys: rows, Nodes: nodes, Counts: counts}, err
}

// Target returns the configured key that a rotation would make active: the first one
// or, if that is already active, the only other one that is not retired. It is empty if
// there is none.
func (r *Rotation) Target(ctx context.Context) (string, error) {
	rows, err := r.keyring.cfg.Store.SealKeys(ctx)
	if err != nil {
		return "", err
	}
	ids := r.keyring.seal.KeyIDs()
	unused := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		state := stateOf(rows, id)
		return state != "" && state != Next
	})
	switch {
	case len(unused) == 0:
		return "", nil
	case len(unused) == 1, unused[0] == ids[0]:
		return unused[0], nil
	}
	return "", fmt.Errorf("several configured keys are new to the database (%s): configure only one of them", strings.Join(unused, ", "))
}

// Rotate makes the target active and reseals every value with it. Without a target it
// completes an earlier rotation by resealing the remaining values.
func (r *Rotation) Rotate(ctx context.Context) error {
	store := r.keyring.cfg.Store
	rows, err := store.SealKeys(ctx)
	if err != nil {
		return err
	}
	active := activeKeyID(rows)
	if active == "" {
		return errors.New("the database has no key yet: start the service once")
	}
	if err := check(rows, r.keyring.seal); err != nil {
		return err
	}
	target, err := r.Target(ctx)
	if err != nil {
		return err
	}
	if target != "" {
		if err := r.activate(ctx, target, active); err != nil {
			return err
		}
		active = target
	}
	if err := r.waitForNodes(ctx, "seal with key "+active, func(node Node) bool { return node.WriteID == active }); err != nil {
		return err
	}
	if err := r.keyring.seal.SetKeys(r.keyring.keys, active); err != nil {
		return err
	}
	return r.resealAll(ctx)
}

// activate waits until every node can open values of the target before any node seals
// with it.
func (r *Rotation) activate(ctx context.Context, target, active string) error {
	store := r.keyring.cfg.Store
	canOpen := func(node Node) bool { return slices.Contains(node.KeyIDs, target) }
	what := "open values of key " + target
	r.progressf("phase 1: every node can %s", what)
	// Nothing is stored before the nodes are ready: from then on, a node without the
	// key does not start.
	if err := r.waitForNodes(ctx, what, canOpen); err != nil {
		return err
	}
	if _, err := store.AddSealKey(ctx, r.keyring.newKey(target, Next)); err != nil {
		return err
	}
	if err := r.waitForNodes(ctx, what, canOpen); err != nil {
		cleanupCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshInterval)
		defer cancel()
		return errors.Join(err, store.DeleteNextSealKey(cleanupCtx, target))
	}
	r.progressf("phase 2: activating key %s; key %s still opens its own values", target, active)
	done, err := store.ActivateSealKey(ctx, r.keyring.newKey(target, Next), active, r.keyring.cfg.Now())
	if err == nil && !done {
		err = errors.New("another rotation has changed the keys in the meantime: start this one again")
	}
	return err
}

// runningNodes returns the nodes that appear to be running: all whose report has not
// been unchanged for deadAfter while watched. The time in a report is of the node's
// clock, which may differ from the local one, so it is compared only with the node's
// own earlier report.
func (r *Rotation) runningNodes(ctx context.Context) ([]Node, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	all, err := r.keyring.cfg.Store.SealNodes(ctx)
	if err != nil {
		return nil, err
	}
	now := r.keyring.cfg.Now()
	// While the database is unreachable, no node can report either: a long gap between
	// two reads counts as one report interval at most.
	elapsed := min(now.Sub(r.lastRead), reportInterval)
	watched := make(map[string]watchedReport, len(all))
	running := slices.DeleteFunc(all, func(node Node) bool {
		report := watchedReport{seenAt: node.SeenAt}
		if last, known := r.watched[node.Name]; known && last.seenAt.Equal(node.SeenAt) {
			report.unchanged = last.unchanged + elapsed
		}
		watched[node.Name] = report
		return report.unchanged >= deadAfter
	})
	r.watched, r.lastRead = watched, now
	return running, nil
}

// waitForNodes returns when all running nodes are ready.
func (r *Rotation) waitForNodes(ctx context.Context, what string, ready func(Node) bool) error {
	deadline := r.keyring.cfg.Now().Add(r.Wait)
	lastReported := ""
	for {
		nodes, err := r.runningNodes(ctx)
		if err != nil {
			return err
		}
		var notReady []string
		for _, node := range nodes {
			if !ready(node) {
				notReady = append(notReady, node.Name)
			}
		}
		if len(notReady) == 0 {
			return nil
		}
		list := strings.Join(notReady, ", ")
		if !r.keyring.cfg.Now().Before(deadline) {
			return fmt.Errorf("these nodes do not %s yet: %s; add the key to the configuration of each (a node whose keys come from "+
				"the environment must be restarted), then start the rotation again; a node that was killed counts until its report has not changed for %s", what, list, deadAfter)
		}
		if list != lastReported {
			r.progressf("waiting for %d of %d nodes to %s: %s", len(notReady), len(nodes), what, list)
			lastReported = list
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollInterval):
		}
	}
}

// maxPasses limits how often all values are read again because one with another key was
// stored meanwhile.
const maxPasses = 10

func (r *Rotation) resealAll(ctx context.Context) error {
	active := r.keyring.seal.WriteID()
	r.progressf("phase 3: sealing every value with key %s", active)
	for pass := range maxPasses {
		replaced, unreadable := 0, 0
		for _, column := range r.keyring.cfg.Store.SealedColumns() {
			got, err := r.resealColumn(ctx, column)
			if err != nil {
				return fmt.Errorf("%s: %w", column, err)
			}
			if pass == 0 || got.replaced > 0 {
				r.progressf("  %s: %d values, %d resealed, %d unreadable", column, got.values, got.replaced, got.unreadable)
			}
			replaced += got.replaced
			unreadable += got.unreadable
		}
		if unreadable > 0 {
			r.progressf("%d values can't be opened with any configured key and are left unchanged", unreadable)
		}
		if replaced == 0 {
			return nil
		}
	}
	return errors.New("values sealed with another key keep appearing: does a node have an older configuration?")
}

type resealCounts struct{ values, replaced, unreadable int }

func (r *Rotation) resealColumn(ctx context.Context, column string) (resealCounts, error) {
	var sum resealCounts
	err := r.forEachPage(ctx, column, func(values []Value) error {
		sum.values += len(values)
		var changed []Replacement
		for _, value := range values {
			if registrar.SealedBy(value.Sealed) == r.keyring.seal.WriteID() {
				continue
			}
			if next := r.keyring.seal.Reseal(value.Purpose, value.Sealed); next != value.Sealed {
				changed = append(changed, Replacement{Value: value, Sealed: next})
			} else {
				sum.unreadable++
			}
		}
		if len(changed) == 0 {
			return nil
		}
		// A value changed meanwhile was sealed by a node with the active key.
		n, err := r.keyring.cfg.Store.ReplaceSealed(ctx, column, changed)
		sum.replaced += n
		return err
	})
	return sum, err
}

// forEachPage reads a column page by page.
func (r *Rotation) forEachPage(ctx context.Context, column string, do func([]Value) error) error {
	var after []string
	for {
		values, err := r.keyring.cfg.Store.SealedValues(ctx, column, after, pageSize)
		if err != nil || len(values) == 0 {
			return err
		}
		if err := do(values); err != nil {
			return err
		}
		after = values[len(values)-1].Key
	}
}

func (r *Rotation) countValues(ctx context.Context) ([]Count, error) {
	var counts []Count
	for _, column := range r.keyring.cfg.Store.SealedColumns() {
		byKey := make(map[string]int)
		err := r.forEachPage(ctx, column, func(values []Value) error {
			for _, value := range values {
				byKey[r.keyring.seal.FindKeyID(value.Purpose, value.Sealed)]++
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", column, err)
		}
		for id, n := range byKey {
			counts = append(counts, Count{Column: column, KeyID: id, Values: n})
		}
	}
	slices.SortFunc(counts, func(a, b Count) int {
		return strings.Compare(a.Column+" "+a.KeyID, b.Column+" "+b.KeyID)
	})
	return counts, nil
}

// Retire retires a previous key, so that nodes start without it. It refuses while a
// value is sealed with the key or a node still seals with it.
func (r *Rotation) Retire(ctx context.Context, id string) error {
	rows, err := r.keyring.cfg.Store.SealKeys(ctx)
	if err != nil {
		return err
	}
	switch state := stateOf(rows, id); state {
	case "":
		return fmt.Errorf("the database has no key %s", id)
	case Retired:
		return nil
	case Previous:
	default:
		return fmt.Errorf("key %s is the %s one: rotate to another key first", id, state)
	}
	if err := r.waitForNodes(ctx, "seal with a key other than "+id, func(node Node) bool { return node.WriteID != id }); err != nil {
		return err
	}
	if err := r.checkLastReports(ctx, id); err != nil {
		return err
	}
	counts, err := r.countValues(ctx)
	if err != nil {
		return err
	}
	var left []string
	for _, count := range counts {
		if count.KeyID == id {
			left = append(left, fmt.Sprintf("%d in %s", count.Values, count.Column))
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("key %s still seals values (%s): start the rotation again, then drop the key", id, strings.Join(left, ", "))
	}
	return r.retire(ctx, id, Previous)
}

func (r *Rotation) retire(ctx context.Context, id string, was State) error {
	done, err := r.keyring.cfg.Store.RetireSealKey(ctx, id, was, r.keyring.cfg.Now())
	if err == nil && !done {
		err = fmt.Errorf("the state of key %s has changed in the meantime", id)
	}
	return err
}

// checkLastReports refuses to retire a key while the last report of any node says that
// it seals with it. A node that can't write to the database can't report and appears
// dead, but seals with the old key once it can write again. Reports of killed nodes are
// deleted after a day.
func (r *Rotation) checkLastReports(ctx context.Context, id string) error {
	nodes, err := r.keyring.cfg.Store.SealNodes(ctx)
	if err != nil {
		return err
	}
	var sealing []string
	for _, node := range nodes {
		if node.WriteID == id {
			sealing = append(sealing, node.Name+" (last report "+node.SeenAt.UTC().Format(time.RFC3339)+")")
		}
	}
	if len(sealing) == 0 {
		return nil
	}
	return fmt.Errorf("these nodes sealed with key %s when they last reported: %s; start them with the new key, or wait until their reports are a day old", id, strings.Join(sealing, ", "))
}

// Abandon abandons a lost key. The first configured key becomes active in its place;
// values that only the lost key opens stay unreadable.
func (r *Rotation) Abandon(ctx context.Context, id string) error {
	store := r.keyring.cfg.Store
	rows, err := store.SealKeys(ctx)
	if err != nil {
		return err
	}
	if slices.Contains(r.keyring.seal.KeyIDs(), id) {
		return fmt.Errorf("key %s is configured, so it is not lost: use --drop", id)
	}
	was := stateOf(rows, id)
	if was == "" {
		return fmt.Errorf("the database has no key %s", id)
	}
	if was == Active {
		replacement := r.keyring.seal.KeyIDs()[0]
		if stateOf(rows, replacement) == Retired {
			return fmt.Errorf("the configured key %s is retired: configure a new one", replacement)
		}
		if _, err := store.AddSealKey(ctx, r.keyring.newKey(replacement, Next)); err != nil {
			return err
		}
		done, err := store.ActivateSealKey(ctx, r.keyring.newKey(replacement, Next), id, r.keyring.cfg.Now())
		if err != nil || !done {
			return errors.Join(err, fmt.Errorf("key %s could not be replaced by %s", id, replacement))
		}
		r.progressf("key %s is now active", replacement)
		was = Previous
	}
	return r.retire(ctx, id, was)
}
