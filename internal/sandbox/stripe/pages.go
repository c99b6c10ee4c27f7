package stripe

import (
	"bytes"
	"embed"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

//go:embed pages.html
var pagesFile embed.FS

var pageTemplates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"euros": shownAmount, "word": dashboardWord}).ParseFS(pagesFile, "pages.html"))
})

// pageView is the template data of a page.
type pageView struct {
	German   bool
	Lang     string
	Session  *session
	Check    *verification
	First    string
	Last     string
	Problem  string
	Back     string
	Number   string
	CardName string
	Saved    []*method      // the customer's saved cards
	Charges  []dashboardRow // on the dashboard
}

func shownAmount(german bool, cents int64) string {
	text := euros(cents)[len("€"):]
	if german {
		return strings.Replace(text, ".", ",", 1) + " €"
	}
	return "€" + text
}

func (s *Server) pages(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { s.showDashboard(w, r, http.StatusOK, "") })
	mux.HandleFunc("POST /{$}", s.actOnDashboard)
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET /c/pay/{id}", s.showPay)
	mux.HandleFunc("POST /c/pay/{id}", s.pay)
	mux.HandleFunc("GET /c/pay/{id}/bank", s.showBank)
	mux.HandleFunc("POST /c/pay/{id}/bank", s.bank)
	mux.HandleFunc("GET /verify/{secret}", s.showCheck)
	mux.HandleFunc("POST /verify/{secret}", s.check)
}

// findSession returns the open session of a request after expiring due ones. If it
// is paid or expired, it sends the response and returns nil.
func (s *Server) findSession(w http.ResponseWriter, r *http.Request) *session {
	s.state.mu.Lock()
	s.expireSessions()
	one := s.state.sessions.get(r.PathValue("id"))
	s.state.mu.Unlock()
	switch {
	case one == nil:
		s.render(w, r, http.StatusNotFound, "gone", pageView{German: true})
	case one.Status == "complete":
		http.Redirect(w, r, one.doneURL(), http.StatusSeeOther)
	case one.Status == "expired":
		s.render(w, r, http.StatusGone, "ended", pageView{German: one.german(r), Session: one})
	default:
		return one
	}
	return nil
}

func (s *session) doneURL() string {
	return strings.ReplaceAll(s.SuccessURL, "{CHECKOUT_SESSION_ID}", s.ID)
}

func (s *session) german(r *http.Request) bool { return german(s.Locale, r) }

func german(locale string, r *http.Request) bool {
	if locale == "" || locale == "auto" {
		return !strings.HasPrefix(r.Header.Get("Accept-Language"), "en")
	}
	return strings.HasPrefix(locale, "de")
}

func (s *Server) showPay(w http.ResponseWriter, r *http.Request) {
	if one := s.findSession(w, r); one != nil {
		s.render(w, r, http.StatusOK, "pay", pageView{German: one.german(r), Session: one, Back: one.CancelURL, Saved: s.savedCards(one)})
	}
}

// savedCards returns the cards that a session's page offers.
func (s *Server) savedCards(one *session) (saved []*method) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	for _, m := range s.state.methods.all() {
		if one.ShowSaved && m.Customer == one.Customer {
			saved = append(saved, m)
		}
	}
	return saved
}

