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

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// ControlFile is the file in the data folder that tells other local processes how
// to reach the sandbox clock.
const ControlFile = "control.json"

// maxControlBytes bounds the body of a request: about 250,000 domains.
const maxControlBytes = 64 << 20

// Control is the control endpoint of a running sandbox.
type Control struct {
	Address string `json:"address"` // an origin, http://127.0.0.1:…
	Secret  string `json:"secret"`  // to be sent as a bearer token
}

// Clock is the response of the control endpoint.
type Clock struct {
	Now      time.Time `json:"now"`
	Advanced string    `json:"advanced"` // since the start
}

// ReadControl returns the control endpoint of the sandbox that runs on a data
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

// openControl starts the control server and writes its address to ControlFile.
//
//	GET  /clock                  the sandbox time
//	POST /clock/advance?by=30d   advances it
//	GET  /objects?of=dotkontor   objects sponsored by an account, for tests in other processes
//	POST /objects                adds domains: a JSON list of SeedDomain
//	POST /transfers?name=…&op=…  another registrar requests a domain (op=request), cancels its
//	                             request (op=cancel), or rejects a request for its own (op=reject)
//	GET  /funds?of=dotkontor     the funds of an account, null if it is not paid in advance
//	POST /funds?of=dotkontor&balance=100.00&threshold=20.00   makes it one that is
//	POST /funds/topup?of=dotkontor&amount=50.00   pays in
//	POST /messages?of=dotkontor&kind=change&name=beispiel.com   queues a message and returns
//	                             its id in a list; the kinds are those of ledger.MessageRequest
//	POST /messages?of=dotkontor  queues many, all or none: a JSON list of MessageRequest
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
	mux.HandleFunc("POST /objects", func(w http.ResponseWriter, req *http.Request) {
		var held []SeedDomain
		err := json.NewDecoder(http.MaxBytesReader(w, req.Body, maxControlBytes)).Decode(&held)
		var domains []*ledger.Domain
		if err == nil {
			domains, err = r.world.seeds(held, r.Now())
		}
		if err == nil {
			err = r.ledger.Seed(domains)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		sendJSON(w, len(domains))
	})
	mux.HandleFunc("POST /transfers", func(w http.ResponseWriter, req *http.Request) {
		transfer, err := r.TransferAway(req.URL.Query().Get("name"), req.URL.Query().Get("op"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		sendJSON(w, transfer)
	})
	r.controlFunds(mux)
	server := &http.Server{
		Handler:           r.requireSecret(mux),
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 10 * time.Minute, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: log.New(io.Discard, "", 0),
	}
	r.servers.run(func() { _ = server.Serve(listener) }) // it ends with the listener
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

// TransferAway lets another registrar request a domain, with its authInfo, cancel that request, or
// reject a request for one of its own domains. The registry's rules apply: requests for
// a locked domain are refused, and one that nobody answers is approved when its time is up.
func (r *Registry) TransferAway(name, op string) (*ledger.Transfer, error) {
	name, ok := normalise(name)
	by := ledger.Request{Account: otherAccount, TRID: ledger.TRID{Client: "control", Server: rand.Text()}}
	switch {
	case !ok:
		return nil, errors.New("the name is missing or malformed")
	case op == "request":
		result, err := r.ledger.RequestTransferWithoutAuth(by, name)
		return result.Transfer, err
	case op == "cancel":
		return r.ledger.AnswerTransfer(by, name, ledger.Cancel)
	case op == "reject":
		return r.ledger.AnswerTransfer(by, name, ledger.Reject)
	default:
		return nil, fmt.Errorf("op is %q; it must be request, cancel or reject", op)
	}
}

// requireSecret admits clients that can read the control file, which a page in a
// browser can't.
func (r *Registry) requireSecret(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !r.servers.begin() {
			return
		}
		defer r.servers.end()
		secret, _ := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
		if subtle.ConstantTimeCompare([]byte(secret), []byte(r.control.Secret)) != 1 {
			http.Error(w, "the secret from "+ControlFile+" is missing", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// closeControl removes the control file if it is ours.
func (r *Registry) closeControl() {
	if r.opts.Data == "" || r.control.Secret == "" {
		return
	}
	if kept, err := ReadControl(r.opts.Data); err == nil && kept == r.control {
		_ = os.Remove(filepath.Join(r.opts.Data, ControlFile)) // a stale file is harmless
	}
}

func (r *Registry) writeClock(w http.ResponseWriter) {
	sendJSON(w, Clock{Now: r.Now(), Advanced: r.ledger.Offset().String()})
}

func sendJSON(w http.ResponseWriter, object any) {
	body, err := json.Marshal(object)
	if err != nil {
		http.Error(w, "the response can't be encoded", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(body, '\n')) // the client may have left
}

// Control returns the control endpoint for other processes.
func (r *Registry) Control() Control { return r.control }

// ParseDuration parses a duration like 30d, 2w, 1d12h or 90m: Go's durations
// preceded by years of 365 days, weeks and days.
func ParseDuration(text string) (time.Duration, error) {
	rest := text
	var span time.Duration
	for _, unit := range []struct {
		name   string
		length time.Duration
	}{{"y", 365 * 24 * time.Hour}, {"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		number, after, found := strings.Cut(rest, unit.name)
		if !found {
			continue
		}
		count, err := strconv.ParseUint(number, 10, 16)
		if err != nil {
			return 0, fmt.Errorf("%q is not a duration like 1y, 30d, 2w or 12h", text)
		}
		span += time.Duration(count) * unit.length
		rest = after
	}
	if rest == "" && text != "" {
		return span, nil
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 {
		return 0, fmt.Errorf("%q is not a duration like 1y, 30d, 2w or 12h", text)
	}
	return span + more, nil
}
