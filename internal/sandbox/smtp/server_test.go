package smtp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/smtp"
	"strings"
	"testing"
	"time"

	sandboxsmtp "github.com/dotkontor/dotkontor/internal/sandbox/smtp"
)

func start(t *testing.T, opts sandboxsmtp.Options) *sandboxsmtp.Server {
	t.Helper()
	b, err := sandboxsmtp.Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func send(b *sandboxsmtp.Server, to, text string) error {
	return smtp.SendMail(b.Address(), nil, "post@domains.example", []string{to}, []byte(strings.ReplaceAll(text, "\n", "\r\n")))
}

// get requests the page under the given host name and returns status, header and
// body.
func get(t *testing.T, b *sandboxsmtp.Server, method, path, host string) (int, http.Header, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, b.PageURL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		request.Host = host
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(body)
}

func TestServer_DecodesMailForDisplay(t *testing.T) {
	t.Parallel()
	b := start(t, sandboxsmtp.Options{Now: func() time.Time { return time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC) }})
	err := send(b, "erika@kundin.example", `Subject: =?UTF-8?q?Neues_Passwort_w=C3=A4hlen?=
Content-Type: text/plain; charset=UTF-8
Content-Transfer-Encoding: quoted-printable
Content-Language: de
Reply-To: <hilfe@domains.example>

Gr=C3=BC=C3=9Fe: https://domains.example/portal/reset/new?link=3Ddotkontor_li=
nk_abc.
`)
	if err != nil {
		t.Fatal(err)
	}
	mails := b.Mails("Erika@kundin.example")
	if len(mails) != 1 {
		t.Fatalf("%d mails", len(mails))
	}
	mail := mails[0]
	const link = "https://domains.example/portal/reset/new?link=dotkontor_link_abc"
	if mail.Subject != "Neues Passwort wählen" || mail.Language != "de" || mail.From != "post@domains.example" ||
		!strings.HasPrefix(mail.Text, "Grüße: "+link+".") || len(mail.Links) != 1 || mail.Links[0] != link || mail.ReceivedAt.Year() != 2027 {
		t.Errorf("%+v", mail)
	}
	if _, _, body := get(t, b, http.MethodGet, "", ""); !strings.Contains(body, `<a href="`+link+`"`) || !strings.Contains(body, "Neues Passwort wählen") || !strings.Contains(body, "reply to hilfe@domains.example") {
		t.Errorf("the page is\n%s", body)
	}
}

func TestServer_ReadsOtherMailFormats(t *testing.T) {
	t.Parallel()
	b := start(t, sandboxsmtp.Options{})
	for name, test := range map[string]struct{ mail, want string }{
		"multipart": {"Content-Type: multipart/alternative; boundary=x\n\n--x\nContent-Type: text/html\n\n<b>no</b>\n--x\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\nR3LDvMOfZQ==\n--x--\n", "Grüße"},
		"no header": {"\nhello\n", "hello"},
		"no mail":   {"just words", "just words"},
		"not UTF-8": {"Subject: x\n\n\xff\xfe", "�"},
	} {
		b.Clear()
		if err := send(b, "a@b.example", test.mail); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if mails := b.Mails(""); len(mails) != 1 || !strings.Contains(mails[0].Text, test.want) {
			t.Errorf("%s: %+v", name, mails)
		}
	}
}

func TestAPI_ListsRecipientMailsNewestFirst(t *testing.T) {
	t.Parallel()
	b := start(t, sandboxsmtp.Options{})
	for i, to := range []string{"a@x.example", "b@x.example", "a@x.example"} {
		if err := send(b, to, fmt.Sprintf("Subject: %d\n\ntext\n", i)); err != nil {
			t.Fatal(err)
		}
	}
	status, header, body := get(t, b, http.MethodGet, "api/mails?to=a@x.example", "")
	var list struct{ Mails []sandboxsmtp.Mail }
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK || header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %v %v", status, err, header)
	}
	if len(list.Mails) != 2 || list.Mails[0].Subject != "2" || list.Mails[1].Subject != "0" {
		t.Errorf("%+v", list.Mails)
	}
	if status, _, _ := get(t, b, http.MethodDelete, "api/mails", ""); status != http.StatusNoContent || len(b.Mails("")) != 0 {
		t.Errorf("emptying: %d, %d left", status, len(b.Mails("")))
	}
	if _, _, body := get(t, b, http.MethodGet, "api/mails", ""); body != `{"mails":[]}` {
		t.Errorf("an empty list is %s", body)
	}
}

