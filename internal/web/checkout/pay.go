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
	"github.com/dotkontor/dotkontor/internal/web/page"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

// show is the page behind payment_url.
func (h *Handler) show(v *page.Visit) error {
	v.FormOn(payPath(v))
	// The button leads to the payment provider.
	v.LeadElsewhere()
	return h.views.Show(h.look)(v)
}

// look is what that page shows, and its stream.
func (h *Handler) look(v *page.Visit) (page.View, error) {
	view, err := h.orders.Visit(v.R.Context(), v.Actor(), payLink(v))
	if err != nil {
		return page.View{}, err
	}
	shown, err := h.viewOf(v, view, trouble{})
	shown.Live = liveAt(payPath(v), reloadIn(view.Order, v.Now))
	return shown, err
}

// events is the step at which a page's changes are streamed.
const events = "events"

// liveAt is how the page of a path goes on, if it is to reload after a pause.
func liveAt(path string, pause time.Duration) page.Live {
	if pause == 0 {
		return page.Live{}
	}
	return page.Live{Events: path + "/" + events, Reload: pause}
}

// How soon the page asks again while something is under way, where no stream tells.
// A transfer takes days, so that the pace slackens.
const (
	soon, later = 3 * time.Second, 30 * time.Second
	slackens    = 2 * time.Minute
)

// reloadIn is zero where nothing changes by itself, or where the human is about to
// fill something in.
func reloadIn(o order.Order, now time.Time) time.Duration {
	switch {
	case o.State == order.Paying:
		return soon
	case o.State == order.Provisioning && now.Sub(o.PaidAt) < slackens:
		return soon
	case o.State == order.Provisioning, o.State.Final() && o.RefundsDue() > 0:
		return later
	default:
		return 0
	}
}

// viewOf is the page of an order, with what has gone wrong.
func (h *Handler) viewOf(v *page.Visit, view order.View, t trouble) (page.View, error) {
	shown, err := h.shownOf(v, view, t)
	return page.View{Name: "pay", Status: t.status, Title: "pay.title." + standing(view.Order), Data: shown}, err
}

// trouble is what has gone wrong with what the human has just asked for.
type trouble struct {
	status int
	// problem is a key.
	problem string
	// item is whose auth code it is about; empty means the whole order.
	item string
	// told is what was ticked when the button was pressed; nil if it was not.
	told *order.Confirmation
}

