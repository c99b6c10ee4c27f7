package whois

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// TestClassify_CorpusRegisteredNamesAreNeverFree reads a corpus of real responses
// if WHOIS_CORPUS_DIR is set: a folder with one folder per TLD (".de"), or the
// parent of such a folder. Files named free* are responses for free names, all
// others for registered ones. A .json next to a response contains its record.
func TestClassify_CorpusRegisteredNamesAreNeverFree(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("WHOIS_CORPUS_DIR")
	if dir == "" {
		for _, c := range sampleAnswers {
			got, code := classify([]byte(c.answer), c.name)
			if c.want == lookup.Registered && got.State == lookup.Free {
				t.Errorf("%s: called free (%q)", c.rule, code)
			}
		}
		return
	}
	score := newScore(t)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".txt" {
			return err
		}
		if extension := filepath.Base(filepath.Dir(path)); strings.HasPrefix(extension, ".") {
			return score.read(path, extension)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	score.judge()
}

// corpusScore counts correct results.
type corpusScore struct {
	t                     *testing.T
	right, wrong, unknown int
	// contacts counts corpus registrars that the response shows as contacts.
	contacts int
	fields   map[string]*[2]int // correct, total
	report   []string
}

// corpusFields are the parts of a record that a corpus can contain.
var corpusFields = []string{"created", "updated", "expires", "nameservers", "registrar"}

func newScore(t *testing.T) *corpusScore {
	s := &corpusScore{t: t, fields: make(map[string]*[2]int)}
	for _, field := range corpusFields {
		s.fields[field] = new([2]int)
	}
	return s
}

func (s *corpusScore) note(format string, args ...any) {
	s.report = append(s.report, fmt.Sprintf(format, args...))
}

func (s *corpusScore) read(path, extension string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name, free := corpusName(filepath.Base(path), extension, string(raw))
	got, code := classify(raw, name)
	note := fmt.Sprintf("%s as %s: state %d, fault %q", filepath.Join(extension, filepath.Base(path)), name, got.State, code)
	switch {
	case code != "" || got.State == lookup.Undecided:
		s.unknown++
		s.note("unknown %s", note)
	case free == (got.State == lookup.Free):
		s.right++
	default:
		s.wrong++
		s.note("wrong   %s", note)
		if got.State == lookup.Free {
			s.t.Error("a registered name is called free: ", note)
		}
	}
	expected, err := os.ReadFile(strings.TrimSuffix(path, ".txt") + ".json")
	if os.IsNotExist(err) {
		return nil
	}
	var want corpusRecord
	if err := json.Unmarshal(expected, &want); err != nil {
		return fmt.Errorf("%s: %w", note, err)
	}
	if got.Record == nil {
		got.Record = new(lookup.Record)
	}
	if want.Registrar != "" && !strings.EqualFold(want.Registrar, got.Record.Registrar) && isContact(string(raw), want.Registrar) {
		s.note("contact     %s: %q is said of a contact and not of the registrar", note, want.Registrar)
		s.contacts++
		want.Registrar = ""
	}
	s.compare(note, got.Record, want)
	return nil
}

// corpusRecord is the content of a .json file.
type corpusRecord struct {
	Nameservers []string `json:"nameServers"`
	Created     string   `json:"creationDate"`
	Expires     string   `json:"expirationDate"`
	Updated     string   `json:"updatedDate"`
	Registrar   string   `json:"registrar"`
}

func (s *corpusScore) compare(note string, got *lookup.Record, want corpusRecord) {
	for _, c := range []struct {
		field string
		got   time.Time
		want  string
	}{{"created", got.Created, want.Created}, {"updated", got.Updated, want.Updated}, {"expires", got.Expires, want.Expires}} {
		_, given := corpusTime(c.want)
		s.count(note, c.field, given, sameTime(c.got, c.want), c.got.Format(time.RFC3339), c.want)
	}
	hosts := make([]string, 0, len(want.Nameservers))
	for _, host := range want.Nameservers {
		hosts = append(hosts, strings.TrimSuffix(strings.ToLower(host), "."))
	}
	mine := slices.Clone(got.Nameservers)
	slices.Sort(mine)
	slices.Sort(hosts)
	s.count(note, "nameservers", len(hosts) > 0, slices.Equal(mine, slices.Compact(hosts)), mine, hosts)
	s.count(note, "registrar", want.Registrar != "", strings.EqualFold(strings.TrimSpace(want.Registrar), got.Registrar), got.Registrar, want.Registrar)
}

func (s *corpusScore) count(note, field string, given, same bool, got, want any) {
	if !given {
		return
	}
	tally := s.fields[field]
	tally[1]++
	if same {
		tally[0]++
		return
	}
	s.note("%-11s %s: %q, want %q", field, note, got, want)
}

// isContact reports whether a response has wanted in contact fields only: it occurs
// in a line of a person or an organisation, but not in a registrar's field or under
// a registrar's heading. It does not use the tables under test.
func isContact(text, wanted string) bool {
	named, heading, blank := false, "", true
	for line := range strings.Lines(strings.ToLower(strings.ReplaceAll(text, "\r", ""))) {
		line = strings.TrimSpace(line)
		key, value, field := strings.Cut(line, ":")
		if line != "" && (blank || !field || value == "") {
			heading = key
		}
		blank = line == ""
		if !strings.Contains(line, strings.ToLower(wanted)) {
			continue
		}
		for _, word := range []string{"regist", "agen", "provider"} {
			if strings.Contains(key, word) || strings.Contains(heading, word) {
				return false
			}
		}
		named = named || field
	}
	return named
}

var (
	zonedLayouts = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05Z07", "2006-01-02T15:04:05Z07"}
	localLayouts = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02"}
)

// corpusTime finds the layout of a date in the corpus; ok is false if it is not a
// date.
func corpusTime(want string) (layout string, ok bool) {
	for _, layout := range slices.Concat(zonedLayouts, localLayouts) {
		if _, err := time.Parse(layout, want); err == nil {
			return layout, true
		}
	}
	return "", false
}

// sameTime compares instants if the corpus gives a zone, else the local time.
func sameTime(got time.Time, want string) bool {
	layout, ok := corpusTime(want)
	if !ok {
		return false
	}
	t, _ := time.Parse(layout, want)
	if slices.Contains(zonedLayouts, layout) {
		return got.Truncate(time.Second).Equal(t.Truncate(time.Second))
	}
	return got.Format(layout) == t.Format(layout)
}

func (s *corpusScore) judge() {
	sort.Strings(s.report)
	total := s.right + s.wrong + s.unknown
	s.note("%d answers: %d right, %d wrong, %d unknown", total, s.right, s.wrong, s.unknown)
	if total == 0 {
		s.t.Fatal("the corpus is empty")
	}
	if s.right*100 < total*97 {
		s.t.Errorf("only %d of %d right", s.right, total)
	}
	if s.contacts > 0 {
		tally := s.fields["registrar"]
		s.note("registrar: %d of %d right if contacts are counted that we refuse to read", tally[0], tally[1]+s.contacts)
	}
	var dates [2]int
	for _, field := range corpusFields {
		tally := *s.fields[field]
		s.note("%s: %d of %d right", field, tally[0], tally[1])
		switch field {
		case "nameservers", "registrar":
			if tally[0]*100 < tally[1]*95 {
				s.t.Errorf("%s: only %d of %d right", field, tally[0], tally[1])
			}
		default:
			dates[0] += tally[0]
			dates[1] += tally[1]
		}
	}
	if dates[0]*100 < dates[1]*95 {
		s.t.Errorf("dates: only %d of %d right", dates[0], dates[1])
	}
	s.t.Log("\n" + strings.Join(s.report, "\n"))
}

// corpusName derives the queried name from a file's name. free.txt does not contain
// it: if the response names exactly one domain under the TLD, that is it; otherwise
// any will do.
func corpusName(file, extension, answer string) (name string, free bool) {
	base := strings.TrimSuffix(file, ".txt")
	rest, free := strings.CutPrefix(base, "free")
	if free {
		if asked, found := strings.CutPrefix(rest, "_"); found {
			return asked, true
		}
		if names := namesUnder(extension, answer); len(names) == 1 {
			return names[0], true
		}
		return "free" + extension, true
	}
	base, _, _ = strings.Cut(base, "_")
	for _, encoding := range []string{"-win1252", "-utf8"} {
		base = strings.TrimSuffix(base, encoding)
	}
	return base, false
}

// namesUnder lists the domains under a TLD in the data lines of a response, outside
// of URLs and mail addresses.
func namesUnder(extension, answer string) []string {
	var names []string
	for line := range strings.Lines(strings.ToLower(answer)) {
		if strings.HasPrefix(line, "%") || strings.HasPrefix(line, "#") {
			continue
		}
		for word := range strings.FieldsSeq(line) {
			if strings.ContainsAny(word, "/@") || strings.HasPrefix(word, "www.") {
				continue
			}
			word = strings.Trim(word, `"'.,;:!()[]`)
			label, found := strings.CutSuffix(word, extension)
			if found && label != "" && !strings.Contains(label, ".") && !slices.Contains(names, word) {
				names = append(names, word)
			}
		}
	}
	return names
}

func TestCorpusName_FindsQueriedNameInAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, answer, want string }{
		{"free.txt", "% see eurid.eu\nDomain: Kranich.eu\nStatus: AVAILABLE\n", "kranich.eu"},
		{"free.txt", "Domain: kranich.eu\nAsk reiher.eu\n", "free.eu"},
		{"free.txt", "NOT FOUND\nhttps://eurid.eu/ info@eurid.eu www.eurid.eu whois.eurid.eu\n", "free.eu"},
		{"free_reiher.eu.txt", "Domain: kranich.eu\n", "reiher.eu"},
	} {
		if got, free := corpusName(c.file, ".eu", c.answer); got != c.want || !free {
			t.Errorf("%s with %q: %s, want %s", c.file, c.answer, got, c.want)
		}
	}
	if got, free := corpusName("kranich.eu_2.txt", ".eu", "Domain: reiher.eu\n"); got != "kranich.eu" || free {
		t.Errorf("%s, free %t", got, free)
	}
}
