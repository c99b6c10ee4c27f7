package app

import (
	"os"
	"path/filepath"
	"testing"
)

func TestNodeName_StableAndExclusive(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	first, releaseFirst, err := claimNodeName(folder)
	if err != nil {
		t.Fatal(err)
	}
	second, releaseSecond, err := claimNodeName(folder)
	if err != nil || second == first || second == "" {
		t.Errorf("a second process has the name %q beside %q, %v", second, first, err)
	}
	releaseSecond()
	releaseFirst()
	again, releaseAgain, err := claimNodeName(folder)
	if err != nil || again != first {
		t.Errorf("after a restart the node is %q and was %q, %v", again, first, err)
	}
	releaseAgain()
}

// A data folder that is copied to another host carries no identity with it: two nodes
// of one name would release each other's leases.
func TestNodeName_CopiedDataDirGetsNewName(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	name := func(host string) string {
		t.Helper()
		file, err := os.OpenFile(filepath.Join(folder, nodeFile), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		name, err := readNodeName(file, host)
		if err != nil || name == "" {
			t.Fatalf("%q, %v", name, err)
		}
		return name
	}
	first := name("a")
	if again := name("a"); again != first {
		t.Errorf("after a restart the node is %q and was %q", again, first)
	}
	other := name("host-b")
	if other == first || name("host-b") != other {
		t.Errorf("the copy is %q, the original %q", other, first)
	}
	if err := os.WriteFile(filepath.Join(folder, nodeFile), []byte("node_old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if name("a") != "node_old" || name("b") == "node_old" {
		t.Error("a file without a host does not become this host's")
	}
}