func (s *Server) pay(w http.ResponseWriter, r *http.Request) {
	if one := s.findSession(w, r); one == nil {
		return
	}
	f := s.faults.nextCallFault(onPage)
	if f.do == failBefore {
		http.Error(w, "Something went wrong.", http.StatusInternalServerError)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	number, name := r.PostFormValue("cardNumber"), r.PostFormValue("billingName")
	b := s.state
	b.mu.Lock()
	one := b.sessions.get(r.PathValue("id"))
	if one.Status != "open" { // paid or expired meanwhile
		b.mu.Unlock()
		s.findSession(w, r)
		return
	}
	one = copyOf(one)
	one.PayWith = r.PostFormValue("saved")
	typed, bank, wrong := b.chosenCard(one, number, r.PostFormValue("cardExpiry"), name)
	var got paymentAttempt
	if wrong != nil {
		got = paymentAttempt{session: one, refusal: wrong}
	} else {
		t := b.begin()
		got = t.pay(one, typed, bank)
		if err := s.commit(t); err != nil {
			b.mu.Unlock()
			http.Error(w, "The journal can't be written.", http.StatusInternalServerError)
			return
		}
	}
	b.mu.Unlock()
	if f.do == failAfter {
		http.Error(w, "Something went wrong.", http.StatusInternalServerError)
		return
	}
	s.afterAttempt(w, r, got, number, name)
}

// afterAttempt redirects the customer, or shows what is wrong with the card.
func (s *Server) afterAttempt(w http.ResponseWriter, r *http.Request, got paymentAttempt, number, name string) {
	one := got.session
	switch {
	case got.needsAuthentication:
		http.Redirect(w, r, "/c/pay/"+one.ID+"/bank", http.StatusSeeOther)
	case got.refusal != nil:
		view := pageView{German: one.german(r), Session: one, Back: one.CancelURL, Number: number, CardName: name, Saved: s.savedCards(one)}
		view.Problem = problem(view.German, got.refusal)
		s.render(w, r, http.StatusPaymentRequired, "pay", view)
	default:
		http.Redirect(w, r, one.doneURL(), http.StatusSeeOther)
	}
}

// problem returns in the customer's language why a card was declined.
func problem(german bool, wrong *refusal) string {
	if !german {
		return wrong.Message
	}
	key := wrong.Code
	if wrong.Decline == "insufficient_funds" {
		key = wrong.Decline
	}
	if text, found := map[string]string{
		"card_declined":                         "Ihre Karte wurde abgelehnt.",
		"insufficient_funds":                    "Auf Ihrer Karte ist nicht genug Geld.",
		"expired_card":                          "Ihre Karte ist abgelaufen.",
		"incorrect_cvc":                         "Die Prüfziffer der Karte stimmt nicht.",
		"incorrect_number":                      "Diese Kartennummer kennt die Sandbox nicht.",
		"invalid_expiry_year":                   "Das Ablaufdatum der Karte liegt in der Vergangenheit oder ist nicht lesbar.",
		"processing_error":                      "Beim Bezahlen ist etwas schiefgegangen. Bitte versuchen Sie es noch einmal.",
		"payment_intent_authentication_failure": "Ihre Bank hat die Zahlung nicht freigegeben. Bitte versuchen Sie es mit einer anderen Karte.",
		"setup_intent_authentication_failure":   "Ihre Bank hat die Karte nicht freigegeben. Bitte versuchen Sie es mit einer anderen Karte.",
	}[key]; found {
		return text
	}
	return "Die Zahlung ist nicht gelungen."
}

func (s *Server) showBank(w http.ResponseWriter, r *http.Request) {
	one := s.findSession(w, r)
	if one == nil {
		return
	}
	if one.Asking == nil {
		http.Redirect(w, r, "/c/pay/"+one.ID, http.StatusSeeOther)
		return
	}
	s.render(w, r, http.StatusOK, "bank", pageView{German: one.german(r), Session: one})
}

func (s *Server) bank(w http.ResponseWriter, r *http.Request) {
	if one := s.findSession(w, r); one == nil {
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	yes := r.PostFormValue("answer") == "approve"
	b := s.state
	b.mu.Lock()
	one := b.sessions.get(r.PathValue("id"))
	if one.Status != "open" || one.Asking == nil { // decided meanwhile
		b.mu.Unlock()
		http.Redirect(w, r, "/c/pay/"+one.ID, http.StatusSeeOther)
		return
	}
	t := b.begin()
	got := t.finishAuthentication(one, yes)
	err := s.commit(t)
	b.mu.Unlock()
	if err != nil {
		http.Error(w, "The journal can't be written.", http.StatusInternalServerError)
		return
	}
	s.afterAttempt(w, r, got, "", "")
}

func (s *Server) findVerification(r *http.Request) *verification {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	for _, v := range s.state.verifications.byID {
		if v.Secret == r.PathValue("secret") {
			return v
		}
	}
	return nil
}

func (s *Server) showCheck(w http.ResponseWriter, r *http.Request) {
	v := s.findVerification(r)
	if v == nil || v.Status == "canceled" {
		s.render(w, r, http.StatusNotFound, "gone", pageView{German: true})
		return
	}
	first, last := splitName(s.opts.Holder)
	s.render(w, r, http.StatusOK, "check", pageView{German: german("", r), Check: v, First: first, Last: last, Back: v.ReturnURL})
}

func splitName(name string) (first, last string) {
	at := strings.LastIndex(name, " ")
	if at < 0 {
		return "", name
	}
	return name[:at], name[at+1:]
}

func (s *Server) check(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	outcome, first, last := r.PostFormValue("outcome"), strings.TrimSpace(r.PostFormValue("firstName")), strings.TrimSpace(r.PostFormValue("lastName"))
	v := s.findVerification(r)
	if v == nil || v.Status == "canceled" {
		s.render(w, r, http.StatusNotFound, "gone", pageView{German: true})
		return
	}
	if outcome == outcomeVerified && first+last == "" {
		view := pageView{German: german("", r), Check: v, Back: v.ReturnURL, Problem: "Please type a name."}
		if view.German {
			view.Problem = "Bitte geben Sie einen Namen ein."
		}
		s.render(w, r, http.StatusUnprocessableEntity, "check", view)
		return
	}
	b := s.state
	b.mu.Lock()
	v = b.verifications.get(v.ID)
	var err error
	if v.Status == "requires_input" || v.Status == "processing" {
		t := b.begin()
		v = t.decide(v, outcome, first, last)
		err = s.commit(t)
	}
	b.mu.Unlock()
	if err != nil {
		http.Error(w, "The journal can't be written.", http.StatusInternalServerError)
		return
	}
	if v.ReturnURL == "" {
		s.render(w, r, http.StatusOK, "checked", pageView{German: german("", r), Check: v})
		return
	}
	http.Redirect(w, r, v.ReturnURL, http.StatusSeeOther)
}

// render writes a complete page. Browsers follow a form's redirect only to targets
// in form-action, so it lists where the page leads.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, name string, view pageView) {
	view.Lang = map[bool]string{true: "de", false: "en"}[view.German]
	var text bytes.Buffer
	if err := pageTemplates().ExecuteTemplate(&text, name, view); err != nil {
		s.opts.Logger.ErrorContext(r.Context(), "sandbox stripe page rendering failed", "page", name)
		http.Error(w, "the page can't be rendered", http.StatusInternalServerError)
		return
	}
	leads := []string{"'self'"}
	var targets []string
	if view.Session != nil {
		targets = append(targets, view.Session.SuccessURL, view.Session.CancelURL)
	}
	if view.Check != nil {
		targets = append(targets, view.Check.ReturnURL)
	}
	for _, target := range targets {
		if u, err := url.Parse(target); err == nil && u.Host != "" && !strings.ContainsAny(u.Host, " ;,") {
			leads = append(leads, u.Scheme+"://"+u.Host)
		}
	}
	header := w.Header()
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action "+strings.Join(leads, " "))
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes())
}

// requireLoopbackHost rejects host names other than this machine's, so that a
// foreign web page can't act here by DNS rebinding.
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
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}
