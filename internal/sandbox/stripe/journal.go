package stripe

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const (
	journalName = "journal.jsonl"
	// compactBeyond is how long a journal may be before the next start writes it
	// anew.
	compactBeyond = 8 << 20
)

// change is one line of the journal: the objects as they are afterwards.
type change struct {
	Sessions      []*session      `json:"sessions,omitempty"`
	Intents       []*intent       `json:"intents,omitempty"`
	Charges       []*charge       `json:"charges,omitempty"`
	Refunds       []*refund       `json:"refunds,omitempty"`
	Customers     []*customer     `json:"customers,omitempty"`
	Methods       []*method       `json:"methods,omitempty"`
	Verifications []*verification `json:"verifications,omitempty"`
	Keys          []*remembered   `json:"keys,omitempty"`
	Events        []*event        `json:"events,omitempty"`
	// Done are ids of events that need no delivery any more.
	Done     []string  `json:"done,omitempty"`
	Settings *settings `json:"settings,omitempty"`
}

// settings outlive the process, so that a product that runs on finds everything
// where it was.
type settings struct {
	SecretKey     string `json:"secret_key"`
	WebhookSecret string `json:"webhook_secret"`
	Endpoint      string `json:"endpoint,omitempty"`
	Listen        string `json:"listen,omitempty"`
	// CardSalt keeps fingerprints of cards alike for as long as the folder lives.
	CardSalt string `json:"card_salt"`
}

// journal is the file to which every change is added before it is answered. A
// line is written by one call, so that a process that is killed leaves at most
// one torn line at the end, of which nobody was told.
type journal struct {
	file *os.File // nil: nothing is kept
	size int64
	// torn is set when a write failed half-way and could not be taken back.
	torn error
}

func openJournal(folder string, apply func(*change)) (*journal, error) {
	if folder == "" {
		return &journal{}, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(folder, journalName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{file: file}
	if err := j.replay(apply); err != nil {
		return nil, errors.Join(fmt.Errorf("the journal %s: %w", file.Name(), err), file.Close())
	}
	return j, nil
}

func (j *journal) replay(apply func(*change)) error {
	lines := bufio.NewReaderSize(j.file, 1<<16)
	for number := 1; ; number++ {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break // what is left has no line end, so nobody was answered
		}
		if err != nil {
			return err
		}
		c := &change{}
		if err := json.Unmarshal(text, c); err != nil {
			return fmt.Errorf("line %d can't be read (move the file away to begin anew): %w", number, err)
		}
		apply(c)
		j.size += int64(len(text))
	}
	if err := j.file.Truncate(j.size); err != nil {
		return err
	}
	_, err := j.file.Seek(j.size, io.SeekStart)
	return err
}

// add writes one change. When it returns nil the change outlives the process.
func (j *journal) add(c *change) error {
	if j.file == nil {
		return nil
	}
	if j.torn != nil {
		return j.torn
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(text, '\n')); err != nil {
		// Half a line must not stand before the next one.
		if _, seekErr := j.file.Seek(j.size, io.SeekStart); seekErr != nil || j.file.Truncate(j.size) != nil {
			j.torn = err
		}
		return err
	}
	j.size += int64(len(text)) + 1
	return nil
}

// replace writes the journal anew, with one change that says everything.
func (j *journal) replace(c *change) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	path := j.file.Name()
	draft, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if _, err = draft.Write(text); err == nil {
		err = draft.Sync()
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return errors.Join(err, draft.Close())
	}
	old := j.file
	j.file, j.size = draft, int64(len(text))
	return old.Close()
}

func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}
