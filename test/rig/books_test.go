package rig

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// rightBooks is one line that was registered and one that was refused.
func rightBooks() Books {
	return Books{
		Lines: []provision.Line{
			{ID: "lin_1", Customer: "cus_1", Name: "good.org", State: provision.StateActive, Domain: "dom_1", Handle: "DK1"},
			{ID: "lin_2", Customer: "cus_1", Name: "bad.org", State: provision.StateFailed, Domain: "dom_2", Failure: "taken", RefundDue: true},
		},
		Domains: []provision.Domain{{ID: "dom_1", Customer: "cus_1", Name: "good.org", Status: "active", PaidUntil: time.Unix(1, 0)}},
		Held: ledger.Holdings{
			Domains:  []*ledger.Domain{{Name: "good.org", Registrant: "DK1", Expires: time.Unix(1, 0)}},
			Contacts: []*ledger.Contact{{ID: "DK1"}},
		},
	}
}

func TestBooksThatAgreeHaveNoProblem(t *testing.T) {
	t.Parallel()
	if problems := rightBooks().Problems(); len(problems) != 0 {
		t.Error(problems)
	}
}

func TestEveryWayInWhichBooksCanBeWrongIsFound(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(*Books){
		"good.org is active, but not registered": func(b *Books) { b.Held.Domains = nil },
		"good.org is active and marked":          func(b *Books) { b.Lines[0].RefundDue = true },
		"good.org is active, but the customer":   func(b *Books) { b.Domains[0].Status = "pending" },
		"in phase \"pendingCreate\"":             func(b *Books) { b.Held.Domains[0].Phase = ledger.PendingCreate },
		"for \"OTHER\" and not for \"DK1\"":      func(b *Books) { b.Held.Domains[0].Registrant = "OTHER" },
		"bad.org failed and nobody":              func(b *Books) { b.Lines[1].RefundDue = false },
		"bad.org failed, but the customer":       func(b *Books) { b.Domains = append(b.Domains, provision.Domain{ID: "dom_2"}) },
		"bad.org is still undoing":               func(b *Books) { b.Lines[1].State = provision.StateUndoing },
		"good.org was paid for 2 times":          func(b *Books) { b.Lines = append(b.Lines, b.Lines[0]) },
		"holds bad.org, which we do not know": func(b *Books) {
			b.Held.Domains = append(b.Held.Domains, &ledger.Domain{Name: "bad.org"})
		},
		"the contact DK2 of no active line": func(b *Books) { b.Held.Contacts = append(b.Held.Contacts, &ledger.Contact{ID: "DK2"}) },
		"nobody uses the contact DK1":       func(b *Books) { b.Held.Unused = []string{"DK1"} },
	} {
		books := rightBooks()
		spoil(&books)
		if problems := strings.Join(books.Problems(), "\n"); !strings.Contains(problems, want) {
			t.Errorf("%q is not found: %s", want, problems)
		}
	}
}

func TestWhatIsPersonalIsFoundInWhateverCase(t *testing.T) {
	t.Parallel()
	found := Personal([]string{"Marlene Petersen", "", "+49.40"}, map[string]string{"GET /a": "holder: MARLENE PETERSEN", "GET /b": "nobody", "GET /c": "tel +49.40"})
	if want := []string{`GET /a holds "Marlene Petersen"`, `GET /c holds "+49.40"`}; !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}

func TestARenewalIsOfADomainThatWasThere(t *testing.T) {
	t.Parallel()
	books := rightBooks()
	books.Lines = append(books.Lines,
		provision.Line{ID: "lin_3", Customer: "cus_1", Name: "good.org", Kind: provision.Renew, State: provision.StateActive, Domain: "dom_1"},
		provision.Line{ID: "lin_4", Customer: "cus_1", Name: "good.org", Kind: provision.Renew, State: provision.StateFailed, Domain: "dom_1", Failure: "refused", RefundDue: true})
	if problems := books.Problems(); len(problems) != 0 {
		t.Error(problems)
	}
	books.Held.Domains[0].Expires = time.Unix(1, 0).AddDate(1, 0, 0)
	if problems := books.Problems(); len(problems) != 1 || !strings.Contains(problems[0], "is paid until") {
		t.Errorf("found %q, want that the registry has another term", problems)
	}
	books.Lines[3].State = provision.StateRequested
	books.Lines[2].Domain = "dom_9"
	if problems := books.Problems(); len(problems) != 2 {
		t.Errorf("found %q, want both renewals", problems)
	}
}
