package checkout

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
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

// payView is the view of that page and its stream.
func (h *Handler) payView(req *ui.Request) (ui.View, error) {
	view, err := h.Orders.View(req.R.Context(), req.Actor(), linkSecret(req))
	if err != nil {
		return ui.View{}, err
	}
	req.PreferAccountLanguage(view.Owner.Language)
	shown, err := h.newPayView(req, view, formError{})
	shown.Live = liveAfter(currentPayPath(req), reloadInterval(view.Order, h.Now()))
	return shown, err
}

// eventsStep is the step of a page's stream.
const eventsStep = "events"

// liveAfter returns how the page of a path updates itself if it reloads after a pause.
func liveAfter(path string, pause time.Duration) ui.Live {
	if pause == 0 {
		return ui.Live{}
	}
	return ui.Live{Events: path + "/" + eventsStep, Reload: pause}
}

// Reload intervals without a stream. A transfer takes days, so they grow.
const (
	reloadSoon, reloadLater = 3 * time.Second, 30 * time.Second
	reloadSlowsAfter        = 2 * time.Minute
)

// reloadInterval is zero if nothing changes by itself, or if the customer has a form to
// fill in.
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

// newPayView is the page of an order with the error of the last action.
func (h *Handler) newPayView(req *ui.Request, view order.View, t formError) (ui.View, error) {
	shown, err := h.newPayData(req, view, t)
	title := "pay.title." + displayState(view.Order)
	if shown.Continue != "" { // the customer may have left the payment page
		title = "pay.title.continue"
	}
	return ui.View{Name: "pay", Status: t.status, Title: title, Data: shown}, err
}

// formError is what went wrong with the customer's last action.
type formError struct {
	status       int
	problem      string              // a text key
	item         string              // the item of a wrong auth code; empty means the whole order
	confirmation *order.Confirmation // what was selected when the button was pressed; nil if it was not
	registrant   *account.Registrant // what was entered; nil if there was no such form
	stored       bool                // the registrant was stored before the error
	cause        error               // has the invalid fields
}

// confirms reports whether the button was pressed for the order as it is now. Otherwise
// nothing stays checked: the customer has not seen what they would agree to.
func (t formError) confirms(o order.Order) bool {
	return t.consents(o) && t.confirmation.Gross == o.Totals.Gross
}

// consents is confirms for the request to start immediately, which holds for a lower price, too.
func (t formError) consents(o order.Order) bool {
	return t.confirmation != nil && t.confirmation.Gross >= o.Totals.Gross && t.confirmation.Items == o.ItemsDigest()
}

// renderFormError renders the page again with a message about the error and the
// customer's input. Errors without a message are returned.
func (h *Handler) renderFormError(req *ui.Request, err error, entered formError) error {
	t, ok := h.formErrorFor(err)
	if !ok {
		return err
	}
	view, again := h.Orders.View(req.R.Context(), req.Actor(), linkSecret(req))
	if again != nil {
		return again
	}
	httpjson.RecordError(req.W, err)
	req.SetRetryAfter(err)
	t.item, t.confirmation, t.registrant, t.stored, t.cause = entered.item, entered.confirmation, entered.registrant, entered.stored, err
	req.AllowExternalFormAction() // the page has the button again
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
	if key := ui.ProblemKey(codeOf(err)); h.templates.Has(key) {
		return formError{status: status, problem: key}, true
	}
	if status == http.StatusServiceUnavailable {
		return formError{status: status, problem: "problem.unreachable"}, true
	}
	return formError{}, false
}

// addRegistrant stores the registrant of an order that can't be paid yet.
func (h *Handler) addRegistrant(req *ui.Request) error {
	registrant := ui.RegistrantOf(req.Text)
	if err := h.Registrants.AddRegistrant(req.R.Context(), req.Actor(), registrant); err != nil {
		return h.renderFormError(req, err, formError{registrant: &registrant})
	}
	return req.SeeOther(currentPayPath(req))
}

