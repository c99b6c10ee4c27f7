package keyring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// State is what a key is used for; the package comment has the table.
type State string

// The states of a key.
const (
	Next     State = "next"
	Active   State = "active"
	Previous State = "previous"
	Retired  State = "retired"
)

// Key is the stored state of a key.
type Key struct {
	ID        string
	State     State
	Canary    string
	CreatedAt time.Time
}

// Node is the report of a running node.
type Node struct {
	Name    string
	KeyIDs  []string // it can open values of these
	WriteID string   // it seals with this one
	SeenAt  time.Time
}

// Value is one sealed value.
type Value struct {
	Key     []string // of its row
	Purpose string
	Sealed  string
}

// Replacement is a value and its new sealed form.
type Replacement struct {
	Value
	Sealed string
}

// Store stores the states of keys, the reports of nodes, and the sealed values.
type Store interface {
	SealKeys(ctx context.Context) ([]Key, error)
	// AddSealKey returns false if the key is known or would be a second active one.
	AddSealKey(ctx context.Context, key Key) (bool, error)
	// ActivateSealKey makes a next or previous key active and the active one previous.
	// It returns false if either is in another state.
	ActivateSealKey(ctx context.Context, key Key, active string, now time.Time) (bool, error)
	// RetireSealKey returns false if the key is in another state.
	RetireSealKey(ctx context.Context, id string, was State, now time.Time) (bool, error)
	DeleteNextSealKey(ctx context.Context, id string) error
	PutSealNode(ctx context.Context, node Node) error
	DeleteSealNode(ctx context.Context, name string) error
	// SealNodes returns the reports of all nodes, including killed ones.
	SealNodes(ctx context.Context) ([]Node, error)
	SealedColumns() []string
	// SealedValues returns non-empty values of a column after a row; nil starts at the first.
	SealedValues(ctx context.Context, column string, after []string, limit int) ([]Value, error)
	// ReplaceSealed replaces values that are unchanged since they were read; it counts them.
	ReplaceSealed(ctx context.Context, column string, replacements []Replacement) (int, error)
}

const (
	canary = "dotkontor"
	// refreshInterval is how often a node reads the states of keys.
	refreshInterval = 3 * time.Second
	// reportInterval is how often it reports that it runs, and deadAfter how long a rotation
	// watches an unchanged report until the node counts as dead.
	reportInterval = 30 * time.Second
	deadAfter      = 2 * time.Minute
	pageSize       = 200
)

// MissingKeyError means that the database is sealed with keys that are not configured.
type MissingKeyError struct {
	// Missing and Have are key ids.
	Missing, Have []string
}

const missingKeyRemedy = "restore the missing key from your backup into secret_key, additional_secret_keys or DATA/secret.key"

// Error names the keys by their ids, and the remedy.
func (e *MissingKeyError) Error() string {
	have := "no key at all"
	if len(e.Have) > 0 {
		have = "key " + strings.Join(e.Have, ", ")
	}
	return fmt.Sprintf("secret_key: the database is sealed with key %s, and this configuration has %s; %s "+
		"('dotkontor config key-id' prints the id of a key; docs/operating.md, \"The secret key\", says what to do if it is lost)",
		strings.Join(e.Missing, ", "), have, missingKeyRemedy)
}

// LogCause names the keys.
func (e *MissingKeyError) LogCause() string {
	return "keyring: key " + strings.Join(e.Missing, ", ") + " is missing"
}

func (*MissingKeyError) action() string { return missingKeyRemedy }

// problem is a fault of the keys with its remedy for the operator.
type problem struct{ reason, remedy string }

func (p *problem) Error() string    { return "secret_key: " + p.reason + ": " + p.remedy }
func (p *problem) LogCause() string { return "keyring: " + p.reason }
func (p *problem) action() string   { return p.remedy }

// ErrWrongKey means that a database from before key ids holds values that the
// configured key does not open.
var ErrWrongKey error = &problem{
	"the database has sealed values, and the configured key opens none of them",
	"put the key that the service used before into secret_key or DATA/secret.key (docs/operating.md, \"The secret key\")",
}

// CheckUnused returns an error that names the keys the database is sealed with; nil if
// nothing is sealed, so that a new key may be created.
func CheckUnused(ctx context.Context, store Store) error {
	rows, err := store.SealKeys(ctx)
	if err != nil {
		return err
	}
	var needed []string
	for _, row := range rows {
		if row.State != Retired {
			needed = append(needed, row.ID)
		}
	}
	if len(needed) > 0 {
		return &MissingKeyError{Missing: needed}
	}
	return checkUntagged(ctx, store, func(Value) bool { return false })
}

// Check returns an error unless keys are all that the database needs.
func Check(ctx context.Context, store Store, keys []registrar.SealKey) error {
	seal, err := registrar.NewSeal(keys...)
	if err != nil {
		return err
	}
	rows, err := store.SealKeys(ctx)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return checkUntagged(ctx, store, opens(seal))
	}
	return check(rows, seal)
}

