package legal

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/inquiry"
)

// inquiryStore stores inquiries and their mails in memory.
type inquiryStore struct {
	inquiry.Store
	all   []inquiry.Inquiry
	mails []registrar.Mail
}

func (s *inquiryStore) AddInquiry(_ context.Context, one inquiry.Inquiry, mails []registrar.Mail, _ time.Time) (inquiry.Inquiry, bool, error) {
	for _, other := range s.all {
		if other.Digest == one.Digest {
			return other, false, nil
		}
	}
	s.all, s.mails = append(s.all, one), append(s.mails, mails...)
	return one, true, nil
}

func message(changes ...string) url.Values {
	fields := url.Values{
		"name": {"Erika Muster"}, "email": {"erika@example.de"}, "topic": {"transfer"}, "about": {"kaffee.de"}, "message": {"Guten Tag,\r\n\r\nwann ist es soweit?"},
	}
	for i := 0; i+1 < len(changes); i += 2 {
		fields.Set(changes[i], changes[i+1])
	}
	return fields
}

func TestContactForm_StoresMessageOnceAndNamesNumber(t *testing.T) {
	t.Parallel()
	store := &memStore{}
	pages := newHandler(t, store, testOperator, nil)
	status, body := visit(t, pages, "/kontakt", message())
	stored := store.inquiries.all
	if status != http.StatusOK || len(stored) != 1 || !strings.Contains(body, stored[0].ID) || !strings.HasPrefix(stored[0].ID, "inq_") {
		t.Fatalf("%d %+v %s", status, stored, body)
	}
	if stored[0].Message != "Guten Tag,\n\nwann ist es soweit?" || stored[0].Language != "de" || stored[0].About != "kaffee.de" {
		t.Errorf("%+v", stored[0])
	}
	// A reload sends the form again.
	_, again := visit(t, pages, "/kontakt", message())
	if len(store.inquiries.all) != 1 || !strings.Contains(again, stored[0].ID) {
		t.Errorf("a repetition was stored: %+v", store.inquiries.all)
	}
	mails := store.inquiries.mails
	if len(mails) != 2 || mails[0].Kind != registrar.MailInquiryConfirmed || mails[0].To != "erika@example.de" ||
		mails[1].Kind != registrar.MailInquiryReceived || mails[1].To != "post@kontor.example" || mails[1].Data["message"] != stored[0].Message {
		t.Fatalf("%+v", mails)
	}
	// Anyone could have entered the address.
	for key := range mails[0].Data {
		if key != "number" && key != "occurred_at" {
			t.Errorf("the acknowledgement contains %s", key)
		}
	}
}

func TestContactForm_PremiumDomainIsPrefilled(t *testing.T) {
	t.Parallel()
	store := &memStore{}
	status, body := visit(t, newHandler(t, store, testOperator, nil), "/contact", url.Values{"premium": {"xn--bcher-kva.shop"}})
	for _, want := range []string{`value="bücher.shop"`, `value="domain" selected`, "What does the premium domain bücher.shop cost"} {
		if status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%d lacks %s: %s", status, want, body)
		}
	}
	if store.inquiries.all != nil {
		t.Errorf("stored %+v", store.inquiries.all)
	}
}

func TestContactForm_ProblemsKeepMessage(t *testing.T) {
	t.Parallel()
	store := &memStore{}
	pages := newHandler(t, store, testOperator, nil)
	for _, c := range []struct {
		fields url.Values
		says   string
	}{
		{message("topic", ""), `id="topic-problem"`},
		{message("topic", "<i>"), `id="topic-problem"`},
		{message("name", " "), `id="name-problem"`},
		{message("email", "Erika <e@example.de>"), `id="email-problem"`},
		{message("about", "a\nb"), `id="about-problem"`},
		{message("message", strings.Repeat("ä", inquiry.MaxMessage+1)), `id="message-problem"`},
		{message("message", "a\x00b"), `id="message-problem"`},
		{message("message", " "), `id="message-problem"`},
		{message("website", "https://spam.example"), "noch einmal auf"},
	} {
		status, body := visit(t, pages, "/kontakt", c.fields)
		if status != http.StatusUnprocessableEntity || !strings.Contains(body, c.says) || strings.Contains(body, "spam.example") {
			t.Errorf("%d lacks %s: %s", status, c.says, body)
		}
	}
	if _, body := visit(t, pages, "/contact", message("name", "", "message", "wann <b>?")); !strings.Contains(body, "wann &lt;b&gt;?") || !strings.Contains(body, `value="transfer" selected`) {
		t.Errorf("the message is lost: %s", body)
	}
	if store.inquiries.all != nil {
		t.Errorf("stored %+v", store.inquiries.all)
	}
}

func TestContactForm_RateLimitedByNetworkAndRecipient(t *testing.T) {
	t.Parallel()
	for _, full := range []string{"network 203.0.113.7", "mail erika@example.de"} {
		store := &memStore{}
		pages := newHandler(t, store, testOperator, func(key string) time.Duration {
			if key == full {
				return time.Minute
			}
			return 0
		})
		status, body := visit(t, pages, "/kontakt", message("email", "Erika@example.de"))
		if status != http.StatusTooManyRequests || !strings.Contains(body, "wann ist es soweit?") || !strings.Contains(body, "Wir haben gerade zu viele Nachrichten erhalten") || store.inquiries.all != nil {
			t.Errorf("%s: %d, stored %v", full, status, store.inquiries.all)
		}
	}
}

func TestHelp_AnswersEveryQuestionInBothLanguages(t *testing.T) {
	t.Parallel()
	texts, err := loadTexts(nil, testOperator)
	if err != nil {
		t.Fatal(err)
	}
	german, english := questions(texts["hilfe"]), questions(texts["help"])
	if len(german) < 20 || len(german) != len(english) {
		t.Errorf("%d questions in German, %d in English", len(german), len(english))
	}
	pages := newHandler(t, &memStore{}, testOperator, nil)
	for path, list := range map[string][]question{"/hilfe": german, "/help": english} {
		_, body := visit(t, pages, path, nil)
		for _, q := range list {
			if len(q.Blocks) == 0 || !strings.Contains(body, `href="#`+q.ID+`"`) || !strings.Contains(body, `id="`+q.ID+`"`) {
				t.Errorf("%s: %q has no answer or no link", path, q.Heading)
			}
		}
	}
}
