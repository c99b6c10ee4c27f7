package registry

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ControlFile is the file in the data folder by which others on this machine
// find the way to the world's clock.
const ControlFile = "control.json"

// Control is the way to the world's clock.
type Control struct {
	Address string `json:"address"` // an origin, http://127.0.0.1:…
	Secret  string `json:"secret"`  // to be sent as a bearer token
}

// Clock is what the control's answers say.
type Clock struct {
	Now      time.Time `json:"now"`
	Advanced string    `json:"advanced"` // beyond the time that the world was started with
}

// ReadControl finds the way to the clock of the world that runs on a data
// folder.
func ReadControl(data string) (Control, error) {
	var control Control
	text, err := os.ReadFile(filepath.Join(data, ControlFile))
	if errors.Is(err, fs.ErrNotExist) {
		return control, fmt.Errorf("no sandbox runs on the data folder %s", data)
	}
	if err == nil {
		err = json.Unmarshal(text, &control)
	}
	return control, err
}

// openControl starts the entrance to the clock, and writes down where it is.
//
//	GET  /clock                  the world's time
//	POST /clock/advance?by=30d   moves it on
//	GET  /objects?of=dotkontor   what an account sponsors, for tests in other processes
func (r *Registry) openControl() error {
	listener, err := r.servers.listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	r.control = Control{Address: "http://" + listener.Addr().String(), Secret: rand.Text()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /clock", func(w http.ResponseWriter, _ *http.Request) { r.writeClock(w) })
	mux.HandleFunc("POST /clock/advance", func(w http.ResponseWriter, req *http.Request) {
		by, err := ParseDuration(req.URL.Query().Get("by"))
		if err == nil {
			err = r.Advance(by)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.writeClock(w)
	})
	mux.HandleFunc("GET /objects", func(w http.ResponseWriter, req *http.Request) {
		sendJSON(w, r.Sponsored(req.URL.Query().Get("of")))
	})
	server := &http.Server{
		Handler:           r.requireSecret(mux),
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: log.New(io.Discard, "", 0),
	}
	r.servers.run(func() { _ = server.Serve(listener) }) // it ends with the gate
	if r.opts.Data == "" {
		return nil
	}
	text, err := json.Marshal(r.control)
	if err != nil {
		return err
	}
	path := filepath.Join(r.opts.Data, ControlFile)
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// requireSecret lets those in who could read the control file. A page in a browser
// can't.
func (r *Registry) requireSecret(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !r.servers.begin() {
			return
		}
		defer r.servers.end()
		secret, _ := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
		if subtle.ConstantTimeCompare([]byte(secret), []byte(r.control.Secret)) != 1 {
			http.Error(w, "the secret of "+ControlFile+" is missing", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// closeControl takes the file away, if it is ours.
func (r *Registry) closeControl() {
	if r.opts.Data == "" || r.control.Secret == "" {
		return
	}
	if kept, err := ReadControl(r.opts.Data); err == nil && kept == r.control {
		_ = os.Remove(filepath.Join(r.opts.Data, ControlFile)) // a file that stays leads nowhere
	}
}

func (r *Registry) writeClock(w http.ResponseWriter) {
	sendJSON(w, Clock{Now: r.Now(), Advanced: r.ledger.Offset().String()})
}

func sendJSON(w http.ResponseWriter, object any) {
	body, err := json.Marshal(object)
	if err != nil {
		http.Error(w, "the answer can't be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(body, '\n')) // a client that left is no fault of ours
}

// Control is the way to the world's clock for other processes.
func (r *Registry) Control() Control { return r.control }

// ParseDuration reads a span of time like 30d, 2w, 1d12h or 90m: Go's durations with
// days and weeks before them.
func ParseDuration(text string) (time.Duration, error) {
	rest := text
	var span time.Duration
	for _, unit := range []struct {
		name   string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		number, after, found := strings.Cut(rest, unit.name)
		if !found {
			continue
		}
		count, err := strconv.ParseUint(number, 10, 16)
		if err != nil {
			return 0, fmt.Errorf("%q is not a span of time like 30d, 2w or 12h", text)
		}
		span += time.Duration(count) * unit.length
		rest = after
	}
	if rest == "" && text != "" {
		return span, nil
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 {
		return 0, fmt.Errorf("%q is not a span of time like 30d, 2w or 12h", text)
	}
	return span + more, nil
}