func TestPage_EscapesMailContent(t *testing.T) {
	t.Parallel()
	b := start(t, sandboxsmtp.Options{})
	err := send(b, "a@x.example", "Subject: <script>alert(1)</script>\nContent-Language: de\"><script>\n\n"+
		`<script>alert(2)</script> javascript:alert(3) https://x.example/"onmouseover=alert(4) https://x.example/<b>`+"\n")
	if err != nil {
		t.Fatal(err)
	}
	_, header, body := get(t, b, http.MethodGet, "", "")
	if strings.Contains(body, "<script") || strings.Contains(body, `"onmouseover`) || strings.Contains(body, `href="javascript`) || strings.Contains(body, "<b>") {
		t.Errorf("the page is\n%s", body)
	}
	if policy := header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("the policy is %q", policy)
	}
}

func TestPage_AcceptsLoopbackHostsOnly(t *testing.T) {
	t.Parallel()
	b := start(t, sandboxsmtp.Options{})
	for host, want := range map[string]int{
		"127.0.0.1": 200, "127.0.0.1:8025": 200, "localhost:1": 200, "[::1]:1": 200,
		"evil.example": 421, "127.0.0.1.evil.example": 421, "192.0.2.1": 421, "localhost.evil.example:80": 421,
	} {
		if status, _, _ := get(t, b, http.MethodGet, "api/mails", host); status != want {
			t.Errorf("%s: %d, want %d", host, status, want)
		}
	}
	for _, address := range []string{"0.0.0.0:0", "192.0.2.1:0", ":0"} {
		if b, err := sandboxsmtp.Start(sandboxsmtp.Options{Listen: address}); err == nil {
			_ = b.Close()
			t.Errorf("it listens on %s", address)
		}
	}
}

func TestServer_KeepsLast500AndRefusesHugeMail(t *testing.T) {
	t.Parallel()
	b := start(t, sandboxsmtp.Options{})
	client, err := smtp.Dial(b.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for i := range 510 {
		if err := client.Mail("a@x.example"); err != nil {
			t.Fatal(err)
		}
		if err := client.Rcpt("b@x.example"); err != nil {
			t.Fatal(err)
		}
		text, err := client.Data()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(text, "Subject: %d\r\n\r\nx\r\n", i)
		if err := text.Close(); err != nil {
			t.Fatal(err)
		}
	}
	mails := b.Mails("")
	if len(mails) != 500 || mails[0].Subject != "509" || mails[499].Subject != "10" {
		t.Errorf("%d mails are stored", len(mails))
	}
	if err := send(b, "a@x.example", "Subject: huge\n\n"+strings.Repeat(strings.Repeat("x", 70)+"\n", 16<<10)); err == nil {
		t.Error("a mail over 1 MiB was accepted")
	}
}

func TestChaos_DefersMailsTemporarily(t *testing.T) {
	t.Parallel()
	b := start(t, sandboxsmtp.Options{Chaos: 0.5, Seed: 7})
	failures, sent := 0, 0
	for range 200 {
		err := send(b, "a@x.example", "Subject: x\n\nx\n")
		if err == nil {
			sent++
			continue
		}
		failures++
		if text := err.Error(); text[0] != '4' && !strings.Contains(text, "EOF") && !strings.Contains(text, "reset") {
			t.Errorf("not a temporary failure: %v", err)
		}
	}
	if failures < 60 || failures > 140 || len(b.Mails("")) != sent {
		t.Errorf("%d of 200 failed, %d were sent, %d arrived", failures, sent, len(b.Mails("")))
	}
}

func TestClose_EndsOpenConnections(t *testing.T) {
	t.Parallel()
	b, err := sandboxsmtp.Start(sandboxsmtp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	client, err := smtp.Dial(b.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- b.Close() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-ctx.Done():
		t.Fatal("closing does not end")
	}
	if err := client.Noop(); err == nil {
		t.Error("the connection is still served")
	}
}
