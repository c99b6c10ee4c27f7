package stripe

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

const controlFile = "control.json"

// Control is the control endpoint, by which other local processes read the state
// and inject faults.
type Control struct {
	Address string `json:"address"` // ends in /control
	Secret  string `json:"secret"`  // to be sent as a bearer token
}

// ReadControl returns the control endpoint of the provider that runs on a data
// folder.
func ReadControl(data string) (Control, error) {
	var control Control
	text, err := os.ReadFile(filepath.Join(data, dataFolder, controlFile))
	if errors.Is(err, fs.ErrNotExist) {
		return control, fmt.Errorf("no sandbox runs on the data folder %s", data)
	}
	if err == nil {
		err = json.Unmarshal(text, &control)
	}
	return control, err
}

// Control returns the control endpoint of this provider.
func (s *Server) Control() Control { return s.control }

func (s *Server) writeControl(path string) error {
	s.control = Control{Address: s.API() + "/control", Secret: rand.Text()}
	if path == "" {
		return nil
	}
	text, err := json.Marshal(s.control)
	if err != nil {
		return err
	}
	name := filepath.Join(path, controlFile)
	if err := os.WriteFile(name+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// closeControl removes the control file if it is ours.
func (s *Server) closeControl() {
	if s.opts.Data == "" {
		return
	}
	if kept, err := ReadControl(s.opts.Data); err == nil && kept == s.control {
		_ = os.Remove(filepath.Join(s.opts.Data, dataFolder, controlFile)) // a stale file is harmless
	}
}

// Records are the provider's payments.
type Records struct {
	Charges  []Charge  `json:"charges"`
	Refunds  []Refund  `json:"refunds"`
	Sessions []Session `json:"sessions"`
}

// Charge is a successful or failed charge.
type Charge struct {
	ID       string            `json:"id"`
	Intent   string            `json:"payment_intent"`
	Status   string            `json:"status"`
	Amount   int64             `json:"amount"`
	Refunded int64             `json:"refunded"`
	Currency string            `json:"currency"`
	Metadata map[string]string `json:"metadata"`
}

type Refund struct {
	ID       string            `json:"id"`
	Intent   string            `json:"payment_intent"`
	Amount   int64             `json:"amount"`
	Failed   bool              `json:"failed,omitempty"`
	Metadata map[string]string `json:"metadata"`
}

// Session is a checkout session.
type Session struct {
	ID        string            `json:"id"`
	Status    string            `json:"status"`
	Amount    int64             `json:"amount"`
	Intent    string            `json:"payment_intent,omitempty"`
	Reference string            `json:"client_reference_id,omitempty"`
	Metadata  map[string]string `json:"metadata"`
}

// Records returns everything, oldest first.
func (s *Server) Records() Records {
	b := s.state
	b.mu.Lock()
	defer b.mu.Unlock()
	all := Records{Charges: []Charge{}, Refunds: []Refund{}, Sessions: []Session{}}
	for _, c := range b.charges.all() {
		all.Charges = append(all.Charges, Charge{c.ID, c.Intent, c.Status, c.Amount, c.Refunded, c.Currency, cloneMetadata(c.Metadata)})
	}
	for _, r := range b.refunds.all() {
		all.Refunds = append(all.Refunds, recordOf(r))
	}
	for _, p := range b.sessions.all() {
		all.Sessions = append(all.Sessions, Session{p.ID, p.Status, p.Amount, p.Intent, p.Reference, cloneMetadata(p.Metadata)})
	}
	return all
}

// Webhooks returns the delivery statistics.
func (s *Server) Webhooks() Webhooks {
	s.state.mu.Lock()
	waiting := len(s.state.pendingEvents.order)
	s.state.mu.Unlock()
	s.deliveries.mu.Lock()
	defer s.deliveries.mu.Unlock()
	counts := s.deliveries.counts
	counts.Waiting = max(waiting-len(s.deliveries.lost), 0)
	return counts
}

// Redeliver sends pending and lost events at once.
func (s *Server) Redeliver() { s.deliveries.redeliver() }

func (s *Server) registerControl(mux *http.ServeMux) {
	controls := s.cardControls()
	maps.Copy(controls, s.disputeControls())
	maps.Copy(controls, map[string]func(*http.Request) (any, error){
		"GET /control/money":    func(*http.Request) (any, error) { return s.Records(), nil },
		"GET /control/webhooks": func(*http.Request) (any, error) { return s.Webhooks(), nil },
		"GET /control/faults":   func(*http.Request) (any, error) { return s.faults.list(), nil },
		"POST /control/faults": func(r *http.Request) (any, error) {
			var one Fault
			if err := readJSON(r, &one); err != nil {
				return nil, err
			}
			err := s.Fault(one)
			return s.faults.list(), err
		},
		"DELETE /control/faults": func(*http.Request) (any, error) {
			s.ClearFaults()
			return s.faults.list(), nil
		},
		"POST /control/endpoint": func(r *http.Request) (any, error) {
			var where struct {
				URL string `json:"url"`
			}
			if err := readJSON(r, &where); err != nil {
				return nil, err
			}
			if u, err := url.Parse(where.URL); err != nil || u.Host == "" {
				return nil, fmt.Errorf("url is not an absolute URL")
			}
			return where, s.SetEndpoint(where.URL)
		},
		"POST /control/refunds": s.controlRefund,
		"POST /control/redeliver": func(*http.Request) (any, error) {
			s.Redeliver()
			return s.Webhooks(), nil
		},
	})
	for pattern, do := range controls {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			secret, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			if subtle.ConstantTimeCompare([]byte(secret), []byte(s.control.Secret)) != 1 {
				http.Error(w, "the secret from "+dataFolder+"/"+controlFile+" is missing", http.StatusUnauthorized)
				return
			}
			object, err := do(r)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			body, err := json.Marshal(object)
			if err != nil {
				http.Error(w, "the response can't be encoded", http.StatusInternalServerError)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(append(body, '\n'))
		})
	}
}

func readJSON(r *http.Request, into any) error {
	decoder := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxBody))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("invalid body: %w", err)
	}
	return nil
}
