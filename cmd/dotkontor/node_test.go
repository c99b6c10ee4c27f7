package main

import "testing"

func TestANodeKeepsItsNameAndNeverSharesIt(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	first, err := takeNodeName(folder)
	if err != nil {
		t.Fatal(err)
	}
	beside, err := takeNodeName(folder)
	if err != nil || beside.name == first.name || beside.name == "" {
		t.Errorf("a second process has the name %q beside %q, %v", beside.name, first.name, err)
	}
	beside.release()
	first.release()
	again, err := takeNodeName(folder)
	if err != nil || again.name != first.name {
		t.Errorf("after a restart the node is %q and was %q, %v", again.name, first.name, err)
	}
	again.release()
}
