package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Terminal is where a command reads and writes, and what it finds there.
type Terminal struct {
	Ctx context.Context //nolint:containedctx // one command, one terminal, one life
	Env []string
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// Getenv is a variable of the environment, empty if it is not set.
func (t *Terminal) Getenv(name string) string {
	for _, setting := range t.Env {
		if value, found := strings.CutPrefix(setting, name+"="); found {
			return value
		}
	}
	return ""
}

// Notice tells a person something in German and English, beside the output.
func (t *Terminal) Notice(german, english string) {
	fmt.Fprintf(t.Err, "dotkontor: %s / %s\n", german, english)
}

// ReadSecret reads a secret from a file. An empty path is an empty secret.
func (t *Terminal) ReadSecret(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := t.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("the secret: %w", err)
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" {
		return "", errors.New("the file with the secret is empty")
	}
	return secret, nil
}

// maxInputBytes bounds what a command reads into memory.
const maxInputBytes = 1 << 20

// ReadFile reads a file, or standard input for a hyphen.
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
		err = errors.New("that is more than a megabyte")
	}
	return text, err
}
