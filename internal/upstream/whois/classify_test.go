package whois

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

func TestClassify_SampleAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range sampleAnswers {
		got, code := classify([]byte(c.answer), c.name)
		if code != "" || got.State != c.want || got.Premium {
			t.Errorf("%s: state %d, premium %t, fault %q; want state %d", c.rule, got.State, got.Premium, code, c.want)
		}
	}
}

func TestClassify_RefusalIsThrottled(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		"% Error: 55000000002 Connection refused; access control limit exceeded\n",
		"Number of allowed queries exceeded.\n",
		"WHOIS LIMIT EXCEEDED - SEE WWW.EXAMPLE.ORG/WHOIS FOR DETAILS\n",
		"Query rate limit exceeded. You may try again in 60 seconds.\n",
		"You have exceeded your daily quota.\n",
		"%% Maximum query rate reached\n",
		"Too many requests\n",
		"Server is busy now, please try again later.\n",
		"Access denied\n",
		"Your IP address has been blacklisted.\n",
		"The lookup can temporarily not be answered. Please try again.\n",
		"Please maintain at least 10-second time between queries.\n",
		"NOT FOUND\nToo many queries\n",
	} {
		if got, code := classify([]byte(answer), "kranich-47.de"); code != registrar.FaultThrottled {
			t.Errorf("%q: state %d, fault %q", answer, got.State, code)
		}
	}
}

func TestClassify_NonTextIsBroken(t *testing.T) {
	t.Parallel()
	for rule, answer := range map[string][]byte{
		"empty":        nil,
		"white space":  []byte(" \r\n\t\r\n"),
		"NUL":          []byte("Domain not found.\x00\n"),
		"control junk": bytes.Repeat([]byte{1, 2, 'a', 6}, 50),
		"noise":        bytes.Repeat([]byte{0x81, 0x9f, 0xe0, 0x90}, 50),
	} {
		if got, code := classify(answer, "kranich-47.de"); code != registrar.FaultBroken {
			t.Errorf("%s: state %d, fault %q", rule, got.State, code)
		}
	}
}

func TestClassify_ReadsLatin1(t *testing.T) {
	t.Parallel()
	got, code := classify([]byte("Domain: kranich-47.de\nHolder: M\xfcller\nNserver: ns1.example.net\n"), "kranich-47.de")
	if code != "" || got.State != lookup.Registered {
		t.Errorf("state %d, fault %q", got.State, code)
	}
}

func TestClassify_FreePremiumName(t *testing.T) {
	t.Parallel()
	got, code := classify([]byte("Domain not found.\nThis platinum name is sold at a premium price.\n"), "kranich-47.xyz")
	if code != "" || got.State != lookup.Free || !got.Premium {
		t.Errorf("state %d, premium %t, fault %q", got.State, got.Premium, code)
	}
}

// FuzzClassify looks for a response that is classified as free although it starts
// with a record, and for invalid results.
func FuzzClassify(f *testing.F) {
	for _, c := range sampleAnswers {
		f.Add([]byte(c.answer), c.name)
	}
	for _, c := range sampleRecords {
		f.Add([]byte(c.answer), c.name)
	}
	f.Add([]byte("\xff\xfe\x00"), "")
	f.Add([]byte(":\n.:\n[]\n[ ]\n%\n** \n"), ".")
	const record = "Domain Name: kranich-47.de\nRegistrar: Example\nCreation Date: 2020-01-01\nName Server: ns1.example.net\n\n"
	f.Fuzz(func(t *testing.T, raw []byte, name string) {
		got, code := classify(raw, name)
		switch code {
		case "":
		case registrar.FaultThrottled, registrar.FaultBroken:
			if got != (lookup.Finding{}) {
				t.Errorf("a fault with the finding %+v", got)
			}
		default:
			t.Errorf("unknown fault %q", code)
		}
		if got.Premium && got.State != lookup.Free {
			t.Errorf("premium with state %d", got.State)
		}
		again, codeAgain := classify(raw, name)
		if !reflect.DeepEqual(again, got) || codeAgain != code {
			t.Error("two verdicts on one answer")
		}
		if (got.Record != nil) != (got.State == lookup.Registered) {
			t.Errorf("state %d with the record %v", got.State, got.Record)
		}
		checkRecord(t, got.Record)
		behind, _ := classify(append([]byte(record), raw...), "kranich-47.de")
		if behind.State == lookup.Free || behind.State == lookup.Reserved {
			t.Errorf("a record is called state %d because of what follows it", behind.State)
		}
		checkRecord(t, behind.Record)
	})
}

func TestClassify_LongAnswerIsBounded(t *testing.T) {
	t.Parallel()
	answer := strings.Repeat("x\n", maxLines) + "Domain not found.\n"
	if got, _ := classify([]byte(answer), "kranich-47.de"); got.State != lookup.Undecided {
		t.Errorf("line %d was read: state %d", maxLines+1, got.State)
	}
	long := "Domain not found" + strings.Repeat(" ", 2*maxLineBytes) + "x\n"
	if got, _ := classify([]byte(long), "kranich-47.de"); got.State != lookup.Free && got.State != lookup.Undecided {
		t.Errorf("a long line gives state %d", got.State)
	}
}
