package smtp

import (
	"bytes"
	"encoding/json"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// part is a piece of a text: words or a link.
type part struct{ Words, Link string }

// parts splits a text at its links. Their pattern allows http and https only;
// html/template escapes both.
func (m Mail) parts() []part {
	var cut []part
	rest := m.Text
	for _, link := range m.Links {
		before, after, found := strings.Cut(rest, link)
		if !found {
			break
		}
		cut = append(cut, part{Words: before}, part{Link: link})
		rest = after
	}
	return append(cut, part{Words: rest})
}

var page = template.Must(template.New("inbox").Funcs(template.FuncMap{
	"parts": Mail.parts,
	"list":  func(to []string) string { return strings.Join(to, ", ") },
}).Parse(`<!doctype html>
<html lang="de">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Posteingang der Sandbox</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; background: #fff }
article { border: 1px solid #c8ccd2; border-radius: .4rem; padding: 0 1rem; margin: 1rem 0 }
h2 { font-size: 1.1rem; margin: .8rem 0 .2rem }
p.envelope { color: #4b5563; margin: 0; font-size: .9rem; overflow-wrap: anywhere }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: .95rem/1.5 ui-monospace, monospace }
a { color: #0b57a4 }
@media (prefers-color-scheme: dark) { body { background: #14171a; color: #e6e8ea } p.envelope { color: #aab2bd } a { color: #7ab8ff } article { border-color: #3a4048 } }
</style>
</head>
<body>
<main>
<h1>Posteingang der Sandbox <span lang="en">/ sandbox inbox</span></h1>
<p>Alle Post, die das Produkt verschickt, landet hier und nirgends sonst. <span lang="en">/ All mail that the product sends ends here and nowhere else.</span></p>
{{range .}}<article id="mail-{{.ID}}">
<h2 lang="{{.Language}}">{{if .Subject}}{{.Subject}}{{else}}(ohne Betreff / no subject){{end}}</h2>
<p class="envelope">{{.ReceivedAt.Format "2006-01-02 15:04:05"}} UTC · von / from {{.From}}{{with .ReplyTo}} · Antwort an / reply to {{.}}{{end}} · an / to {{list .To}}</p>
<pre lang="{{.Language}}">{{range parts .}}{{if .Link}}<a href="{{.Link}}" rel="noreferrer">{{.Link}}</a>{{else}}{{.Words}}{{end}}{{end}}</pre>
</article>
{{else}}<p>Noch keine Post. <span lang="en">/ No mail yet.</span></p>
{{end}}</main>
</body>
</html>
`))

// handler serves the page and the JSON list.
func (b *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		var text bytes.Buffer
		if err := page.Execute(&text, b.Mails(r.URL.Query().Get("to"))); err != nil {
			http.Error(w, "the page can't be rendered", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(text.Bytes())
	})
	mux.HandleFunc("GET /api/mails", func(w http.ResponseWriter, r *http.Request) {
		text, err := json.Marshal(struct {
			Mails []Mail `json:"mails"`
		}{b.Mails(r.URL.Query().Get("to"))})
		if err != nil {
			http.Error(w, "the list can't be encoded", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
	})
	mux.HandleFunc("DELETE /api/mails", func(w http.ResponseWriter, _ *http.Request) {
		b.Clear()
		w.WriteHeader(http.StatusNoContent)
	})
	return requireLoopbackHost(http.NewCrossOriginProtection().Handler(mux))
}

// requireLoopbackHost rejects host names other than this machine's and sets a
// policy against scripts.
func requireLoopbackHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if !loopbackHost(strings.Trim(host, "[]")) {
			http.Error(w, "Nur über 127.0.0.1 erreichbar. / Only reachable at 127.0.0.1.", http.StatusMisdirectedRequest)
			return
		}
		header := w.Header()
		header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func loopbackHost(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}
