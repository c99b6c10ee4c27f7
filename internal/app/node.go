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

// nodeFile holds the name of this node, which identifies its leases after a restart.
const nodeFile = "node.id"

// claimNodeName claims the name in the data folder. If another process holds it, this
// one gets a name for one run only, so that it can't take over live leases. The file
// also names the host: a copy on another host, where the lock has no effect, gets a new name.
func claimNodeName(folder string) (name string, release func(), err error) {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return "", nil, fmt.Errorf("node name: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(folder, nodeFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", nil, fmt.Errorf("node name: %w", err)
	}
	if !lockFile(file) {
		return NewNodeName(), func() {}, file.Close()
	}
	host, err := os.Hostname()
	if err == nil {
		name, err = readNodeName(file, strings.Join(strings.Fields(host), "-"))
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("node name: %w", err), file.Close())
	}
	return name, func() { file.Close() }, nil // the end of the process releases it as well
}

// readNodeName returns the name in the file, and creates it if there is none for this host.
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
	if len(fields) == 1 { // written by a version without host names
		name = fields[0]
	}
	if err := file.Truncate(0); err != nil {
		return "", err
	}
	_, err = file.WriteAt([]byte(name+"\n"+host+"\n"), 0)
	return name, err
}

func NewNodeName() string { return "node_" + strings.ToLower(rand.Text()) }
