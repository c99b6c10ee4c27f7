package contract

import (
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hashWorkers returns the password hashing processes of a service.
func (p *process) hashWorkers(t *testing.T) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has exited
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) < 2 || fields[0] == "Z" || fields[1] != strconv.Itoa(p.cmd.Process.Pid) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, pid)
	}
	return found
}

// signIn returns the status of an attempt from a new address.
func (target *target) signIn(t *testing.T, password string) int {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: suite.addresses.next().AsSlice()}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	defer transport.CloseIdleConnections()
	form := url.Values{"email": {target.demo.Email}, "password": {password}}.Encode()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target.base+"/portal/sign-in", strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := transport.RoundTrip(request) // does not follow redirects
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

func TestSignIn_SurvivesKilledHashWorkers(t *testing.T) {
	t.Parallel()
	on, err := startSandbox("sandbox-with-dying-hashes")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no list of processes on this system")
	}
	stop, stopped := make(chan struct{}), make(chan int)
	go func() {
		killed := 0
		for {
			select {
			case <-stop:
				stopped <- killed
				return
			case <-time.After(20 * time.Millisecond): // a hash takes longer
			}
			for _, pid := range on.process.hashWorkers(t) {
				if syscall.Kill(pid, syscall.SIGKILL) == nil {
					killed++
				}
			}
		}
	}()
	for n := range 4 {
		if got := on.signIn(t, on.demo.Password); got != http.StatusSeeOther {
			t.Errorf("the right password: %d", got)
		}
		if n == 1 {
			if got := on.signIn(t, on.demo.Password+"!"); got == http.StatusSeeOther {
				t.Error("a wrong password was accepted")
			}
		}
		time.Sleep(1100 * time.Millisecond) // until a process is started again
	}
	close(stop)
	if killed := <-stopped; killed == 0 {
		t.Error("no process was killed: passwords are hashed inside the service")
	}
	log, err := os.ReadFile(on.log)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(log), on.demo.Password) {
		t.Error("the password is in the log")
	}
	last := on.process.hashWorkers(t)
	if err := on.process.stop(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range last {
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("process %d outlives the service", pid)
		}
	}
}
