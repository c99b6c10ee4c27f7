package app

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
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

// claimNodeName takes the name in the data folder. While another process has it, which
// would lose its leases to us, this one has a name for one run only. The file also
// names the host: a copy of the folder on another host gets a name of its own, because
// the lock does not reach there.
func claimNodeName(folder string) (*nodeName, error) {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, fmt.Errorf("node name: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(folder, nodeFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("node name: %w", err)
	}
	if !lockFile(file) {
		return &nodeName{name: NewNodeName()}, file.Close()
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("node name: %w", err), file.Close())
	}
	name, err := readNodeName(file, strings.Join(strings.Fields(host), "-"))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("node name: %w", err), file.Close())
	}
	return &nodeName{name: name, file: file}, nil
}

// readNodeName is the name in the file, which is made if there is none for this host.
func readNodeName(file *os.File, host string) (string, error) {
	text, err := io.ReadAll(file)
	if err != nil {
		return "", err
	}
	fields := strings.Fields(string(text))
	if len(fields) == 2 && fields[1] == host {
		return fields[0], nil
	}
	name := NewNodeName()
	if len(fields) == 1 { // it was written before hosts were
		name = fields[0]
	}
	if err := file.Truncate(0); err != nil {
		return "", err
	}
	_, err = file.WriteAt([]byte(name+"\n"+host+"\n"), 0)
	return name, err
}

func NewNodeName() string { return "node_" + strings.ToLower(rand.Text()) }

// release lets another process have the name. The end of the process does too.
func (n *nodeName) release() {
	if n.file != nil {
		n.file.Close()
	}
}
