package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/keyring"
	"github.com/dotkontor/dotkontor/internal/store"
)

// databaseCheckTimeout limits how long config check waits for a database, which may not be
// reachable from this machine.
const databaseCheckTimeout = 5 * time.Second

// checkKeys compares the keys with the database. db is nil if there is none yet.
func checkKeys(ctx context.Context, cfg config.Config, db *store.DB) error {
	if db == nil {
		return nil
	}
	keys, err := app.SealKeys(cfg)
	if errors.Is(err, fs.ErrNotExist) {
		err = keyring.CheckUnused(ctx, db)
	} else if err == nil {
		err = keyring.Check(ctx, db, keys)
	}
	return err
}

type configKeyIDCommand struct {
	cli.ServiceFlags
	Stdin bool `help:"Read one key from standard input instead of the configuration."`
}

// Run prints ids, which reveal nothing about the keys.
func (c configKeyIDCommand) Run(t *cli.Terminal) error {
	if c.Stdin {
		text, err := io.ReadAll(io.LimitReader(t.In, 1024))
		if err != nil {
			return err
		}
		key, err := config.ParseKey(string(text))
		if err != nil {
			return err
		}
		return t.Println("%s", registrar.SealKey(key).KeyID())
	}
	cfg, err := c.Load(t)
	if err != nil {
		return err
	}
	keys, err := app.SealKeys(cfg)
	for _, key := range keys {
		fmt.Fprintln(t.Out, key.KeyID())
	}
	return err
}

type rotateKeyCommand struct {
	cli.ServiceFlags
	Status  bool          `help:"Only show the keys, the last report of each node, and how many values each key seals." xor:"what"`
	Drop    string        `help:"Retire the key with this ID, so that nodes start without it. Refused while any value is sealed with it." placeholder:"ID" xor:"what"`
	Abandon string        `help:"Abandon the lost key with this ID. Values sealed with it stay unreadable." placeholder:"ID" xor:"what"`
	Wait    time.Duration `help:"How long to wait for running nodes. A killed node is detected after 2 minutes." default:"3m"`
}

// Run rotates, or resumes a rotation that was interrupted.
func (c rotateKeyCommand) Run(t *cli.Terminal) error {
	cfg, err := c.Load(t)
	if err != nil {
		return err
	}
	db, err := store.Open(t.Ctx, app.StoreOptions(cfg))
	if err != nil {
		return err
	}
	return errors.Join(c.execute(t, cfg, db), db.Close())
}

func (c rotateKeyCommand) execute(t *cli.Terminal, cfg config.Config, db *store.DB) error {
	rotation, err := c.rotation(t, cfg, db)
	if err != nil {
		return err
	}
	file := ""
	if cfg.SecretKey == "" {
		file = filepath.Join(cfg.Data, app.KeyFile)
	}
	switch {
	case c.Status:
		return printKeyStatus(t, rotation)
	case c.Drop != "":
		if err := rotation.Retire(t.Ctx, c.Drop); err != nil {
			return err
		}
		if file != "" {
			if err := app.EditKeyFile(file, func(keys []registrar.SealKey) []registrar.SealKey {
				return slices.DeleteFunc(keys, func(key registrar.SealKey) bool { return key.KeyID() == c.Drop })
			}); err != nil {
				return err
			}
		}
		return t.Println("key %s is retired: nodes start without it. Remove it from the configuration, but keep it as long as backups from before the rotation.", c.Drop)
	case c.Abandon != "":
		if err := rotation.Abandon(t.Ctx, c.Abandon); err != nil {
			return err
		}
		return t.Println("key %s is abandoned; '%s --status' counts the lost values, and docs/operating.md says how to replace them", c.Abandon, c.commandLine(t))
	}
	target, err := rotation.Target(t.Ctx)
	if err != nil {
		return err
	}
	if target == "" && file != "" {
		// Finish an interrupted rotation before starting another one.
		keys, err := db.SealKeys(t.Ctx)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(keys, func(key keyring.Key) bool { return key.State == keyring.Previous }) {
			added, _ := config.ParseKey(config.NewKey()) // never fails
			if err := app.EditKeyFile(file, func(keys []registrar.SealKey) []registrar.SealKey { return append(keys, added) }); err != nil {
				return err
			}
			fmt.Fprintf(t.Out, "a new key was added to %s\n", file)
			if rotation, err = c.rotation(t, cfg, db); err != nil {
				return err
			}
		}
	} else if target == "" {
		fmt.Fprintln(t.Out, "no configured key is new to the database (to rotate, add one to additional_secret_keys on every node: dotkontor config new-key); looking for values that are not sealed with the active key")
	}
	if err := rotation.Rotate(t.Ctx); err != nil {
		return err
	}
	return c.printRotated(t, rotation)
}

func (c rotateKeyCommand) rotation(t *cli.Terminal, cfg config.Config, db *store.DB) (*keyring.Rotation, error) {
	rotation, err := keyring.NewRotation(keyring.Config{
		Store: db, Load: func() ([]registrar.SealKey, error) { return app.SealKeys(cfg) },
	})
	if err != nil {
		return nil, err
	}
	rotation.Progress = func(line string) { fmt.Fprintln(t.Out, line) }
	rotation.Wait = c.Wait
	return rotation, nil
}

// commandLine returns this command with its --config flag, for the next step.
func (c rotateKeyCommand) commandLine(t *cli.Terminal) string {
	path := cmp.Or(c.Config, t.Getenv("DOTKONTOR_CONFIG"))
	if path == "" {
		return "dotkontor config rotate-key"
	}
	return "dotkontor config rotate-key --config " + shellQuote(path)
}

func shellQuote(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

func (c rotateKeyCommand) printRotated(t *cli.Terminal, rotation *keyring.Rotation) error {
	status, err := rotation.Status(t.Ctx)
	if err != nil {
		return err
	}
	for _, key := range status.Keys {
		switch key.State {
		case keyring.Active:
			fmt.Fprintf(t.Out, "done: every readable value is sealed with key %s\n", key.ID)
		case keyring.Previous:
			fmt.Fprintf(t.Out, "phase 4: to drop key %s, run: %s --drop %s\n", key.ID, c.commandLine(t), key.ID)
		default:
		}
	}
	return nil
}

func printKeyStatus(t *cli.Terminal, rotation *keyring.Rotation) error {
	status, err := rotation.Status(t.Ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(t.Out, 0, 0, 2, ' ', 0)
	for _, key := range status.Keys {
		fmt.Fprintf(table, "key\t%s\t%s\tsince %s\n", key.ID, key.State, key.CreatedAt.UTC().Format(time.RFC3339))
	}
	for _, node := range status.Nodes {
		fmt.Fprintf(table, "node\t%s\tseals with %s\topens %v\treported %s\n", node.Name, node.WriteID, node.KeyIDs, node.SeenAt.UTC().Format(time.RFC3339))
	}
	for _, count := range status.Counts {
		fmt.Fprintf(table, "values\t%s\t%s\t%d\n", count.Column, cmp.Or(count.KeyID, "(no configured key)"), count.Values)
	}
	return table.Flush()
}
