package portal

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/inquiry"
)

func TestOperatorHome_OnlyTenInquiriesAreListedOthersCounted(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	service, err := inquiry.New(inquiry.Config{Store: s.db, Now: s.clock.now})
	must(t, err)
	for i := range 12 {
		if i == 10 {
			if body := b.get("/operator").body; strings.Count(body, `href="/operator/inquiries/`) != 10 || strings.Contains(body, "Weitere Anfragen") {
				t.Errorf("ten inquiries: %s", body)
			}
		}
		_, err := service.Submit(t.Context(), registrar.Actor{Kind: registrar.ActorPerson}, inquiry.Inquiry{
			Name: "Erika Muster", Email: "erika@example.org", Topic: "other", Message: "Frage " + strconv.Itoa(i),
		})
		must(t, err)
	}
	body := b.get("/operator").body
	if strings.Count(body, `href="/operator/inquiries/`) != 10 || !strings.Contains(body, `<a href="/operator/inquiries">Weitere Anfragen: 2</a>`) {
		t.Errorf("twelve inquiries: %s", body)
	}
}

func TestOperatorInquiries_OpenListIsPaged(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	service, err := inquiry.New(inquiry.Config{Store: s.db, Now: s.clock.now})
	must(t, err)
	var last inquiry.Inquiry
	for i := range 51 {
		s.clock.advance(time.Second)
		last, err = service.Submit(t.Context(), registrar.Actor{Kind: registrar.ActorPerson}, inquiry.Inquiry{
			Name: "Erika Muster", Email: "erika@example.org", Topic: "other", Message: "Frage " + strconv.Itoa(i),
		})
		must(t, err)
	}
	first := b.get("/operator/inquiries").body
	_, after, found := strings.Cut(first, `href="/operator/inquiries?after=`)
	if !found || strings.Contains(first, last.ID) {
		t.Fatalf("the first page: %s", first)
	}
	id, _, _ := strings.Cut(after, `"`)
	if second := b.get("/operator/inquiries?after=" + id).body; strings.Count(second, `href="/operator/inquiries/inq_`) != 1 || !strings.Contains(second, last.ID) {
		t.Errorf("the second page: %s", second)
	}
}

func TestOperatorPages_OpenInquiryIsOpenWork(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	service, err := inquiry.New(inquiry.Config{Store: s.db, Now: s.clock.now})
	must(t, err)
	made, err := service.Submit(t.Context(), registrar.Actor{Kind: registrar.ActorPerson}, inquiry.Inquiry{
		Name: "Erika Muster", Email: "erika+shop@example.org", Topic: "abuse", About: "boese.de", Message: "Hier wird <b>betrogen</b>.\nBitte prüfen.",
	})
	must(t, err)
	home := b.get("/operator")
	for _, want := range []string{"Offene Anfragen", "Missbrauch einer Domain", "boese.de", `<span class="count">1<`} {
		if !strings.Contains(home.body, want) {
			t.Errorf("the start page has no %s", want)
		}
	}
	if strings.Contains(home.body, nothingToDo) {
		t.Error("the start page says that nothing is to do")
	}
	path := "/operator/inquiries/" + made.ID
	page := b.get(path)
	for _, want := range []string{"&lt;b&gt;betrogen&lt;/b&gt;", "erika&#43;shop@example.org", `href="mailto:erika`, "nicht geprüft", `name="q" value="boese.de"`, "<title>Anfrage " + made.ID + " · ", "<h1>Anfrage " + made.ID + "</h1>"} {
		if page.status != http.StatusOK || !strings.Contains(page.body, want) {
			t.Errorf("%d, the page has no %s: %s", page.status, want, page.body)
		}
	}
	if got := b.post(path+"/close", url.Values{"note": {" "}}); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, `id="note-problem"`) {
		t.Errorf("without a note: %d", got.status)
	}
	if got := b.post(path+"/close", url.Values{"note": {"Domain gesperrt"}}); got.location() != "/operator/inquiries" {
		t.Errorf("closing: %d %s", got.status, got.body)
	}
	list := b.get("/operator/inquiries")
	for _, want := range []string{"ops@example.org", "Domain gesperrt", "Keine Anfrage ist offen"} {
		if !strings.Contains(list.body, want) {
			t.Errorf("the list has no %s: %s", want, list.body)
		}
	}
	_, other := s.operatorBrowser("ops2@example.org")
	if got := other.post(path+"/close", url.Values{"note": {"zu spät"}}); got.status != http.StatusConflict || strings.Contains(got.body, "zu spät") {
		t.Errorf("the second operator got %d %s", got.status, got.body)
	}
	if got := b.get("/operator/inquiries/inq_none"); got.status != http.StatusNotFound {
		t.Errorf("an unknown inquiry: %d", got.status)
	}
}
