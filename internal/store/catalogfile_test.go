package store

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
)

func listWith(t *testing.T, price string) *catalog.Catalog {
	t.Helper()
	list, err := catalog.Parse(strings.NewReader(
		"tld,register,renew,transfer,restore,min_years,max_years,popular,requires,verify,rdap,whois\n" +
			".de," + price + ",5.90,5.90,17.90,1,1,yes,,,,\n"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestWithoutAFileTheShippedListIsInForce(t *testing.T) {
	list, err := NewCatalogFile(t.TempDir()).Load()
	if err != nil || list.Len() != 490 {
		t.Errorf("got %v, %v", list, err)
	}
}

func TestABrokenFileIsToldWithTheWayOut(t *testing.T) {
	file := NewCatalogFile(t.TempDir())
	if err := os.WriteFile(file.Path(), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Load(); err == nil || !strings.Contains(err.Error(), "remove it to go back") {
		t.Errorf("got %v", err)
	}
}

func TestAPipeInPlaceOfTheFileIsNotWaitedFor(t *testing.T) {
	file := NewCatalogFile(t.TempDir())
	if err := syscall.Mkfifo(file.Path(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Load(); err == nil || !strings.Contains(err.Error(), "no ordinary file") {
		t.Errorf("got %v", err)
	}
}

func TestReplaceLeavesNoDraftBehind(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	file := NewCatalogFile(folder)
	if err := file.Replace(listWith(t, "9.90")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
	list, err := file.Load()
	if err != nil {
		t.Fatal(err)
	}
	if de, _ := list.Extension(".de"); de.Register != 990 {
		t.Errorf(".de costs %s", de.Register)
	}
}

// lockedBuffer is a log that two goroutines may use.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatal("did not happen: " + what)
}

func TestARunningServiceTakesUpANewListAndIgnoresABrokenOne(t *testing.T) {
	file := NewCatalogFile(t.TempDir())
	live := catalog.NewLive(listWith(t, "1.00"))
	log := &lockedBuffer{}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		file.Watch(ctx, time.Millisecond, live, slog.New(slog.NewTextHandler(log, nil)))
	}()
	price := func() registrar.Cents {
		ext, _ := live.Extension(".de")
		return ext.Register
	}
	if err := file.Replace(listWith(t, "9.90")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the new price", func() bool { return price() == 990 })

	if err := os.WriteFile(file.Path(), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the refusal in the log", func() bool { return strings.Contains(log.String(), "refused") })
	if price() != 990 {
		t.Errorf("a broken list changed the price to %s", price())
	}
	if err := file.Replace(listWith(t, "3.00")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the next good list", func() bool { return price() == 300 })
	stop()
	<-done
}