func opens(seal *registrar.Seal) func(Value) bool {
	return func(value Value) bool {
		_, err := seal.Open(value.Purpose, value.Sealed)
		return err == nil
	}
}

func check(rows []Key, seal *registrar.Seal) error {
	var missing []string
	for _, row := range rows {
		if row.State == Retired {
			continue
		}
		if !slices.Contains(seal.KeyIDs(), row.ID) {
			missing = append(missing, row.ID)
		} else if text, err := seal.Open(registrar.CanaryPurpose(row.ID), row.Canary); err != nil || text != canary {
			return &problem{"the canary of key " + row.ID + " in the table seal_keys was changed", "restore the row from a backup"}
		}
	}
	if len(missing) > 0 {
		return &MissingKeyError{Missing: missing, Have: seal.KeyIDs()}
	}
	return nil
}

// checkUntagged checks a database that no version with key ids has opened. One value
// that opens proves the key; others may be of a key that was lost before.
func checkUntagged(ctx context.Context, store Store, opens func(Value) bool) error {
	var result error
	for _, column := range store.SealedColumns() {
		values, err := store.SealedValues(ctx, column, nil, pageSize)
		if err != nil || slices.ContainsFunc(values, opens) {
			return err
		}
		if len(values) > 0 {
			result = ErrWrongKey
		}
	}
	return result
}

// Config configures a Keyring.
type Config struct {
	Store Store
	// Load reads the configured keys. It is called repeatedly, so that a key added to a
	// file takes effect without a restart. The first key seals a new database.
	Load func() ([]registrar.SealKey, error)
	// Now is the real time. Default: time.Now.
	Now func() time.Time
	// Logger may be nil.
	Logger *slog.Logger
}

// Keyring keeps a Seal up to date with the configuration and the database.
type Keyring struct {
	cfg  Config
	seal *registrar.Seal

	mu       sync.Mutex
	keys     []registrar.SealKey
	node     string
	reported Node
	// logged are the reasons that were logged and persist.
	logged map[string]bool
	// databaseErrors is the number of consecutive database failures of Refresh.
	databaseErrors int
}

// Open reads the keys, checks them against the database, and returns a Keyring that
// seals with the active one. In a database without a key the first one becomes active.
func Open(ctx context.Context, cfg Config) (*Keyring, error) {
	k, err := openUnchecked(cfg)
	if err != nil {
		return nil, err
	}
	rows, err := cfg.Store.SealKeys(ctx)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		if err := checkUntagged(ctx, cfg.Store, opens(k.seal)); err != nil {
			return nil, err
		}
		// If another node has added another key first, that one is reported as missing.
		if _, err := cfg.Store.AddSealKey(ctx, k.newKey(k.seal.WriteID(), Active)); err != nil {
			return nil, err
		}
		if rows, err = cfg.Store.SealKeys(ctx); err != nil {
			return nil, err
		}
	}
	if err := k.useActiveKey(rows); err != nil {
		return nil, err
	}
	return k, nil
}

// useActiveKey seals with the active key if all needed ones are there.
func (k *Keyring) useActiveKey(rows []Key) error {
	if err := check(rows, k.seal); err != nil {
		return err
	}
	return k.seal.SetKeys(k.keys, activeKeyID(rows))
}

func openUnchecked(cfg Config) (*Keyring, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	keys, err := cfg.Load()
	if err != nil {
		return nil, err
	}
	seal, err := registrar.NewSeal(keys...)
	if err != nil {
		return nil, err
	}
	return &Keyring{cfg: cfg, seal: seal, keys: keys}, nil
}

// newKey returns a key with its canary.
func (k *Keyring) newKey(id string, state State) Key {
	text, _ := k.seal.SealWith(id, registrar.CanaryPurpose(id), canary) // the key is in the seal
	return Key{ID: id, State: state, Canary: text, CreatedAt: k.cfg.Now()}
}

func activeKeyID(rows []Key) string {
	if at := slices.IndexFunc(rows, func(row Key) bool { return row.State == Active }); at >= 0 {
		return rows[at].ID
	}
	return ""
}

// stateOf returns the state of a key; empty if the database does not know it.
func stateOf(rows []Key, id string) State {
	if at := slices.IndexFunc(rows, func(row Key) bool { return row.ID == id }); at >= 0 {
		return rows[at].State
	}
	return ""
}

// Seal returns the shared Seal. Its keys change while it is in use.
func (k *Keyring) Seal() *registrar.Seal { return k.seal }

// RegisterNode reports this process to rotations as a node, and checks its keys again:
// a rotation that has not seen the node may have begun since Open.
func (k *Keyring) RegisterNode(ctx context.Context, node string) error {
	k.node = node
	k.mu.Lock()
	err := k.report(ctx)
	k.mu.Unlock()
	if err != nil {
		return err
	}
	rows, err := k.cfg.Store.SealKeys(ctx)
	if err != nil {
		return err
	}
	return k.useActiveKey(rows)
}

