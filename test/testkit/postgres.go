package testkit

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// DemoCustomer is the sandbox's customer, with registrant data.
const DemoCustomer = "demo@dotkontor.example"

// RunCommand runs a command of the product with additional environment variables and returns its
// output.
func RunCommand(ctx context.Context, binary string, environment []string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, binary, args...)
	command.Env = append(Environment(), environment...)
	out, err := command.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

// CopyToPostgres copies the database in a world's data folder, with the demo customer and the
// agent, to an empty PostgreSQL database. It returns the settings of nodes on it; each needs a
// data folder of its own.
func CopyToPostgres(ctx context.Context, binary, world, database string) (settings []string, err error) {
	key, err := os.ReadFile(filepath.Join(world, "secret.key"))
	if err != nil {
		return nil, err
	}
	settings = []string{"DOTKONTOR_DATABASE_URL=" + database, "DOTKONTOR_SECRET_KEY=" + strings.TrimSpace(string(key))}
	file := filepath.Join(world, "copy.backup")
	if _, err = RunCommand(ctx, binary, nil, "backup", "--data", world, file); err == nil {
		_, err = RunCommand(ctx, binary, settings, "restore", "--config", filepath.Join(world, "serve.toml"), file)
	}
	return settings, err
}
