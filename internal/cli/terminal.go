package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Terminal is the environment of one command: context, variables and standard streams.
type Terminal struct {
	Ctx context.Context //nolint:containedctx // a Terminal lives as long as its command
	Env []string
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// Getenv returns an environment variable, or "" if it is not set.
func (t *Terminal) Getenv(name string) string {
	for _, setting := range t.Env {
		if value, found := strings.CutPrefix(setting, name+"="); found {
			return value
		}
	}
	return ""
}

// Notice prints one line to standard error, so that it never mixes with output that
// a script reads.
func (t *Terminal) Notice(format string, args ...any) {
	fmt.Fprintf(t.Err, "dotkontor: "+format+"\n", args...)
}

// ReadSecret reads a secret from a file, or standard input for "-". An empty path
// means no secret.
func (t *Terminal) ReadSecret(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := t.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" {
		return "", errors.New("read secret: the file is empty")
	}
	return secret, nil
}

// maxInputBytes bounds what a command reads into memory.
const maxInputBytes = 1 << 20

// ReadFile reads a file, or standard input for "-".
func (t *Terminal) ReadFile(path string) ([]byte, error) {
	from := t.In
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, maxInputBytes+1))
	if err == nil && len(text) > maxInputBytes {
		err = errors.New("the input is larger than 1 MiB")
	}
	return text, err
}
