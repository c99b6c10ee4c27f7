package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// nodeFile holds the name of this node, by which it knows its own interrupted work
// after a restart.
const nodeFile = "node.id"

// nodeName is a node's name, kept as long as the process lives.
type nodeName struct {
	name string
	file *os.File
}

// takeNodeName takes the name in the data folder. While another process has it,
// which would lose its leases to us, this one has a name for once only.
func takeNodeName(folder string) (*nodeName, error) {
	path := filepath.Join(folder, nodeFile)
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, fmt.Errorf("the node's name: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the node's name: %w", err)
	}
	if !lockFile(file) {
		return &nodeName{name: newNodeName()}, file.Close()
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("the node's name: %w", err), file.Close())
	}
	name := strings.TrimSpace(string(text))
	if name == "" {
		name = newNodeName()
		if _, err := file.WriteAt([]byte(name+"\n"), 0); err != nil {
			return nil, errors.Join(fmt.Errorf("the node's name: %w", err), file.Close())
		}
	}
	return &nodeName{name: name, file: file}, nil
}

func newNodeName() string { return "node_" + strings.ToLower(rand.Text()) }

// release lets another process have the name. The end of the process does too.
func (n *nodeName) release() {
	if n.file != nil {
		n.file.Close()
	}
}
