package checkout

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// showPay is the page behind payment_url.
func (h *Handler) showPay(req *ui.Request) error {
	req.SetFormPath(currentPayPath(req))
	// The button leads to the payment provider.
	req.AllowExternalFormAction()
	return h.templates.RenderFunc(h.payView)(req)
}

// payView is what that page shows, and its stream.
func (h *Handler) payView(req *ui.Request) (ui.View, error) {
	view, err := h.orders.View(req.R.Context(), req.Actor(), linkSecret(req))
	if err != nil {
		return ui.View{}, err
	}
	shown, err := h.newPayView(req, view, formError{})
	shown.Live = liveAfter(currentPayPath(req), reloadInterval(view.Order, req.Now))
	return shown, err
}

// eventsStep is the step at which a page's changes are streamed.
const eventsStep = "events"

// liveAfter is how the page of a path goes on, if it is to reload after a pause.
func liveAfter(path string, pause time.Duration) ui.Live {
	if pause == 0 {
		return ui.Live{}
	}
	return ui.Live{Events: path + "/" + eventsStep, Reload: pause}
}

// How soon the page asks again while something is under way, where no stream tells.
// A transfer takes days, so that the pace slackens.
const (
	reloadSoon, reloadLater = 3 * time.Second, 30 * time.Second
	reloadSlowsAfter        = 2 * time.Minute
)

// reloadInterval is zero where nothing changes by itself, or where the human is about to
// fill something in.
func reloadInterval(o order.Order, now time.Time) time.Duration {
	switch {
	case o.State == order.Paying:
		return reloadSoon
	case o.State == order.Provisioning && now.Sub(o.PaidAt) < reloadSlowsAfter:
		return reloadSoon
	case o.State == order.Provisioning, o.State.Final() && o.RefundsDue() > 0:
		return reloadLater
	default:
		return 0
	}
}

// newPayView is the page of an order, with what has gone wrong.
func (h *Handler) newPayView(req *ui.Request, view order.View, t formError) (ui.View, error) {
	shown, err := h.newPayData(req, view, t)
	return ui.View{Name: "pay", Status: t.status, Title: "pay.title." + displayState(view.Order), Data: shown}, err
}

// formError is what has gone wrong with what the human has just asked for.
type formError struct {
	status int
	// problem is a key.
	problem string
	// item is whose auth code it is about; empty means the whole order.
	item string
	// confirmation is what was ticked when the button was pressed; nil if it was not.
	confirmation *order.Confirmation
}