// SetLoader replaces Config.Load. It must be called before Run.
func (k *Keyring) SetLoader(load func() ([]registrar.SealKey, error)) { k.cfg.Load = load }

// Run refreshes the keys until ctx ends.
func (k *Keyring) Run(ctx context.Context) {
	jobs.RunEvery(ctx, refreshInterval, func(ctx context.Context) error {
		k.logFailure(ctx, k.Refresh(ctx))
		return nil
	}, k.logFailure)
	cleanupCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshInterval)
	defer cancel()
	_ = k.cfg.Store.DeleteSealNode(cleanupCtx, k.node) // best effort: an old report expires
}

// logFailure logs each reason of a failed Refresh once, until it ends. It does not log
// a database outage, which has a log record of its own.
func (k *Keyring) logFailure(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	reasons := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok { // only what Refresh itself has joined
		reasons = joined.Unwrap()
	}
	k.databaseErrors++
	if !slices.ContainsFunc(reasons, isDatabaseError) {
		k.databaseErrors = 0
	}
	now := make(map[string]bool)
	for _, reason := range reasons {
		switch {
		case reason == nil:
		case k.isOutage(reason): // hides whether the other reasons have ended
			maps.Copy(now, k.logged)
		default:
			text := reason.Error()
			if !k.logged[text] && !now[text] {
				k.cfg.Logger.LogAttrs(ctx, slog.LevelError, "secret keys not refreshed", slog.String("cause", registrar.CauseOf(reason)),
					slog.String("action", actionOf(reason)), slog.String("error", text))
			}
			now[text] = true
		}
	}
	k.logged = now
}

// isOutage reports whether the store itself logs the reason of err. The only deadline
// of a Refresh is the one for the database. The first error may be a session that an
// outage has ended, before the store has detected the outage; the second one is marked.
func (k *Keyring) isOutage(err error) bool {
	var cause *registrar.Cause
	if !errors.As(err, &cause) {
		return errors.Is(err, context.DeadlineExceeded)
	}
	return cause.Outage || isDatabaseError(err) && k.databaseErrors < 2
}

func isDatabaseError(err error) bool {
	var cause *registrar.Cause
	return errors.As(err, &cause) && cause.Part == registrar.PartDatabase
}

func actionOf(err error) string {
	var cause *registrar.Cause
	var known interface{ action() string }
	switch {
	case errors.As(err, &known):
		return known.action()
	case errors.As(err, &cause):
		return "check the database: the node continues with the keys it has"
	default:
		return "check secret_key, additional_secret_keys and DATA/secret.key: the node continues with the keys it has"
	}
}

// Refresh applies keys added to the configuration and the states of keys in the
// database. A key that the database needs is kept even if it is removed from the
// configuration.
func (k *Keyring) Refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	k.mu.Lock()
	defer k.mu.Unlock()
	rows, err := k.cfg.Store.SealKeys(ctx)
	if err != nil {
		return fmt.Errorf("keyring: read key states: %w", err)
	}
	loaded, loadErr := k.cfg.Load()
	keys, kept := slices.Clone(loaded), []string(nil)
	for _, key := range k.keys {
		id := key.KeyID()
		state := stateOf(rows, id)
		needed := state != "" && state != Retired
		if !slices.Contains(loaded, key) && (needed || loadErr != nil) {
			keys, kept = append(keys, key), append(kept, id)
		}
	}
	active := activeKeyID(rows)
	if !slices.ContainsFunc(keys, func(key registrar.SealKey) bool { return key.KeyID() == active }) {
		return errors.Join(loadErr, &MissingKeyError{Missing: []string{active}, Have: k.seal.KeyIDs()})
	}
	if err := k.seal.SetKeys(keys, active); err != nil {
		return err
	}
	k.keys = keys
	if loadErr == nil && len(kept) > 0 {
		loadErr = &problem{
			"the configuration has lost key " + strings.Join(kept, ", ") + ", which the database still needs",
			"put it back into the configuration, or this node will not start again",
		}
	}
	return errors.Join(loadErr, k.report(ctx), check(rows, k.seal))
}

// report stores this node's report if it has changed or is due. The caller holds the lock.
func (k *Keyring) report(ctx context.Context) error {
	now := Node{Name: k.node, KeyIDs: k.seal.KeyIDs(), WriteID: k.seal.WriteID(), SeenAt: k.cfg.Now()}
	if k.node == "" || now.WriteID == k.reported.WriteID && slices.Equal(now.KeyIDs, k.reported.KeyIDs) && now.SeenAt.Sub(k.reported.SeenAt) < reportInterval {
		return nil
	}
	if err := k.cfg.Store.PutSealNode(ctx, now); err != nil {
		return fmt.Errorf("keyring: report node: %w", err)
	}
	k.reported = now
	return nil
}