// tell shows the page again with a sentence about the error, and with what the human
// has entered. Errors that have no sentence pass.
func (h *Handler) tell(v *page.Visit, err error, entered trouble) error {
	t, ok := h.troubleOf(err)
	if !ok {
		return err
	}
	view, again := h.orders.Visit(v.R.Context(), v.Actor(), payLink(v))
	if again != nil {
		return again
	}
	wire.Annotate(v.W, err)
	if wait := page.RetryAfter(err); wait > 0 {
		v.W.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	t.item, t.told = entered.item, entered.told
	v.LeadElsewhere() // the button is there again
	shown, err := h.viewOf(v, view, t)
	if err != nil {
		return err
	}
	return h.views.Render(v, shown)
}

func (h *Handler) troubleOf(err error) (trouble, bool) {
	var refused *order.ItemsRefused
	if errors.As(err, &refused) {
		return trouble{status: http.StatusConflict, problem: "problem.items_refused"}, true
	}
	status := map[registrar.Kind]int{
		registrar.KindConflict: http.StatusConflict, registrar.KindForbidden: http.StatusForbidden,
		registrar.KindInvalid: http.StatusUnprocessableEntity, registrar.KindUpstream: http.StatusServiceUnavailable,
		registrar.KindRateLimited: http.StatusTooManyRequests,
	}[registrar.KindOf(err)]
	if status == 0 {
		return trouble{}, false
	}
	if key := page.ProblemKey(registrar.CodeOf(err)); h.views.Has(key) {
		return trouble{status: status, problem: key}, true
	}
	if status == http.StatusServiceUnavailable {
		return trouble{status: status, problem: "problem.unreachable"}, true
	}
	return trouble{}, false
}

// pay takes the order as it was shown, and leads to the payment provider.
func (h *Handler) pay(v *page.Visit) error {
	v.FormOn(payPath(v))
	v.LeadElsewhere()
	shown, err := strconv.ParseInt(v.Field("gross"), 10, 64)
	if err != nil {
		return &registrar.Error{Kind: registrar.KindInvalid, Code: "bad_form"}
	}
	told := order.Confirmation{Gross: registrar.Cents(shown), AutoRenew: v.Field("auto_renew") == "on", Consent: v.Field("consent")}
	redirect, err := h.orders.Pay(v.R.Context(), v.Actor(), payLink(v), told)
	switch {
	case registrar.CodeOf(err) == order.NotOpen:
		return v.SeeOther(payPath(v)) // which says how it stands
	case err != nil:
		return h.tell(v, err, trouble{told: &told})
	case redirect == "":
		v.Note("ordered")
		return v.SeeOther(payPath(v))
	}
	return v.SeeOther(redirect)
}

// returned is where the payment provider sends those who have paid. What counts is
// what the provider says, and if it says nothing now the clock finds out: so
// whatever goes wrong here, the page says how the order stands.
func (h *Handler) returned(v *page.Visit) error {
	v.FormOn(payPath(v))
	if err := h.orders.Returned(v.R.Context(), v.Actor(), payLink(v)); err != nil {
		wire.Annotate(v.W, err)
	}
	return v.SeeOther(payPath(v))
}

// back is where the payment provider sends those who have not paid, and what the
// button does of those who want to begin anew. It takes the page from whoever is
// typing a card number there, so a browser that only looks ahead gets nothing: not
// even the redirect, which it might keep and show to a human who comes later.
func (h *Handler) back(v *page.Visit) error {
	v.FormOn(payPath(v))
	if !onPurpose(v.R) {
		v.W.WriteHeader(http.StatusServiceUnavailable)
		return nil
	}
	if err := h.orders.Back(v.R.Context(), v.Actor(), payLink(v)); err != nil {
		wire.Annotate(v.W, err)
	}
	return v.SeeOther(payPath(v))
}

// onPurpose says that a human goes to a page, and no browser or program fetches it
// ahead or only for its headers. Where a browser says nothing, it is believed.
func onPurpose(r *http.Request) bool {
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
func (h *Handler) setCode(v *page.Visit) error {
	v.FormOn(payPath(v))
	item, code := v.Field("item"), v.Text("code")
	if code == "" {
		return h.tell(v, &registrar.Error{Kind: registrar.KindInvalid, Code: "auth_code_missing"}, trouble{item: item})
	}
	if wait := h.codes(v.Actor().Customer); wait > 0 {
		return h.tell(v, &registrar.Error{Kind: registrar.KindRateLimited, Code: "auth_codes", RetryAfter: wait}, trouble{item: item})
	}
	if err := h.orders.SetCode(v.R.Context(), v.Actor(), payLink(v), item, code); err != nil {
		return h.tell(v, err, trouble{item: item})
	}
	v.Note("code_saved")
	return v.SeeOther(payPath(v))
}

// askDecline is the question before an order is gone.
func (h *Handler) askDecline(v *page.Visit) error {
	v.FormOn(payPath(v))
	if !v.SignedIn {
		return v.SignInFirst(page.SignInPath)
	}
	view, err := h.orders.Visit(v.R.Context(), v.Actor(), payLink(v))
	if err != nil {
		return err
	}
	if !view.Yours || !view.Order.State.Open() {
		return v.SeeOther(payPath(v))
	}
	shown, err := h.shownOf(v, view, trouble{})
	if err != nil {
		return err
	}
	return h.views.Render(v, page.View{Name: "decline", Title: "decline.title", Data: shown})
}

func (h *Handler) decline(v *page.Visit) error {
	v.FormOn(payPath(v))
	err := h.orders.Decline(v.R.Context(), v.Actor(), payLink(v))
	switch {
	case err == nil:
		v.Note("declined")
	case registrar.CodeOf(err) != order.NotOpen:
		return h.tell(v, err, trouble{})
	}
	return v.SeeOther(payPath(v))
}