// renderFormError shows the page again with a sentence about the error, and with what the human
// has entered. Errors that have no sentence pass.
func (h *Handler) renderFormError(req *ui.Request, err error, entered formError) error {
	t, ok := h.formErrorFor(err)
	if !ok {
		return err
	}
	view, again := h.orders.View(req.R.Context(), req.Actor(), linkSecret(req))
	if again != nil {
		return again
	}
	httpjson.RecordError(req.W, err)
	if wait := ui.RetryAfter(err); wait > 0 {
		req.W.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	t.item, t.confirmation = entered.item, entered.confirmation
	req.AllowExternalFormAction() // the button is there again
	shown, err := h.newPayView(req, view, t)
	if err != nil {
		return err
	}
	return h.templates.Render(req, shown)
}

func (h *Handler) formErrorFor(err error) (formError, bool) {
	var rejected *order.ItemsRefused
	if errors.As(err, &rejected) {
		return formError{status: http.StatusConflict, problem: "problem.items_refused"}, true
	}
	status := map[registrar.Kind]int{
		registrar.KindConflict: http.StatusConflict, registrar.KindForbidden: http.StatusForbidden,
		registrar.KindInvalid: http.StatusUnprocessableEntity, registrar.KindUpstream: http.StatusServiceUnavailable,
		registrar.KindRateLimited: http.StatusTooManyRequests,
	}[registrar.KindOf(err)]
	if status == 0 {
		return formError{}, false
	}
	if key := ui.ProblemKey(registrar.CodeOf(err)); h.templates.Has(key) {
		return formError{status: status, problem: key}, true
	}
	if status == http.StatusServiceUnavailable {
		return formError{status: status, problem: "problem.unreachable"}, true
	}
	return formError{}, false
}

// pay takes the order as it was shown, and leads to the payment provider.
func (h *Handler) pay(req *ui.Request) error {
	req.SetFormPath(currentPayPath(req))
	req.AllowExternalFormAction()
	shown, err := strconv.ParseInt(req.Field("gross"), 10, 64)
	if err != nil {
		return &registrar.Error{Kind: registrar.KindInvalid, Code: "bad_form"}
	}
	confirmation := order.Confirmation{Gross: registrar.Cents(shown), AutoRenew: req.Field("auto_renew") == "on", Consent: req.Field("consent")}
	redirect, err := h.orders.Pay(req.R.Context(), req.Actor(), linkSecret(req), confirmation)
	switch {
	case registrar.CodeOf(err) == order.NotOpen:
		return req.SeeOther(currentPayPath(req)) // which says how it stands
	case err != nil:
		return h.renderFormError(req, err, formError{confirmation: &confirmation})
	case redirect == "":
		req.Flash("ordered")
		return req.SeeOther(currentPayPath(req))
	}
	return req.SeeOther(redirect)
}

// paymentReturned is where the payment provider sends those who have paid. What counts is
// what the provider says, and if it says nothing now the clock finds out: so
// whatever goes wrong here, the page says how the order stands.
func (h *Handler) paymentReturned(req *ui.Request) error {
	req.SetFormPath(currentPayPath(req))
	if err := h.orders.HandleReturn(req.R.Context(), req.Actor(), linkSecret(req)); err != nil {
		httpjson.RecordError(req.W, err)
	}
	return req.SeeOther(currentPayPath(req))
}

// paymentAborted is where the payment provider sends those who have not paid, and what the
// button does of those who want to begin anew. It takes the page from whoever is
// typing a card number there, so a browser that only looks ahead gets nothing: not
// even the redirect, which it might keep and show to a human who comes later.
func (h *Handler) paymentAborted(req *ui.Request) error {
	req.SetFormPath(currentPayPath(req))
	if !isUserNavigation(req.R) {
		req.W.WriteHeader(http.StatusServiceUnavailable)
		return nil
	}
	if err := h.orders.AbortPayment(req.R.Context(), req.Actor(), linkSecret(req)); err != nil {
		httpjson.RecordError(req.W, err)
	}
	return req.SeeOther(currentPayPath(req))
}

// isUserNavigation says that a human goes to a page, and no browser or program fetches it
// ahead or only for its headers. Where a browser says nothing, it is believed.
func isUserNavigation(r *http.Request) bool {
	if r.Method == http.MethodHead {
		return false
	}
	for _, header := range [...]string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		if value := strings.ToLower(r.Header.Get(header)); strings.Contains(value, "prefetch") || strings.Contains(value, "preview") {
			return false
		}
	}
	dest := r.Header.Get("Sec-Fetch-Dest")
	return dest == "" || dest == "document"
}

// setCode keeps an auth code. The registry says whether it is the right one, so each
// try counts: a code is all that keeps somebody else's name where it is.
func (h *Handler) setCode(req *ui.Request) error {
	req.SetFormPath(currentPayPath(req))
	item, code := req.Field("item"), req.Text("code")
	if code == "" {
		return h.renderFormError(req, &registrar.Error{Kind: registrar.KindInvalid, Code: "auth_code_missing"}, formError{item: item})
	}
	if wait := h.authCodeLimit(req.Actor().Customer); wait > 0 {
		return h.renderFormError(req, &registrar.Error{Kind: registrar.KindRateLimited, Code: "auth_codes", RetryAfter: wait}, formError{item: item})
	}
	if err := h.orders.SetAuthCode(req.R.Context(), req.Actor(), linkSecret(req), item, code); err != nil {
		return h.renderFormError(req, err, formError{item: item})
	}
	req.Flash("code_saved")
	return req.SeeOther(currentPayPath(req))
}

// confirmDecline is the question before an order is gone.
func (h *Handler) confirmDecline(req *ui.Request) error {
	req.SetFormPath(currentPayPath(req))
	if !req.SignedIn {
		return req.RedirectToSignIn(ui.SignInPath)
	}
	view, err := h.orders.View(req.R.Context(), req.Actor(), linkSecret(req))
	if err != nil {
		return err
	}
	if !view.IsOwner || !view.Order.State.Open() {
		return req.SeeOther(currentPayPath(req))
	}
	shown, err := h.newPayData(req, view, formError{})
	if err != nil {
		return err
	}
	return h.templates.Render(req, ui.View{Name: "decline", Title: "decline.title", Data: shown})
}

func (h *Handler) decline(req *ui.Request) error {
	req.SetFormPath(currentPayPath(req))
	err := h.orders.Decline(req.R.Context(), req.Actor(), linkSecret(req))
	switch {
	case err == nil:
		req.Flash("declined")
	case registrar.CodeOf(err) != order.NotOpen:
		return h.renderFormError(req, err, formError{})
	}
	return req.SeeOther(currentPayPath(req))
}