// pay accepts the order as displayed and redirects to the payment provider. The form may
// contain the registrant, which is stored first: if that changes the price, nothing is
// charged.
func (h *Handler) pay(req *ui.Request) error {
	req.AllowExternalFormAction()
	shown, err := strconv.ParseInt(req.Field("gross"), 10, 64)
	if err != nil {
		return &registrar.Error{Kind: registrar.KindInvalid, Code: ui.BadForm}
	}
	confirmation := order.Confirmation{Gross: registrar.Cents(shown), Items: req.Field("items"), Consent: req.Field("consent")}
	if wording := req.Field("auto_renew"); wording != "" {
		confirmation.AutoRenew, confirmation.RenewalWording, confirmation.RenewalPrices = true, wording, req.Field("renewal_prices")
	}
	if err := h.saveChosenHolders(req); err != nil {
		return h.renderFormError(req, err, formError{confirmation: &confirmation})
	}
	stored := req.R.PostForm.Has(account.FieldName)
	if stored {
		registrant := ui.RegistrantOf(req.Text)
		if err := h.Registrants.AddRegistrant(req.R.Context(), req.Actor(), registrant); err != nil {
			return h.renderFormError(req, err, formError{registrant: &registrant, confirmation: &confirmation})
		}
	}
	redirect, err := h.Orders.Pay(req.R.Context(), req.Actor(), linkSecret(req), confirmation)
	switch {
	case registrar.CodeOf(err) == order.NotOpen:
		return req.SeeOther(currentPayPath(req)) // shows the current state
	case err != nil:
		return h.renderFormError(req, err, formError{confirmation: &confirmation, stored: stored})
	case redirect == "":
		return req.RedirectWithFlash("ordered", currentPayPath(req))
	}
	return req.SeeOther(redirect)
}

// paymentReturned is where the payment provider redirects after a payment. Only the
// provider's status counts, and it is polled as well, so on any error the page just
// shows the order's state.
func (h *Handler) paymentReturned(req *ui.Request) error {
	if err := h.Orders.HandleReturn(req.R.Context(), req.Actor(), linkSecret(req)); err != nil {
		httpjson.RecordError(req.W, err)
	}
	return req.SeeOther(currentPayPath(req))
}

// paymentAborted is where the payment provider redirects without a payment, and the
// action of the button that cancels one. It closes a page where a card number may be
// being entered, so a prefetch gets nothing: not even the redirect, which the browser
// might cache.
func (h *Handler) paymentAborted(req *ui.Request) error {
	if !isUserNavigation(req.R) {
		req.W.WriteHeader(http.StatusServiceUnavailable)
		return nil
	}
	if err := h.Orders.AbortPayment(req.R.Context(), req.Actor(), linkSecret(req)); err != nil {
		httpjson.RecordError(req.W, err)
	}
	return req.SeeOther(currentPayPath(req))
}

// isUserNavigation reports whether the customer navigates to a page, rather than a
// prefetch or a HEAD request. Without such headers it is assumed.
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

// setCode stores an auth code. The registry verifies it, so every attempt counts: the
// code is all that protects a domain from being transferred away.
func (h *Handler) setCode(req *ui.Request) error {
	item, code := req.Field("item"), req.Text("code")
	if code == "" {
		return h.renderFormError(req, &registrar.Error{Kind: registrar.KindInvalid, Code: provision.CodeMissing}, formError{item: item})
	}
	if wait := h.AuthCodeLimit(req.Actor().Customer); wait > 0 {
		return h.renderFormError(req, &registrar.Error{Kind: registrar.KindRateLimited, Code: "auth_codes", RetryAfter: wait}, formError{item: item})
	}
	if err := h.Orders.SetAuthCode(req.R.Context(), req.Actor(), linkSecret(req), item, code); err != nil {
		return h.renderFormError(req, err, formError{item: item})
	}
	return req.RedirectWithFlash("code_saved", currentPayPath(req))
}

// removeItem removes an item from the customer's order; with the last one the order ends.
func (h *Handler) removeItem(req *ui.Request) error {
	err := h.Orders.RemoveItem(req.R.Context(), req.Actor(), linkSecret(req), req.Field("item"))
	switch {
	case err == nil:
		req.Flash("item_removed")
	case registrar.CodeOf(err) != order.NotOpen:
		return h.renderFormError(req, err, formError{})
	}
	return req.SeeOther(currentPayPath(req))
}

func (h *Handler) confirmDecline(req *ui.Request) error {
	if !req.SignedIn {
		return req.RedirectToSignIn(ui.SignInPath)
	}
	view, err := h.Orders.View(req.R.Context(), req.Actor(), linkSecret(req))
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
	err := h.Orders.Decline(req.R.Context(), req.Actor(), linkSecret(req))
	switch {
	case err == nil:
		req.Flash("declined")
	case registrar.CodeOf(err) != order.NotOpen:
		return h.renderFormError(req, err, formError{})
	}
	return req.SeeOther(currentPayPath(req))
}
